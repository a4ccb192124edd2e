/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page-view count with less memory than its table needs (Table 6.3): by SePo, with demand paging as
 * the thesis computes it, and with simulated demand paging.
 *
 *     paging sepo FACTOR MEMORY-MIB     kernels; MEMORY-MIB / FACTOR of heap
 *     paging managed FACTOR             kernels; a heap in managed memory; paging.oversubscribe is
 *                                       the ratio of the table's 1200 MiB to the memory
 *     paging bound FACTOR PAGE-KIB MEMORY-MIB…   replacements of pages of that size, by LRU, times the
 *                                       size, over the link's 12 GB/s
 *
 * Everything is 1/FACTOR of its size, except pages, and times are multiplied by FACTOR. The log has 40
 * million lines of 145 bytes (5.8 GB, the largest of Table 6.1). Its table takes 0.96 of 1200 MiB. URLs
 * have 24 to 56 bytes. A line has a new URL with a fixed probability, else that of a line before it,
 * drawn at random: few URLs are popular.
 *
 * The bound is of accesses to the table's entries in the order of lines: all entries of the chain that
 * a search goes through. It counts pages that come in after memory was full.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/table.h>

#define THREADS 256
#define LINES 40000000.0
#define LINE_BYTES 145u
#define URL_BYTES_MIN 24u
#define URL_BYTES_MAX 56u
#define URL_BYTES_PADDED 43.6 /* on average, padded to words */
#define TABLE_BYTES (0.96 * 1200.0 * 1048576.0)
#define ENTRY_BYTES (sizeof(wp_table_entry) + 8.0 + URL_BYTES_PADDED)
#define MEMORY_MIB 1200.0
#define LINK_BYTES_PER_S 12e9
#define CHUNKS 16u
#define GROUPS 64u

static wp_error err;
static double factor;

static void need(bool is_good, const char *what) {
    if (is_good) return;
    (void)fprintf(stderr, "paging: %s failed. %s\n", what, err.message);
    exit(1);
}

static void *allocate(uint64_t count, size_t bytes) {
    void *memory = calloc(count, bytes);
    need(memory != NULL, "memory");
    return memory;
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* ---- the log --------------------------------------------------------------------------------- */

typedef struct log_of_lines {
    uint64_t line_count, url_count;
    uint32_t *urls; /* of each line */
} log_of_lines;

static log_of_lines make_log(void) {
    log_of_lines log;
    log.line_count = (uint64_t)(LINES / factor);
    log.url_count = 0;
    log.urls = (uint32_t *)allocate(log.line_count, sizeof *log.urls);
    const double urls = TABLE_BYTES / factor / ENTRY_BYTES;
    const double is_new = urls / (double)log.line_count;
    for (uint64_t i = 0; i < log.line_count; i++) {
        const uint64_t draw = mix(i + 1);
        log.urls[i] = i == 0 || (double)(draw >> 11) * 0x1p-53 < is_new
                          ? (uint32_t)log.url_count++
                          : log.urls[mix(draw) % i];
    }
    return log;
}

static uint32_t write_url(char *to, uint32_t url) {
    const uint64_t draw = mix(url + UINT64_C(77777777777));
    const uint32_t length =
        URL_BYTES_MIN + (uint32_t)(draw % (URL_BYTES_MAX - URL_BYTES_MIN + 1u));
    uint32_t at = (uint32_t)sprintf(to, "http://h%u.example/%x", (uint32_t)(draw >> 32) % 997u, url);
    for (; at < length; at++)
        to[at] = (char)('a' + (draw >> at % 48u) % 26u);
    return at;
}

/* URL, a tab, the rest of the line. */
static void write_line(char *to, uint32_t url, uint64_t line) {
    memset(to, '.', LINE_BYTES);
    const uint32_t length = write_url(to, url);
    to[length] = '\t';
    (void)snprintf(to + length + 1u, LINE_BYTES - length - 1u, "10.%u.%u.%u\tGET\t200\t%u",
                   (uint32_t)(line >> 16) & 255u, (uint32_t)(line >> 8) & 255u,
                   (uint32_t)line & 255u, url % 100000u);
    to[LINE_BYTES - 1u] = '\n';
}

/* A table for the log. Few groups, so that little of the heap is at the ends of their last pages. */
static wp_table_spec spec_of(const log_of_lines *log, wp_table_heap_kind heap_kind,
                             double memory_mib) {
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    spec.organisation = WP_TABLE_COMBINING;
    spec.bucket_count = GROUPS;
    while (spec.bucket_count < log->url_count)
        spec.bucket_count *= 2;
    spec.buckets_per_group = spec.bucket_count / GROUPS;
    spec.heap_bytes = (uint64_t)(memory_mib * 1048576.0 / factor);
    spec.heap_kind = heap_kind;
    return spec;
}

/* ---- counting by kernels --------------------------------------------------------------------- */

typedef struct counter {
    wp_table *table;
    const char *text;
    char *chunks[2];
    cudaStream_t streams[2];
    uint64_t turn;
} counter;

__global__ void count_views(wp_table_view table, wp_units units, const char *text, uint64_t first,
                            uint64_t outer) {
    const uint64_t line = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (line >= outer || wp_units_is_done(&units, line)) return;
    const char *url = text + (line - first) * LINE_BYTES;
    const uint64_t one = 1;
    uint32_t length = 0;
    while (url[length] != '\t')
        length++;
    wp_attempt attempt = wp_attempt_begin(&units, line);
    wp_table_emit(&table, &attempt, url, length, &one, sizeof one);
    wp_attempt_end(&attempt);
}

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *) {
    counter *c = (counter *)object;
    const uint64_t turn = c->turn++ % 2u;
    need(cudaMemcpyAsync(c->chunks[turn], c->text + first * LINE_BYTES, (outer - first) * LINE_BYTES,
                         cudaMemcpyHostToDevice, c->streams[turn]) == cudaSuccess,
         "a copy");
    count_views<<<(unsigned)((outer - first + THREADS - 1) / THREADS), THREADS, 0,
                  c->streams[turn]>>>(wp_table_get_view(c->table), *units, c->chunks[turn], first,
                                      outer);
    need(cudaGetLastError() == cudaSuccess, "a launch");
    return WP_STATUS_OK;
}

static void check(const wp_table *table, const log_of_lines *log) {
    wp_table_cursor cursor;
    wp_table_pair pair;
    uint64_t sum = 0;
    memset(&cursor, 0, sizeof cursor);
    while (wp_table_next(table, &cursor, &pair))
        sum += *(const uint64_t *)pair.value;
    need(sum == log->line_count && wp_table_key_count(table) == log->url_count, "the check");
}

static void count(wp_table_heap_kind heap_kind, double memory_mib) {
    const log_of_lines log = make_log();
    const uint64_t chunk_lines = (log.line_count / CHUNKS + 32u) / 32u * 32u;
    const wp_postpone_spec units = {log.line_count, chunk_lines, 1, 0};
    counter c;
    wp_postpone *postpone;
    wp_postpone_facts facts;
    wp_table_report report;
    cudaEvent_t start, stop;
    char *text;
    float time_ms = 0;
    memset(&c, 0, sizeof c);
    need(cudaMallocHost((void **)&text, log.line_count * LINE_BYTES) == cudaSuccess, "memory");
    for (uint64_t i = 0; i < log.line_count; i++)
        write_line(text + i * LINE_BYTES, log.urls[i], i);
    c.text = text;
    for (int i = 0; i < 2; i++)
        need(cudaMalloc((void **)&c.chunks[i], chunk_lines * LINE_BYTES) == cudaSuccess &&
                 cudaStreamCreate(&c.streams[i]) == cudaSuccess,
             "device memory");
    const wp_table_spec spec = spec_of(&log, heap_kind, memory_mib);
    need(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err) == WP_STATUS_OK, "units");
    need(wp_table_create(wp_cudart_device(), &spec, &c.table, &err) == WP_STATUS_OK, "the table");
    const wp_requester requester = {&c, process, NULL};
    need(cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess &&
             cudaDeviceSynchronize() == cudaSuccess && cudaEventRecord(start, 0) == cudaSuccess,
         "a timer");
    need(wp_table_run(c.table, postpone, &requester, &facts, &err) == WP_STATUS_OK, "the run");
    need(cudaEventRecord(stop, 0) == cudaSuccess && cudaEventSynchronize(stop) == cudaSuccess &&
             cudaEventElapsedTime(&time_ms, start, stop) == cudaSuccess,
         "a timer");
    check(c.table, &log);
    wp_table_get_report(c.table, &report);
    printf("time_s %.6f\n", 1e-3 * (double)time_ms * factor);
    printf("passes %llu\n", (unsigned long long)facts.pass);
    printf("table_mib %.3f\n", (double)report.table_bytes * factor / 1048576.0);
    wp_table_close(c.table);
    wp_postpone_destroy(postpone);
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* A memory for pages. Those that are resident are a ring from the one that was used last to the one
 * that was not used for longest; 0 is the ring's start, and page p is p + 1. */
typedef struct memory {
    uint64_t capacity, resident, replaced;
    uint32_t *next, *previous; /* 0: not resident */
} memory;

static __device__ void take_out(memory *m, uint32_t page) {
    m->next[m->previous[page]] = m->next[page];
    m->previous[m->next[page]] = m->previous[page];
}

static __device__ void touch(memory *m, uint64_t address, uint64_t page_bytes) {
    const uint32_t page = (uint32_t)(address / page_bytes) + 1u;
    if (m->next[0] == page) return;
    if (m->next[page] != 0 || m->previous[page] != 0 || m->previous[0] == page) {
        take_out(m, page);
    } else if (m->resident < m->capacity) {
        m->resident++;
    } else {
        const uint32_t victim = m->previous[0];
        take_out(m, victim);
        m->next[victim] = m->previous[victim] = 0;
        m->replaced++;
    }
    m->next[page] = m->next[0];
    m->previous[page] = 0;
    m->previous[m->next[0]] = page;
    m->next[0] = page;
}

static __device__ void touch_all(memory *memories, uint32_t count, uint64_t address,
                                 uint64_t page_bytes) {
    for (uint32_t i = 0; i < count; i++)
        touch(&memories[i], address, page_bytes);
}

/* One thread inserts line after line, and notes what each insert touches. */
__global__ void replay(wp_table_view table, wp_units units, const char *urls,
                       const uint32_t *url_bytes, const uint32_t *url_of_line, uint64_t line_count,
                       memory *memories, uint32_t memory_count, uint64_t page_bytes) {
    uint32_t is_good = 1;
    for (uint64_t line = 0; line < line_count; line++) {
        const uint32_t number = url_of_line[line], bytes = url_bytes[number];
        const char *url = urls + (uint64_t)number * (URL_BYTES_MAX + 1u);
        const uint64_t hash = wp_table_hash(url, bytes), one = 1;
        const uint64_t *bucket = &table.buckets[hash & table.bucket_mask];
        bool is_found = false;
        uint64_t place = wp_table_bucket_place(*bucket);
        while (place != 0 && !is_found) {
            const wp_table_entry *entry = wp_table_entry_at(&table, place);
            touch_all(memories, memory_count, place - table.base, page_bytes);
            is_found = wp_table_has_key(&table, entry, (uint32_t)(hash >> 32), url, bytes);
            place = entry->next;
        }
        if (wp_table_insert(&table, url, bytes, &one, sizeof one) != WP_DONE) is_good = 0;
        if (!is_found)
            touch_all(memories, memory_count, wp_table_bucket_place(*bucket) - table.base,
                      page_bytes);
    }
    wp_attempt attempt = wp_attempt_begin(&units, 0);
    if (wp_attempt_wants(&attempt)) wp_attempt_note(&attempt, is_good ? WP_DONE : WP_POSTPONE);
    wp_attempt_end(&attempt);
}

typedef struct replayer {
    wp_table *table;
    const log_of_lines *log;
    char *urls;
    uint32_t *url_bytes;
    memory *memories;
    uint32_t memory_count;
    uint64_t page_bytes;
} replayer;

static wp_status replay_log(void *object, const wp_units *units, uint64_t, uint64_t, wp_error *) {
    const replayer *r = (const replayer *)object;
    replay<<<1, 1>>>(wp_table_get_view(r->table), *units, r->urls, r->url_bytes, r->log->urls,
                     r->log->line_count, r->memories, r->memory_count, r->page_bytes);
    need(cudaGetLastError() == cudaSuccess, "a launch");
    return WP_STATUS_OK;
}

/* On the CPU device, which reads and writes the host's memory. */
static void bound(double page_kib, uint32_t memory_count, char **memory_mib) {
    const log_of_lines log = make_log();
    const wp_postpone_spec units = {1, 0, 1, 0};
    replayer r;
    wp_postpone *postpone;
    const wp_table_spec spec = spec_of(&log, WP_TABLE_HEAP_MEMORY, MEMORY_MIB);
    memset(&r, 0, sizeof r);
    r.log = &log;
    r.page_bytes = (uint64_t)(page_kib * 1024.0);
    r.memory_count = memory_count;
    r.memories = (memory *)allocate(memory_count, sizeof *r.memories);
    r.urls = (char *)allocate(log.url_count, URL_BYTES_MAX + 1u);
    r.url_bytes = (uint32_t *)allocate(log.url_count, sizeof *r.url_bytes);
    for (uint64_t i = 0; i < log.url_count; i++)
        r.url_bytes[i] = write_url(r.urls + i * (URL_BYTES_MAX + 1u), (uint32_t)i);
    const uint64_t pages = spec.heap_bytes / r.page_bytes + 2;
    for (uint32_t i = 0; i < memory_count; i++) {
        memory *m = &r.memories[i];
        m->capacity =
            (uint64_t)(atof(memory_mib[i]) * 1048576.0 / factor / (double)r.page_bytes);
        m->next = (uint32_t *)allocate(pages, sizeof *m->next);
        m->previous = (uint32_t *)allocate(pages, sizeof *m->previous);
    }
    need(wp_table_create(wp_cudart_device(), &spec, &r.table, &err) == WP_STATUS_OK, "the table");
    need(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err) == WP_STATUS_OK, "units");
    const wp_requester requester = {&r, replay_log, NULL};
    need(wp_table_run(r.table, postpone, &requester, NULL, &err) == WP_STATUS_OK, "the run");
    check(r.table, &log);
    for (uint32_t i = 0; i < memory_count; i++) {
        const double replaced = (double)r.memories[i].replaced * factor;
        printf("replacements@%s %.0f\n", memory_mib[i], replaced);
        printf("time_s@%s %.6f\n", memory_mib[i], replaced * (double)r.page_bytes / LINK_BYTES_PER_S);
    }
}

int main(int argc, char **argv) {
    factor = argc > 2 ? atof(argv[2]) : 0;
    if (factor > 0 && argc == 4 && strcmp(argv[1], "sepo") == 0) {
        count(WP_TABLE_HEAP_SEPO, atof(argv[3]));
    } else if (factor > 0 && argc == 3 && strcmp(argv[1], "managed") == 0) {
        count(WP_TABLE_HEAP_MANAGED, MEMORY_MIB);
    } else if (factor > 0 && argc > 4 && strcmp(argv[1], "bound") == 0) {
        bound(atof(argv[3]), (uint32_t)(argc - 4), argv + 4);
    } else {
        (void)fprintf(stderr, "usage: paging sepo FACTOR MEMORY-MIB, paging managed FACTOR, or paging "
                              "bound FACTOR PAGE-KIB MEMORY-MIB...\n");
        return 2;
    }
    return 0;
}
