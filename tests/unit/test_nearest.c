/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"
#include "wp_test.h"

static void distance_counts_single_edits(void **state) {
    (void)state;
    assert_u64(wpi_edit_distance("", ""), 0);
    assert_u64(wpi_edit_distance("", "abc"), 3);
    assert_u64(wpi_edit_distance("abc", ""), 3);
    assert_u64(wpi_edit_distance("kitten", "sitting"), 3);
    assert_u64(wpi_edit_distance("device", "devcie"), 1);
    assert_u64(wpi_edit_distance("run", "rum"), 1);
    assert_u64(wpi_edit_distance("params", "param"), 1);
}

/* Its result lasts until the next call. */
static const char *nearest_of(const char *wanted, const char *const *names) {
    static wpi_nearest nearest;
    nearest = (wpi_nearest){.wanted = wanted};
    for (; *names != NULL; names++) {
        char name[32]; /* candidates may go after they have been offered */
        snprintf(name, sizeof name, "%s", *names);
        wpi_nearest_offer(&nearest, name);
    }
    return wpi_nearest_result(&nearest);
}

static void a_typing_error_finds_its_name(void **state) {
    (void)state;
    const char *const names[] = {"run", "devices", "params", "doctor", NULL};
    assert_string_equal(nearest_of("devcies", names), "devices");
    assert_string_equal(nearest_of("rnu", names), "run");
    assert_string_equal(nearest_of("docter", names), "doctor");
}

static void something_else_finds_nothing(void **state) {
    (void)state;
    const char *const names[] = {"run", "devices", NULL};
    const char *const none[] = {NULL};
    assert_null(nearest_of("frobnicate", names));
    assert_null(nearest_of("run", none));
}

static void long_names_are_safe(void **state) {
    (void)state;
    char a[500], b[500];
    memset(a, 'a', sizeof a - 1);
    memset(b, 'b', sizeof b - 1);
    a[sizeof a - 1] = b[sizeof b - 1] = '\0';
    assert_true(wpi_edit_distance(a, b) > 0);
    assert_u64(wpi_edit_distance(a, a), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_counts_single_edits),
        cmocka_unit_test(a_typing_error_finds_its_name),
        cmocka_unit_test(something_else_finds_nothing),
        cmocka_unit_test(long_names_are_safe),
    };
    return wp_test_main(tests);
}
