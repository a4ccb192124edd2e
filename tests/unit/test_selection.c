/* SPDX-License-Identifier: Apache-2.0 */
#include "report/selection.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "wp_test.h"

static void start(const char *kernels, const char *launches, const char *warmup,
                  const char *region) {
    wp_error err = {0};
    setenv("WARPAGE_KERNELS", kernels, 1);
    setenv("WARPAGE_LAUNCHES", launches, 1);
    setenv("WARPAGE_WARMUP", warmup, 1);
    setenv("WARPAGE_REGION", region, 1);
    assert_status_ok(wpi_selection_start(&err), &err);
}

static void without_settings_all_are_taken(void **state) {
    (void)state;
    start("", "", "", "");
    assert_false(wpi_selection_is_on());
    assert_true(wpi_selection_takes("a()"));
    assert_true(wpi_selection_takes_others());
}

static void launches_are_numbered_among_those_that_match(void **state) {
    (void)state;
    start("^sort|merge", "2-3", "", "");
    assert_true(wpi_selection_is_on());
    const struct {
        const char *name;
        bool is_taken;
    } launches[] = {{"sort(int)", false}, {"other(int)", false}, {"tree_merge()", true},
                    {"resort()", false},  {"sort(int)", true},   {"sort(int)", false}};
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++)
        assert_int_equal(wpi_selection_takes(launches[i].name), launches[i].is_taken);
}

static void the_first_ones_may_be_left_out(void **state) {
    (void)state;
    start("", "", "2", "");
    for (int i = 0; i < 5; i++)
        assert_int_equal(wpi_selection_takes("a"), i >= 2);
    start("", "4-", "2", "");
    for (int i = 1; i <= 6; i++)
        assert_int_equal(wpi_selection_takes("a"), i >= 4);
}

static void only_the_region_counts_where_it_is_asked_for(void **state) {
    (void)state;
    start("", "1", "", "on");
    assert_true(wpi_selection_has_region());
    assert_false(wpi_selection_takes("a"));
    assert_false(wpi_selection_takes_others());
    wpi_selection_set_region(true);
    assert_true(wpi_selection_takes_others());
    assert_true(wpi_selection_takes("a")); /* the first in the region */
    assert_false(wpi_selection_takes("a"));
    wpi_selection_set_region(false);
    assert_false(wpi_selection_takes("a"));
}

static void nonsense_is_refused(void **state) {
    (void)state;
    wp_error err = {0};
    assert_status_fails(wpi_selection_check_kernels("a(", &err), WP_STATUS_INVALID, &err, "a(");
    const char *const ranges[] = {"", "0", "5-3", "a", "1-b", "-3", "1-2-3"};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        assert_status_fails(wpi_selection_check_launches(ranges[i], &err), WP_STATUS_PARSE, &err,
                            "3-5, 7 or 3-");
    assert_status_ok(wpi_selection_check_launches("7-", &err), &err);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_settings_all_are_taken),
        cmocka_unit_test(launches_are_numbered_among_those_that_match),
        cmocka_unit_test(the_first_ones_may_be_left_out),
        cmocka_unit_test(only_the_region_counts_where_it_is_asked_for),
        cmocka_unit_test(nonsense_is_refused),
    };
    return wp_test_main(tests);
}
