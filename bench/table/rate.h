/* SPDX-License-Identifier: Apache-2.0 */
/** What both programs of this benchmark do: 8-byte pairs with random keys into a table of each
 * organisation, filled by the program's `rate_process`; one line for each organisation:
 *
 *     organisation  pass time, ns  time of wp_table_run, ns  passes
 *
 *     rate PAIRS KEYS HEAP_BYTES
 *
 * The table is created for each run and its pairs are counted and added up afterwards. */
#ifndef RATE_H
#define RATE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <warpage/table.h>

/** Who fills the table. */
typedef struct rate_filler {
    wp_table *table;
    uint64_t keys;
} rate_filler;

static wp_status rate_process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                              wp_error *err);

/** Pair `unit`. */
WP_WORD_CALL void rate_insert(const wp_table_view *table, const wp_units *units, uint64_t unit,
                              uint64_t keys) {
    if (wp_units_is_done(units, unit)) return;
    uint64_t key = unit;
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    key = (key ^ key >> 31) % keys;
    const uint64_t one = 1;
    wp_attempt attempt = wp_attempt_begin(units, unit);
    wp_table_emit(table, &attempt, &key, sizeof key, &one, sizeof one);
    wp_attempt_end(&attempt);
}

static void rate_check(wp_status status, const wp_error *err) {
    if (status == WP_STATUS_OK) return;
    (void)fprintf(stderr, "rate: %s\n", err->message);
    exit(1);
}

static uint64_t rate_now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** Whether the table's values, which are all 1, add up. */
static bool rate_is_right(const wp_table *table, uint64_t pairs) {
    wp_table_cursor cursor = {0, 0, 0};
    wp_table_pair pair;
    uint64_t sum = 0;
    while (wp_table_next(table, &cursor, &pair))
        sum += *(const uint64_t *)pair.value;
    return sum == pairs;
}

static int rate_run(wp_device *device, int argc, char **argv) {
    static const char *const names[] = {"basic", "multi-valued", "combining"};
    if (argc != 4) {
        (void)fprintf(stderr, "usage: rate PAIRS KEYS HEAP_BYTES\n");
        return 2;
    }
    const uint64_t pairs = strtoull(argv[1], NULL, 10), keys = strtoull(argv[2], NULL, 10);
    for (int organisation = 0; organisation < WP_TABLE_ORGANISATION_COUNT; organisation++) {
        wp_error err = WP_ERROR_INIT;
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        const wp_postpone_spec units = {pairs, 0, 1, 0};
        rate_filler filler = {NULL, keys};
        wp_postpone *postpone;
        wp_postpone_facts facts;
        spec.organisation = (wp_table_organisation)organisation;
        spec.bucket_count = keys;
        spec.heap_bytes = strtoull(argv[3], NULL, 10);
        rate_check(wp_table_create(device, &spec, &filler.table, &err), &err);
        rate_check(wp_postpone_create(device, &units, &postpone, &err), &err);
        const wp_requester requester = {&filler, rate_process, NULL};
        const uint64_t start_ns = rate_now_ns();
        rate_check(wp_table_run(filler.table, postpone, &requester, &facts, &err), &err);
        const uint64_t run_ns = rate_now_ns() - start_ns;
        if (!rate_is_right(filler.table, pairs)) {
            (void)fprintf(stderr, "rate: a wrong result, %s\n", names[organisation]);
            return 1;
        }
        printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", names[organisation], facts.pass_ns,
               run_ns, facts.pass);
        wp_table_close(filler.table);
        wp_postpone_destroy(postpone);
    }
    return 0;
}

#endif
