/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tables filled by threads of the host, on the CPU device, for the tests of src/table: units of
 * work whose pairs follow from a seed, a simple model of the table that they make, and what holds
 * after every pass.
 *
 *     fill f = {.seed = 3, .distinct = 300, .units = 900, .value_bytes = 60};
 *     run(&f, &spec, chunk_units, &report, &equal, &err);
 *     main: return table_test_main(tests);    opens the device
 */
#ifndef TABLE_MODEL_H
#define TABLE_MODEL_H

#include <pthread.h>
#include <string.h>

#include "table/table_state.h"
#include "warpage/table.h"
#include "wp_test.h"

#define THREADS 3u
#define KEYS_MAX 600u
#define PAIRS_MAX 3u

typedef struct fill {
    wp_table *table;
    uint64_t seed, distinct, units;
    uint64_t first, outer, next;
    wp_units bits;
    uint32_t value_bytes; /* basic and multi-valued: at most */
    bool stops_early;     /* breaks the rule that a unit tries all of its pairs */
    uint64_t passes;      /* after so many the requester declines; 0: never */
} fill;

static wp_device *device;

static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint32_t pair_count(const fill *f, uint64_t unit) {
    return (uint32_t)(mix(f->seed + unit) % (PAIRS_MAX + 1));
}

/* The key is its number, in 8 bytes or fewer; number 0 is the empty key. */
static inline uint32_t key_of(const fill *f, uint64_t unit, uint32_t pair, uint64_t *number) {
    *number = mix(f->seed ^ (unit * PAIRS_MAX + pair) * 7919) % f->distinct;
    return *number == 0 ? 0 : *number < 256 ? 1 : 8;
}

static inline void process_unit(fill *f, const wp_table_view *view, uint64_t unit) {
    if (wp_units_is_done(&f->bits, unit)) return;
    wp_attempt attempt = wp_attempt_begin(&f->bits, unit);
    for (uint32_t pair = 0; pair < pair_count(f, unit); pair++) {
        uint64_t number;
        char value[64] = {0};
        const uint32_t key_bytes = key_of(f, unit, pair, &number);
        const uint32_t bytes = view->organisation == WP_TABLE_COMBINING
                                   ? 8
                                   : (uint32_t)(mix(unit) % (f->value_bytes + 1));
        const uint64_t amount = view->organisation == WP_TABLE_COMBINING ? unit + 1 : mix(unit + 5);
        memcpy(value, &amount, bytes < 8 ? bytes : 8);
        wp_table_emit(view, &attempt, &number, key_bytes, value, bytes);
        if (f->stops_early && attempt.is_postponed) break;
    }
    wp_attempt_end(&attempt);
}

static inline void *work(void *object) {
    fill *f = object;
    const wp_table_view view = wp_table_get_view(f->table);
    for (;;) {
        const uint64_t unit = __atomic_fetch_add(&f->next, 1, __ATOMIC_RELAXED);
        if (unit >= f->outer) return NULL;
        process_unit(f, &view, unit);
    }
}

static inline wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                                wp_error *err) {
    fill *f = object;
    pthread_t threads[THREADS];
    (void)err;
    f->bits = *units;
    f->first = first;
    f->outer = outer;
    f->next = first;
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, f), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    return WP_STATUS_OK;
}

/* ---- the model ------------------------------------------------------------------------------- */

static uint64_t sums[KEYS_MAX], counts[KEYS_MAX], found_sums[KEYS_MAX], found_counts[KEYS_MAX],
    found_entries[KEYS_MAX];

static inline uint64_t digest(const void *bytes, uint64_t count) {
    return wp_table_hash(bytes, count) | 1;
}

static inline void expect(const fill *f, uint32_t organisation) {
    memset(sums, 0, sizeof sums);
    memset(counts, 0, sizeof counts);
    for (uint64_t unit = 0; unit < f->units; unit++)
        for (uint32_t pair = 0; pair < pair_count(f, unit); pair++) {
            uint64_t number;
            (void)key_of(f, unit, pair, &number);
            char value[64] = {0};
            const uint32_t bytes = (uint32_t)(mix(unit) % (f->value_bytes + 1));
            const uint64_t amount = mix(unit + 5);
            memcpy(value, &amount, bytes < 8 ? bytes : 8);
            sums[number] += organisation == WP_TABLE_COMBINING ? unit + 1 : digest(value, bytes);
            counts[number]++;
        }
}

static inline void look(const wp_table *table, uint32_t organisation) {
    wp_table_cursor cursor = {0};
    wp_table_pair pair;
    uint64_t entry = 0;
    memset(found_sums, 0, sizeof found_sums);
    memset(found_counts, 0, sizeof found_counts);
    memset(found_entries, 0, sizeof found_entries);
    while (wp_table_next(table, &cursor, &pair)) {
        uint64_t number = 0, amount = 0;
        assert_true(pair.key_bytes <= 8);
        memcpy(&number, pair.key, pair.key_bytes);
        assert_true(number < KEYS_MAX);
        if (organisation == WP_TABLE_COMBINING)
            memcpy(&amount, pair.value, 8);
        else
            amount = digest(pair.value, pair.value_bytes);
        found_sums[number] += amount;
        found_counts[number]++;
        found_entries[number] += cursor.entry != entry;
        entry = cursor.entry;
    }
}

static inline bool is_equal(uint32_t organisation) {
    for (uint32_t k = 0; k < KEYS_MAX; k++) {
        const uint64_t wanted = organisation == WP_TABLE_COMBINING ? counts[k] != 0 : counts[k];
        if (found_sums[k] != sums[k] || found_counts[k] != wanted) return false;
        if (organisation != WP_TABLE_BASIC && found_entries[k] != (counts[k] != 0)) return false;
    }
    return true;
}

/* ---- what holds after every pass --------------------------------------------------------------
 */

/* Where a place of the pass that ended is: in a page that stays, or in host memory, not in both. */
static inline const char *only_home(const wp_table *table, uint64_t place) {
    const wp_table_view *view = &table->view;
    const char *left = wpi_table_host(table, place), *stays = NULL;
    uint64_t before = 0;
    for (uint64_t i = 0; i < table->kept_count && place >= view->base; i++) {
        const uint64_t first = table->kept[i], run = table->pages[first].run;
        const uint64_t count = run > 1 ? run : 1, page = (place - view->base) >> view->page_shift;
        if (page >= first && page < first + count)
            stays = table->kept_memory + (before << view->page_shift) +
                    (place - view->base - (first << view->page_shift));
        before += count;
    }
    assert_true((left == NULL) != (stays == NULL));
    return left != NULL ? left : stays;
}

/* Pages are in one place, segments apart from each other and in order, bytes add up; chains and
 * lists of values end, and what they lead to lies in the table. */
static inline void check_invariants(const wp_table *table) {
    uint64_t bytes = 0, before = 0, steps = 0;
    for (uint64_t i = 0; i < table->segment_count; i++) {
        const wp_table_segment *segment = &table->segments[i];
        assert_true(segment->first >= before && segment->outer > segment->first);
        before = segment->outer;
        bytes += segment->outer - segment->first;
    }
    assert_u64(bytes, table->report.table_bytes);
    const uint64_t most = (bytes + (table->kept_pages << table->view.page_shift)) / 16 + 1;
    for (uint64_t b = 0; b <= table->view.bucket_mask; b++) {
        uint64_t place =
            wp_table_bucket_place(table->view.buckets[b]); /* the device's is readable */
        while (place != 0) {
            const wp_table_entry *entry =
                (const wp_table_entry *)(const void *)only_home(table, place);
            const uint64_t hash =
                wp_table_hash(wp_table_entry_key(&table->view, entry), entry->key_bytes);
            assert_u64(hash & table->view.bucket_mask, b);
            assert_true(steps++ < most);
            if (table->view.organisation == WP_TABLE_MULTIVALUED) {
                uint64_t value = *(const uint64_t *)(const void *)(entry + 1);
                for (; value != 0; steps++) {
                    assert_true(steps < 2 * most);
                    value = ((const wp_table_value *)(const void *)only_home(table, value))->next;
                }
            }
            place = entry->next;
        }
    }
}

static inline bool retries(void *object, const wp_postpone_facts *facts) {
    const fill *f = object;
    check_invariants(f->table);
    return f->passes == 0 || facts->pass < f->passes;
}

static inline wp_status run(fill *f, const wp_table_spec *spec, uint64_t chunk_units,
                            wp_table_report *report, bool *equal, wp_error *err) {
    const wp_postpone_spec units = {f->units, chunk_units, PAIRS_MAX, 60};
    const wp_requester requester = {f, process, retries};
    wp_postpone *postpone = NULL;
    wp_postpone_facts facts;
    *equal = false;
    wp_status status = wp_table_create(device, spec, &f->table, err);
    if (status == WP_STATUS_OK) status = wp_postpone_create(device, &units, &postpone, err);
    if (status == WP_STATUS_OK) status = wp_table_run(f->table, postpone, &requester, &facts, err);
    while (status == WP_STATUS_OK && facts.postponed_units != 0) { /* declined: readable, then on */
        const uint64_t pairs = wp_table_pair_count(f->table);
        look(f->table, spec->organisation);
        uint64_t found = 0;
        for (uint32_t k = 0; k < KEYS_MAX; k++) {
            found += found_counts[k];
            if (spec->organisation != WP_TABLE_BASIC) assert_true(found_entries[k] <= 1);
        }
        assert_u64(found, pairs);
        f->passes++;
        status = wp_table_run(f->table, postpone, &requester, &facts, err);
    }
    if (status == WP_STATUS_OK) {
        assert_u64(facts.postponed_units, 0);
        assert_u64(facts.done_units, f->units);
        wp_table_get_report(f->table, report);
        if (spec->host_bytes == 0) {
            assert_true(report->host_bytes >= report->table_bytes); /* gaps are copied, too */
            assert_true(report->host_bytes <= report->to_host_bytes);
            assert_u64(report->file_bytes, 0);
        } else {
            assert_true(report->host_bytes <= spec->host_bytes);
            assert_true(report->host_bytes + report->file_bytes >= report->table_bytes);
        }
        expect(f, spec->organisation);
        look(f->table, spec->organisation);
        *equal = is_equal(spec->organisation);
        uint64_t pairs = 0, keys = 0;
        for (uint32_t k = 0; k < KEYS_MAX; k++) {
            pairs += found_counts[k];
            keys += spec->organisation == WP_TABLE_BASIC ? found_counts[k] : counts[k] != 0;
        }
        if (*equal) {
            assert_u64(wp_table_pair_count(f->table), pairs);
            assert_u64(wp_table_key_count(f->table), keys);
        }
    }
    wp_postpone_destroy(postpone);
    wp_table_close(f->table);
    f->table = NULL;
    return status;
}

#define table_test_main(tests) (open_device(), close_device(wp_test_main(tests)))

static inline void open_device(void) {
    wp_error err = {0};
    assert_status_ok(wp_device_open("cpu", &device, &err), &err);
}

static inline int close_device(int failed) {
    wp_device_close(device);
    return failed;
}

#endif
