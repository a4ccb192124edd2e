/* SPDX-License-Identifier: Apache-2.0 */
/* Counts by line: from sites and blocks of code to lines, JSON both ways, the listing and the page.
 */
#include "report/lines.h"

#include "base/alloc.h"
#include "base/file.h"
#include "device/sim/record/line_record.h"
#include "report/run_record.h"
#include "report/simulation.h"
#include "test_folder.h"
#include "trace_program.h"
#include "wp_test.h"

/* ---- from code to lines ---- */

static const wp_run_line *line_at(const wp_run_simulation *s, const char *kernel, const char *file,
                                  uint32_t line) {
    for (size_t i = 0; i < s->line_count; i++)
        if (strcmp(s->lines[i].kernel, kernel) == 0 && strcmp(s->lines[i].file, file) == 0 &&
            s->lines[i].line == line)
            return &s->lines[i];
    fail_msg("no line %s:%u of %s", file, line, kernel);
    return NULL;
}

static uint64_t sum(const wp_run_simulation *s, wp_run_line_count count) {
    uint64_t all = 0;
    for (size_t i = 0; i < s->line_count; i++)
        all += s->lines[i].counts[count];
    return all;
}

/* The tables: block 0 has two instructions of app.cuh:3 and, last, three of app.cu:10; block 2 one
 * without a line. Site 0 is at app.cu:10, site 1 at app.cuh:3, site 2 nowhere. */
static void counts_go_to_their_lines_and_none_is_lost(void **state) {
    (void)state;
    wpi_line_record *record = wpi_line_record_create();
    wpi_line_counts *walk = wpi_line_record_of(record, "walk", &program_tables);
    wpi_line_counts *spin = wpi_line_record_of(record, "spin", &program_tables);
    assert_ptr_not_equal(walk, spin);
    assert_ptr_equal(walk, wpi_line_record_of(record, "walk", &program_tables));
    wpi_line_add(&walk->blocks[0], WP_RUN_LINE_WARP_INSTRUCTIONS, 7);
    wpi_line_add(&walk->blocks[0], WP_RUN_LINE_THREAD_INSTRUCTIONS, 200);
    wpi_line_add(&walk->blocks[0], WP_RUN_LINE_EXECUTE_PS, 1001);
    wpi_line_add(&walk->blocks[0], WP_RUN_LINE_BARRIER_PS, 13);
    wpi_line_add(&walk->blocks[2], WP_RUN_LINE_WARP_INSTRUCTIONS, 2);
    wpi_line_add(&walk->blocks[3], WP_RUN_LINE_NOT_SELECTED_PS, 17); /* before the first block */
    wpi_line_add(&walk->sites[0], WP_RUN_LINE_WALKS, 5);
    wpi_line_add(&walk->sites[1], WP_RUN_LINE_SHARED_PS, 19);
    wpi_line_add(&walk->sites[2], WP_RUN_LINE_REMOTE, 1);
    wpi_line_add(&spin->sites[0], WP_RUN_LINE_WALKS, 100);
    wpi_line_add(NULL, WP_RUN_LINE_WALKS, 1);

    wp_run_simulation *s = wpi_calloc(1, sizeof *s);
    wpi_line_record_fill(record, s);
    wpi_line_record_destroy(record);
    const wp_run_line *app = line_at(s, "walk", "app.cu", 10);
    const wp_run_line *header = line_at(s, "walk", "app.cuh", 3);
    const wp_run_line *nowhere = line_at(s, "walk", "", 0);
    assert_u64(app->counts[WP_RUN_LINE_WARP_INSTRUCTIONS], 21);
    assert_u64(header->counts[WP_RUN_LINE_WARP_INSTRUCTIONS], 14);
    assert_u64(nowhere->counts[WP_RUN_LINE_WARP_INSTRUCTIONS], 2);
    assert_u64(app->counts[WP_RUN_LINE_THREAD_INSTRUCTIONS], 600);
    assert_u64(header->counts[WP_RUN_LINE_EXECUTE_PS], 400); /* two fifths */
    assert_u64(app->counts[WP_RUN_LINE_EXECUTE_PS], 601);    /* the last line has the rest */
    assert_u64(app->counts[WP_RUN_LINE_BARRIER_PS], 13);
    assert_u64(header->counts[WP_RUN_LINE_NOT_SELECTED_PS], 17); /* the kernel's first line */
    assert_u64(header->counts[WP_RUN_LINE_SHARED_PS], 19);
    assert_u64(nowhere->counts[WP_RUN_LINE_REMOTE], 1);
    assert_u64(app->counts[WP_RUN_LINE_WALKS], 5);
    assert_u64(line_at(s, "spin", "app.cu", 10)->counts[WP_RUN_LINE_WALKS], 100);
    assert_string_equal(app->names, "in");
    assert_string_equal(header->calls, "app.cu:10, app.cu:4");
    assert_u64(sum(s, WP_RUN_LINE_WALKS), 105);
    assert_u64(sum(s, WP_RUN_LINE_EXECUTE_PS), 1001);
    wpi_simulation_destroy(s);
}

/* ---- a record with lines ---- */

static void put(wp_run_line *line, const char *kernel, const char *file, uint32_t number,
                const char *calls) {
    *line = (wp_run_line){.kernel = wpi_strdup(kernel),
                          .file = wpi_strdup(file),
                          .calls = wpi_strdup(calls),
                          .names = wpi_strdup("table"),
                          .line = number};
}

static wp_run_record sample(const char *file) {
    wp_run_record record = {.version = wpi_strdup("1"),
                            .device_spec = wpi_strdup("sim:k80"),
                            .device_name = wpi_strdup("K80"),
                            .kernels = wpi_calloc(1, sizeof(wp_run_kernel)),
                            .kernel_count = 1,
                            .simulation = wpi_calloc(1, sizeof(wp_run_simulation))};
    record.kernels[0] = (wp_run_kernel){
        .name = wpi_strdup("_Z4walkv"), .display_name = wpi_strdup("walk()"), .launches = 1};
    wp_run_simulation *s = record.simulation;
    s->values = wpi_calloc(1, sizeof(uint64_t));
    s->lines = wpi_calloc(4, sizeof *s->lines);
    s->line_count = 4;
    put(&s->lines[0], "_Z4walkv", file, 2, "");
    put(&s->lines[1], "_Z4walkv", file, 5, "a.cu:7");
    put(&s->lines[2], "_Z4walkv", file, 5, "a.cu:8");
    put(&s->lines[3], "other", file, 5, "");
    s->lines[0].counts[WP_RUN_LINE_WARP_INSTRUCTIONS] = 1234;
    s->lines[0].counts[WP_RUN_LINE_THREAD_INSTRUCTIONS] = 1234u * 32;
    s->lines[0].counts[WP_RUN_LINE_EXECUTE_PS] = 25;
    s->lines[1].counts[WP_RUN_LINE_TRANSLATION_PS] = 50;
    s->lines[2].counts[WP_RUN_LINE_TRANSLATION_PS] = 25;
    s->lines[1].counts[WP_RUN_LINE_TLB_MISSES] = 3;
    s->lines[2].counts[WP_RUN_LINE_TLB_HITS] = 1;
    s->lines[2].counts[WP_RUN_LINE_WALKS] = 2500000;
    s->lines[3].counts[WP_RUN_LINE_FAR_FAULTS] = 9;
    return record;
}

static void lines_of_a_kernel_are_one_for_all_calls(void **state) {
    (void)state;
    wp_run_record record = sample("a.cu");
    size_t count = 0;
    wpi_source_line *lines = wpi_source_lines(record.simulation, "_Z4walkv", &count);
    assert_int_equal(count, 2);
    assert_int_equal(lines[1].line, 5);
    assert_u64(wpi_line_time_ps(lines[1].counts), 75);
    assert_string_equal(wpi_line_cause(lines[1].counts), "TLB");
    assert_string_equal(wpi_line_cause(lines[0].counts), "execution");
    wpi_free(lines);
    wp_run_record_deinit(&record);
}

static void lines_come_back_from_json(void **state) {
    (void)state;
    wp_run_record record = sample("a \"b\"\n<c>.cu");
    json_t *array = wpi_lines_to_json(record.simulation);
    wp_run_simulation back = {0};
    wp_error err = {0};
    wpi_json_reader r = {.where = "here", .err = &err};
    wpi_lines_from_json(&r, array, &back);
    assert_int_equal(r.status, WP_STATUS_OK);
    assert_int_equal(back.line_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(back.lines[i].file, record.simulation->lines[i].file);
        assert_string_equal(back.lines[i].calls, record.simulation->lines[i].calls);
        assert_memory_equal(back.lines[i].counts, record.simulation->lines[i].counts,
                            sizeof back.lines[i].counts);
    }
    json_object_del(json_array_get(array, 1), "file");
    wp_run_simulation bad = {0};
    wpi_lines_from_json(&r, array, &bad);
    assert_int_equal(r.status, WP_STATUS_PARSE);
    wpi_lines_deinit(&bad);
    wpi_lines_deinit(&back);
    json_decref(array);
    wp_run_record_deinit(&record);
}

static void the_listing_has_text_shares_and_causes(void **state) {
    (void)state;
    wp_error err = {0};
    char *path = wpi_path_join(test_folder(), "a.cu");
    static const char source[] = "one\n\ttwo \xc3\xa9\r\n    three\n\nfive\n";
    assert_status_ok(wpi_file_write(path, source, sizeof source - 1, &err), &err);
    wp_run_record record = sample(path);
    char *text = wp_run_record_to_source(&record);
    assert_contains(text, "kernel walk");
    assert_contains(text, "      1                                        one\n");
    assert_contains(text, "      2 *  25.0% execution  1.23k               two \xc3\xa9\n");
    assert_contains(text, "      5 #  75.0% TLB               75% 2.50M  five\n");
    assert_contains(text, "TLB1: look-ups");
    assert_null(
        strstr(text, "fault:")); /* only the other kernel, which was not launched, has any */
    wp_run_text_free(text);
    wp_run_record_deinit(&record);
    wpi_free(path);
}

static void a_source_that_is_not_there_leaves_the_numbers(void **state) {
    (void)state;
    wp_run_record record = sample("/nowhere/a.cu");
    char *text = wp_run_record_to_source(&record);
    assert_contains(text, "/nowhere/a.cu (not here: ");
    assert_contains(text, "      5 #  75.0% TLB               75% 2.50M\n");
    wp_run_text_free(text);
    for (size_t i = 0; i < 4; i++)
        record.simulation->lines[i].line = 0;
    text = wp_run_record_to_source(&record);
    assert_contains(text, "its code has no lines: compile it with -lineinfo or -g");
    wp_run_text_free(text);
    wp_run_record_deinit(&record);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_go_to_their_lines_and_none_is_lost),
        cmocka_unit_test(lines_of_a_kernel_are_one_for_all_calls),
        cmocka_unit_test(lines_come_back_from_json),
        cmocka_unit_test(the_listing_has_text_shares_and_causes),
        cmocka_unit_test(a_source_that_is_not_there_leaves_the_numbers),
    };
    return wp_test_main(tests);
}
