/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K-mers of DNA fragments in a combining table (warpage/table.h): a fragment inserts the pair (k-mer,
 * one and its edges). A callback adds to the count and unites the edges, from which it follows
 * whether an edge is unique.
 */
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "stream-dna/dna.h"

typedef struct seen {
    uint32_t count, edges;
} seen;

/* The k bases in the middle of a fragment as a number, or their reverse complement if that is
 * smaller, and the bases on both sides, as take_fragment of stream-dna.cu has them. False: there are
 * other letters than A, C, G, T. */
static __host__ __device__ __forceinline__ bool read_fragment(const record *r, uint32_t k,
                                                     unsigned long long *kmer, uint32_t *edges) {
    const uint32_t start = (BASES - k) / 2;
    unsigned long long forward = 0, backward = 0;
    uint32_t side[2] = {0, 0};
    for (uint32_t i = 0; i < BASES; i++) {
        const uint32_t letter = (unsigned char)r->bases[i] | 0x20u;
        const unsigned long long base = letter >> 1 & 3u;
        if (letter != 'a' && letter != 'c' && letter != 'g' && letter != 't') {
            return false;
        }
        if (i >= start && i < start + k) {
            forward = forward << 2 | base;
            backward |= (base ^ COMPLEMENT) << 2 * (i - start);
        } else if (i + 1 == start || i == start + k) {
            side[i == start + k] = (uint32_t)base;
        }
    }
    const bool is_backward = backward < forward;
    *kmer = is_backward ? backward : forward;
    *edges = is_backward ? 1u << (side[1] ^ COMPLEMENT) | 16u << (side[0] ^ COMPLEMENT)
                         : 1u << side[0] | 16u << side[1];
    return true;
}

static __host__ __device__ __forceinline__ void unite(const void *value, void *existing) {
    const seen *more = (const seen *)value;
    seen *all = (seen *)existing;
    all->count += more->count;
    all->edges |= more->edges;
}

typedef struct job {
    uint32_t k;
} job;

static __host__ __device__ __forceinline__ void insert_kmer(const app_sepo_chunk *chunk,
                                                            const job *j, const char *text,
                                                            uint64_t bytes, wp_attempt *attempt) {
    unsigned long long kmer;
    seen once = {1, 0};
    (void)bytes;
    if (read_fragment((const record *)text, j->k, &kmer, &once.edges)) {
        wp_table_emit_with(&chunk->table, attempt, &kmer, sizeof kmer, &once, sizeof once, unite);
    } else {
        (void)wp_word_add64(chunk->skipped, 1); /* the record is done, and does not come again */
    }
}

APP_SEPO_KERNEL(insert_kmers, insert_kmer, job)

static int by_key(const void *x, const void *y) {
    const app_table_entry *a = (const app_table_entry *)x, *b = (const app_table_entry *)y;
    return (a->key > b->key) - (a->key < b->key);
}

app_table_entry *app_dna_insert(const record *records, uint64_t count, uint32_t k,
                                const app_sepo_options *options, uint64_t *found,
                                unsigned long long *unclear) {
    app_device device;
    const job j = {k};
    app_device_open(&device, options->memory);
    app_sepo_records input = {};
    input.records = records;
    input.count = count;
    input.record_bytes = sizeof *records;
    input.pairs = 1;
    input.table.organisation = WP_TABLE_COMBINING;
    input.table.combiner = WP_TABLE_CALLBACK;
    input.kernel = insert_kmers;
    input.argument = &j;
    wp_table *table = app_sepo_insert(&device, options, &input);
    *unclear = input.skipped;
    app_table_entry *kmers = (app_table_entry *)app_allocate(wp_table_pair_count(table),
                                                             sizeof *kmers, "the result");
    wp_table_cursor cursor = {};
    wp_table_pair pair;
    for (*found = 0; wp_table_next(table, &cursor, &pair); ++*found) {
        app_table_entry *entry = &kmers[*found];
        seen value;
        memcpy(&entry->key, pair.key, sizeof entry->key);
        memcpy(&value, pair.value, sizeof value);
        entry->key++;
        entry->count = value.count;
        entry->note = value.edges;
    }
    if (*found != 0) {
        qsort(kmers, *found, sizeof *kmers, by_key);
    }
    app_sepo_report(&device, options, (double)(count * sizeof *records));
    app_sepo_close(table);
    app_device_close(&device);
    return kmers;
}
