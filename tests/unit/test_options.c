/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "compiler/driver/options.h"
#include "compiler/driver/words.h"
#include "test_folder.h"
#include "wp_test.h"

/* Parses a command line given as text; the program's name is its first word. */
static wp_status parse(const char *line, wpi_options *o, wp_error *err) {
    wpi_strings words = {0};
    bool show = false;
    wpi_words_split(line, " ", &words);
    const wp_status status = wpi_options_parse((int)words.count, words.items, o, &show, err);
    wpi_strings_deinit(&words);
    return status;
}

static wpi_options parsed(const char *line) {
    wpi_options o;
    wp_error err = {0};
    assert_status_ok(parse(line, &o, &err), &err);
    return o;
}

static void refused(const char *line, const char *part) {
    wpi_options o;
    wp_error err = {0};
    assert_status_fails(parse(line, &o, &err), WP_STATUS_INVALID, &err, part);
    wpi_options_deinit(&o);
}

/* The words of a list, joined by '|'. */
static void list_is(const wpi_strings *list, const char *wanted) {
    wpi_text joined = {0};
    for (size_t i = 0; i < list->count; i++)
        wpi_text_appendf(&joined, "%s%s", i > 0 ? "|" : "", list->items[i]);
    assert_string_equal(wpi_text_string(&joined), wanted);
    wpi_text_deinit(&joined);
}

static void values_follow_or_are_attached_and_lists_have_commas(void **state) {
    (void)state;
    wpi_options o =
        parsed("wpcc -Ia -I b -I=c --include-path d,e -DX -D Y=1 -D=Z,W -Lx -L=y -l m,rt "
               "-isystem=s -include h.h a.cu");
    list_is(&o.source_args, "-Ia|-Ib|-Ic|-Id|-Ie|-DX|-DY=1|-DZ|-DW|-isystem|s|-include|h.h");
    list_is(&o.link_args, "-Lx|-Ly|-lm|-lrt");
    wpi_options_deinit(&o);
}

static void one_macro_may_contain_commas(void **state) {
    (void)state;
    wpi_options o = parsed("wpcc -DLIST=1,2 -DF(a,b)=a a.cu");
    list_is(&o.source_args, "-DLIST=1,2|-DF(a,b)=a");
    wpi_options_deinit(&o);
    /* `parsed` takes one of two backslashes away. */
    o = parsed("wpcc -DLIST=1\\\\,2\\\\,x -DA=1\\\\,b,C -DG(a)=a\\\\,1 a.cu");
    list_is(&o.source_args, "-DLIST=1,2,x|-DA=1,b|-DC|-DG(a)=a,1");
    wpi_options_deinit(&o);
}

static void options_have_one_or_two_dashes(void **state) {
    (void)state;
    wpi_options o = parsed("wpcc --dc -use_fast_math -output-file x a.cu");
    assert_int_equal(o.goal, WP_GOAL_OBJECT);
    assert_true(o.fast_math);
    assert_true(o.is_relocatable);
    assert_string_equal(o.output, "x");
    wpi_options_deinit(&o);
}

static void the_lowest_architecture_counts_and_old_ones_are_raised(void **state) {
    (void)state;
    static const struct {
        const char *line;
        unsigned arch;
    } cases[] = {
        {"wpcc a.cu", 70},
        {"wpcc -arch=sm_13 a.cu", 70},
        {"wpcc -arch compute_80 a.cu", 80},
        {"wpcc -arch=native a.cu", 70},
        {"wpcc -arch=sm_90a a.cu", 90},
        {"wpcc -arch=sm_120 a.cu", 90},
        {"wpcc -gencode arch=compute_86,code=sm_86 "
         "-gencode=arch=compute_75,code=[sm_75,compute_75] a.cu",
         75},
        {"wpcc -gencode=arch=compute_80,code=\\\"sm_80,compute_80\\\" a.cu", 80},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wpi_options o = parsed(cases[i].line);
        assert_u64(o.arch, cases[i].arch);
        wpi_options_deinit(&o);
    }
    refused("wpcc -arch=lovelace a.cu", "-arch lovelace");
}

static void host_compiler_options_are_split_like_a_shell_does(void **state) {
    (void)state;
    wpi_options o =
        parsed("wpcc -Xcompiler -Wall,-O1 -Xcompiler=-fPIC -Xcompiler '' "
               "-Xcompiler '\"-DS=a b\",-g' -Xcompiler -Wl,-rpath,x -Xlinker -rpath,y a.cu");
    list_is(&o.compiler_args, "-Wall|-O1|-fPIC|-DS=a b|-g|-Wl,-rpath,x");
    list_is(&o.link_args, "-Xlinker|-rpath|-Xlinker|y");
    wpi_options_deinit(&o);
}

static void optimisation_takes_its_level_attached_or_apart(void **state) {
    (void)state;
    static const struct {
        const char *line;
        char level;
    } cases[] = {{"wpcc a.cu", '2'},      {"wpcc -O0 a.cu", '0'}, {"wpcc -O 3 a.cu", '3'},
                 {"wpcc -O=1 a.cu", '1'}, {"wpcc -O a.cu", '2'},  {"wpcc -Ofast a.cu", '3'}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wpi_options o = parsed(cases[i].line);
        assert_int_equal(o.optimization, cases[i].level);
        assert_u64(o.input_count, 1);
        wpi_options_deinit(&o);
    }
}

static void the_kind_of_a_file_is_its_ending_or_what_x_says(void **state) {
    (void)state;
    wpi_options o = parsed("wpcc a.cu b.c c.cc d.cpp e.o libf.a g.so.1 -x cu h.cpp i.o");
    static const wpi_language wanted[] = {
        WP_LANGUAGE_CUDA,   WP_LANGUAGE_C,      WP_LANGUAGE_CXX,
        WP_LANGUAGE_CXX,    WP_LANGUAGE_OBJECT, WP_LANGUAGE_OBJECT,
        WP_LANGUAGE_OBJECT, WP_LANGUAGE_CUDA,   WP_LANGUAGE_OBJECT};
    assert_u64(o.input_count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(o.inputs[i].language, wanted[i]);
    list_is(&o.link_args, "e.o|libf.a|g.so.1|i.o");
    wpi_options_deinit(&o);
}

static void stopping_gives_way_to_what_is_made(void **state) {
    (void)state;
    static const struct {
        const char *line;
        wpi_goal goal;
    } cases[] = {
        {"wpcc -shared -c a.cu", WP_GOAL_OBJECT},     {"wpcc -c -shared a.cu", WP_GOAL_OBJECT},
        {"wpcc -emit-llvm -c a.cu", WP_GOAL_BITCODE}, {"wpcc -M -c a.cu", WP_GOAL_DEPENDENCIES},
        {"wpcc -c -fatbin a.cu", WP_GOAL_FATBIN},     {"wpcc -dc a.cu", WP_GOAL_OBJECT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wpi_options o = parsed(cases[i].line);
        assert_int_equal(o.goal, cases[i].goal);
        wpi_options_deinit(&o);
    }
}

static void warnings_as_errors_take_a_list_only_where_one_follows(void **state) {
    (void)state;
    wpi_options o = parsed("wpcc -Werror all-warnings,reorder -Werror a.cu");
    assert_u64(o.input_count, 1);
    assert_string_equal(o.inputs[0].path, "a.cu");
    wpi_options_deinit(&o);
}

static void unknown_options_are_refused_or_forwarded(void **state) {
    (void)state;
    refused("wpcc --use_fast_maths a.cu", "did you mean --use_fast_math");
    refused("wpcc -mavx2 a.cu", "-Xcompiler -mavx2");
    wpi_options o = parsed("wpcc -forward-unknown-to-host-compiler -mavx2 a.cu");
    list_is(&o.compiler_args, "-mavx2");
    wpi_options_deinit(&o);
}

static void mistakes_are_named(void **state) {
    (void)state;
    refused("wpcc -o x", "no input files");
    refused("wpcc a.cu -o", "-o needs a value");
    refused("wpcc -rdc=maybe a.cu", "-rdc=maybe");
    refused("wpcc -std=c++42 a.cu", "-std=c++42");
    refused("wpcc -x fortran a.cu", "-x fortran");
    refused("wpcc -O9x -Oq a.cu", "-Oq");
    refused("wpcc --default-stream mine a.cu", "--default-stream mine");
    wpi_options o;
    wp_error err = {0};
    assert_status_fails(parse("wpcc -m32 a.cu", &o, &err), WP_STATUS_UNSUPPORTED, &err, "-m32");
    wpi_options_deinit(&o);
}

static void every_standard_is_known_in_both_spellings(void **state) {
    (void)state;
    static const char *const names[] = {"c++11", "gnu++17", "c++20", "c99", "gnu11"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *line = wpi_format("wpcc --std %s a.cu", names[i]);
        wpi_options o = parsed(line);
        assert_string_equal(o.standard, names[i]);
        wpi_options_deinit(&o);
        wpi_free(line);
    }
}

static void options_come_from_the_environment_and_from_files(void **state) {
    (void)state;
    wp_error err = {0};
    const char *dir = test_folder();
    char *inner = wpi_path_join(dir, "inner"), *outer = wpi_path_join(dir, "outer");
    char *text = wpi_format("-DOUTER\n@%s", inner);
    assert_status_ok(wpi_file_write(inner, "-D 'INNER=a b'", 14, &err), &err);
    assert_status_ok(wpi_file_write(outer, text, strlen(text), &err), &err);
    (void)setenv("NVCC_PREPEND_FLAGS", "-DFIRST", 1);
    (void)setenv("NVCC_APPEND_FLAGS", "-O3 -DLAST", 1);
    char *line = wpi_format("wpcc -O1 -DMIDDLE a.cu --options-file %s", outer);
    wpi_options o = parsed(line);
    (void)unsetenv("NVCC_PREPEND_FLAGS");
    (void)unsetenv("NVCC_APPEND_FLAGS");
    list_is(&o.source_args, "-DFIRST|-DMIDDLE|-DOUTER|-DINNER=a b|-DLAST");
    assert_int_equal(o.optimization, '3');
    wpi_options_deinit(&o);

    wpi_free(text);
    text = wpi_format("@%s", outer);
    assert_status_ok(wpi_file_write(inner, text, strlen(text), &err), &err);
    wpi_free(line);
    line = wpi_format("wpcc a.cu @%s", outer);
    refused(line, "circle");
    wpi_free(text);
    wpi_free(line);
    wpi_free(inner);
    wpi_free(outer);
}

static void it_knows_that_it_was_called_nvcc(void **state) {
    (void)state;
    wpi_options o = parsed("/usr/local/cuda/bin/nvcc a.cu");
    assert_true(o.is_nvcc);
    wpi_options_deinit(&o);
    o = parsed("bin/wpcc a.cu");
    assert_false(o.is_nvcc);
    wpi_options_deinit(&o);
}

static void rewrites_have_arguments(void **state) {
    (void)state;
    wpi_options o = parsed("wpcc --rewrite=stream:k:1 --rewrite stream:k:2 --rewrite=counted a.cu");
    list_is(&o.rewrites, "stream:k:1|stream:k:2|counted");
    wpi_options_deinit(&o);
    refused("wpcc --rewrite=stream a.cu", "--rewrite=stream needs an argument: "
                                          "--rewrite=stream:KERNEL:MASK");
    refused("wpcc --rewrite=counted:1 a.cu", "takes no argument");
    refused("wpcc --rewrite=stream:k:1 --rewrite=stream:k:1 a.cu", "is given twice");
    refused("wpcc --rewrite=streams:k:1 a.cu", "the rewrites are: cache, counted, lockstep, stream");
}

static void streams_have_a_kernel_and_parameters(void **state) {
    (void)state;
    wpi_options o = parsed("wpcc --stream=k:p,1 --stream ns::k:0 --stream=k:p,1 a.cu");
    list_is(&o.streams, "k:p,1|ns::k:0");
    wpi_options_deinit(&o);
    const char *const wrong[] = {"k", "k:", ":p", "k:,p", "k:p,", "k:p,,q", "ns::k", "ns::k::"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *line = wpi_format("wpcc --stream=%s a.cu", wrong[i]);
        refused(line, "give a kernel and its mapped parameters");
        wpi_free(line);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_or_are_attached_and_lists_have_commas),
        cmocka_unit_test(one_macro_may_contain_commas),
        cmocka_unit_test(options_have_one_or_two_dashes),
        cmocka_unit_test(the_lowest_architecture_counts_and_old_ones_are_raised),
        cmocka_unit_test(host_compiler_options_are_split_like_a_shell_does),
        cmocka_unit_test(optimisation_takes_its_level_attached_or_apart),
        cmocka_unit_test(the_kind_of_a_file_is_its_ending_or_what_x_says),
        cmocka_unit_test(stopping_gives_way_to_what_is_made),
        cmocka_unit_test(warnings_as_errors_take_a_list_only_where_one_follows),
        cmocka_unit_test(unknown_options_are_refused_or_forwarded),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(every_standard_is_known_in_both_spellings),
        cmocka_unit_test(options_come_from_the_environment_and_from_files),
        cmocka_unit_test(it_knows_that_it_was_called_nvcc),
        cmocka_unit_test(rewrites_have_arguments),
        cmocka_unit_test(streams_have_a_kernel_and_parameters),
    };
    return wp_test_main(tests);
}
