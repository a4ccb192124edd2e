/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a run: what it shows of many kernels, and of names that look like markup. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/page.h"
#include "report/page/html.h"
#include "report/run_record.h"
#include "report/shapes.h"
#include "wp_test.h"

#define PAGE_MAX_BYTES 1000000u

static wp_run_record record_of(size_t kernels) {
    wp_run_record record = {.version = wpi_strdup("1.2.3"),
                            .device_spec = wpi_strdup("cpu"),
                            .device_name = wpi_strdup("A processor"),
                            .program = wpi_calloc(2, sizeof(char *)),
                            .program_count = 1,
                            .kernels = wpi_calloc(kernels, sizeof(wp_run_kernel)),
                            .kernel_count = kernels};
    record.program[0] = wpi_strdup("./app");
    for (size_t i = 0; i < kernels; i++)
        record.kernels[i] = (wp_run_kernel){.name = wpi_format("_Z%zu", i),
                                            .display_name = wpi_format("kernel_%04zu(int)", i),
                                            .launches = 1,
                                            .threads = 32,
                                            .time_ns = 5000 - i,
                                            .time_min_ns = 5000 - i,
                                            .time_max_ns = 5000 - i,
                                            .grid = {1, 1, 1},
                                            .block = {32, 1, 1}};
    return record;
}

static void rename_kernel(wp_run_record *record, size_t number, const char *name) {
    wpi_free(record->kernels[number].display_name);
    record->kernels[number].display_name = wpi_strdup(name);
}

static size_t count(const char *text, const char *part) {
    size_t found = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        found++;
    return found;
}

static void code_between_backticks(void **state) {
    (void)state;
    wpi_text out = {0};
    wpi_page_words(&out, "`a < b` and `c` & an `open end");
    assert_string_equal(wpi_text_string(&out),
                        "<code>a &lt; b</code> and <code>c</code> &amp; an <code>open end</code>");
    wpi_text_clear(&out);
    wpi_page_words(&out, "");
    assert_string_equal(wpi_text_string(&out), "");
    wpi_text_deinit(&out);
}

#define MARKUP "f<'\"'>(\"</td><script>alert(1)</script>\",\n 'x' & y)"

static void names_that_look_like_markup_are_text_in_all_forms(void **state) {
    (void)state;
    wp_run_record record = record_of(2), back;
    wpi_text html = {0};
    wp_error err = {0};
    rename_kernel(&record, 0, MARKUP);
    wpi_free(record.program[0]);
    record.program[0] = wpi_strdup("./</title><script>alert(2)</script>");
    wpi_run_record_html(&record, &html);
    const char *page = wpi_text_string(&html);
    assert_u64(count(page, "<script>"), 1); /* the page's own */
    assert_null(strstr(page, "alert(1)</script>"));
    assert_contains(page, "&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
    assert_contains(page, "<title>./&lt;/title&gt;&lt;script&gt;alert(2)&lt;/script&gt;</title>");
    assert_null(strstr(page, "\"</td><script"));

    char *json = wp_run_record_to_json(&record);
    assert_status_ok(wpi_run_record_parse(json, strlen(json), "here", &back, &err), &err);
    assert_string_equal(back.kernels[0].display_name, MARKUP);
    char *csv = wp_run_record_to_csv(&record);
    assert_contains(csv,
                    "kernel,\"f<'\"\"'>(\"\"</td><script>alert(1)</script>\"\",\n 'x' & y)\",1");
    wp_run_text_free(csv);
    wp_run_text_free(json);
    wpi_text_deinit(&html);
    wp_run_record_deinit(&back);
    wp_run_record_deinit(&record);
}

static void a_name_of_10_kb_is_cut_off_between_characters_and_whole_in_the_data(void **state) {
    (void)state;
    wp_run_record record = record_of(1), back;
    wpi_text html = {0}, name = {0};
    wp_error err = {0};
    wpi_text_append(&name, "x");
    for (int i = 0; i < 5120; i++)
        wpi_text_append(&name, "é");
    rename_kernel(&record, 0, wpi_text_string(&name));
    wpi_run_record_html(&record, &html);
    assert_true(html.length < 40000);
    assert_null(strstr(wpi_text_string(&html), "\xef\xbf\xbd")); /* no half character */
    assert_contains(wpi_text_string(&html), "éé…\">");
    char *json = wp_run_record_to_json(&record);
    assert_status_ok(wpi_run_record_parse(json, strlen(json), "here", &back, &err), &err);
    assert_string_equal(back.kernels[0].display_name, wpi_text_string(&name));
    wp_run_text_free(json);
    wpi_text_deinit(&name);
    wpi_text_deinit(&html);
    wp_run_record_deinit(&back);
    wp_run_record_deinit(&record);
}

static void the_page_of_1000_kernels_with_long_names_and_many_shapes_is_small(void **state) {
    (void)state;
    wp_run_record record = record_of(1000);
    wpi_text html = {0};
    char *name = wpi_calloc(10001, 1);
    memset(name, '<', 10000);
    for (size_t i = 0; i < record.kernel_count; i++) {
        rename_kernel(&record, i, name);
        for (uint32_t g = 1; g <= 100; g++)
            wpi_shapes_add(&record.kernels[i], (const uint32_t[]){g, 1, 1},
                           (const uint32_t[]){32, 1, 1}, g);
    }
    wpi_free(name);
    wpi_run_record_html(&record, &html);
    if (html.length > PAGE_MAX_BYTES) fail_msg("%zu bytes", html.length);
    assert_contains(wpi_text_string(&html), "… and 900 more: see report.csv");
    assert_contains(wpi_text_string(&html), "… and 9600 more: see report.json");
    wpi_text_deinit(&html);
    wp_run_record_deinit(&record);
}

static void shapes_beyond_the_limit_are_one_row(void **state) {
    (void)state;
    wp_run_record record = record_of(1), back;
    wp_run_kernel *k = &record.kernels[0];
    wp_error err = {0};
    const uint32_t block[3] = {64, 2, 1};
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t g = 1; g <= WP_RUN_SHAPES + 10; g++)
            wpi_shapes_add(k, (const uint32_t[]){g, 1, 1}, block, 10 + round);
    assert_u64(k->shape_count, WP_RUN_SHAPES + 1);
    wpi_shapes_sort(k);
    assert_true(wpi_shape_is_rest(&k->shapes[0])); /* 10 shapes together took longest */
    assert_u64(k->shapes[0].launches, 30);
    assert_u64(k->shapes[0].time_ns, 10 * (10 + 11 + 12));
    assert_u64(k->shapes[1].launches, 3);
    assert_u64(k->shapes[1].time_min_ns, 10);
    assert_u64(k->shapes[1].time_max_ns, 12);
    char *json = wp_run_record_to_json(&record);
    assert_status_ok(wpi_run_record_parse(json, strlen(json), "here", &back, &err), &err);
    assert_u64(back.kernels[0].shape_count, WP_RUN_SHAPES + 1);
    assert_memory_equal(back.kernels[0].shapes, k->shapes, k->shape_count * sizeof *k->shapes);
    char dim[40];
    assert_string_equal(wpi_shape_dim(block, dim), "64 × 2");
    assert_string_equal(wpi_shape_dim((const uint32_t[]){1, 1, 5}, dim), "1 × 1 × 5");
    wp_run_text_free(json);
    wp_run_record_deinit(&back);
    wp_run_record_deinit(&record);
}

static void one_kernel_has_no_bar(void **state) {
    (void)state;
    wp_run_record one = record_of(1), two = record_of(2);
    wpi_text html = {0};
    wpi_run_record_html(&one, &html);
    assert_u64(count(wpi_text_string(&html), "<svg"), 0);
    wpi_text_clear(&html);
    wpi_run_record_html(&two, &html);
    assert_u64(count(wpi_text_string(&html), "<svg"), 2);
    wpi_text_deinit(&html);
    wp_run_record_deinit(&one);
    wp_run_record_deinit(&two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_between_backticks),
        cmocka_unit_test(names_that_look_like_markup_are_text_in_all_forms),
        cmocka_unit_test(a_name_of_10_kb_is_cut_off_between_characters_and_whole_in_the_data),
        cmocka_unit_test(the_page_of_1000_kernels_with_long_names_and_many_shapes_is_small),
        cmocka_unit_test(shapes_beyond_the_limit_are_one_row),
        cmocka_unit_test(one_kernel_has_no_bar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
