/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "wp_test.h"

static void warnings_are_shown_without_a_choice(void **state) {
    (void)state;
    assert_int_equal(wpi_log_level_of(NULL, "device.cpu"), WP_LOG_WARN);
    assert_int_equal(wpi_log_level_of("", "device.cpu"), WP_LOG_WARN);
}

static void a_category_covers_those_below_it(void **state) {
    (void)state;
    assert_int_equal(wpi_log_level_of("device:info", "device.cpu"), WP_LOG_INFO);
    assert_int_equal(wpi_log_level_of("device:info", "device"), WP_LOG_INFO);
    assert_int_equal(wpi_log_level_of("device:info", "devices"), WP_LOG_WARN);
    assert_int_equal(wpi_log_level_of("device.cpu:info", "device"), WP_LOG_WARN);
}

static void the_longest_match_wins_in_either_order(void **state) {
    (void)state;
    assert_int_equal(wpi_log_level_of("device:error,device.cpu:debug", "device.cpu"), WP_LOG_DEBUG);
    assert_int_equal(wpi_log_level_of("device.cpu:debug,device:error", "device.cpu"), WP_LOG_DEBUG);
    assert_int_equal(wpi_log_level_of("debug,device:error", "device.cpu"), WP_LOG_ERROR);
    assert_int_equal(wpi_log_level_of("device:error,debug", "device.cpu"), WP_LOG_ERROR);
}

static void a_lone_level_is_for_all_and_a_lone_category_shows_all(void **state) {
    (void)state;
    assert_int_equal(wpi_log_level_of("info", "compiler"), WP_LOG_INFO);
    assert_int_equal(wpi_log_level_of("compiler", "compiler.pass"), WP_LOG_DEBUG);
    assert_int_equal(wpi_log_level_of("compiler", "device"), WP_LOG_WARN);
}

static void malformed_rules_are_passed_over(void **state) {
    (void)state;
    assert_int_equal(wpi_log_level_of("device:loud,,:,compiler:info", "compiler"), WP_LOG_INFO);
    assert_int_equal(wpi_log_level_of("device:loud", "device"), WP_LOG_WARN);
}

static void the_environment_variable_is_read_at_each_call(void **state) {
    (void)state;
    assert_int_equal(setenv("WARPAGE_LOG", "test:debug", 1), 0);
    assert_true(wpi_log_is_on(WP_LOG_DEBUG, "test"));
    assert_int_equal(unsetenv("WARPAGE_LOG"), 0);
    assert_false(wpi_log_is_on(WP_LOG_INFO, "test"));
    assert_true(wpi_log_is_on(WP_LOG_ERROR, "test"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warnings_are_shown_without_a_choice),
        cmocka_unit_test(a_category_covers_those_below_it),
        cmocka_unit_test(the_longest_match_wins_in_either_order),
        cmocka_unit_test(a_lone_level_is_for_all_and_a_lone_category_shows_all),
        cmocka_unit_test(malformed_rules_are_passed_over),
        cmocka_unit_test(the_environment_variable_is_read_at_each_call),
    };
    return wp_test_main(tests);
}
