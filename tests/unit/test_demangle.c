/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "compiler/source/demangle.h"
#include "wp_test.h"

static void reads(const char *text, const char *wanted) {
    char *plain = wpi_demangle(text);
    assert_string_equal(plain, wanted);
    wpi_free(plain);
}

static void names_in_a_message_are_as_the_user_wrote_them(void **state) {
    (void)state;
    reads("kernel _Z1kPi: too large", "kernel k(int*): too large");
    reads("_ZN3abc5sweepEfRK1S used by _Z4stepv", "abc::sweep(float, S const&) used by step()");
}

static void everything_else_stays(void **state) {
    (void)state;
    reads("", "");
    reads("a_Z1kPi, _Z, _Z_x, main.cu:3", "a_Z1kPi, _Z, _Z_x, main.cu:3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_a_message_are_as_the_user_wrote_them),
        cmocka_unit_test(everything_else_stays),
    };
    return wp_test_main(tests);
}
