/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Word Count whose lanes of a warp combine equal words before one of them goes to the table; beside
 * the runtime's, which does not. Both with counts that are added by atomics, and under a lock.
 *     wpcc -O2 bench/mapreduce/in_warp.cu -o in_warp && warpage run --device sim:gtx780ti ./in_warp TEXT
 * Prints the kernels' time of each way; exits with 1 if the counts differ.
 *
 * The lanes that emit at the same time meet by the hash of their keys, compare keys by shuffles, and
 * the first lane of equal ones inserts their sum; its answer is that of all. Numbers, digests and
 * bits of pairs stay those of a record, so that postponing is as it was.
 */
#include <cuda_runtime.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/mapreduce.h>

static __device__ void add(const void *value, void *existing) {
    *(uint64_t *)existing += *(const uint64_t *)value;
}

/* Inserts a value of 8 bytes, together with the lanes that are here with the same key. */
static __device__ wp_answer insert_in_warp(const wp_emitter *to, const char *key, uint32_t bytes,
                                           uint64_t value) {
    const unsigned here = __activemask();
    const unsigned peers =
        __match_any_sync(here, (unsigned long long)wp_table_hash(key, bytes));
    if ((peers & (peers - 1u)) == 0)
        return wp_table_insert_with(to->table, key, bytes, &value, sizeof value, to->combine);
    const int first = __ffs((int)peers) - 1;
    const uint32_t first_bytes = __shfl_sync(peers, bytes, first);
    bool is_equal = first_bytes == bytes;
    for (uint32_t at = 0; at < first_bytes; at += 8u) {
        const unsigned long long word = at < bytes ? wp_table_word_of(key, at, bytes) : 0u;
        is_equal &= __shfl_sync(peers, word, first) == word;
    }
    const unsigned equal = __ballot_sync(peers, is_equal);
    if (!is_equal)
        return wp_table_insert_with(to->table, key, bytes, &value, sizeof value, to->combine);
    uint64_t sum = value;
    for (unsigned left = equal & (equal - 1u); left != 0; left &= left - 1u)
        sum += __shfl_sync(equal, (unsigned long long)value, __ffs((int)left) - 1);
    uint32_t answer = 0;
    if ((int)(threadIdx.x % 32u) == first)
        answer = wp_table_insert_with(to->table, key, bytes, &sum, sizeof sum, to->combine);
    return (wp_answer)__shfl_sync(equal, answer, first);
}

/* As wp_emit. */
static __device__ void emit_in_warp(wp_emitter *to, const char *key, uint32_t bytes,
                                    uint64_t value) {
    const uint32_t number = to->pair++;
    const uint64_t hash = wp_table_hash(key, bytes) + 3u * wp_table_hash(&value, sizeof value);
    to->digest = (to->digest ^ (uint32_t)(hash >> 32) ^ (uint32_t)hash) * 0x9e3779b1u + 1u;
    if (number >= to->pairs) return;
    if (number % 32u == 0) wp_emit_turn(to, number / 32u);
    const uint32_t bit = 1u << number % 32u;
    if ((to->word & bit) != 0) return;
    const wp_answer answer = insert_in_warp(to, key, bytes, value);
    if (answer == WP_DONE) {
        to->word |= bit;
        to->served++;
    } else {
        to->is_postponed = true;
        if (answer == WP_REFUSED) to->is_refused = true;
    }
}

/* The words of examples/wordcount.cu. */
template <bool is_in_warp>
static __device__ void count_line(const wp_map_record *line, wp_emitter *to) {
    const uint64_t one = 1;
    for (uint32_t at = 0; at < line->bytes; at++) {
        char word[32];
        uint32_t length = 0;
        for (; at < line->bytes; at++) {
            const unsigned char c = (unsigned char)line->data[at];
            if ((unsigned char)((c | 0x20) - 'a') >= 26 && c <= 127) break;
            if (length < sizeof word) word[length++] = (char)(c > 127 ? c : c | 0x20);
        }
        if (length == 0) continue;
        if (is_in_warp)
            emit_in_warp(to, word, length, one);
        else
            wp_emit(to, word, length, &one, sizeof one);
    }
}

WP_MAPREDUCE(by_atomics, count_line<false>)
WP_MAPREDUCE(by_atomics_in_warp, count_line<true>)
WP_MAPREDUCE_WITH(by_lock, count_line<false>, add)
WP_MAPREDUCE_WITH(by_lock_in_warp, count_line<true>, add)

/* A number that all pairs of a table go into, in any order. */
static uint64_t digest_of(const wp_mapreduce *job) {
    wp_mapreduce_cursor cursor = {};
    wp_table_pair pair;
    uint64_t sum = 0;
    while (wp_mapreduce_next(job, &cursor, &pair)) {
        uint64_t count;
        memcpy(&count, pair.value, sizeof count);
        sum += wp_table_hash(pair.key, pair.key_bytes) * (2u * count + 1u);
    }
    return sum;
}

int main(int argc, char **argv) {
    const wp_mapreduce_program *const programs[] = {&by_atomics, &by_atomics_in_warp, &by_lock,
                                                    &by_lock_in_warp};
    uint64_t expected = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: in_warp TEXT...\n");
        return 2;
    }
    for (int i = 0; i < 4; i++) {
        wp_error err = WP_ERROR_INIT;
        wp_mapreduce *job;
        wp_mapreduce_report report;
        wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
        spec.program = programs[i];
        spec.partitioner = wp_partition_lines();
        spec.paths = argv + 1;
        spec.path_count = (uint64_t)argc - 1;
        spec.threads = 64;
        spec.table.heap_bytes = (uint64_t)6 << 20;
        spec.table.bucket_count = 32768;
        if (wp_mapreduce_run(wp_cudart_device(), &spec, &job, &err) != WP_STATUS_OK) {
            fprintf(stderr, "in_warp: %s\n", err.message);
            return 1;
        }
        wp_mapreduce_get_report(job, &report);
        const uint64_t digest = digest_of(job);
        if (i == 0) {
            printf("%" PRIu64 " words, %" PRIu64 " different\n", report.pairs,
                   wp_mapreduce_pair_count(job));
            expected = digest;
        }
        printf("%-20s %10.3f ms\n", programs[i]->name, 1e-6 * (double)report.map_ns);
        wp_mapreduce_close(job);
        if (digest != expected) {
            fprintf(stderr, "in_warp: %s has other counts\n", programs[i]->name);
            return 1;
        }
    }
    return 0;
}
