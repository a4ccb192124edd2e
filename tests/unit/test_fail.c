/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"
#include "wp_test.h"

static void fill_in_the_status_the_place_and_the_message(void **state) {
    (void)state;
    wp_error err = {0};
    const int line = __LINE__ + 1;
    assert_int_equal(WP_FAIL(&err, IO, "disk %d of %s", 3, "rack"), WP_STATUS_IO);
    assert_int_equal(err.status, WP_STATUS_IO);
    assert_string_equal(err.message, "disk 3 of rack");
    assert_contains(err.file, "test_fail.c");
    assert_int_equal(err.line, line);
}

static void accept_null_for_the_error(void **state) {
    (void)state;
    assert_int_equal(WP_FAIL(NULL, NOMEM, "unheard"), WP_STATUS_NOMEM);
}

static void cut_a_long_message_at_the_buffer(void **state) {
    (void)state;
    char longer[2 * sizeof((wp_error *)NULL)->message];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    wp_error err = {0};
    (void)WP_FAIL(&err, IO, "%s", longer);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void add_context_to_the_same_error(void **state) {
    (void)state;
    wp_error err = {0};
    (void)WP_FAIL(&err, IO, "disk full");
    (void)WP_FAIL(&err, IO, "saving: %s", err.message);
    assert_string_equal(err.message, "saving: disk full");
}

static wp_status tried(wp_status inner, int *reached) {
    WP_TRY(inner);
    *reached = 1;
    return WP_STATUS_OK;
}

static wp_status tried_goto(wp_status inner, int *cleaned) {
    wp_status status = WP_STATUS_OK;
    WP_TRY_GOTO(inner, done);
    status = WP_STATUS_NOT_READY;
done:
    *cleaned = 1;
    return status;
}

static void try_returns_early_only_on_failure(void **state) {
    (void)state;
    int reached = 0;
    assert_int_equal(tried(WP_STATUS_PARSE, &reached), WP_STATUS_PARSE);
    assert_int_equal(reached, 0);
    assert_int_equal(tried(WP_STATUS_OK, &reached), WP_STATUS_OK);
    assert_int_equal(reached, 1);
}

static void try_goto_passes_through_the_cleanup(void **state) {
    (void)state;
    int cleaned = 0;
    assert_int_equal(tried_goto(WP_STATUS_PARSE, &cleaned), WP_STATUS_PARSE);
    assert_int_equal(cleaned, 1);
    assert_int_equal(tried_goto(WP_STATUS_OK, &cleaned), WP_STATUS_NOT_READY);
}

static void every_status_has_its_own_text(void **state) {
    (void)state;
    for (int i = 0; i < WP_STATUS_COUNT; i++) {
        assert_string_not_equal(wp_status_string((wp_status)i), "unknown status");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(wp_status_string((wp_status)i), wp_status_string((wp_status)j));
    }
    assert_string_equal(wp_status_string(WP_STATUS_COUNT), "unknown status");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_in_the_status_the_place_and_the_message),
        cmocka_unit_test(accept_null_for_the_error),
        cmocka_unit_test(cut_a_long_message_at_the_buffer),
        cmocka_unit_test(add_context_to_the_same_error),
        cmocka_unit_test(try_returns_early_only_on_failure),
        cmocka_unit_test(try_goto_passes_through_the_cleanup),
        cmocka_unit_test(every_status_has_its_own_text),
    };
    return wp_test_main(tests);
}
