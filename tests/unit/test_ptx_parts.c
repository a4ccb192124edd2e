/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "device/ptx_parts.h"
#include "wp_test.h"

static const char text[] =
    ".version 7.0 // a, b\n.target sm_70\n.address_size 64\n"
    ".global .align 4 .b8 $str[3] = {97, 59, 0};\n"
    ".global .u32 counter;\n"
    ".global .align 8 .u64 table[1] = {helper};\n"
    ".extern .shared .align 16 .b8 block[];\n"
    ".global .u32 lonely;\n"
    ".func (.param .b32 result) helper(.param .b32 x);\n"
    ".visible .entry first()\n.maxntid 256, 1, 1\n{\n\t// lonely }\n\tmov.u64 %rd1, counter;\n"
    "\tmov.u64 %rd2, $str;\n\tmov.u64 %rd3, block;\n\tret;\n}\n"
    ".visible .entry second()\n{\n\tcall.uni (r), helper, (x);\n\t{ .reg .b32 t; }\n\tret;\n}\n"
    ".func (.param .b32 result) helper(.param .b32 x)\n{\n\tmov.u64 %rd2, $str;\n\tret;\n}\n"
    ".visible .entry third()\n{\n\tmov.u64 %rd1, counter;\n\tret;\n}\n"
    ".weak .entry fourth()\n{\n\tld.global.u64 %rd1, [table+8];\n\tret;\n}\n";

static wpi_ptx_parts *divide(const char *of) {
    wpi_ptx_parts *parts;
    wp_error err = {0};
    assert_status_ok(wpi_ptx_parts_create(wpi_strdup(of), &parts, &err), &err);
    return parts;
}

static char *part_of(const wpi_ptx_parts *parts, const char *name) {
    size_t number;
    assert_true(wpi_ptx_parts_find(parts, name, &number));
    assert_true(number < wpi_ptx_parts_outer(parts));
    char *part = wpi_ptx_parts_text(parts, number);
    assert_non_null(part);
    assert_non_null(strstr(part, ".version 7.0 // a, b\n"));
    assert_non_null(strstr(part, ".address_size 64\n"));
    return part;
}

/* `has` and `lacks`: definitions, separated by '|'. */
static void check(const wpi_ptx_parts *parts, const char *name, const char *has,
                  const char *lacks) {
    char *part = part_of(parts, name);
    for (int is_lacking = 0; is_lacking < 2; is_lacking++) {
        char *list = wpi_strdup(is_lacking ? lacks : has);
        for (char *at = strtok(list, "|"); at != NULL; at = strtok(NULL, "|"))
            assert_true((strstr(part, at) == NULL) == (is_lacking != 0));
        wpi_free(list);
    }
    wpi_free(part);
}

static void a_part_is_what_a_kernel_needs(void **state) {
    (void)state;
    wpi_ptx_parts *parts = divide(text);
    check(parts, "second", ".entry second|helper(.param .b32 x)\n{|helper(.param .b32 x);|b8 $str",
          ".entry first|.entry third|.entry fourth|.u32 counter|b8 block|u64 table|u32 lonely");
    check(parts, "fourth", ".entry fourth|u64 table|helper(.param .b32 x)\n{|b8 $str",
          ".entry second|.u32 counter");
    wpi_ptx_parts_destroy(parts);
}

static void kernels_with_a_variable_in_common_are_one_part(void **state) {
    (void)state;
    static const char *const names[] = {"first", "third", "counter"};
    wpi_ptx_parts *parts = divide(text);
    for (size_t i = 0; i < 3; i++)
        check(parts, names[i], ".entry first|.entry third|.u32 counter|b8 $str|b8 block",
              ".entry second|helper|lonely;|u64 table");
    check(parts, "lonely", "lonely;", ".entry|counter");
    wpi_ptx_parts_destroy(parts);
}

static void other_names_have_no_part(void **state) {
    (void)state;
    static const char *const names[] = {"", "helper", "fifth", "firs", "block"};
    wpi_ptx_parts *parts = divide(text);
    size_t number;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(wpi_ptx_parts_find(parts, names[i], &number));
    wpi_ptx_parts_destroy(parts);
}

static void texts_that_stay_whole_are_unsupported(void **state) {
    (void)state;
    static const char *const texts[] = {
        ".file 1 \"a.cu\"\n",   ".section .debug_str { }\n",
        ".alias a, b;\n",       ".global .attribute(.managed) .u32 m;\n",
        ".global .u32 a, b;\n", ".entry a() { ret;\n",
        ".global .u32 a\n",     "}\n",
        ".entry ();\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        wpi_ptx_parts *parts;
        wp_error err = {0};
        char *copy = wpi_strdup(texts[i]);
        assert_status_fails(wpi_ptx_parts_create(copy, &parts, &err), WP_STATUS_UNSUPPORTED, &err,
                            "divided");
        assert_null(parts);
        wpi_free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_what_a_kernel_needs),
        cmocka_unit_test(kernels_with_a_variable_in_common_are_one_part),
        cmocka_unit_test(other_names_have_no_part),
        cmocka_unit_test(texts_that_stay_whole_are_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
