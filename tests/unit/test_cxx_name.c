/* SPDX-License-Identifier: Apache-2.0 */
/* This program is C and is not linked with a C++ runtime. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/text.h"
#include "wp_test.h"

static void demangles(const char *mangled, const char *wanted) {
    char *full = wpi_cxx_demangle(mangled);
    assert_non_null(full);
    assert_string_equal(full, wanted);
    wpi_free(full);
}

static void names_are_demangled_in_a_program_without_a_cxx_runtime(void **state) {
    (void)state;
    demangles("_Z1kPi", "k(int*)");
    demangles("_ZN3abc5sweepIfEEvPT_", "void abc::sweep<float>(float*)");
    demangles("_ZN3abc5sweepIfEEvPT_$stream1", "void abc::sweep<float>$stream1(float*)");
    demangles("_Z1kPi$counted", "k$counted(int*)");
}

/* A kernel of a library that is made of templates. */
static void of_a_name_that_is_too_long_there_is_the_outer_part(void **state) {
    (void)state;
    char name[2000] = "_ZN5tilesL3rowI", *at = name + strlen(name);
    while (at < name + sizeof name - 20)
        at += sprintf(at, "4tile");
    (void)strcpy(at, "EEvT_");
    demangles(name, "tiles::row<…>");
    memmove(name, "_ZN12_GLOBAL__N_1L1rI", strlen("_ZN12_GLOBAL__N_1L1rI"));
    demangles(name, "(anonymous namespace)::r<…>");
    memmove(name, "_Z9999999999999999999", strlen("_Z9999999999999999999"));
    assert_null(wpi_cxx_demangle(name));
    memset(name, 'x', sizeof name - 1);
    assert_null(wpi_cxx_demangle(name));
}

static void what_is_not_mangled_has_no_demangled_name(void **state) {
    (void)state;
    assert_null(wpi_cxx_demangle("kernel"));
    assert_null(wpi_cxx_demangle(""));
    assert_null(wpi_cxx_demangle("_Z"));
    assert_null(wpi_cxx_demangle("_Zx~"));
}

static void shortens(const char *full, size_t columns, const char *wanted) {
    char *name = wpi_cxx_name_short(full, columns);
    assert_string_equal(name, wanted);
    assert_true(wpi_text_columns(name) <= columns);
    wpi_free(name);
}

static void a_short_name_has_no_parameters_and_no_return_type(void **state) {
    (void)state;
    shortens("k(int*)", 40, "k");
    shortens("void rotate<float>(float*)", 40, "rotate<float>");
    shortens("void f(void (*)(int), int)", 40, "f");
    shortens("(anonymous namespace)::hidden(int*)", 40, "(anonymous namespace)::hidden");
    shortens("void (anonymous namespace)::run<float (*)(float)>(float*)", 50,
             "(anonymous namespace)::run<float (*)(float)>");
    shortens("std::pair<int, int> const* make<int>(int) const", 40, "make<int>");
    shortens("void apply<main::{lambda(float)#1}>(main::{lambda(float)#1}, int)", 40,
             "apply<main::{lambda(float)#1}>");
    shortens("apply<main::{lambda(float)#1}>", 40, "apply<main::{lambda(float)#1}>");
    shortens("a::b::k(int) [clone .isra.0]", 40, "a::b::k");
}

static void names_without_a_signature_stay(void **state) {
    (void)state;
    shortens("visit_queue", 40, "visit_queue");
    shortens("(anonymous namespace)::hidden", 40, "(anonymous namespace)::hidden");
    shortens("", 40, "");
    shortens("(", 40, "(");
    shortens("<<>(", 40, "<<>(");
}

static void a_long_name_loses_namespaces_then_template_arguments_then_its_end(void **state) {
    (void)state;
    const char *full = "void outer::inner::transform<outer::pair<double>, 4096>(int)";
    shortens(full, 60, "outer::inner::transform<outer::pair<double>, 4096>");
    shortens(full, 46, "transform<outer::pair<double>, 4096>");
    shortens(full, 33, "transform<outer::pair<double>, …>");
    shortens(full, 20, "transform<…>");
    shortens(full, 12, "transform<…>");
    shortens(full, 9, "transfor…");
    shortens(full, 1, "…");
    shortens("(anonymous namespace)::hidden(int*)", 12, "hidden");
    shortens("void a::S<int>::run<float, int>(int)", 14, "run<float, …>");
}

static void text_is_measured_in_columns(void **state) {
    (void)state;
    assert_int_equal(wpi_text_columns("a…b"), 3);
    wpi_text text = {0};
    wpi_text_append_padded(&text, "a…", 4);
    wpi_text_append_padded(&text, "b…", -4);
    wpi_text_append_padded(&text, "longer", 3);
    assert_string_equal(wpi_text_string(&text), "  a…b…  longer");
    wpi_text_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_demangled_in_a_program_without_a_cxx_runtime),
        cmocka_unit_test(of_a_name_that_is_too_long_there_is_the_outer_part),
        cmocka_unit_test(what_is_not_mangled_has_no_demangled_name),
        cmocka_unit_test(a_short_name_has_no_parameters_and_no_return_type),
        cmocka_unit_test(names_without_a_signature_stay),
        cmocka_unit_test(a_long_name_loses_namespaces_then_template_arguments_then_its_end),
        cmocka_unit_test(text_is_measured_in_columns),
    };
    return wp_test_main(tests);
}
