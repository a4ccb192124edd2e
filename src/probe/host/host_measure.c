/* SPDX-License-Identifier: Apache-2.0 */
/* Each measurement is repeated, and its repetitions are all kept: their median is the result, their
 * range its spread. Memory has the system's ordinary pages, as in programs, so random reads include
 * TLB misses. */
#define _GNU_SOURCE /* processor sets */
#include "probe/host/host_measure.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "probe/measure/conditions.h"
#include "warpage/device.h"

#define LINE_BYTES 64u
#define LINE_WORDS (LINE_BYTES / sizeof(uint64_t))
#define MEMORY_DEFAULT ((uint64_t)1 << 30)
#define CHASE_BYTES_MAX                                                                            \
    ((uint64_t)256 << 20) /* of dependent reads, whose order takes time to make */
#define CHASE_READS ((uint64_t)1 << 20)
#define RANDOM_READS ((uint64_t)4 << 20)
#define THREADS_MAX 512u
#define SEED 88172645463325252u /* of the order of random reads */
#define ROUND_TRIPS 20000u
#define CALLS 256u /* consecutive; fewer than a queue holds before the caller waits */
#define CALL_BYTES 64u

/* Keeps the compiler from removing the loops. */
static volatile uint64_t kept;

typedef struct bench {
    const wpi_host_request *request;
    wpi_host_result *result;
    uint64_t *memory;
    uint64_t words; /* a multiple of a line's */
    uint32_t threads;
    uint32_t processors[THREADS_MAX];
    uint32_t done; /* measurements, for the progress */
} bench;

/* ---- the machine ----------------------------------------------------------------------------- */

static void find_processors(bench *b) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    (void)sched_getaffinity(0, sizeof allowed, &allowed);
    for (uint32_t p = 0; p < CPU_SETSIZE && b->threads < THREADS_MAX; p++)
        if (CPU_ISSET(p, &allowed)) b->processors[b->threads++] = p;
    if (b->threads == 0) b->processors[b->threads++] = 0;
}

/* The first processor of a core: "0,4" or "0-1"; itself, if unknown. */
static uint32_t first_sibling(uint32_t processor) {
    char path[128], *text = NULL;
    size_t bytes = 0;
    (void)snprintf(path, sizeof path,
                   "/sys/devices/system/cpu/cpu%" PRIu32 "/topology/thread_siblings_list",
                   processor);
    if (wpi_file_read(path, &text, &bytes, NULL) != WP_STATUS_OK) return processor;
    const uint32_t first = (uint32_t)strtoul(text, NULL, 10);
    wpi_free(text);
    return first;
}

static uint32_t count_cores(const bench *b) {
    uint32_t cores = 0;
    for (uint32_t i = 0; i < b->threads; i++) {
        bool is_new = true;
        for (uint32_t k = 0; k < i && is_new; k++)
            is_new = first_sibling(b->processors[k]) != first_sibling(b->processors[i]);
        cores += is_new;
    }
    return cores;
}

static uint64_t free_bytes(void) {
    struct sysinfo info;
    if (sysinfo(&info) != 0) return 2 * MEMORY_DEFAULT;
    return ((uint64_t)info.freeram + info.bufferram) * info.mem_unit;
}

/* The conditions of the TLB probe; results here are times, not cycles. */
static void add_conditions(wpi_host_result *r) {
    wpi_strings all = {0};
    wpi_conditions_of_cpu(&all);
    for (size_t i = 0; i + 1 < all.count; i += 2) {
        if (strcmp(all.items[i], "cycles") == 0) continue;
        wpi_strings_add(&r->conditions, all.items[i]);
        wpi_strings_add(&r->conditions, all.items[i + 1]);
        if (strcmp(all.items[i], "processor") == 0)
            (void)snprintf(r->name, sizeof r->name, "%s", all.items[i + 1]);
    }
    wpi_strings_deinit(&all);
}

static void describe(bench *b) {
    wpi_host_result *r = b->result;
    char bytes[32];
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    r->threads = b->threads;
    r->cores = count_cores(b);
    r->repeats = b->request->repeats;
    r->memory_bytes = b->words * sizeof(uint64_t);
    r->cache_bytes = cache > 0 ? (uint64_t)cache : 0;
    (void)snprintf(r->call_device, sizeof r->call_device, "%s", b->request->call_device);
    (void)snprintf(r->name, sizeof r->name, "This machine's processor");
    add_conditions(r);
    wpi_strings_add(&r->conditions, "memory");
    wpi_strings_addf(&r->conditions, "%s", wpi_format_bytes(r->memory_bytes, bytes));
    if (r->cache_bytes == 0 || r->memory_bytes >= 4 * r->cache_bytes) return;
    wpi_strings_add(&r->conditions, "last cache");
    wpi_strings_addf(&r->conditions, "%s: too large for so little memory, which it holds in part",
                     wpi_format_bytes(r->cache_bytes, bytes));
}

/* ---- loops ----------------------------------------------------------------------------------- */

typedef struct part {
    const bench *bench;
    uint64_t *words;
    uint64_t count;
    uint64_t seed;
    uint32_t processor;
    uint64_t sum;
    pthread_barrier_t *start;
    uint64_t from_ns, to_ns;
} part;

static void read_in_order(part *p) {
    uint64_t sums[8] = {0};
    for (uint64_t i = 0; i < p->count; i += 8)
        for (uint64_t k = 0; k < 8; k++)
            sums[k] += p->words[i + k];
    for (uint64_t k = 0; k < 8; k++)
        p->sum += sums[k];
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The addresses do not depend on the values read. */
static void read_at_random(part *p) {
    const uint64_t lines = p->count / LINE_WORDS;
    uint64_t state = p->seed, sum = 0;
    for (uint64_t i = 0; i < RANDOM_READS; i++)
        sum += p->words[((next_random(&state) >> 32) * lines >> 32) * LINE_WORDS];
    p->sum += sum;
}

static void *run_part(void *object) {
    part *p = ((void **)object)[0];
    void (*loop)(part *) = *(void (**)(part *))((void **)object)[1];
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(p->processor, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    (void)pthread_barrier_wait(p->start);
    p->from_ns = wpi_clock_ns();
    loop(p);
    p->to_ns = wpi_clock_ns();
    return NULL;
}

/* From the first thread's begin to the last one's end, in nanoseconds. */
static double span_ns(const part *parts, uint32_t threads) {
    uint64_t from_ns = parts[0].from_ns, to_ns = parts[0].to_ns;
    for (uint32_t i = 1; i < threads; i++) {
        if (parts[i].from_ns < from_ns) from_ns = parts[i].from_ns;
        if (parts[i].to_ns > to_ns) to_ns = parts[i].to_ns;
    }
    return (double)(to_ns - from_ns);
}

/* Nanoseconds that the loop takes on `threads` threads, each on its part of the memory. */
static wp_status time_loop(const bench *b, uint32_t threads, void (*loop)(part *), double *ns,
                           wp_error *err) {
    static part parts[THREADS_MAX];
    static void *arguments[THREADS_MAX][2];
    pthread_t ids[THREADS_MAX];
    pthread_barrier_t start;
    uint32_t started = 0;
    const uint64_t count = b->words / threads / LINE_WORDS * LINE_WORDS;
    if (threads == 1) {
        parts[0] = (part){.bench = b, .words = b->memory, .count = count, .seed = SEED};
        const uint64_t from_ns = wpi_clock_ns();
        loop(&parts[0]);
        *ns = (double)(wpi_clock_ns() - from_ns);
        kept = parts[0].sum;
        return WP_STATUS_OK;
    }
    if (pthread_barrier_init(&start, NULL, threads + 1) != 0)
        return WP_FAIL(err, NOMEM, "a barrier of %" PRIu32 " threads", threads + 1);
    for (; started < threads; started++) {
        parts[started] = (part){.bench = b,
                                .words = b->memory + started * count,
                                .count = count,
                                .seed = SEED + started,
                                .processor = b->processors[started],
                                .start = &start};
        arguments[started][0] = &parts[started];
        arguments[started][1] = &loop;
        if (pthread_create(&ids[started], NULL, run_part, arguments[started]) != 0) break;
    }
    if (started != threads) { /* the barrier will not open: the process ends with the command */
        for (uint32_t i = 0; i < started; i++)
            (void)pthread_cancel(ids[i]);
        return WP_FAIL(err, NOMEM, "%" PRIu32 " of %" PRIu32 " threads could be started", started,
                       threads);
    }
    (void)pthread_barrier_wait(&start);
    for (uint32_t i = 0; i < threads; i++) {
        (void)pthread_join(ids[i], NULL);
        kept += parts[i].sum;
    }
    pthread_barrier_destroy(&start);
    *ns = span_ns(parts, threads);
    return WP_STATUS_OK;
}

/* ---- measurements ---------------------------------------------------------------------------- */

static void show(bench *b, const char *what) {
    const uint32_t done = b->done++;
    if (b->request->progress != NULL)
        b->request->progress(b->request->object, what, done, WPI_HOST_VALUE_COUNT - 1);
}

static void keep(bench *b, wpi_host_value value, double *samples) {
    b->result->values[value] = wpi_host_measure_of(samples, b->request->repeats);
}

static wp_status measure_sequential(bench *b, uint32_t threads, wpi_host_value value,
                                    wp_error *err) {
    double samples[WPI_HOST_REPEATS_MAX];
    const uint64_t bytes = b->words / threads / LINE_WORDS * LINE_BYTES * threads;
    show(b, threads == 1 ? "sequential reads of one thread" : "sequential reads of all threads");
    for (uint32_t i = 0; i < b->request->repeats; i++) {
        double ns;
        WP_TRY(time_loop(b, threads, read_in_order, &ns, err));
        samples[i] = (double)bytes / ns * 1e9;
    }
    keep(b, value, samples);
    return WP_STATUS_OK;
}

static wp_status measure_random(bench *b, uint32_t threads, wpi_host_value value, wp_error *err) {
    double samples[WPI_HOST_REPEATS_MAX];
    show(b, threads == 1 ? "random reads of one thread" : "random reads of all threads");
    for (uint32_t i = 0; i < b->request->repeats; i++) {
        double ns;
        WP_TRY(time_loop(b, threads, read_at_random, &ns, err));
        samples[i] = (double)RANDOM_READS * threads / ns * 1e9;
    }
    keep(b, value, samples);
    return WP_STATUS_OK;
}

/* One cycle through all lines (Sattolo's shuffle); each line has the number of the next. */
static wp_status make_cycle(bench *b, uint64_t lines, wp_error *err) {
    uint32_t *order = wpi_malloc(lines * sizeof *order);
    uint64_t state = 2463534242u;
    if (order == NULL) return WP_FAIL(err, NOMEM, "an order of %" PRIu64 " reads", lines);
    for (uint64_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = lines - 1; i > 0; i--) {
        const uint64_t k = next_random(&state) % i;
        const uint32_t other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
    for (uint64_t i = 0; i < lines; i++)
        b->memory[i * LINE_WORDS] = order[i];
    wpi_free(order);
    return WP_STATUS_OK;
}

static wp_status measure_latency(bench *b, wp_error *err) {
    double samples[WPI_HOST_REPEATS_MAX];
    const uint64_t bytes = b->words * sizeof(uint64_t);
    const uint64_t lines = (bytes < CHASE_BYTES_MAX ? bytes : CHASE_BYTES_MAX) / LINE_BYTES;
    show(b, "latency of a random read");
    WP_TRY(make_cycle(b, lines, err));
    uint64_t at = 0;
    for (uint32_t i = 0; i < b->request->repeats; i++) {
        const uint64_t from_ns = wpi_clock_ns();
        for (uint64_t k = 0; k < CHASE_READS; k++)
            at = b->memory[at * LINE_WORDS];
        samples[i] = (double)(wpi_clock_ns() - from_ns) / (double)CHASE_READS;
    }
    kept = at;
    keep(b, WPI_HOST_RANDOM_LATENCY, samples);
    return WP_STATUS_OK;
}

/* Latency over the time that an independent read takes. */
static void derive_in_flight(bench *b) {
    const wpi_host_measure *latency = &b->result->values[WPI_HOST_RANDOM_LATENCY];
    const wpi_host_measure *rate = &b->result->values[WPI_HOST_RANDOM_ONE];
    b->result->values[WPI_HOST_RANDOM_IN_FLIGHT] =
        (wpi_host_measure){.is_known = true,
                           .median = latency->median * rate->median / 1e9,
                           .least = latency->least * rate->least / 1e9,
                           .most = latency->most * rate->most / 1e9};
}

/* Copies from one half of the memory to the other, at ever new places, so that nothing is in a
 * cache. */
static void measure_copy(bench *b, uint64_t bytes, wpi_host_value value) {
    double samples[WPI_HOST_REPEATS_MAX];
    char *from = (char *)b->memory;
    const uint64_t half_bytes = b->words / 2 * sizeof(uint64_t);
    const uint64_t stride_bytes = bytes < 4096 ? 4096 : bytes;
    uint64_t copies = half_bytes / stride_bytes;
    show(b, "memcpy");
    if (copies == 0) {
        b->result->values[value] = (wpi_host_measure){0};
        (void)snprintf(b->result->values[value].reason, sizeof b->result->values[value].reason,
                       "the memory measured is too small");
        return;
    }
    if (copies > ((uint64_t)1 << 16)) copies = (uint64_t)1 << 16;
    for (uint32_t i = 0; i < b->request->repeats; i++) {
        const uint64_t from_ns = wpi_clock_ns();
        for (uint64_t k = 0; k < copies; k++)
            memcpy(from + half_bytes + k * stride_bytes, from + k * stride_bytes, bytes);
        samples[i] = (double)(wpi_clock_ns() - from_ns) / (double)copies;
    }
    kept = (uint64_t)from[half_bytes];
    keep(b, value, samples);
}

/* ---- another core's word --------------------------------------------------------------------- */

typedef struct table_tennis {
    _Alignas(LINE_BYTES) atomic_uint word;
    _Alignas(LINE_BYTES) uint32_t processor;
} table_tennis;

static void stay_on(uint32_t processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* Answers odd numbers by even ones. */
static void *play(void *object) {
    table_tennis *t = object;
    stay_on(t->processor);
    for (unsigned i = 1; i < 2 * ROUND_TRIPS; i += 2) {
        while (atomic_load_explicit(&t->word, memory_order_acquire) != i)
            ;
        atomic_store_explicit(&t->word, i + 1, memory_order_release);
    }
    return NULL;
}

static wp_status measure_poll(bench *b, wp_error *err) {
    double samples[WPI_HOST_REPEATS_MAX];
    wpi_host_measure *out = &b->result->values[WPI_HOST_POLL];
    static table_tennis table;
    cpu_set_t before;
    show(b, "a word of another core");
    if (b->threads < 2) {
        (void)snprintf(out->reason, sizeof out->reason, "this process may use one processor only");
        return WP_STATUS_OK;
    }
    CPU_ZERO(&before);
    (void)sched_getaffinity(0, sizeof before, &before);
    stay_on(b->processors[0]);
    for (uint32_t i = 0; i < b->request->repeats; i++) {
        pthread_t other;
        atomic_store(&table.word, 0);
        table.processor = b->processors[b->threads / 2];
        if (pthread_create(&other, NULL, play, &table) != 0)
            return WP_FAIL(err, NOMEM, "a second thread");
        uint64_t from_ns = 0;
        for (unsigned k = 1; k < 2 * ROUND_TRIPS; k += 2) {
            atomic_store_explicit(&table.word, k, memory_order_release);
            while (atomic_load_explicit(&table.word, memory_order_acquire) != k + 1)
                ;
            if (k == 1) from_ns = wpi_clock_ns(); /* the thread has started */
        }
        samples[i] = (double)(wpi_clock_ns() - from_ns) / (2 * (ROUND_TRIPS - 1));
        (void)pthread_join(other, NULL);
    }
    (void)sched_setaffinity(0, sizeof before, &before);
    keep(b, WPI_HOST_POLL, samples);
    return WP_STATUS_OK;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static wp_status time_calls(bench *b, wp_device *device, void *host, void *memory, wp_error *err) {
    double samples[WPI_HOST_REPEATS_MAX];
    wp_queue *queue = wp_device_default_queue(device);
    for (uint32_t i = 0; i < b->request->repeats; i++) {
        const uint64_t from_ns = wpi_clock_ns();
        for (uint32_t k = 0; k < CALLS; k++)
            WP_TRY(wp_queue_copy(queue, memory, host, CALL_BYTES, err));
        samples[i] = (double)(wpi_clock_ns() - from_ns) / CALLS;
        WP_TRY(wp_queue_wait(queue, err));
    }
    keep(b, WPI_HOST_CALL, samples);
    return WP_STATUS_OK;
}

static wp_status measure_call(bench *b, wp_error *err) {
    wp_device *device = NULL;
    void *host = NULL, *memory = NULL;
    show(b, "calls");
    WP_TRY(wp_device_open(b->request->call_device, &device, err));
    wp_status status = wp_memory_alloc(device, WP_MEMORY_PINNED, CALL_BYTES, 0, &host, err);
    if (status == WP_STATUS_OK)
        status = wp_memory_alloc(device, WP_MEMORY_DEVICE, CALL_BYTES, 0, &memory, err);
    if (status == WP_STATUS_OK) status = time_calls(b, device, host, memory, err);
    const wp_status freed = wp_memory_free(device, memory, NULL) == WP_STATUS_OK
                                ? wp_memory_free(device, host, NULL)
                                : WP_STATUS_DEVICE;
    wp_device_close(device);
    if (status == WP_STATUS_OK && freed != WP_STATUS_OK)
        return WP_FAIL(err, DEVICE, "memory of device %s was not freed", b->request->call_device);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static wp_status allocate(bench *b, wp_error *err) {
    const uint64_t half_bytes = free_bytes() / 2;
    uint64_t bytes = b->request->memory_bytes;
    if (bytes == 0) bytes = MEMORY_DEFAULT < half_bytes ? MEMORY_DEFAULT : half_bytes;
    b->words = bytes / LINE_BYTES * LINE_WORDS;
    if (b->words == 0 || b->words / b->threads < LINE_WORDS)
        return WP_FAIL(err, INVALID, "less memory than a cache line for each thread");
    b->memory = wpi_malloc(b->words * sizeof(uint64_t));
    if (b->memory == NULL) return WP_FAIL(err, NOMEM, "%" PRIu64 " bytes to measure with", bytes);
    memset(b->memory, 1, b->words * sizeof(uint64_t));
    return WP_STATUS_OK;
}

static wp_status measure(bench *b, wp_error *err) {
    WP_TRY(measure_call(b, err)); /* first: a missing device is reported at once */
    WP_TRY(measure_sequential(b, 1, WPI_HOST_CORE_BANDWIDTH, err));
    WP_TRY(measure_sequential(b, b->threads, WPI_HOST_BANDWIDTH, err));
    WP_TRY(measure_random(b, 1, WPI_HOST_RANDOM_ONE, err));
    WP_TRY(measure_random(b, b->threads, WPI_HOST_RANDOM_ALL, err));
    WP_TRY(measure_latency(b, err));
    derive_in_flight(b);
    measure_copy(b, 64, WPI_HOST_COPY_64);
    measure_copy(b, 4096, WPI_HOST_COPY_4K);
    measure_copy(b, 256 << 10, WPI_HOST_COPY_256K);
    measure_copy(b, 16 << 20, WPI_HOST_COPY_16M);
    return measure_poll(b, err);
}

wp_status wpi_host_measure_all(const wpi_host_request *request, wpi_host_result *out,
                               wp_error *err) {
    bench b = {.request = request, .result = out};
    *out = (wpi_host_result){0};
    find_processors(&b);
    WP_TRY(allocate(&b, err));
    describe(&b);
    const wp_status status = measure(&b, err);
    wpi_free(b.memory);
    return status;
}
