/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that is loaded more than once (modules, devices) has one row for all of its launches. */
#include "report/cached.h"

#include <string.h>

#include "base/alloc.h"
#include "wp_test.h"

static const wp_run_cached cached = {
    .name = (char *)(uintptr_t)"k",
    .launches = 2,
    .has_counts = true,
    .hits_pct = 60,
    .lines = 3,
    .threads_per_sm = 512,
    .shared_left_bytes = 48 * 1024,
    .left = 7,
    .structure_count = 2,
    .structures = {
        {.name = "in", .is_left_out = true, .parameter = 0, .accesses = 10, .hits = 9, .seldom = 7},
        {.name = "out", .parameter = 1, .accesses = 10, .hits = 6, .seldom = 7}}};
static const wp_run_cached plain = {.name = (char *)(uintptr_t)"k",
                                    .launches = 1,
                                    .plain_launches = 1,
                                    .has_counts = true,
                                    .reason = (char *)(uintptr_t)"there is no room",
                                    .structure_count = 2};

static char *text_of(const wp_run_record *record) {
    wpi_text text = {0};
    wpi_cached_text(record, &text);
    return wpi_text_take(&text);
}

static void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) print_error("no \"%s\" in:\n%s", part, text);
    assert_non_null(strstr(text, part));
}

static void check_order(const wp_run_cached *first, const wp_run_cached *second) {
    wp_run_record record = {0};
    assert_true(wpi_cached_add(&record, first));
    assert_true(wpi_cached_add(&record, second));
    assert_int_equal(record.cached_count, 1);
    const wp_run_cached *row = &record.cached[0];
    assert_int_equal(row->launches, 3);
    assert_int_equal(row->plain_launches, 1);
    assert_string_equal(row->reason, "there is no room");
    assert_int_equal(row->lines, 3);
    assert_int_equal(row->threads_per_sm, 512);
    assert_int_equal(row->left, 7);
    wpi_cached_deinit(&record);
}

static void what_cached_launches_had_survives_plain_ones(void **state) {
    (void)state;
    check_order(&cached, &plain);
    check_order(&plain, &cached);
}

static void an_array_that_is_not_cached_has_its_own_reason(void **state) {
    (void)state;
    wp_run_record record = {0};
    assert_true(wpi_cached_add(&record, &cached));
    char *text = text_of(&record);
    assert_has(text, "90.0 % hits of 10 monitored; not cached: loops access it that end where "
                     "data say, or in which lanes meet\n");
    assert_has(text, "60.0 % hits of 10 monitored; not cached: at most 60 % hits\n");
    wpi_free(text);
    record.cached[0].structures[0].is_alike = true;
    text = text_of(&record);
    assert_has(text, "not cached: the lanes of a warp read one address\n");
    wpi_free(text);
    wpi_cached_deinit(&record);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cached_launches_had_survives_plain_ones),
        cmocka_unit_test(an_array_that_is_not_cached_has_its_own_reason),
    };
    return wp_test_main(tests);
}
