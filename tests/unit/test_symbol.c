/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/symbol.h"

#include "base/alloc.h"
#include "wp_test.h"

__attribute__((noinline)) static char *describe_caller(void) {
    return wpi_symbol_describe(__builtin_return_address(0));
}

static void a_static_function_has_its_name(void **state) {
    (void)state;
    char *text = describe_caller();
    assert_non_null(text);
    assert_contains(text, "a_static_function_has_its_name+0x");
    assert_contains(text, " in unit_test_symbol");
    wpi_free(text);
}

static void a_function_of_a_library_has_its_name(void **state) {
    (void)state;
    char *text = wpi_symbol_describe((const char *)(uintptr_t)&strlen + 1);
    assert_non_null(text);
    assert_contains(text, "+0x");
    wpi_free(text);
}

static void what_is_not_loaded_has_none(void **state) {
    (void)state;
    int here = 0;
    assert_null(wpi_symbol_describe(NULL));
    assert_null(wpi_symbol_describe((const void *)(uintptr_t)16));
    assert_null(wpi_symbol_describe(&here));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_static_function_has_its_name),
        cmocka_unit_test(a_function_of_a_library_has_its_name),
        cmocka_unit_test(what_is_not_loaded_has_none),
    };
    return wp_test_main(tests);
}
