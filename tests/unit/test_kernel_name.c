/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "compiler/source/kernel_name.h"
#include "wp_test.h"

static void is_called(const char *mangled, const char *const *names) {
    for (; *names; names++)
        if (!wpi_kernel_is_called(mangled, *names)) fail_msg("%s is %s", *names, mangled);
}

static void is_not_called(const char *mangled, const char *const *names) {
    for (; *names; names++)
        if (wpi_kernel_is_called(mangled, *names)) fail_msg("%s is not %s", *names, mangled);
}
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void source_name_is(const char *mangled, const char *wanted) {
    char *name = wpi_kernel_source_name(mangled);
    assert_string_equal(name, wanted);
    wpi_free(name);
}

static void names_in_c_are_themselves(void **state) {
    (void)state;
    source_name_is("plain", "plain");
    is_called("plain", NAMES("plain"));
    is_not_called("plain", NAMES("plai", "plain2", "", "plain()"));
}

static void parameters_may_be_given_or_not(void **state) {
    (void)state;
    source_name_is("_Z6assignPKfi", "assign");
    is_called("_Z6assignPKfi", NAMES("assign", "_Z6assignPKfi", "assign(float const*, int)",
                                     "assign(float const *,int)"));
    is_not_called("_Z6assignPKfi", NAMES("assign(float*, int)", "ns::assign", "_Z6assignPKf"));
    is_called("_Z5applyPFviEPi", NAMES("apply", "apply(void (*)(int), int*)"));
}

static void template_arguments_may_be_given_or_not(void **state) {
    (void)state;
    source_name_is("_ZN2ns5scaleIiEEvPT_i", "ns::scale<int>");
    is_called("_ZN2ns5scaleIiEEvPT_i",
              NAMES("ns::scale", "ns::scale<int>", "ns::scale< int >", "ns::scale<int>(int*, int)",
                    "void ns::scale<int>(int*, int)"));
    is_not_called("_ZN2ns5scaleIiEEvPT_i", NAMES("scale", "ns::scale<float>", "ns"));
    /* An argument with brackets of its own: &less::operator<. */
    is_called("_Z11by_operatorIXadL_ZNK4lessltERKS0_EEEvPi", NAMES("by_operator"));
}

static void names_of_one_file_have_no_suffix(void **state) {
    (void)state;
    source_name_is("_ZL5localPi__intern__0123456789abcdef", "local");
    is_called("_ZL5localPi__intern__0123456789abcdef", NAMES("local", "local(int*)"));
    is_called("_ZN1a12_GLOBAL__N_16hiddenEPi",
              NAMES("a::hidden", "a::(anonymous namespace)::hidden", "a::hidden(int*)"));
    is_not_called("_ZN1a12_GLOBAL__N_16hiddenEPi", NAMES("hidden", "a::(anonymous namespace)"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_c_are_themselves),
        cmocka_unit_test(parameters_may_be_given_or_not),
        cmocka_unit_test(template_arguments_may_be_given_or_not),
        cmocka_unit_test(names_of_one_file_have_no_suffix),
    };
    return wp_test_main(tests);
}
