/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How alike two users rate: a record inserts the pair (the two users, how near their ratings of the
 * movie are) into a combining table (warpage/table.h), which adds up the similarities of each two
 * users over all movies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "stream-netflix/netflix.h"

static __host__ __device__ __forceinline__ void compare(const app_sepo_chunk *chunk,
                                                        const app_sepo_none *none,
                                                        const char *text, uint64_t bytes,
                                                        wp_attempt *attempt) {
    const record *r = (const record *)text;
    const uint32_t a = r->user[0], b = r->user[1];
    const uint32_t users[2] = {a < b ? a : b, a < b ? b : a};
    const uint32_t first = r->rating[0], second = r->rating[1];
    const uint64_t similarity = LARGEST_RATING - (first > second ? first - second : second - first);
    (void)none;
    (void)bytes;
    wp_table_emit(&chunk->table, attempt, users, sizeof users, &similarity, sizeof similarity);
}

APP_SEPO_KERNEL(compare_users, compare, app_sepo_none)

/* The most similar first; then by users. */
static int by_similarity(const void *x, const void *y) {
    const app_pair *a = (const app_pair *)x, *b = (const app_pair *)y;
    uint32_t a_users[2], b_users[2];
    if (a->number != b->number) {
        return a->number < b->number ? 1 : -1;
    }
    memcpy(a_users, a->key, sizeof a_users);
    memcpy(b_users, b->key, sizeof b_users);
    const int i = a_users[0] == b_users[0];
    return (a_users[i] > b_users[i]) - (a_users[i] < b_users[i]);
}

static void print_pairs(const app_pairs *pairs, uint64_t top) {
    app_pair *sorted = (app_pair *)app_allocate(pairs->count, sizeof *sorted, "the result");
    memcpy(sorted, pairs->pair, pairs->count * sizeof *sorted);
    qsort(sorted, pairs->count, sizeof *sorted, by_similarity);
    printf("pairs      %s of users with a movie in common\n\n", app_count(pairs->count));
    printf("    user     user   similarity\n");
    for (uint64_t i = 0; i < pairs->count && i < top; i++) {
        uint32_t users[2];
        memcpy(users, sorted[i].key, sizeof users);
        printf("%8u %8u %12s\n", users[0], users[1], app_count(sorted[i].number));
    }
    putchar('\n');
    free(sorted);
}

static bool check(const record *records, uint64_t count, app_pairs *got) {
    app_pairs wanted = {};
    uint32_t(*users)[2] = (uint32_t(*)[2])app_allocate(count, sizeof *users, "the check");
    for (uint64_t i = 0; i < count; i++) {
        const record *r = &records[i];
        const int first = r->user[0] > r->user[1];
        users[i][0] = r->user[first];
        users[i][1] = r->user[1 - first];
        app_pairs_add_number(&wanted, (const char *)users[i], sizeof users[i],
                             LARGEST_RATING - (uint32_t)abs(r->rating[0] - r->rating[1]));
    }
    app_pairs_sum(&wanted);
    const bool is_right = app_pairs_check(got, &wanted, "pairs of users");
    app_pairs_free(&wanted);
    free(users);
    return is_right;
}

bool app_netflix_insert(const record *records, uint64_t count, const app_sepo_options *options,
                        uint64_t top, bool is_checked) {
    app_device device;
    app_pairs pairs = {};
    const app_sepo_none none = {};
    app_device_open(&device, options->memory);
    app_sepo_records input = {};
    input.records = records;
    input.count = count;
    input.record_bytes = sizeof *records;
    input.pairs = 1;
    input.table.organisation = WP_TABLE_COMBINING;
    input.table.combiner = WP_TABLE_ADD;
    input.kernel = compare_users;
    input.argument = &none;
    wp_table *table = app_sepo_insert(&device, options, &input);
    app_pairs_read(&pairs, table);
    print_pairs(&pairs, top);
    app_sepo_report(&device, options, (double)(count * sizeof *records));
    const bool is_right = !is_checked || check(records, count, &pairs);
    app_pairs_free(&pairs);
    app_sepo_close(table);
    app_device_close(&device);
    return is_right;
}
