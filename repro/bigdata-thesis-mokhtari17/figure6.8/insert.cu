/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The insert rate of a hash table larger than device memory (Figure 6.8).
 *
 *     insert basic|multi-valued|combining KEY-BYTES 8|64 HEAP-KIB PAGE-BYTES TIMES DUPLICATES
 *
 * Random pairs lie in page-locked host memory. They are copied to the device in chunks, two of which
 * take turns, and inserted, one by a thread. Each key occurs DUPLICATES times. There are as many
 * pairs as take 0.85 * TIMES of the heap in this organisation, ends of pages that are too short for an
 * entry included: "slightly less than" TIMES the memory.
 * The time begins before the first chunk is copied and ends when the table is in host memory. Values
 * of 8 bytes are combined by the built-in sum, of 64 bytes by a callback that adds eight words.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/table.h>

#define THREADS 256
#define CHUNK_PAIRS ((uint64_t)32768)
#define FILL 0.85
#define WORDS 8u /* of a long value */

typedef struct inserter {
    wp_table *table;
    uint32_t key_bytes, value_bytes;
    const char *pairs; /* key, value, key, value, … */
    uint64_t pair_count;
    char *chunks[2];
    cudaStream_t streams[2];
    uint64_t turn;
} inserter;

static wp_error err;

static void need(bool is_good, const char *what) {
    if (is_good) return;
    (void)fprintf(stderr, "insert: %s failed. %s\n", what, err.message);
    exit(1);
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Bytes of an entry with its share of what is left at the end of a page. */
static double share_of_page(const wp_table_spec *spec, uint64_t entry_bytes) {
    return (double)spec->page_bytes / (double)(spec->page_bytes / entry_bytes);
}

/* Bytes of the heap for a key and its values. */
static double bytes_per_key(const wp_table_spec *spec, const inserter *in, uint32_t duplicates) {
    const uint64_t key = sizeof(wp_table_entry) + in->key_bytes;
    if (spec->organisation == WP_TABLE_BASIC)
        return duplicates * share_of_page(spec, key + in->value_bytes);
    if (spec->organisation == WP_TABLE_COMBINING)
        return share_of_page(spec, key + in->value_bytes);
    return share_of_page(spec, key + 8u) +
           duplicates * share_of_page(spec, sizeof(wp_table_value) + in->value_bytes);
}

/* The key of a number: its words are drawn from it. */
static void write_pair(const inserter *in, char *to, uint64_t key, uint64_t pair) {
    for (uint32_t i = 0; i < in->key_bytes; i += 8u) {
        const uint64_t word = mix(key * 131u + i + 1u);
        memcpy(to + i, &word, 8);
    }
    for (uint32_t i = 0; i < in->value_bytes; i += 8u) {
        const uint64_t word = mix(pair * 257u + i + 7u);
        memcpy(to + in->key_bytes + i, &word, 8);
    }
}

static void make_pairs(inserter *in, uint64_t key_count, uint32_t duplicates) {
    const uint64_t pair_bytes = in->key_bytes + in->value_bytes;
    uint64_t *keys = (uint64_t *)malloc(in->pair_count * sizeof *keys);
    char *pairs;
    need(keys != NULL, "memory");
    need(cudaMallocHost((void **)&pairs, in->pair_count * pair_bytes) == cudaSuccess, "memory");
    for (uint64_t i = 0; i < in->pair_count; i++)
        keys[i] = i % key_count;
    for (uint64_t i = in->pair_count; i > 1; i--) { /* in random order */
        const uint64_t other = mix(i * 7919u + duplicates) % i, key = keys[i - 1];
        keys[i - 1] = keys[other];
        keys[other] = key;
    }
    for (uint64_t i = 0; i < in->pair_count; i++)
        write_pair(in, pairs + i * pair_bytes, keys[i], i);
    free(keys);
    in->pairs = pairs;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static __device__ void add_words(const void *value, void *existing) {
    const uint64_t *from = (const uint64_t *)value;
    uint64_t *to = (uint64_t *)existing;
    for (uint32_t i = 0; i < WORDS; i++)
        to[i] += from[i];
}

__global__ void insert(wp_table_view table, wp_units units, const char *pairs, uint64_t first,
                       uint64_t outer, uint32_t key_bytes, uint32_t value_bytes) {
    const uint64_t pair = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (pair >= outer || wp_units_is_done(&units, pair)) return;
    const char *key = pairs + (pair - first) * (key_bytes + value_bytes);
    wp_attempt attempt = wp_attempt_begin(&units, pair);
    wp_table_emit(&table, &attempt, key, key_bytes, key + key_bytes, value_bytes);
    wp_attempt_end(&attempt);
}

__global__ void insert_long(wp_table_view table, wp_units units, const char *pairs, uint64_t first,
                            uint64_t outer, uint32_t key_bytes) {
    const uint64_t pair = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (pair >= outer || wp_units_is_done(&units, pair)) return;
    const char *key = pairs + (pair - first) * (key_bytes + 8u * WORDS);
    wp_attempt attempt = wp_attempt_begin(&units, pair);
    wp_table_emit_with(&table, &attempt, key, key_bytes, key + key_bytes, 8u * WORDS, add_words);
    wp_attempt_end(&attempt);
}

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *) {
    inserter *in = (inserter *)object;
    const uint64_t pair_bytes = in->key_bytes + in->value_bytes;
    const uint64_t turn = in->turn++ % 2u;
    const cudaStream_t stream = in->streams[turn];
    const wp_table_view view = wp_table_get_view(in->table);
    const unsigned blocks = (unsigned)((outer - first + THREADS - 1) / THREADS);
    need(cudaMemcpyAsync(in->chunks[turn], in->pairs + first * pair_bytes,
                         (outer - first) * pair_bytes, cudaMemcpyHostToDevice,
                         stream) == cudaSuccess,
         "a copy");
    if (view.combiner == WP_TABLE_CALLBACK)
        insert_long<<<blocks, THREADS, 0, stream>>>(view, *units, in->chunks[turn], first, outer,
                                                   in->key_bytes);
    else
        insert<<<blocks, THREADS, 0, stream>>>(view, *units, in->chunks[turn], first, outer,
                                              in->key_bytes, in->value_bytes);
    need(cudaGetLastError() == cudaSuccess, "a launch");
    return WP_STATUS_OK;
}

/* ---- the check ------------------------------------------------------------------------------- */

static uint64_t sum_of(const void *value, uint32_t value_bytes) {
    uint64_t sum = 0, word;
    for (uint32_t i = 0; i < value_bytes; i += 8u) {
        memcpy(&word, (const char *)value + i, 8);
        sum += word;
    }
    return sum;
}

static void check(const inserter *in, uint64_t key_count, wp_table_organisation organisation) {
    const uint64_t pair_bytes = in->key_bytes + in->value_bytes;
    uint64_t wanted = 0, found = 0;
    wp_table_cursor cursor;
    wp_table_pair pair;
    memset(&cursor, 0, sizeof cursor);
    for (uint64_t i = 0; i < in->pair_count; i++)
        wanted += sum_of(in->pairs + i * pair_bytes + in->key_bytes, in->value_bytes);
    while (wp_table_next(in->table, &cursor, &pair))
        found += sum_of(pair.value, in->value_bytes);
    need(found == wanted, "the check of the values");
    if (organisation != WP_TABLE_BASIC)
        need(wp_table_key_count(in->table) == key_count, "the check of the keys");
}

/* ---- a run ----------------------------------------------------------------------------------- */

static float run(inserter *in, wp_postpone_facts *facts) {
    const wp_postpone_spec units = {in->pair_count, CHUNK_PAIRS, 1, 0};
    const wp_requester requester = {in, process, NULL};
    wp_postpone *postpone;
    cudaEvent_t start, stop;
    float time_ms = 0;
    need(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err) == WP_STATUS_OK, "units");
    need(cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess, "a timer");
    need(cudaDeviceSynchronize() == cudaSuccess && cudaEventRecord(start, 0) == cudaSuccess,
         "a timer");
    need(wp_table_run(in->table, postpone, &requester, facts, &err) == WP_STATUS_OK, "the run");
    need(cudaEventRecord(stop, 0) == cudaSuccess && cudaEventSynchronize(stop) == cudaSuccess &&
             cudaEventElapsedTime(&time_ms, start, stop) == cudaSuccess,
         "a timer");
    wp_postpone_destroy(postpone);
    return time_ms;
}

static const char *const organisations[] = {"basic", "multi-valued", "combining"};

static wp_table_spec parse(char **argv, inserter *in) {
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    int i = 0;
    while (i < WP_TABLE_ORGANISATION_COUNT && strcmp(argv[1], organisations[i]) != 0)
        i++;
    need(i < WP_TABLE_ORGANISATION_COUNT, "reading the organisation");
    spec.organisation = (wp_table_organisation)i;
    in->key_bytes = (uint32_t)atoi(argv[2]);
    in->value_bytes = (uint32_t)atoi(argv[3]);
    need(in->key_bytes % 8 == 0 && in->key_bytes != 0, "reading the key's size");
    need(in->value_bytes == 8u || in->value_bytes == 8u * WORDS, "reading the value's size");
    if (spec.organisation == WP_TABLE_COMBINING && in->value_bytes != 8u)
        spec.combiner = WP_TABLE_CALLBACK;
    spec.heap_bytes = strtoull(argv[4], NULL, 10) << 10;
    spec.page_bytes = strtoull(argv[5], NULL, 10);
    need(spec.page_bytes >= 256u, "reading the page's size");
    return spec;
}

int main(int argc, char **argv) {
    if (argc != 8) {
        (void)fprintf(stderr, "usage: insert ORGANISATION KEY-BYTES VALUE-BYTES HEAP-KIB "
                              "PAGE-BYTES TIMES DUPLICATES\n");
        return 2;
    }
    inserter in;
    wp_postpone_facts facts;
    wp_table_report report;
    memset(&in, 0, sizeof in);
    wp_table_spec spec = parse(argv, &in);
    const uint32_t duplicates = (uint32_t)atoi(argv[7]);
    const uint64_t key_count =
        (uint64_t)(FILL * atof(argv[6]) * (double)spec.heap_bytes /
                   bytes_per_key(&spec, &in, duplicates));
    in.pair_count = key_count * duplicates;
    make_pairs(&in, key_count, duplicates);
    for (int i = 0; i < 2; i++) {
        need(cudaMalloc((void **)&in.chunks[i], CHUNK_PAIRS * (in.key_bytes + in.value_bytes)) ==
                 cudaSuccess,
             "device memory");
        need(cudaStreamCreate(&in.streams[i]) == cudaSuccess, "a stream");
    }
    spec.bucket_count = key_count;
    need(wp_table_create(wp_cudart_device(), &spec, &in.table, &err) == WP_STATUS_OK, "the table");
    const float time_ms = run(&in, &facts);
    check(&in, key_count, spec.organisation);
    wp_table_get_report(in.table, &report);
    printf("pairs %llu\n", (unsigned long long)in.pair_count);
    printf("keys %llu\n", (unsigned long long)key_count);
    printf("passes %llu\n", (unsigned long long)facts.pass);
    printf("time_us %.3f\n", 1e3 * time_ms);
    printf("million_pairs_per_s %.6f\n", 1e-3 * (double)in.pair_count / time_ms);
    printf("table_over_heap %.6f\n", (double)report.table_bytes / (double)report.heap_bytes);
    printf("unused_over_heap %.6f\n", (double)report.unused_bytes / (double)report.heap_bytes);
    wp_table_close(in.table);
    return 0;
}
