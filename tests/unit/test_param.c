/* SPDX-License-Identifier: Apache-2.0 */
#include "base/param.h"

#include "base/alloc.h"
#include "wp_test.h"

static const wpi_param rows[] = {{"test-workers", WP_UNIT_NUMBER, "2", 1, 64, "threads"},
                                 {"test-memory", WP_UNIT_BYTES, "1GiB", 4096, UINT64_MAX, "limit"},
                                 {"test-delay", WP_UNIT_NS, "20us", 0, 1000000, "delay"},
                                 {"test-check", WP_UNIT_FLAG, "off", 0, 1, "checks"},
                                 {"test-spec", WP_UNIT_TEXT, "cpu", 0, 0, "device"},
                                 {0}};

static void defaults_are_valid_and_in_force(void **state) {
    (void)state;
    wp_error err = {0};
    const uint64_t wanted[] = {2, 1u << 30, 20000, 0, 0};
    for (size_t i = 0; rows[i].name != NULL; i++) {
        wpi_param_value value = {0};
        assert_status_ok(wpi_param_load(&rows[i], &value, &err), &err);
        assert_u64(value.number, wanted[i]);
        assert_int_equal(value.source, WP_PARAM_DEFAULT);
        assert_string_equal(value.text, rows[i].default_text);
    }
}

static void the_environment_comes_before_the_default(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_param_value value = {0};
    assert_int_equal(setenv("WARPAGE_TEST_WORKERS", "7", 1), 0);
    assert_status_ok(wpi_param_load(&rows[0], &value, &err), &err);
    assert_u64(value.number, 7);
    assert_int_equal(value.source, WP_PARAM_ENVIRONMENT);
    assert_int_equal(setenv("WARPAGE_TEST_WORKERS", "", 1), 0);
    assert_status_ok(wpi_param_load(&rows[0], &value, &err), &err);
    assert_u64(value.number, 2);
    assert_int_equal(unsetenv("WARPAGE_TEST_WORKERS"), 0);
}

static void values_out_of_range_are_refused_with_the_range(void **state) {
    (void)state;
    wp_error err = {0};
    uint64_t number = 0;
    assert_status_fails(wpi_param_parse(&rows[0], "0", &number, &err), WP_STATUS_INVALID, &err,
                        "test-workers: 0 is out of range (1 to 64)");
    assert_status_fails(wpi_param_parse(&rows[0], "65", &number, &err), WP_STATUS_INVALID, &err,
                        "1 to 64");
    assert_u64(number, 0);
}

static void malformed_values_name_the_parameter(void **state) {
    (void)state;
    wp_error err = {0};
    uint64_t number = 0;
    assert_status_fails(wpi_param_parse(&rows[0], "many", &number, &err), WP_STATUS_PARSE, &err,
                        "test-workers");
    assert_status_fails(wpi_param_parse(&rows[1], "4096", &number, &err), WP_STATUS_PARSE, &err,
                        "lacks a unit");
    assert_status_fails(wpi_param_parse(&rows[3], "maybe", &number, &err), WP_STATUS_PARSE, &err,
                        "neither on nor off");
}

static void flags_have_several_spellings(void **state) {
    (void)state;
    wp_error err = {0};
    uint64_t number = 0;
    const char *const on[] = {"1", "on", "yes", "true"};
    const char *const off[] = {"0", "off", "no", "false"};
    for (int i = 0; i < 4; i++) {
        assert_status_ok(wpi_param_parse(&rows[3], on[i], &number, &err), &err);
        assert_u64(number, 1);
        assert_status_ok(wpi_param_parse(&rows[3], off[i], &number, &err), &err);
        assert_u64(number, 0);
    }
}

static void an_unknown_name_gets_the_nearest(void **state) {
    (void)state;
    wp_error err = {0};
    const wpi_param *row = NULL;
    assert_status_ok(wpi_param_find(rows, "test-delay", &row, &err), &err);
    assert_ptr_equal(row, &rows[2]);
    assert_status_fails(wpi_param_find(rows, "test-dleay", &row, &err), WP_STATUS_NOT_FOUND, &err,
                        "did you mean 'test-delay'?");
    assert_null(row);
    assert_status_fails(wpi_param_find(rows, "zebra", &row, &err), WP_STATUS_NOT_FOUND, &err,
                        "zebra");
}

static void the_variable_follows_from_the_name(void **state) {
    (void)state;
    char *variable = wpi_param_variable(&rows[1]);
    assert_string_equal(variable, "WARPAGE_TEST_MEMORY");
    wpi_free(variable);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_valid_and_in_force),
        cmocka_unit_test(the_environment_comes_before_the_default),
        cmocka_unit_test(values_out_of_range_are_refused_with_the_range),
        cmocka_unit_test(malformed_values_name_the_parameter),
        cmocka_unit_test(flags_have_several_spellings),
        cmocka_unit_test(an_unknown_name_gets_the_nearest),
        cmocka_unit_test(the_variable_follows_from_the_name),
    };
    return wp_test_main(tests);
}
