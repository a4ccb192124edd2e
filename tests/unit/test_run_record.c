/* SPDX-License-Identifier: Apache-2.0 */
/* The record as a value: JSON both ways, CSV, text, files. */
#include "report/run_record.h"

#include "base/alloc.h"
#include "base/file.h"
#include "test_folder.h"
#include "wp_test.h"

static wp_run_record sample(void) {
    wp_run_record record = {
        .version = wpi_strdup("1.2.3"),
        .device_spec = wpi_strdup("cpu"),
        .device_name = wpi_strdup("A \"fast\" processor"),
        .program = wpi_calloc(3, sizeof(char *)),
        .program_count = 2,
        .wall_time_ns = 2500000000u,
        .memory_peak_bytes = 3u << 29,
        .kernels = wpi_calloc(2, sizeof(wp_run_kernel)),
        .kernel_count = 2,
    };
    record.program[0] = wpi_strdup("./app");
    record.program[1] = wpi_strdup("--n=5");
    record.kernels[0] = (wp_run_kernel){.name = wpi_strdup("_Z4fastPfi"),
                                        .display_name = wpi_strdup("fast(float*, int)"),
                                        .launches = 2,
                                        .threads = 512,
                                        .time_ns = 3000,
                                        .time_min_ns = 1000,
                                        .time_max_ns = 2000,
                                        .grid = {1, 2, 3},
                                        .block = {256, 1, 1}};
    record.kernels[1] = (wp_run_kernel){.name = wpi_strdup("_Z4slowv"),
                                        .display_name = wpi_strdup("slow()"),
                                        .launches = 1,
                                        .threads = 32,
                                        .time_ns = 5000000,
                                        .time_min_ns = 5000000,
                                        .time_max_ns = 5000000,
                                        .grid = {1, 1, 1},
                                        .block = {32, 1, 1}};
    record.copies[WP_COPY_H2D] =
        (wp_run_copies){.count = 3, .bytes = 4000000000u, .time_ns = 1000000000u};
    return record;
}

static void facts_of_the_host_are_in_json_and_text(void **state) {
    (void)state;
    wp_run_record record = sample(), back;
    wpi_text text = {0};
    wp_error err = {0};
    char *json = wp_run_record_to_json(&record); /* without a host there is nothing to say */
    assert_null(strstr(json, "host_threads"));
    assert_null(strstr(json, "undeclared"));
    wp_run_text_free(json);
    record.host = (wp_run_host){true, 4096, 1000000000u, WP_RUN_HOST_THREADS_DECIDED};
    json = wp_run_record_to_json(&record);
    assert_status_ok(wpi_run_record_parse(json, strlen(json), "here", &back, &err), &err);
    assert_true(back.host.is_on);
    assert_u64(back.host.copied_bytes, 4096);
    assert_u64(back.host.undeclared_copy_bytes, 1000000000);
    assert_int_equal(back.host.threads, WP_RUN_HOST_THREADS_DECIDED);
    wpi_run_record_text(&back, &text);
    assert_non_null(
        strstr(wpi_text_string(&text), "memcpy to page-locked memory       4.00 KiB\n"));
    assert_non_null(strstr(wpi_text_string(&text), "953.67 MiB of 3.73 GiB copied to the device"));
    assert_non_null(strstr(wpi_text_string(&text), "\n  Host threads decided simulated times"));
    wpi_text_deinit(&text);
    wp_run_text_free(json);
    wp_run_record_deinit(&back);
    wp_run_record_deinit(&record);
}

static void json_gives_back_what_went_in(void **state) {
    (void)state;
    wp_run_record record = sample(), back;
    record.has_exit_status = true;
    record.exit_status = 137;
    char *json = wp_run_record_to_json(&record);
    wp_error err = {0};
    assert_status_ok(wpi_run_record_parse(json, strlen(json), "here", &back, &err), &err);
    assert_string_equal(back.version, "1.2.3");
    assert_string_equal(back.device_spec, "cpu");
    assert_string_equal(back.device_name, "A \"fast\" processor");
    assert_u64(back.program_count, 2);
    assert_string_equal(back.program[1], "--n=5");
    assert_true(back.has_exit_status);
    assert_int_equal(back.exit_status, 137);
    assert_u64(back.wall_time_ns, record.wall_time_ns);
    assert_u64(back.memory_peak_bytes, record.memory_peak_bytes);
    assert_u64(back.kernel_count, 2);
    assert_string_equal(back.kernels[0].name, "_Z4fastPfi");
    assert_string_equal(back.kernels[0].display_name, "fast(float*, int)");
    assert_u64(back.kernels[0].launches, 2);
    assert_u64(back.kernels[0].threads, 512);
    assert_u64(back.kernels[0].time_ns, 3000);
    assert_u64(back.kernels[0].time_min_ns, 1000);
    assert_u64(back.kernels[0].time_max_ns, 2000);
    assert_int_equal(back.kernels[0].grid[2], 3);
    assert_int_equal(back.kernels[1].block[0], 32);
    assert_memory_equal(back.copies, record.copies, sizeof back.copies);

    char *again = wp_run_record_to_json(&back);
    assert_string_equal(again, json);
    wp_run_text_free(again);
    wp_run_text_free(json);
    wp_run_record_deinit(&back);
    wp_run_record_deinit(&record);
}

static void an_unknown_exit_status_is_absent(void **state) {
    (void)state;
    wp_run_record record = sample();
    char *json = wp_run_record_to_json(&record);
    assert_null(strstr(json, "exit_status"));
    assert_contains(json, "\"schema\": \"warpage.run/1\"");
    wp_run_text_free(json);
    wp_run_record_deinit(&record);
}

static void arguments_that_are_not_utf8_do_not_break_the_json(void **state) {
    (void)state;
    wp_run_record record = sample(), back;
    record.program[1][0] = (char)0xff;
    char *json = wp_run_record_to_json(&record);
    wp_error err = {0};
    assert_status_ok(wpi_run_record_parse(json, strlen(json), "here", &back, &err), &err);
    assert_string_equal(back.program[1], "\xef\xbf\xbd-n=5");
    wp_run_text_free(json);
    wp_run_record_deinit(&back);
    wp_run_record_deinit(&record);
}

static void refuse(const char *json, const char *part) {
    wp_run_record record;
    wp_error err = {0};
    assert_status_fails(wpi_run_record_parse(json, strlen(json), "in.json", &record, &err),
                        WP_STATUS_PARSE, &err, part);
    assert_contains(err.message, "in.json");
    assert_null(record.kernels);
    wp_run_record_deinit(&record);
}

static void foreign_or_damaged_json_is_refused_with_the_place(void **state) {
    (void)state;
    refuse("", "not JSON");
    refuse("{\"schema\": \"warpage.run/1\",\n oops}", "in.json:2:");
    refuse("[]", "schema");
    refuse("{\"schema\": \"other/9\"}", "other/9");
    refuse("{\"schema\": \"warpage.run/1\", \"version\": 5}", "version");
    wp_run_record record = sample();
    char *json = wp_run_record_to_json(&record);
    char *launches = strstr(json, "\"launches\": 2");
    assert_non_null(launches);
    memcpy(launches, "\"launches\":-2", 13);
    refuse(json, "launches");
    /* Cut anywhere, it is never taken for whole. */
    for (size_t length = 0; length + 2 < strlen(json); length += 7) {
        wp_run_record back;
        assert_int_equal(wpi_run_record_parse(json, length, "cut", &back, NULL), WP_STATUS_PARSE);
    }
    wp_run_text_free(json);
    wp_run_record_deinit(&record);
}

static void members_of_later_versions_are_passed_over(void **state) {
    (void)state;
    wp_run_record record = sample(), back;
    char *json = wp_run_record_to_json(&record);
    char *more = wpi_format("{\"simulated_time_ns\": 5, %s", json + 1);
    wp_error err = {0};
    assert_status_ok(wpi_run_record_parse(more, strlen(more), "here", &back, &err), &err);
    wpi_free(more);
    wp_run_text_free(json);
    wp_run_record_deinit(&back);
    wp_run_record_deinit(&record);
}

static void csv_has_a_row_for_each_kernel_and_kind_of_copy(void **state) {
    (void)state;
    wp_run_record record = sample();
    char *csv = wp_run_record_to_csv(&record);
    assert_string_equal(csv, "row,name,count,threads,bytes,time_ns,time_min_ns,time_max_ns\r\n"
                             "kernel,\"fast(float*, int)\",2,512,,3000,1000,2000\r\n"
                             "kernel,slow(),1,32,,5000000,5000000,5000000\r\n"
                             "copy,h2d,3,,4000000000,1000000000,,\r\n");
    wp_run_text_free(csv);
    wp_run_record_deinit(&record);
}

static void text_names_kernels_without_parameters(void **state) {
    (void)state;
    wp_run_record record = sample();
    char *text = wp_run_record_to_text(&record);
    assert_contains(text, "run of ./app --n=5 on cpu (A \"fast\" processor)");
    assert_contains(text, "  fast  ");
    assert_null(strstr(text, "float"));
    assert_contains(text, "3.00 us");
    assert_contains(text, "1.50 us"); /* mean of two launches */
    assert_contains(text, "host to device");
    assert_contains(text, "4.00 GB/s");
    assert_contains(text, "1.50 GiB");
    assert_contains(text, "2.50 s");
    assert_null(strstr(text, "device to host"));
    wp_run_text_free(text);
    wp_run_record_deinit(&record);
}

static void check_text_name(const char *display_name, const char *wanted) {
    wp_run_record record = sample();
    wpi_free(record.kernels[0].display_name);
    record.kernels[0].display_name = wpi_strdup(display_name);
    char *text = wp_run_record_to_text(&record);
    assert_contains(text, wanted);
    wp_run_text_free(text);
    wp_run_record_deinit(&record);
}

static void names_with_parentheses_of_their_own_stay_whole(void **state) {
    (void)state;
    check_text_name("(anonymous namespace)::scan(int*)", "  (anonymous namespace)::scan  ");
    check_text_name("void apply<(Mode)1>(int*)", "  apply<(Mode)1>  ");
    check_text_name("plain_c_name", "  plain_c_name  ");
}

#define LONG_NAME                                                                                  \
    "void outer::inner::transform_every_one_of_them<outer::pair<double>, 7>(outer::pair<double>*)"

static void a_long_name_leaves_the_columns_of_the_text_where_they_are(void **state) {
    (void)state;
    check_text_name(LONG_NAME, "  transform_every_one_of_them<…>              2            512 ");
}

static void the_page_shows_a_short_name_and_the_full_one_under_the_pointer(void **state) {
    (void)state;
    wp_run_record record = sample();
    wpi_text html = {0};
    wpi_free(record.kernels[0].display_name);
    record.kernels[0].display_name = wpi_strdup(LONG_NAME);
    wpi_run_record_html(&record, &html);
    const char *page = wpi_text_string(&html);
    assert_contains(
        page, " title=\"void outer::inner::transform_every_one_of_them&lt;outer::pair&lt;double"
              "&gt;, 7&gt;(outer::pair&lt;double&gt;*)\">transform_every_one_of_them&lt;…&gt;<");
    assert_contains(page, "<h3 class=name>void outer::inner::"); /* in a section that folds */
    wpi_text_deinit(&html);
    wp_run_record_deinit(&record);
}

static void a_run_without_kernels_says_so(void **state) {
    (void)state;
    wp_run_record record = {.device_spec = wpi_strdup(""), .device_name = wpi_strdup("")};
    char *text = wp_run_record_to_text(&record);
    assert_contains(text, "no kernel was launched");
    wp_run_text_free(text);
    wp_run_record_deinit(&record);
}

static void kernels_are_sorted_by_time_then_name(void **state) {
    (void)state;
    wp_run_record record = sample();
    wpi_run_record_sort(&record);
    assert_string_equal(record.kernels[0].name, "_Z4slowv");
    record.kernels[0].time_ns = record.kernels[1].time_ns;
    wpi_run_record_sort(&record);
    assert_string_equal(record.kernels[0].name, "_Z4fastPfi");
    wp_run_record_deinit(&record);
}

static void the_ending_of_a_path_chooses_the_form(void **state) {
    (void)state;
    wp_run_record record = sample();
    wp_error err = {0};
    const char *dir = test_folder();
    const char *const starts[][2] = {{"a.json", "{\n"}, {"a.csv", "row,"}, {"a.txt", "\n  run"}};
    for (size_t i = 0; i < 3; i++) {
        char *path = wpi_path_join(dir, starts[i][0]);
        assert_status_ok(wp_run_record_write(&record, path, &err), &err);
        char *data = NULL;
        size_t size_bytes = 0;
        assert_status_ok(wpi_file_read(path, &data, &size_bytes, &err), &err);
        assert_memory_equal(data, starts[i][1], strlen(starts[i][1]));
        wpi_free(data);
        wpi_free(path);
    }
    char *path = wpi_path_join(dir, "a.json");
    wp_run_record back;
    assert_status_ok(wp_run_record_read(path, &back, &err), &err);
    assert_u64(back.kernel_count, 2);
    wp_run_record_deinit(&back);
    wpi_free(path);
    path = wpi_path_join(dir, "a.xml");
    assert_status_fails(wp_run_record_write(&record, path, &err), WP_STATUS_INVALID, &err, ".txt");
    assert_false(wpi_file_exists(path));
    assert_status_fails(wp_run_record_read(path, &back, &err), WP_STATUS_NOT_FOUND, &err, "a.xml");
    wpi_free(path);
    wp_run_record_deinit(&record);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_gives_back_what_went_in),
        cmocka_unit_test(facts_of_the_host_are_in_json_and_text),
        cmocka_unit_test(an_unknown_exit_status_is_absent),
        cmocka_unit_test(arguments_that_are_not_utf8_do_not_break_the_json),
        cmocka_unit_test(foreign_or_damaged_json_is_refused_with_the_place),
        cmocka_unit_test(members_of_later_versions_are_passed_over),
        cmocka_unit_test(csv_has_a_row_for_each_kernel_and_kind_of_copy),
        cmocka_unit_test(text_names_kernels_without_parameters),
        cmocka_unit_test(names_with_parentheses_of_their_own_stay_whole),
        cmocka_unit_test(a_long_name_leaves_the_columns_of_the_text_where_they_are),
        cmocka_unit_test(the_page_shows_a_short_name_and_the_full_one_under_the_pointer),
        cmocka_unit_test(a_run_without_kernels_says_so),
        cmocka_unit_test(kernels_are_sorted_by_time_then_name),
        cmocka_unit_test(the_ending_of_a_path_chooses_the_form),
    };
    return wp_test_main(tests);
}
