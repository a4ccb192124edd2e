/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include "base/alloc.h"
#include "wp_test.h"

static void items_end_with_null_at_every_size(void **state) {
    (void)state;
    wpi_strings strings = {0};
    for (size_t i = 0; i < 100; i++) {
        wpi_strings_addf(&strings, "%zu", i);
        assert_u64(strings.count, i + 1);
        assert_null(strings.items[strings.count]);
    }
    assert_string_equal(strings.items[0], "0");
    assert_string_equal(strings.items[99], "99");
    wpi_strings_deinit(&strings);
    assert_null(strings.items);
}

static void added_strings_are_copies(void **state) {
    (void)state;
    char buffer[] = "before";
    wpi_strings strings = {0};
    wpi_strings_add(&strings, buffer);
    memcpy(buffer, "after!", 6);
    assert_string_equal(strings.items[0], "before");
    wpi_strings_deinit(&strings);
}

static void taken_strings_are_not_copied(void **state) {
    (void)state;
    char *text = wpi_strdup("mine");
    wpi_strings strings = {0};
    wpi_strings_add_take(&strings, text);
    assert_ptr_equal(strings.items[0], text);
    wpi_strings_deinit(&strings);
}

static void one_vector_can_be_added_to_another(void **state) {
    (void)state;
    wpi_strings a = {0}, b = {0};
    wpi_strings_add(&a, "x");
    wpi_strings_add(&b, "y");
    wpi_strings_add(&b, "z");
    wpi_strings_add_all(&a, &b);
    wpi_strings_deinit(&b);
    assert_u64(a.count, 3);
    assert_string_equal(a.items[2], "z");
    assert_true(wpi_strings_contains(&a, "y"));
    assert_false(wpi_strings_contains(&a, "w"));
    wpi_strings_deinit(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_end_with_null_at_every_size),
        cmocka_unit_test(added_strings_are_copies),
        cmocka_unit_test(taken_strings_are_not_copied),
        cmocka_unit_test(one_vector_can_be_added_to_another),
    };
    return wp_test_main(tests);
}
