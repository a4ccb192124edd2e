/* SPDX-License-Identifier: Apache-2.0 */
/* Tables filled by threads of the host: results against a simple model, pairs of a unit counted
 * once, each allocation failed in turn, mistakes, sizes beyond 32 bits. */
#include "warpage/table.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sanitizer.h"
#include "table/table_state.h"
#include "table_model.h"
#include "wp_random.h"
#include "wp_test.h"

#ifdef WP_HAS_TSAN
enum { CASES = 15 }; /* 2,000 passes, each by three threads that race for the same buckets */
#else
enum { CASES = 50 };
#endif

static void tables_equal_the_model_under_random_conditions(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < CASES; i++) {
        const uint64_t start = seed;
        fill f = {.seed = wp_random_next(&seed) >> 8,
                  .distinct = 1 + wp_random_next(&seed) % KEYS_MAX,
                  .units = 1 + wp_random_next(&seed) % 1500,
                  .value_bytes = (uint32_t)(wp_random_next(&seed) % 60),
                  .passes = wp_random_next(&seed) % 4 == 0 ? 1 + wp_random_next(&seed) % 3 : 0};
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        spec.organisation = (wp_table_organisation)(wp_random_next(&seed) % 3);
        spec.bucket_count = 1 + wp_random_next(&seed) % 100;
        spec.buckets_per_group = wp_random_next(&seed) % 40;
        spec.page_bytes = UINT64_C(64) << wp_random_next(&seed) % 6;
        const uint64_t largest = 24 + 8 + 8 + 16 + 64;
        spec.heap_bytes = (largest + spec.page_bytes - 1) / spec.page_bytes * spec.page_bytes +
                          (wp_random_next(&seed) % 3 == 0 ? 0 : wp_random_next(&seed) % 60000);
        spec.postpone_pct = wp_random_next(&seed) % 2 ? 0 : (uint32_t)(wp_random_next(&seed) % 50);
        spec.host_bytes = wp_random_next(&seed) % 3 == 0 ? 1 + wp_random_next(&seed) % 20000 : 0;
        wp_table_report report;
        wp_error err = {0};
        bool equal;
        assert_status_ok(run(&f, &spec, 32 * (wp_random_next(&seed) % 30), &report, &equal, &err),
                         &err);
        if (!equal) fail_msg("case %d, from %llu, differs", i, (unsigned long long)start);
    }
}

/* A unit that stops at its first postponed pair leaves keys untried, which leave the device and are
 * made again: the rule is needed, so breaking it must show. */
static void a_unit_that_stops_early_splits_keys(void **state) {
    (void)state;
    bool was_wrong = false;
    for (uint64_t seed = 1; seed < 30 && !was_wrong; seed++) {
        fill f = {.seed = seed, .distinct = 300, .units = 1000, .stops_early = true};
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        spec.organisation = WP_TABLE_COMBINING;
        spec.heap_bytes = 4096;
        spec.page_bytes = 256;
        wp_table_report report;
        wp_error err = {0};
        bool equal;
        assert_status_ok(run(&f, &spec, 0, &report, &equal, &err), &err);
        was_wrong = !equal;
    }
    assert_true(was_wrong);
}

/* Two inserts of a key, the first of which found no memory: the second must not make it in the same
 * pass, though memory turned up. */
static void a_key_that_postponed_stays_postponed_in_that_pass(void **state) {
    (void)state;
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_table *table;
    wp_error err = {0};
    spec.organisation = WP_TABLE_COMBINING;
    spec.heap_bytes = 128; /* 2 pages of 64 */
    spec.page_bytes = 64;
    spec.bucket_count = 1;
    assert_status_ok(wp_table_create(device, &spec, &table, &err), &err);
    wp_table_view view = wp_table_get_view(table);
    view.pass_tag = 1;
    view.control->runs_first = 2;
    const uint64_t one = 1;
    const char key[64] = {1}, long_key[64] = {2};
    assert_int_equal(wp_table_insert(&view, key, 8, &one, 8), WP_DONE);
    assert_int_equal(wp_table_insert(&view, long_key, 64, &one, 8), WP_POSTPONE); /* 2 pages */
    assert_int_equal(wp_table_insert(&view, key, 8, &one, 8), WP_DONE); /* combined all the same */
    assert_int_equal(wp_table_insert(&view, key, 7, &one, 8), WP_POSTPONE);
    view.pass_tag = 2;
    assert_int_equal(wp_table_insert(&view, key, 7, &one, 8), WP_DONE);
    wp_table_close(table);
}

/* Two threads want the page behind page 0 of a stream. In between, a third one takes a page for
 * another stream, and with it moves the start of the search beyond the first one's claim. */
static void a_page_that_was_claimed_twice_is_free_again(void **state) {
    (void)state;
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_table *table;
    wp_error err = {0};
    spec.organisation = WP_TABLE_MULTIVALUED;
    spec.heap_bytes = 256; /* 4 pages of 64 */
    spec.page_bytes = 64;
    spec.bucket_count = 2;
    spec.buckets_per_group = 1;
    assert_status_ok(wp_table_create(device, &spec, &table, &err), &err);
    assert_status_ok(wpi_table_begin(table, &err), &err);
    assert_status_ok(wp_device_wait(device, &err), &err);
    const wp_table_view view = wp_table_get_view(table);
    const uint32_t keys = 0, other_keys = 2;
    bool is_taken;
    assert_int_equal(wp_table_next_page(&view, keys, 0, 0, &is_taken), 1);
    assert_true(is_taken);
    assert_u64(wp_table_allocate(&view, other_keys, 64), wp_table_place_of(&view, 1, 0));
    assert_int_equal(wp_table_next_page(&view, keys, 0, 0, &is_taken), 1); /* met */
    assert_false(is_taken);
    assert_int_equal(wp_table_next_page(&view, keys, 0, view.control->first_free, &is_taken), 3);
    assert_true(is_taken);
    assert_u64(view.control->key_pages, 3);
    view.streams[keys] = 1; /* the stream goes on to the first one's */
    wp_table_return_page(&view, keys, 2);
    assert_u64(view.control->key_pages, 2);
    assert_u64(wp_table_allocate(&view, keys, 64), wp_table_place_of(&view, 0, 0));
    assert_u64(wp_table_allocate(&view, keys, 64), wp_table_place_of(&view, 2, 0));
    assert_u64(wp_table_allocate(&view, keys, 64), wp_table_place_of(&view, 3, 0));
    assert_u64(wp_table_allocate(&view, keys, 64), 0);
    wp_table_return_page(&view, keys, 3); /* in use: it stays */
    assert_u64(view.control->key_pages, 4);
    wp_table_close(table);
}

/* Keys may have one page. Threads that ask for it at once must not count as pages that are taken.
 */
static void a_page_counts_when_it_is_taken(void **state) {
    (void)state;
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_table *table;
    wp_error err = {0};
    spec.organisation = WP_TABLE_MULTIVALUED;
    spec.heap_bytes = 256;
    spec.page_bytes = 64;
    spec.bucket_count = 1;
    assert_status_ok(wp_table_create(device, &spec, &table, &err), &err);
    assert_status_ok(wpi_table_begin(table, &err), &err);
    assert_status_ok(wp_device_wait(device, &err), &err);
    wp_table_view view = wp_table_get_view(table);
    view.key_pages_max = 1;
    for (int i = 0; i < 5; i++)
        assert_true(wp_table_may_take(&view, 0, 1));
    assert_true(wp_table_allocate(&view, 0, 64) != 0);
    assert_false(wp_table_may_take(&view, 0, 1));
    assert_u64(wp_table_allocate(&view, 0, 64), 0);
    assert_true(wp_table_allocate(&view, 1, 64) != 0); /* values */
    wp_table_close(table);
}

static void one_key_takes_more_values_than_the_heap_has(void **state) {
    (void)state;
    fill f = {.seed = 3, .distinct = 1, .units = 4000, .value_bytes = 40};
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    spec.organisation = WP_TABLE_MULTIVALUED;
    spec.heap_bytes = 8192;
    spec.page_bytes = 256;
    wp_table_report report;
    wp_error err = {0};
    bool equal;
    assert_status_ok(run(&f, &spec, 0, &report, &equal, &err), &err);
    assert_true(equal);
    assert_true(report.passes > 10);
    assert_true(report.pages_kept >= report.passes - 1); /* its page stayed each time */
}

/* Keys leave room for the values of keys that stay: no key is made again after the first pass, and
 * the passes are not many more than the heap's size asks for. */
static void a_small_heap_takes_few_passes_for_many_keys(void **state) {
    (void)state;
    fill f = {.seed = 9, .distinct = KEYS_MAX, .units = 4000}; /* empty values: 16 bytes each */
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    spec.organisation = WP_TABLE_MULTIVALUED;
    spec.heap_bytes = 32768;
    spec.page_bytes = 256;
    spec.bucket_count = 1024;
    spec.buckets_per_group = 256;
    wp_table_report report;
    wp_error err = {0};
    bool equal;
    assert_status_ok(run(&f, &spec, 0, &report, &equal, &err), &err);
    assert_true(equal);
    uint64_t least_bytes = 0;
    for (uint32_t k = 0; k < KEYS_MAX; k++)
        least_bytes += counts[k] == 0 ? 0 : 40 + counts[k] * 16;
    assert_true(report.table_bytes < least_bytes + least_bytes / 10);
    assert_true(report.passes <= 2 * (report.table_bytes / spec.heap_bytes + 1));
}

static void a_table_without_input_is_empty(void **state) {
    (void)state;
    for (uint32_t organisation = 0; organisation < 3; organisation++) {
        fill f = {.distinct = 1};
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        wp_table_report report;
        wp_error err = {0};
        bool equal;
        spec.organisation = (wp_table_organisation)organisation;
        spec.heap_bytes = 4096;
        assert_status_ok(run(&f, &spec, 0, &report, &equal, &err), &err);
        assert_true(equal);
        assert_u64(report.passes, 0);
    }
}

static void mistakes_are_named(void **state) {
    (void)state;
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_table *table;
    wp_table_report report;
    wp_error err = {0};
    bool equal;
    spec.heap_bytes = 1000;
    spec.page_bytes = 4096;
    assert_status_fails(wp_table_create(device, &spec, &table, &err), WP_STATUS_INVALID, &err,
                        "4096 bytes are needed");
    assert_null(table);
    spec.page_bytes = 32;
    assert_status_fails(wp_table_create(device, &spec, &table, &err), WP_STATUS_INVALID, &err,
                        "64 bytes to 1 GiB");
    spec.page_bytes = 64;
    spec.heap_bytes = 64;
    fill f = {.seed = 3, .distinct = 300, .units = 10, .value_bytes = 60};
    assert_status_fails(run(&f, &spec, 0, &report, &equal, &err), WP_STATUS_INVALID, &err,
                        "a larger heap is needed");
    spec.heap_bytes = 4096;
    spec.organisation = WP_TABLE_COMBINING;
    spec.combiner = WP_TABLE_CALLBACK;
    assert_status_fails(run(&f, &spec, 0, &report, &equal, &err), WP_STATUS_INVALID, &err,
                        "WP_TABLE_CALLBACK");
    spec.combiner = WP_TABLE_COMBINER_COUNT;
    assert_status_fails(wp_table_create(device, &spec, &table, &err), WP_STATUS_INVALID, &err,
                        "combiner 5");
    assert_status_fails(wp_table_create(NULL, &spec, &table, &err), WP_STATUS_INVALID, &err,
                        "no device");
}

static wp_status grow(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                      wp_error *err) {
    const wp_table_view view = wp_table_get_view(object);
    const uint32_t values[3] = {1, 2, 3};
    (void)err;
    for (uint64_t unit = first; unit < outer; unit++) {
        wp_attempt attempt = wp_attempt_begin(units, unit);
        wp_table_emit(&view, &attempt, "key", 3, values, unit == 0 ? 4 : 8);
        wp_attempt_end(&attempt);
    }
    return WP_STATUS_OK;
}

static void a_value_that_grows_is_refused(void **state) {
    (void)state;
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    const wp_postpone_spec units = {2, 0, 1, 0};
    wp_table *table;
    wp_postpone *postpone;
    wp_error err = {0};
    spec.organisation = WP_TABLE_COMBINING;
    spec.heap_bytes = 4096;
    assert_status_ok(wp_table_create(device, &spec, &table, &err), &err);
    assert_status_ok(wp_postpone_create(device, &units, &postpone, &err), &err);
    const wp_requester requester = {.object = table, .process = grow};
    assert_status_fails(wp_table_run(table, postpone, &requester, NULL, &err), WP_STATUS_INVALID,
                        &err, "a value of 8 bytes was to be combined with one of 4");
    assert_status_fails(wp_table_run(table, postpone, &requester, NULL, &err), WP_STATUS_INVALID,
                        &err, "can only be closed");
    assert_u64(wp_table_pair_count(table), 0);
    wp_postpone_destroy(postpone);
    wp_table_close(table);
}

/* Every allocation of ours fails once: an error, nothing leaked, and the next run is right. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    uint64_t n = 0;
    wp_status status;
    do {
        fill f = {.seed = 11, .distinct = 200, .units = 400, .value_bytes = 20};
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        spec.organisation = WP_TABLE_MULTIVALUED;
        spec.heap_bytes = 8192;
        spec.page_bytes = 256;
        wp_table_report report;
        wp_error err = {0};
        bool equal;
        wpi_alloc_fail_at(++n);
        status = run(&f, &spec, 0, &report, &equal, &err);
        wpi_alloc_fail_at(0);
        if (status == WP_STATUS_OK)
            assert_true(equal);
        else
            assert_true(err.message[0] != '\0');
    } while (status != WP_STATUS_OK);
    assert_true(n > 5);
}

/* Pages of 1 GiB, of which each group touches the start of one: places and offsets beyond 2^32. */
static void a_heap_may_be_larger_than_4_gib(void **state) {
    (void)state;
    for (uint32_t organisation = 0; organisation < 3; organisation++) {
        fill f = {.seed = 21, .distinct = KEYS_MAX, .units = 2000, .value_bytes = 40};
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        wp_table_report report;
        wp_error err = {0};
        bool equal;
        spec.organisation = (wp_table_organisation)organisation;
        spec.heap_bytes = UINT64_C(16) << 30;
        spec.page_bytes = UINT64_C(1) << 30;
        spec.bucket_count = 8;
        spec.buckets_per_group = 1;
        assert_status_ok(run(&f, &spec, 0, &report, &equal, &err), &err);
        assert_true(equal);
        assert_u64(report.passes, 1);
        assert_true(report.unused_bytes > UINT64_C(7) << 30);
        assert_true(report.host_bytes < 1u << 20);
        assert_u64(report.host_bytes, report.table_bytes);
    }
}

/* The ends of small pages cost less than a copy for each page. */
static void small_gaps_are_copied_with_what_is_around_them(void **state) {
    (void)state;
    for (uint32_t page_bytes = 4096; page_bytes <= 65536; page_bytes *= 16) {
        fill f = {.seed = 22, .distinct = KEYS_MAX, .units = 2000, .value_bytes = 40};
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        wp_table_report report;
        wp_error err = {0};
        bool equal;
        spec.organisation = WP_TABLE_BASIC;
        spec.heap_bytes = UINT64_C(64) << 20;
        spec.page_bytes = page_bytes;
        spec.bucket_count = 128;
        spec.buckets_per_group = 1;
        assert_status_ok(run(&f, &spec, 0, &report, &equal, &err), &err);
        assert_true(equal);
        if (page_bytes == 4096)
            assert_true(report.host_bytes > report.table_bytes);
        else
            assert_u64(report.host_bytes, report.table_bytes);
    }
}

/* A table that has had 2^32 passes and filled 2^50 bytes. */
static void places_and_passes_have_no_limit_of_32_bits(void **state) {
    (void)state;
    for (uint32_t organisation = 0; organisation < 3; organisation++) {
        fill f = {.seed = 22, .distinct = KEYS_MAX, .units = 2000, .value_bytes = 40};
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        const wp_postpone_spec units = {f.units, 0, PAIRS_MAX, 0};
        wp_postpone *postpone;
        wp_table *opened;
        wp_error err = {0};
        char path[] = "/tmp/test_table.XXXXXX";
        const int descriptor = mkstemp(path);
        assert_true(descriptor >= 0);
        (void)close(descriptor);
        spec.organisation = (wp_table_organisation)organisation;
        spec.heap_bytes = 16384;
        spec.page_bytes = 256;
        assert_status_ok(wp_table_create(device, &spec, &f.table, &err), &err);
        assert_status_ok(wp_postpone_create(device, &units, &postpone, &err), &err);
        f.table->report.passes = UINT32_MAX - 1u;
        f.table->view.base = UINT64_C(1) << 50;
        const wp_requester requester = {&f, process, retries};
        assert_status_ok(wp_table_run(f.table, postpone, &requester, NULL, &err), &err);
        assert_true(f.table->report.passes > UINT32_MAX);
        expect(&f, organisation);
        look(f.table, organisation);
        assert_true(is_equal(organisation));
        assert_status_ok(wp_table_save(f.table, path, &err), &err);
        assert_status_ok(wp_table_open(path, &opened, &err), &err);
        look(opened, organisation);
        assert_true(is_equal(organisation));
        wp_table_close(opened);
        (void)remove(path);
        f.table->view.base = (UINT64_C(1) << 51) - 20000;
        assert_status_fails(wpi_table_begin(f.table, &err), WP_STATUS_INVALID, &err, "2^51 bytes");
        wp_postpone_destroy(postpone);
        wp_table_close(f.table);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_equal_the_model_under_random_conditions),
        cmocka_unit_test(a_unit_that_stops_early_splits_keys),
        cmocka_unit_test(a_key_that_postponed_stays_postponed_in_that_pass),
        cmocka_unit_test(a_page_that_was_claimed_twice_is_free_again),
        cmocka_unit_test(a_page_counts_when_it_is_taken),
        cmocka_unit_test(one_key_takes_more_values_than_the_heap_has),
        cmocka_unit_test(a_small_heap_takes_few_passes_for_many_keys),
        cmocka_unit_test(a_table_without_input_is_empty),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(a_value_that_grows_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_heap_may_be_larger_than_4_gib),
        cmocka_unit_test(small_gaps_are_copied_with_what_is_around_them),
        cmocka_unit_test(places_and_passes_have_no_limit_of_32_bits)};
    return table_test_main(tests);
}
