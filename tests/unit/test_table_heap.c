/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of heaps: in device memory, page-locked, managed; their locks, and what fails when they are
 * full. */
#include "warpage/table.h"

#include <pthread.h>

#include "table/table_state.h"
#include "table_model.h"
#include "wp_test.h"

static const wp_table_heap_kind other_heaps[] = {WP_TABLE_HEAP_MEMORY, WP_TABLE_HEAP_PINNED,
                                                 WP_TABLE_HEAP_MANAGED};

static void every_kind_of_heap_makes_the_same_table(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < 3; kind++)
        for (uint32_t organisation = 0; organisation < 3; organisation++) {
            fill f = {.seed = 31 + kind, .distinct = KEYS_MAX, .units = 3000, .value_bytes = 60};
            wp_table_spec spec = WP_TABLE_SPEC_INIT;
            wp_table_report report;
            wp_error err = {0};
            bool equal;
            spec.organisation = (wp_table_organisation)organisation;
            spec.heap_kind = other_heaps[kind];
            spec.heap_bytes = 1 << 20;
            spec.page_bytes = 512;
            assert_status_ok(run(&f, &spec, 640, &report, &equal, &err), &err);
            assert_true(equal);
            assert_u64(report.passes, 1);
        }
}

/* What is on the host is read where it is: nothing crosses the link a second time. */
static void a_heap_on_the_host_is_the_finished_table(void **state) {
    (void)state;
    for (uint32_t kind = 1; kind < 3; kind++) {
        fill f = {.seed = 5, .distinct = 300, .units = 900};
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        const wp_postpone_spec units = {f.units, 0, PAIRS_MAX, 0};
        wp_postpone *postpone;
        wp_allocation heap;
        wp_error err = {0};
        spec.organisation = WP_TABLE_COMBINING;
        spec.heap_kind = other_heaps[kind];
        spec.heap_bytes = 1 << 20;
        assert_status_ok(wp_table_create(device, &spec, &f.table, &err), &err);
        assert_status_ok(wp_postpone_create(device, &units, &postpone, &err), &err);
        const wp_requester requester = {.object = &f, .process = process};
        assert_status_ok(wp_table_run(f.table, postpone, &requester, NULL, &err), &err);
        check_invariants(f.table);
        const wp_table_view view = wp_table_get_view(f.table);
        assert_true(wp_memory_find(device, view.heap, &heap));
        assert_int_equal(heap.kind, kind == 1 ? WP_MEMORY_PINNED : WP_MEMORY_MANAGED);
        wp_table_cursor cursor = {0};
        wp_table_pair pair;
        while (wp_table_next(f.table, &cursor, &pair)) {
            assert_true((const char *)pair.key > view.heap);
            assert_true((const char *)pair.key < view.heap + (1 << 20));
        }
        wp_table_report report;
        wp_table_get_report(f.table, &report);
        assert_u64(report.to_host_bytes, (view.bucket_mask + 1) * sizeof *view.buckets);
        wp_postpone_destroy(postpone);
        wp_table_close(f.table);
    }
}

/* Locks, pages' states and buckets stay on the device: only entries are in the heap. */
static void locks_of_a_heap_on_the_host_are_on_the_device(void **state) {
    (void)state;
    for (uint32_t kind = 1; kind < 3; kind++) {
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        wp_table *table;
        wp_error err = {0};
        spec.organisation = WP_TABLE_COMBINING;
        spec.combiner = WP_TABLE_CALLBACK;
        spec.heap_kind = other_heaps[kind];
        spec.heap_bytes = 1 << 20;
        assert_status_ok(wp_table_create(device, &spec, &table, &err), &err);
        const wp_table_view view = wp_table_get_view(table);
        const void *const on_device[] = {view.buckets, view.pages, view.streams, view.control,
                                         view.entry_locks};
        for (size_t i = 0; i < sizeof on_device / sizeof *on_device; i++) {
            wp_allocation allocation;
            assert_true(wp_memory_find(device, on_device[i], &allocation));
            assert_int_equal(allocation.kind, WP_MEMORY_DEVICE);
        }
        wp_table_close(table);
    }
}

static void add_up(const void *value, void *existing) {
    uint64_t a, b;
    memcpy(&a, value, sizeof a);
    memcpy(&b, existing, sizeof b);
    b += a;
    memcpy(existing, &b, sizeof b);
}

static void *add_many(void *object) {
    const wp_table_view *view = object;
    for (uint64_t i = 0; i < 4000; i++) {
        const uint64_t key = i % 7, one = 1;
        if (wp_table_insert_with(view, &key, 8, &one, 8, add_up) != WP_DONE) return object;
    }
    return NULL;
}

static void callbacks_are_called_one_at_a_time_for_a_key(void **state) {
    (void)state;
    const wp_table_heap_kind kinds[] = {WP_TABLE_HEAP_SEPO, WP_TABLE_HEAP_PINNED};
    for (int kind = 0; kind < 2; kind++) {
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        wp_table *table;
        pthread_t threads[THREADS];
        wp_error err = {0};
        spec.organisation = WP_TABLE_COMBINING;
        spec.combiner = WP_TABLE_CALLBACK;
        spec.heap_kind = kinds[kind];
        spec.heap_bytes = 1 << 16;
        spec.bucket_count = 2; /* keys share a lock */
        assert_status_ok(wp_table_create(device, &spec, &table, &err), &err);
        assert_status_ok(wpi_table_begin(table, &err), &err);
        assert_status_ok(wp_device_wait(device, &err), &err);
        wp_table_view view = wp_table_get_view(table);
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, add_many, &view), 0);
        for (uint32_t i = 0; i < THREADS; i++) {
            void *failed;
            (void)pthread_join(threads[i], &failed);
            assert_null(failed);
        }
        uint64_t sum = 0;
        for (uint64_t key = 0; key < 7; key++) {
            uint32_t bytes;
            const uint64_t place = wp_table_find(&view, &key, 8, 0);
            assert_true(place != 0);
            sum += *(const uint64_t *)wp_table_value_at(&view, place, &bytes);
        }
        assert_u64(sum, THREADS * 4000);
        wp_table_close(table);
    }
}

static void a_full_heap_of_another_kind_is_an_error(void **state) {
    (void)state;
    const char *const where[] = {"in device memory", "in page-locked host memory",
                                 "of managed memory"};
    const wp_status statuses[] = {WP_STATUS_DEVICE_NOMEM, WP_STATUS_NOMEM, WP_STATUS_NOMEM};
    for (uint32_t kind = 0; kind < 3; kind++)
        for (uint32_t organisation = 0; organisation < 3; organisation++) {
            fill f = {.seed = 8, .distinct = 300, .units = 900, .value_bytes = 30};
            wp_table_spec spec = WP_TABLE_SPEC_INIT;
            wp_table_report report;
            wp_error err = {0};
            char wanted[64];
            bool equal;
            spec.organisation = (wp_table_organisation)organisation;
            spec.heap_kind = other_heaps[kind];
            spec.heap_bytes = 4096;
            spec.page_bytes = 256;
            (void)snprintf(wanted, sizeof wanted, "a heap of 4096 bytes %s is full", where[kind]);
            assert_status_fails(run(&f, &spec, 64, &report, &equal, &err), statuses[kind], &err,
                                wanted);
            assert_contains(err.message, "WP_TABLE_HEAP_SEPO");
            assert_contains(err.message, "of 900 units");
        }
}

static void mistakes_with_kinds_of_heaps_are_named(void **state) {
    (void)state;
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_table *table;
    wp_error err = {0};
    spec.heap_kind = WP_TABLE_HEAP_KIND_COUNT;
    assert_status_fails(wp_table_create(device, &spec, &table, &err), WP_STATUS_INVALID, &err,
                        "no kind of heap 4");
    spec.heap_kind = WP_TABLE_HEAP_PINNED;
    assert_status_fails(wp_table_create(device, &spec, &table, &err), WP_STATUS_INVALID, &err,
                        "set heap_bytes");
    spec.heap_bytes = 4096;
    spec.host_bytes = 4000;
    assert_status_fails(wp_table_create(device, &spec, &table, &err), WP_STATUS_INVALID, &err,
                        "exceeds host_bytes, 4000");
    spec.host_bytes = 0;
    spec.postpone_pct = 5;
    assert_status_fails(wp_table_create(device, &spec, &table, &err), WP_STATUS_INVALID, &err,
                        "WP_TABLE_HEAP_SEPO");
}

/* GPUs before Pascal have no page faults: what does not fit is refused, with the reason. */
static void managed_memory_beyond_device_memory_needs_page_faults(void **state) {
    (void)state;
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_device *gpu;
    wp_table *table;
    wp_error err = {0};
    spec.heap_kind = WP_TABLE_HEAP_MANAGED;
    spec.heap_bytes = UINT64_C(4) << 30;
    assert_status_ok(wp_device_open("sim:gtx780ti", &gpu, &err), &err);
    assert_status_fails(wp_table_create(gpu, &spec, &table, &err), WP_STATUS_UNSUPPORTED, &err,
                        "has no page faults");
    assert_contains(err.message, "GTX 780 Ti");
    spec.heap_bytes = 1 << 20;
    assert_status_ok(wp_table_create(gpu, &spec, &table, &err), &err);
    wp_table_close(table);
    wp_device_close(gpu);
    spec.heap_bytes = UINT64_C(4) << 30;
    assert_status_ok(wp_device_open("sim:gtx1080ti", &gpu, &err), &err); /* of 1 GiB */
    assert_status_ok(wp_table_create(gpu, &spec, &table, &err), &err);
    wp_table_close(table);
    wp_device_close(gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_heap_makes_the_same_table),
        cmocka_unit_test(a_heap_on_the_host_is_the_finished_table),
        cmocka_unit_test(locks_of_a_heap_on_the_host_are_on_the_device),
        cmocka_unit_test(callbacks_are_called_one_at_a_time_for_a_key),
        cmocka_unit_test(a_full_heap_of_another_kind_is_an_error),
        cmocka_unit_test(mistakes_with_kinds_of_heaps_are_named),
        cmocka_unit_test(managed_memory_beyond_device_memory_needs_page_faults)};
    return table_test_main(tests);
}
