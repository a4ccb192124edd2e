/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* processor sets, madvise */
#include "probe/measure/probe_cpu.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/file.h"
#include "probe/measure/chain.h"
#include "probe/measure/timed_rounds.h"

#define ADDITIONS 1024u

#if defined(__x86_64__)
#include <x86intrin.h>
#define HAS_CYCLES 1
/* Serialized: after all loads, before later instructions. */
static uint64_t cycles_now(void) {
    _mm_lfence();
    const uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}
static void relax(void) {
    _mm_pause();
}
/* Dependent additions, a cycle of the core each (of registers: newer processors add constants
 * early). */
static void add_up(void) {
    uint64_t x = 0, y = 3;
    for (unsigned i = 0; i < ADDITIONS / 16; i++)
        __asm__ volatile(".rept 16\n\tadd %1, %0\n\t.endr" : "+r"(x) : "r"(y));
}
#else
#define HAS_CYCLES 0
static uint64_t cycles_now(void) {
    return 0;
}
static void relax(void) {
}
static void add_up(void) {
}
#endif

#define LINE_BYTES 64u
#define SMALL_BYTES 4096u
#define HUGE_BYTES ((uint64_t)2 << 20)
#define ALIGN_BYTES ((uint64_t)1 << 30)
#define LOADS_A_ROUND 2048u /* at least: reading the counter takes as long as some loads */
#define ROUNDS_MAX 64u
#define TRIES 16u /* for rounds in which no other thread got the processor */
#define PROCESSORS_MAX 512u

struct wpi_cpu_sampler {
    wpi_sampler sampler;
    wpi_cpu_pages pages;
    wpi_round_listener listener;
    void *mapping;
    size_t mapping_bytes;
    char *base;
    uint32_t *order;
    uint32_t order_capacity;
    uint32_t processors[PROCESSORS_MAX];
    cpu_set_t allowed; /* of this thread, before it was pinned */
    unsigned kept_on;
    bool is_kept;
    double overhead_ticks;
};

/* ---- pinned threads ---- */

static wp_status stay_on(unsigned processor, wp_error *err) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0)
        return WP_FAIL(err, UNSUPPORTED, "cannot pin a thread to processor %u", processor);
    return WP_STATUS_OK;
}

/* Runs `work` on a thread pinned to that processor. */
typedef struct stayer {
    pthread_t thread;
    unsigned processor;
    void (*work)(void *object);
    void *object;
    wp_status status;
    wp_error err;
} stayer;

static void *run_stayer(void *object) {
    stayer *s = object;
    s->status = stay_on(s->processor, &s->err);
    if (s->status == WP_STATUS_OK) s->work(s->object);
    return NULL;
}

static wp_status start_stayer(stayer *s, wp_error *err) {
    if (pthread_create(&s->thread, NULL, run_stayer, s) != 0)
        return WP_FAIL(err, NOMEM, "a thread for processor %u", s->processor);
    return WP_STATUS_OK;
}

static wp_status end_stayer(stayer *s, wp_error *err) {
    (void)pthread_join(s->thread, NULL);
    if (s->status != WP_STATUS_OK && err != NULL) *err = s->err;
    return s->status;
}

/* The number of this thread's context switches, which empty the TLBs. */
static long switches(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw + usage.ru_nivcsw : 0;
}

/* ---- chains ---- */

static wp_status make_order(wpi_cpu_sampler *s, uint32_t count, bool has_halves, uint64_t seed,
                            wp_error *err) {
    if (count > s->order_capacity) {
        wpi_free(s->order);
        s->order = wpi_calloc(count, sizeof *s->order);
        s->order_capacity = s->order != NULL ? count : 0;
        if (s->order == NULL) return WP_FAIL(err, NOMEM, "an order of %" PRIu32 " loads", count);
    }
    wpi_rounds_shuffle(s->order, has_halves ? (count + 1) / 2 : count, seed);
    if (has_halves) wpi_rounds_halve(s->order, count);
    return WP_STATUS_OK;
}

static uint32_t span_of(const wpi_cpu_sampler *s) {
    return s->pages == WPI_CPU_PAGES_HUGE ? (uint32_t)HUGE_BYTES : SMALL_BYTES;
}

/* Each place has the address of the next. */
static wp_status put_chain(wpi_cpu_sampler *s, char *base, const wpi_chain *chain, bool has_halves,
                           uint64_t seed, void ***first, wp_error *err) {
    WP_TRY(make_order(s, chain->loads, has_halves, seed, err));
    for (uint32_t i = 0; i < chain->loads; i++) {
        const uint32_t next = s->order[i + 1 < chain->loads ? i + 1 : 0];
        *(void **)(base + wpi_chain_place(chain, s->order[i])) =
            base + wpi_chain_place(chain, next);
    }
    *first = (void **)(base + wpi_chain_place(chain, s->order[0]));
    return WP_STATUS_OK;
}

static void **go_round(void **place, uint64_t loads) {
    for (uint64_t i = 0; i < loads; i++)
        place = *(void *volatile *)place;
    return place;
}

/* Converts the counter's ticks since `start` to cycles of the core, whose clock varies: by the time
 * of the additions before. */
static double in_cycles(const wpi_cpu_sampler *s, uint64_t before, uint64_t start, uint64_t end) {
    const double additions = (double)(start - before) - s->overhead_ticks;
    return ((double)(end - start) - s->overhead_ticks) * ADDITIONS / additions;
}

/* Pins this thread to that processor until the probe ends. */
static wp_status stay_here(wpi_cpu_sampler *s, unsigned processor, wp_error *err) {
    if (s->is_kept && s->kept_on == processor) return WP_STATUS_OK;
    s->is_kept = true;
    s->kept_on = processor;
    return stay_on(processor, err);
}

typedef struct rounds {
    void **first;
    uint64_t loads; /* of a round: whole turns of the chain */
    uint32_t timed;
    double cycles[ROUNDS_MAX];
} rounds;

static void time_rounds(const wpi_cpu_sampler *s, rounds *r) {
    void **place = go_round(r->first, r->loads);
    for (uint32_t i = 0; i < r->timed; i++) {
        const uint64_t before = cycles_now();
        add_up();
        const uint64_t start = cycles_now();
        place = go_round(place, r->loads);
        r->cycles[i] = in_cycles(s, before, start, cycles_now());
    }
}

static wp_status check(const wpi_cpu_sampler *s, uint32_t sm, uint64_t stride_bytes, uint64_t loads,
                       wp_error *err) {
    if (sm != WPI_SM_ANY && sm >= s->sampler.sm_count)
        return WP_FAIL(err, INVALID, "there is no processor %" PRIu32 " for this process", sm);
    if (loads == 0 || stride_bytes < sizeof(void *) || stride_bytes % sizeof(void *) != 0)
        return WP_FAIL(
            err, INVALID,
            "a chain needs at least one load and strides that are a multiple of 8 bytes");
    if (loads > UINT32_MAX || loads > s->sampler.memory_bytes / stride_bytes)
        return WP_FAIL(err, DEVICE_NOMEM,
                       "%" PRIu64 " loads %" PRIu64 " bytes apart need more than the %" PRIu64
                       " bytes of the probe",
                       loads, stride_bytes, s->sampler.memory_bytes);
    return WP_STATUS_OK;
}

static uint32_t rounds_wanted(uint32_t repeats) {
    if (repeats == 0) return 1;
    return repeats < ROUNDS_MAX ? repeats : ROUNDS_MAX;
}

static unsigned processor_of(const wpi_cpu_sampler *s, uint32_t sm) {
    return s->processors[sm == WPI_SM_ANY ? 0 : sm];
}

static wp_status chase(void *object, const wpi_chase *wanted, wpi_timing *out, wp_error *err) {
    wpi_cpu_sampler *s = object;
    const uint64_t stride = wanted->is_control ? LINE_BYTES : wanted->stride_bytes;
    WP_TRY(check(s, wanted->sm, stride, wanted->loads, err));
    if (wanted->order == WPI_ORDER_REUSE)
        return WP_FAIL(err, NOT_FOUND, "a processor's chains visit each page once");
    const wpi_chain chain = {stride, span_of(s), LINE_BYTES, (uint32_t)wanted->loads};
    const uint64_t turns = (LOADS_A_ROUND + wanted->loads - 1) / wanted->loads;
    rounds r = {.loads = turns * wanted->loads, .timed = rounds_wanted(wanted->repeats)};
    const bool has_halves = wanted->order == WPI_ORDER_HALVES;
    WP_TRY(put_chain(s, s->base, &chain, has_halves, wanted->seed, &r.first, err));
    WP_TRY(stay_here(s, processor_of(s, wanted->sm), err));
    for (unsigned i = 0; i < TRIES; i++) {
        const long before = switches();
        time_rounds(s, &r);
        if (switches() == before) break;
    }
    if (s->listener.chased != NULL) {
        for (uint32_t i = 0; i < r.timed; i++)
            s->listener.chased(s->listener.object, wanted, i, r.cycles[i] / (double)turns);
    }
    wpi_rounds_sum_up(r.cycles, r.timed, r.loads, 0, out);
    return WP_STATUS_OK;
}

/* ---- contests ---- */

/* The stage of a contest: both threads spin, so that nothing else runs on their processors. */
typedef struct arena {
    const wpi_cpu_sampler *sampler;
    _Atomic uint32_t turn; /* 3 * round + stage */
    void **first_timed, **first_other;
    uint64_t loads_timed, loads_other;
    uint32_t repeats;
    _Atomic bool is_disturbed;
    double cycles[ROUNDS_MAX];
} arena;

static void await(arena *a, uint32_t turn) {
    while (atomic_load_explicit(&a->turn, memory_order_acquire) != turn)
        relax();
}

static void pass(arena *a, uint32_t turn) {
    atomic_store_explicit(&a->turn, turn, memory_order_release);
}

static void be_timed(void *object) {
    arena *a = object;
    const long switched = switches();
    for (uint32_t r = 0; r < a->repeats; r++) {
        await(a, 3 * r);
        void **place = go_round(a->first_timed, a->loads_timed);
        pass(a, 3 * r + 1);
        await(a, 3 * r + 2);
        const uint64_t before = cycles_now();
        add_up();
        const uint64_t start = cycles_now();
        place = go_round(place, a->loads_timed);
        a->cycles[r] = in_cycles(a->sampler, before, start, cycles_now());
        pass(a, 3 * r + 3);
    }
    if (switches() != switched) a->is_disturbed = true;
}

static void be_other(void *object) {
    arena *a = object;
    const long switched = switches();
    for (uint32_t r = 0; r < a->repeats; r++) {
        await(a, 3 * r + 1);
        (void)go_round(a->first_other, a->loads_other);
        pass(a, 3 * r + 2);
    }
    if (switches() != switched) a->is_disturbed = true;
}

/* A contest of one processor with itself. */
static void be_both(void *object) {
    arena *a = object;
    const long switched = switches();
    for (uint32_t r = 0; r < a->repeats; r++) {
        void **place = go_round(a->first_timed, a->loads_timed);
        (void)go_round(a->first_other, a->loads_other);
        const uint64_t before = cycles_now();
        add_up();
        const uint64_t start = cycles_now();
        place = go_round(place, a->loads_timed);
        a->cycles[r] = in_cycles(a->sampler, before, start, cycles_now());
    }
    if (switches() != switched) a->is_disturbed = true;
}

static wp_status hold(const wpi_cpu_sampler *s, const wpi_contest *wanted, arena *a,
                      wp_error *err) {
    const bool is_alone = wanted->sm_timed == wanted->sm_other;
    stayer timed = {.processor = processor_of(s, wanted->sm_timed),
                    .work = is_alone ? be_both : be_timed,
                    .object = a};
    stayer other = {.processor = processor_of(s, wanted->sm_other), .work = be_other, .object = a};
    WP_TRY(start_stayer(&timed, err));
    if (is_alone) return end_stayer(&timed, err);
    const wp_status started = start_stayer(&other, err);
    WP_CHECK(started == WP_STATUS_OK); /* the first one waits for it */
    const wp_status status = end_stayer(&other, err);
    WP_CHECK(status == WP_STATUS_OK);
    return end_stayer(&timed, err);
}

static wp_status contest(void *object, const wpi_contest *wanted, wpi_timing *out, wp_error *err) {
    wpi_cpu_sampler *s = object;
    const uint64_t stride = wanted->stride_bytes;
    WP_TRY(check(s, wanted->sm_timed, stride, wanted->loads_timed + wanted->loads_other, err));
    WP_TRY(check(s, wanted->sm_other, stride, wanted->loads_other, err));
    const wpi_chain timed = {stride, span_of(s), LINE_BYTES, (uint32_t)wanted->loads_timed};
    const wpi_chain other = {stride, span_of(s), LINE_BYTES, (uint32_t)wanted->loads_other};
    arena a = {.sampler = s,
               .loads_timed = wanted->loads_timed,
               .loads_other = wanted->loads_other,
               .repeats = rounds_wanted(wanted->repeats)};
    WP_TRY(put_chain(s, s->base, &timed, false, 1, &a.first_timed, err));
    WP_TRY(put_chain(s, s->base + stride * wanted->loads_timed, &other, false, 2, &a.first_other,
                     err));
    for (unsigned i = 0; i < TRIES && (i == 0 || a.is_disturbed); i++) {
        a.turn = 0;
        a.is_disturbed = false;
        WP_TRY(hold(s, wanted, &a, err));
    }
    for (uint32_t r = 0; r < a.repeats && s->listener.contested != NULL; r++)
        s->listener.contested(s->listener.object, wanted, r, a.cycles[r]);
    wpi_rounds_sum_up(a.cycles, a.repeats, wanted->loads_timed, 0, out);
    return WP_STATUS_OK;
}

/* ---- beginning and end ---- */

/* "always [madvise] never" */
static bool has_huge_pages(void) {
    char *text = NULL;
    size_t bytes = 0;
    if (wpi_file_read("/sys/kernel/mm/transparent_hugepage/enabled", &text, &bytes, NULL) !=
        WP_STATUS_OK)
        return false;
    const bool is_off = strstr(text, "[never]") != NULL;
    wpi_free(text);
    return !is_off;
}

static wp_status map_memory(wpi_cpu_sampler *s, uint64_t bytes, wp_error *err) {
    const bool is_huge = s->pages == WPI_CPU_PAGES_HUGE;
    s->mapping_bytes = bytes + ALIGN_BYTES;
    s->mapping = mmap(NULL, s->mapping_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->mapping == MAP_FAILED)
        return WP_FAIL(err, NOMEM, "%" PRIu64 " MiB of address space to probe", bytes >> 20);
    if (madvise(s->mapping, s->mapping_bytes, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0 &&
        is_huge)
        return WP_FAIL(err, UNSUPPORTED, "the system has no free huge pages");
    s->base = (char *)s->mapping + (-(uint64_t)(uintptr_t)s->mapping & (ALIGN_BYTES - 1));
    s->sampler.memory_bytes = bytes;
    return WP_STATUS_OK;
}

static wp_status find_processors(wpi_cpu_sampler *s, wp_error *err) {
    CPU_ZERO(&s->allowed);
    if (sched_getaffinity(0, sizeof s->allowed, &s->allowed) != 0)
        return WP_FAIL(err, UNSUPPORTED, "the system does not list its processors");
    for (unsigned p = 0; p < CPU_SETSIZE && s->sampler.sm_count < PROCESSORS_MAX; p++)
        if (CPU_ISSET(p, &s->allowed)) s->processors[s->sampler.sm_count++] = p;
    return WP_STATUS_OK;
}

static void measure_overhead(wpi_cpu_sampler *s) {
    s->overhead_ticks = 1e9;
    for (int i = 0; i < 100; i++) {
        const uint64_t start = cycles_now();
        const double taken = (double)(cycles_now() - start);
        if (taken < s->overhead_ticks) s->overhead_ticks = taken;
    }
}

wp_status wpi_cpu_sampler_create(wpi_cpu_pages pages, uint64_t memory_bytes,
                                 const wpi_round_listener *listener, wpi_cpu_sampler **out,
                                 wp_error *err) {
    *out = NULL;
    if (!HAS_CYCLES)
        return WP_FAIL(err, UNSUPPORTED, "the cycle counter of this processor is not supported");
    if (pages == WPI_CPU_PAGES_HUGE && !has_huge_pages())
        return WP_FAIL(err, UNSUPPORTED,
                       "huge pages are disabled "
                       "(/sys/kernel/mm/transparent_hugepage/enabled)");
    wpi_cpu_sampler *s = wpi_calloc(1, sizeof *s);
    if (s == NULL) return WP_FAIL(err, NOMEM, "a probe");
    s->pages = pages;
    s->mapping = MAP_FAILED;
    s->sampler = (wpi_sampler){.object = s, .chase = chase, .contest = contest};
    if (listener != NULL) s->listener = *listener;
    wp_status status = find_processors(s, err);
    if (status == WP_STATUS_OK) status = map_memory(s, memory_bytes / HUGE_BYTES * HUGE_BYTES, err);
    if (status == WP_STATUS_OK) {
        measure_overhead(s);
        *out = s;
    } else {
        wpi_cpu_sampler_destroy(s);
    }
    return status;
}

void wpi_cpu_sampler_destroy(wpi_cpu_sampler *s) {
    if (s == NULL) return;
    if (s->is_kept) (void)sched_setaffinity(0, sizeof s->allowed, &s->allowed);
    if (s->mapping != MAP_FAILED) (void)munmap(s->mapping, s->mapping_bytes);
    wpi_free(s->order);
    wpi_free(s);
}

const wpi_sampler *wpi_cpu_sampler_get(wpi_cpu_sampler *s) {
    return &s->sampler;
}

unsigned wpi_cpu_sampler_processor(const wpi_cpu_sampler *s, uint32_t sm) {
    return s->processors[sm];
}
