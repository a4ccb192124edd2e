/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Streams, events, host functions. A stream has a thread that does its work in order; work has a
 * number, its ticket. What work of another stream it must come after is known when it is queued:
 * the default stream's comes after all of the blocking streams, theirs after all of its.
 */
#include "fake.h"

#include <time.h>

typedef struct fake_stream {
    bool is_default, is_blocking, is_closing, has_thread;
    pthread_t thread;
    uint64_t queued, done; /* tickets */
    struct item *first, **last;
    struct fake_stream *next; /* of all that have not ended */
} fake_stream;

typedef struct dependency {
    fake_stream *stream;
    uint64_t ticket;
} dependency;

typedef struct item {
    struct item *next;
    fake_work work;
    void *argument;
    dependency *after;
    unsigned after_count;
} item;

static fake_stream default_stream = {.is_default = true, .is_blocking = true};
static fake_stream *const streams = &default_stream; /* the first of the list */

/* ---- work ---- */

static bool is_ready(const item *i) {
    for (unsigned d = 0; d < i->after_count; d++)
        if (i->after[d].stream->done < i->after[d].ticket) return false;
    return true;
}

/* A faulty context does nothing any more, but its work comes to its end. */
static void *run_stream(void *argument) {
    fake_stream *s = argument;
    pthread_mutex_lock(&fake.lock);
    for (;;) {
        item *i = s->first;
        if (i == NULL && s->is_closing) break;
        if (i == NULL || !is_ready(i)) {
            pthread_cond_wait(&fake.changed, &fake.lock);
            continue;
        }
        s->first = i->next;
        if (s->first == NULL) s->last = &s->first;
        const bool is_wanted = fake.sticky == 0;
        pthread_mutex_unlock(&fake.lock);
        const int result = is_wanted ? i->work(i->argument) : 0;
        if (!is_wanted) free(i->argument);
        pthread_mutex_lock(&fake.lock);
        if (result != 0 && fake.sticky == 0) fake.sticky = result;
        s->done++;
        free(i->after);
        free(i);
        pthread_cond_broadcast(&fake.changed);
    }
    pthread_mutex_unlock(&fake.lock);
    return NULL;
}

static void start_thread(fake_stream *s) {
    if (s->has_thread) return;
    s->is_closing = false;
    s->last = &s->first;
    if (pthread_create(&s->thread, NULL, run_stream, s) != 0) abort();
    s->has_thread = true;
}

static fake_stream *stream_of(wpi_cu_stream stream) {
    return stream == NULL ? &default_stream : ((fake_object *)(void *)stream)->stream;
}

static void come_after(item *i, fake_stream *s, uint64_t ticket) {
    if (s->done >= ticket) return;
    i->after = realloc(i->after, (i->after_count + 1) * sizeof *i->after);
    if (i->after == NULL) abort();
    i->after[i->after_count++] = (dependency){s, ticket};
}

static void order(item *i, fake_stream *s) {
    if (!s->is_blocking) return;
    if (!s->is_default) {
        come_after(i, &default_stream, default_stream.queued);
        return;
    }
    for (fake_stream *other = streams; other != NULL; other = other->next)
        if (other->is_blocking && other != s) come_after(i, other, other->queued);
}

static fake_stream *enqueue(fake_stream *s, fake_work work, void *argument,
                            const fake_object *event, uint64_t *ticket) {
    item *i = calloc(1, sizeof *i);
    if (i == NULL) abort();
    start_thread(s);
    i->work = work;
    i->argument = argument;
    order(i, s);
    if (event != NULL && event->stream != NULL) come_after(i, event->stream, event->ticket);
    *s->last = i;
    s->last = &i->next;
    s->queued++;
    if (ticket != NULL) *ticket = s->queued;
    pthread_cond_broadcast(&fake.changed);
    return s;
}

fake_stream *fake_enqueue(wpi_cu_stream stream, fake_work work, void *argument, uint64_t *ticket) {
    return enqueue(stream_of(stream), work, argument, NULL, ticket);
}

/* ---- waiting ---- */

static int wait_for(const fake_stream *s, uint64_t ticket) {
    while (s->done < ticket)
        pthread_cond_wait(&fake.changed, &fake.lock);
    fake_print_flush();
    return fake.sticky;
}

int fake_enqueue_and_wait(wpi_cu_stream stream, fake_work work, void *argument) {
    uint64_t ticket;
    const fake_stream *s = fake_enqueue(stream, work, argument, &ticket);
    return wait_for(s, ticket);
}

int fake_wait_all(void) {
    for (fake_stream *s = streams; s != NULL; s = s->next)
        (void)wait_for(s, s->queued);
    return fake.sticky;
}

/* ---- life: streams themselves stay, events may refer to them ---- */

static fake_stream *ended;

static void stop(fake_stream *s);

/* Threads of streams that were destroyed, and have nothing left to do, end with the process. */
static void join_ended(void) {
    pthread_mutex_lock(&fake.lock);
    for (fake_stream *s = streams; s != NULL; s = s->next)
        if (s->is_closing && s->first == NULL) stop(s);
    pthread_mutex_unlock(&fake.lock);
}

void fake_stream_make(fake_object *object, bool is_blocking) {
    static bool is_registered;
    fake_stream *s = calloc(1, sizeof *s);
    if (s == NULL || (!is_registered && atexit(join_ended) != 0)) abort();
    is_registered = true;
    s->is_blocking = is_blocking;
    s->next = default_stream.next;
    default_stream.next = s;
    object->stream = s;
}

static void stop(fake_stream *s) {
    if (!s->has_thread) return;
    s->is_closing = true;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
    (void)pthread_join(s->thread, NULL);
    pthread_mutex_lock(&fake.lock);
    s->has_thread = false;
}

/* Its work still comes to its end; the thread is joined with the context's end. */
void fake_stream_end(fake_object *object) {
    object->stream->is_closing = true;
    pthread_cond_broadcast(&fake.changed);
}

void fake_streams_stop(void) {
    stop(&default_stream);
    while (default_stream.next != NULL) {
        fake_stream *s = default_stream.next;
        stop(s);
        default_stream.next = s->next;
        s->next = ended;
        ended = s;
    }
    fake_print_flush();
}

bool fake_check_stream(wpi_cu_stream stream, const char *call) {
    return stream == NULL || fake_check_handle(stream, FAKE_STREAM, call) != NULL;
}

/* ---- the driver's functions: streams ---- */

static bool is_endless(wpi_cu_stream stream) {
    return stream != NULL && fake_env_number("FAKE_CUDA_ENDLESS", 0) != 0;
}

EXPORT wpi_cu_result cuStreamCreateWithPriority(wpi_cu_stream *out, unsigned flags, int priority) {
    CALL_IN_CONTEXT("cuStreamCreateWithPriority");
    if (result == 0 && flags > 1) result = fake_misuse("cuStreamCreate: flags %u", flags);
    if (result == 0) {
        fake.last_given.stream_priority = priority;
        fake_object *o = fake_make(FAKE_STREAM);
        fake_stream_make(o, (flags & WPI_CU_STREAM_NON_BLOCKING) == 0);
        *out = (wpi_cu_stream)(void *)o;
    }
    RETURN;
}

EXPORT wpi_cu_result cuStreamDestroy_v2(wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuStreamDestroy_v2");
    if (result == 0) result = fake_destroy(stream, FAKE_STREAM, "cuStreamDestroy");
    RETURN;
}

EXPORT wpi_cu_result cuStreamSynchronize(wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuStreamSynchronize");
    if (result == 0 && !fake_check_stream(stream, "cuStreamSynchronize")) result = 400;
    if (result == 0) {
        const fake_stream *s = stream_of(stream);
        result = is_endless(stream) ? WPI_CU_NOT_READY : wait_for(s, s->queued);
        for (fake_stream *o = streams; o != NULL && s->is_default; o = o->next)
            if (o->is_blocking) result = wait_for(o, o->queued);
    }
    RETURN;
}

EXPORT wpi_cu_result cuStreamQuery(wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuStreamQuery");
    if (result == 0 && !fake_check_stream(stream, "cuStreamQuery")) result = 400;
    if (result == 0) {
        const fake_stream *s = stream_of(stream);
        result = s->done < s->queued || is_endless(stream) ? WPI_CU_NOT_READY : 0;
    }
    RETURN;
}

static int do_nothing(void *argument) {
    free(argument);
    return 0;
}

EXPORT wpi_cu_result cuStreamWaitEvent(wpi_cu_stream stream, wpi_cu_event event, unsigned flags) {
    CALL_IN_CONTEXT("cuStreamWaitEvent");
    const fake_object *e = NULL;
    if (result == 0 && (flags != 0 || !fake_check_stream(stream, "cuStreamWaitEvent") ||
                        (e = fake_check_handle(event, FAKE_EVENT, "cuStreamWaitEvent")) == NULL))
        result = 400;
    if (result == 0) (void)enqueue(stream_of(stream), do_nothing, NULL, e, NULL);
    RETURN;
}

/* ---- host functions ---- */

#ifndef FAKE_CUDA_OLD /* a driver from before CUDA 10.0 */
typedef struct host_call {
    void (*call)(void *);
    void *arg;
} host_call;

static int run_host_call(void *argument) {
    const host_call h = *(host_call *)argument;
    free(argument);
    fake_in_host_call = true;
    h.call(h.arg);
    fake_in_host_call = false;
    return 0;
}

EXPORT wpi_cu_result cuLaunchHostFunc(wpi_cu_stream stream, void (*call)(void *), void *arg) {
    CALL_IN_CONTEXT("cuLaunchHostFunc");
    if (result == 0 && (call == NULL || !fake_check_stream(stream, "cuLaunchHostFunc")))
        result = 400;
    if (result == 0) {
        host_call *h = malloc(sizeof *h);
        if (h == NULL) abort();
        *h = (host_call){call, arg};
        (void)fake_enqueue(stream, run_host_call, h, NULL);
    }
    RETURN;
}
#endif

/* ---- words ---- */

typedef struct word {
    uint64_t *at, value;
    bool is_long;
    unsigned flags;
} word;

static bool is_passed(const word *w) {
    const uint64_t now = w->is_long ? __atomic_load_n(w->at, __ATOMIC_ACQUIRE)
                                    : __atomic_load_n((uint32_t *)(void *)w->at, __ATOMIC_ACQUIRE);
    const uint64_t mask = w->is_long ? UINT64_MAX : UINT32_MAX;
    switch (w->flags) {
    case 0:
        return w->is_long ? (int64_t)(now - w->value) >= 0
                          : (int32_t)((uint32_t)now - (uint32_t)w->value) >= 0;
    case 1: return now == (w->value & mask);
    case 2: return (now & w->value & mask) != 0;
    default: return (~(now | w->value) & mask) != 0;
    }
}

static int wait_for_word(void *argument) {
    const word w = *(word *)argument;
    const struct timespec pause = {.tv_nsec = 50000};
    free(argument);
    while (!is_passed(&w))
        (void)nanosleep(&pause, NULL);
    return 0;
}

static int write_word(void *argument) {
    const word w = *(word *)argument;
    free(argument);
    if (w.is_long)
        __atomic_store_n(w.at, w.value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)(void *)w.at, (uint32_t)w.value, __ATOMIC_RELEASE);
    return 0;
}

static int enqueue_word(const char *call, wpi_cu_stream stream, fake_work work, word given) {
    if (!fake_check_stream(stream, call)) return 400;
    if ((uintptr_t)given.at % (given.is_long ? 8 : 4) != 0)
        return fake_misuse("%s: address %p", call, (void *)given.at);
    if (given.flags > 3) return fake_misuse("%s: flags %u", call, given.flags);
    word *w = malloc(sizeof *w);
    if (w == NULL) abort();
    *w = given;
    (void)fake_enqueue(stream, work, w, NULL);
    return 0;
}

#define WORD_CALL(name, type, is_long, work)                                                       \
    EXPORT wpi_cu_result name(wpi_cu_stream stream, wpi_cu_ptr at, type value, unsigned flags) {   \
        CALL_IN_CONTEXT(#name);                                                                    \
        if (result == 0)                                                                           \
            result = enqueue_word(#name, stream, work,                                             \
                                  (word){(uint64_t *)(uintptr_t)at, value, is_long, flags});       \
        RETURN;                                                                                    \
    }

WORD_CALL(cuStreamWaitValue32_v2, uint32_t, false, wait_for_word)
WORD_CALL(cuStreamWaitValue64_v2, uint64_t, true, wait_for_word)
WORD_CALL(cuStreamWriteValue32_v2, uint32_t, false, write_word)
WORD_CALL(cuStreamWriteValue64_v2, uint64_t, true, write_word)

/* ---- events ---- */

EXPORT wpi_cu_result cuEventCreate(wpi_cu_event *out, unsigned flags) {
    CALL_IN_CONTEXT("cuEventCreate");
    if (result == 0 && flags > 3) result = fake_misuse("cuEventCreate: flags %u", flags);
    if (result == 0) fake.last_given.event_flags = flags;
    if (result == 0) *out = (wpi_cu_event)(void *)fake_make(FAKE_EVENT);
    RETURN;
}

EXPORT wpi_cu_result cuEventDestroy_v2(wpi_cu_event event) {
    CALL_IN_CONTEXT("cuEventDestroy_v2");
    if (result == 0) result = fake_destroy(event, FAKE_EVENT, "cuEventDestroy");
    RETURN;
}

/* Objects stay, so an event that was destroyed meanwhile does no harm. */
static int take_time(void *argument) {
    fake_object *event = *(fake_object **)argument;
    struct timespec now;
    free(argument);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&fake.lock);
    event->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

EXPORT wpi_cu_result cuEventRecord(wpi_cu_event event, wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuEventRecord");
    fake_object *o = result == 0 ? fake_check_handle(event, FAKE_EVENT, "cuEventRecord") : NULL;
    if (result == 0 && (o == NULL || !fake_check_stream(stream, "cuEventRecord"))) result = 400;
    if (result == 0) {
        fake_object **argument = malloc(sizeof(fake_object *));
        if (argument == NULL) abort();
        *argument = o;
        o->stream = fake_enqueue(stream, take_time, argument, &o->ticket);
    }
    RETURN;
}

static bool is_complete(const fake_object *event) {
    return event->stream == NULL || event->stream->done >= event->ticket;
}

EXPORT wpi_cu_result cuEventSynchronize(wpi_cu_event event) {
    CALL_IN_CONTEXT("cuEventSynchronize");
    const fake_object *o =
        result == 0 ? fake_check_handle(event, FAKE_EVENT, "cuEventSynchronize") : NULL;
    if (result == 0 && o == NULL) result = 400;
    if (result == 0 && o->stream != NULL) result = wait_for(o->stream, o->ticket);
    RETURN;
}

EXPORT wpi_cu_result cuEventQuery(wpi_cu_event event) {
    CALL_IN_CONTEXT("cuEventQuery");
    const fake_object *o =
        result == 0 ? fake_check_handle(event, FAKE_EVENT, "cuEventQuery") : NULL;
    if (result == 0 && o == NULL) result = 400;
    if (result == 0 && !is_complete(o)) result = WPI_CU_NOT_READY;
    RETURN;
}

EXPORT wpi_cu_result cuEventElapsedTime(float *ms, wpi_cu_event first, wpi_cu_event second) {
    CALL_IN_CONTEXT("cuEventElapsedTime");
    const fake_object *a =
        result == 0 ? fake_check_handle(first, FAKE_EVENT, "cuEventElapsedTime") : NULL;
    const fake_object *b =
        result == 0 ? fake_check_handle(second, FAKE_EVENT, "cuEventElapsedTime") : NULL;
    if (result == 0 && (a == NULL || b == NULL || a->stream == NULL || b->stream == NULL))
        result = 400;
    if (result == 0 && (!is_complete(a) || !is_complete(b))) result = WPI_CU_NOT_READY;
    if (result == 0) *ms = (float)(b->ms - a->ms);
    RETURN;
}
