/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/asm_syntax.h"

#include "base/alloc.h"
#include "wp_test.h"

static void becomes(const char *text, const char *expected) {
    char *got = wpi_asm_syntax_escape(text);
    if (expected)
        assert_string_equal(got ? got : "(unchanged)", expected);
    else
        assert_null(got);
    wpi_free(got);
}

static void registers_beside_operands_are_escaped(void **state) {
    (void)state;
    becomes("asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x));",
            "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));");
    becomes("__asm__ __volatile__ (\"a %tid.x;\\n\"\n\t\"b %lanemask_lt;\" ::: \"memory\")",
            "__asm__ __volatile__ (\"a %%tid.x;\\n\"\n\t\"b %%lanemask_lt;\" ::: \"memory\")");
    becomes("#define T(x) asm volatile( \\\n  \"mov.u64 %0, %globaltimer;\" \\\n : \"=l\"(x))",
            "#define T(x) asm volatile( \\\n  \"mov.u64 %0, %%globaltimer;\" \\\n : \"=l\"(x))");
    becomes("asm(R\"(mov.u32 %0, %laneid; // \"quoted\")\" : \"=r\"(x));",
            "asm(R\"(mov.u32 %0, %%laneid; // \"quoted\")\" : \"=r\"(x));");
    becomes("asm(\"mov.\" TYPE(a ? \"u32\" : \"u64\") \" %0, %clock;\" : \"=r\"(x));",
            "asm(\"mov.\" TYPE(a ? \"u32\" : \"u64\") \" %0, %%clock;\" : \"=r\"(x));");
}

static void operands_modifiers_and_escapes_stay(void **state) {
    (void)state;
    becomes("asm(\"mov %0, %1; %%laneid %r0 %[name] %= %{ 100% \" : \"=r\"(x));", NULL);
    becomes("asm(\"mov %0, %\" \"%laneid\" : \"=r\"(x));", NULL);
    becomes("asm(\"mov %0, %\" R\"x(%laneid, %tid)x\" : \"=r\"(x));",
            "asm(\"mov %0, %\" R\"x(%laneid, %%tid)x\" : \"=r\"(x));");
}

static void commas_between_operands_are_added(void **state) {
    (void)state;
    becomes("asm(\"st [%0], %1;\" : : \"r\"(a + f(b))\n  \"r\"(c.x), \"r\"(d) : \"memory\"); f(x) "
            "\"y\"",
            "asm(\"st [%0], %1;\" : : \"r\"(a + f(b)),\n  \"r\"(c.x), \"r\"(d) : \"memory\"); f(x) "
            "\"y\"");
    becomes("asm(\"%0\" : \"=r\"(x) : \"r\"(y)) \"z\"", NULL);
    becomes("asm(\"%0\" : \"=r\"(x) : \"r\"(f(y) \"z\")); g(a) \"b\"", NULL);
    becomes("asm(\"nop;\"); g(a) \"b\"", NULL);
}

static void other_text_stays(void **state) {
    (void)state;
    becomes("asm volatile(\"mov.u32 r, %laneid;\");", NULL); /* nothing is expanded there */
    becomes("printf(\"%laneid\", a ? b : c); // asm(\"%laneid\" :)", NULL);
    becomes("my_asm(\"%laneid\" : x); asm = f(\"%laneid\" : x);", NULL);
    becomes("asm(\"%laneid\"", NULL);
    becomes("asm(\"%0\" : \"=r\"(name(\"%laneid\")));", NULL); /* behind the operands' colon */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_beside_operands_are_escaped),
        cmocka_unit_test(operands_modifiers_and_escapes_stay),
        cmocka_unit_test(commas_between_operands_are_added),
        cmocka_unit_test(other_text_stays),
    };
    return wp_test_main(tests);
}
