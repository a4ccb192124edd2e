/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of pages to JSON and back; what is damaged is refused. */
#include "base/alloc.h"
#include "report/managed_counts.h"
#include "wp_random.h"
#include "wp_test.h"

#define PAGES 700u
#define ROWS 90u
#define SLICES 7u
#define EVENTS WP_RUN_PAGE_EVENTS

/* Runs of the same number, zeros at ends, and numbers that do not fit 32 bits. */
static wp_run_managed *make_random(uint64_t seed) {
    wp_run_managed *m = wpi_calloc(1, sizeof *m);
    m->allocations = wpi_calloc(2, sizeof *m->allocations);
    m->allocation_count = 2;
    m->launches = wpi_calloc(1, sizeof *m->launches);
    m->launches[0] = (wp_run_launch){wpi_strdup("f(int *)"), 17, UINT64_C(1) << 50};
    m->launch_count = 1;
    m->launches_left_out = 3;
    m->row_pages = 16;
    m->slice_ps = 1 << 20;
    m->row_count = ROWS;
    m->slice_count = SLICES;
    m->map = wpi_calloc(SLICES * ROWS, sizeof *m->map);
    for (uint32_t i = 0; i < 2; i++) {
        wp_run_managed_allocation *a = &m->allocations[i];
        *a = (wp_run_managed_allocation){.name = wpi_strdup(i == 0 ? "a" : ""),
                                         .address = UINT64_C(1) << 44,
                                         .bytes = 4096 * PAGES - 5,
                                         .page_count = PAGES,
                                         .first_row = i * 45,
                                         .row_count = 45,
                                         .pages = wpi_calloc(PAGES, sizeof *a->pages)};
        for (uint32_t k = 0; k < 500 * EVENTS; k++) {
            const uint64_t r = wp_random_next(&seed);
            a->pages[k / EVENTS][k % EVENTS] = r % 4 == 0 ? r >> 20 : r % 2;
        }
    }
    for (uint32_t k = 0; k < SLICES * ROWS; k++)
        m->map[k][k % EVENTS] = (uint32_t)(wp_random_next(&seed) % 3);
    return m;
}

static wp_status read_back(const json_t *object, wp_run_managed **out, wp_error *err) {
    wpi_json_reader reader = {.where = "r.json", .err = err};
    *out = wpi_managed_from_json(&reader, object);
    return reader.status;
}

static void what_is_written_is_read(void **state) {
    (void)state;
    wp_error err = {0};
    wp_run_managed *wanted = make_random(99), *got;
    json_t *object = wpi_managed_to_json(wanted);
    assert_status_ok(read_back(object, &got, &err), &err);
    assert_u64(got->allocation_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const wp_run_managed_allocation *a = &got->allocations[i], *b = &wanted->allocations[i];
        assert_string_equal(a->name, b->name);
        assert_u64(a->address, b->address);
        assert_u64(a->bytes, b->bytes);
        assert_u64(a->first_row, b->first_row);
        assert_memory_equal(a->pages, b->pages, PAGES * sizeof *a->pages);
    }
    assert_memory_equal(got->map, wanted->map, SLICES * ROWS * sizeof *got->map);
    assert_string_equal(got->launches[0].kernel, "f(int *)");
    assert_u64(got->launches[0].end_ps, wanted->launches[0].end_ps);
    assert_u64(got->launches_left_out, 3);
    wpi_managed_destroy(got);
    wpi_managed_destroy(wanted);
    json_decref(object);
}

static void what_is_damaged_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *key;
        json_int_t value;
    } cases[] = {{"page_count", (json_int_t)1 << 40}, {"first_row", 46}, {"row_count", -1}};
    wp_run_managed *good = make_random(5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wp_error err = {0};
        wp_run_managed *got;
        json_t *object = wpi_managed_to_json(good);
        json_t *allocation = json_array_get(json_object_get(object, "allocations"), 1);
        wpi_json_set(allocation, cases[i].key, json_integer(cases[i].value));
        assert_u64(read_back(object, &got, &err), WP_STATUS_PARSE);
        assert_non_null(strstr(err.message, cases[i].key));
        wpi_managed_destroy(got);
        json_decref(object);
    }
    wpi_managed_destroy(good);
}

static void rows_of_one_number_are_short(void **state) {
    (void)state;
    wp_run_managed *m = make_random(1);
    for (uint32_t page = 0; page < PAGES; page++)
        m->allocations[0].pages[page][WP_RUN_PAGE_READ] = page < 600 ? 32 : 0;
    json_t *object = wpi_managed_to_json(m);
    const json_t *pages =
        json_object_get(json_array_get(json_object_get(object, "allocations"), 0), "pages");
    assert_string_equal(json_string_value(json_object_get(pages, "reads")), "32*600");
    json_decref(object);
    wpi_managed_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_is_damaged_is_refused),
        cmocka_unit_test(rows_of_one_number_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
