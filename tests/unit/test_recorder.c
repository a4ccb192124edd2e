/* SPDX-License-Identifier: Apache-2.0 */
#include "report/recorder.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "wp_test.h"

static char *dir;
static char *path;

static int start(void **state) {
    (void)state;
    if (wpi_temp_dir_create(&dir, NULL) != WP_STATUS_OK) return -1;
    path = wpi_path_join(dir, "record.json");
    wpi_report_restart(path);
    return 0;
}

static int stop(void **state) {
    (void)state;
    wpi_report_restart(NULL);
    wpi_temp_dir_remove(dir);
    wpi_free(dir);
    wpi_free(path);
    return 0;
}

static wp_run_record finish(void) {
    wpi_report_write_at_exit();
    wp_run_record record;
    wp_error err = {0};
    assert_status_ok(wp_run_record_read(path, &record, &err), &err);
    return record;
}

static const uint32_t grid[3] = {4, 2, 1}, block[3] = {32, 1, 1};

static void launches_of_a_kernel_add_up(void **state) {
    (void)state;
    wpi_report_kernel(NULL, "a", grid, block, 100, 150);
    wpi_report_kernel(NULL, "b", grid, block, 0, 1000);
    wpi_report_kernel(NULL, "a", (const uint32_t[3]){1, 1, 1}, block, 200, 210);
    wp_run_record record = finish();
    assert_u64(record.kernel_count, 2);
    assert_string_equal(record.kernels[0].name, "b"); /* longest first */
    const wp_run_kernel *a = &record.kernels[1];
    assert_u64(a->launches, 2);
    assert_u64(a->threads, 8 * 32 + 32);
    assert_u64(a->time_ns, 60);
    assert_u64(a->time_min_ns, 10);
    assert_u64(a->time_max_ns, 50);
    assert_int_equal(a->grid[0], 1);
    assert_int_equal(a->block[0], 32);
    wp_run_record_deinit(&record);
}

static void many_kernels_are_told_apart(void **state) {
    (void)state;
    char name[24];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            (void)snprintf(name, sizeof name, "kernel%d",
                           i); /* the same buffer: names are copied */
            wpi_report_kernel(NULL, name, grid, block, 0, 1);
        }
    }
    wp_run_record record = finish();
    assert_u64(record.kernel_count, 100);
    for (size_t i = 0; i < 100; i++)
        assert_u64(record.kernels[i].launches, 3);
    wp_run_record_deinit(&record);
}

static void copies_add_up_by_kind(void **state) {
    (void)state;
    wpi_report_copy(NULL, WP_COPY_H2D, 10, 5, 8);
    wpi_report_copy(NULL, WP_COPY_H2D, 20, 5, 6);
    wpi_report_copy(NULL, WP_COPY_FILL, 7, 9, 9);
    wp_run_record record = finish();
    assert_u64(record.copies[WP_COPY_H2D].count, 2);
    assert_u64(record.copies[WP_COPY_H2D].bytes, 30);
    assert_u64(record.copies[WP_COPY_H2D].time_ns, 4);
    assert_u64(record.copies[WP_COPY_FILL].bytes, 7);
    assert_u64(record.copies[WP_COPY_D2H].count, 0);
    wp_run_record_deinit(&record);
}

static void the_largest_memory_and_the_last_device_are_kept(void **state) {
    (void)state;
    wpi_report_memory(100);
    wpi_report_memory(300);
    wpi_report_memory(200);
    wpi_report_device("cpu", "first");
    wpi_report_device("cpu", "second");
    wp_run_record record = finish();
    assert_u64(record.memory_peak_bytes, 300);
    assert_string_equal(record.device_spec, "cpu");
    assert_string_equal(record.device_name, "second");
    wp_run_record_deinit(&record);
}

static void the_record_knows_its_program(void **state) {
    (void)state;
    wp_run_record record = finish();
    assert_u64(record.program_count, 1);
    assert_contains(record.program[0], "test_recorder");
    assert_true(strlen(record.version) > 0);
    wp_run_record_deinit(&record);
}

static void a_backward_clock_counts_as_no_time(void **state) {
    (void)state;
    wpi_report_kernel(NULL, "a", grid, block, 10, 5);
    wpi_report_copy(NULL, WP_COPY_D2H, 1, 10, 5);
    wp_run_record record = finish();
    assert_u64(record.kernels[0].time_ns, 0);
    assert_u64(record.copies[WP_COPY_D2H].time_ns, 0);
    wp_run_record_deinit(&record);
}

static void *record_many(void *name) {
    for (int i = 0; i < 1000; i++) {
        wpi_report_kernel(NULL, name, grid, block, 0, 1);
        wpi_report_copy(NULL, WP_COPY_D2D, 1, 0, 1);
        wpi_report_memory((uint64_t)i);
    }
    return NULL;
}

static void threads_lose_nothing(void **state) {
    (void)state;
    pthread_t threads[4];
    char names[4][2] = {"a", "b", "a", "c"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_many, names[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    wp_run_record record = finish();
    assert_u64(record.kernel_count, 3);
    assert_string_equal(record.kernels[0].name, "a");
    assert_u64(record.kernels[0].launches, 2000);
    assert_u64(record.copies[WP_COPY_D2D].count, 4000);
    assert_u64(record.memory_peak_bytes, 999);
    wp_run_record_deinit(&record);
}

static void memory_that_runs_out_drops_an_entry_only(void **state) {
    (void)state;
    wpi_report_kernel(NULL, "a", grid, block, 0, 1);
    wpi_alloc_fail_at(1);
    wpi_report_kernel(NULL, "b", grid, block, 0, 1);
    wpi_alloc_fail_at(0);
    wpi_report_kernel(NULL, "a", grid, block, 0, 1);
    wp_run_record record = finish();
    assert_u64(record.kernel_count, 1);
    assert_u64(record.kernels[0].launches, 2);
    wp_run_record_deinit(&record);
}

static void a_forked_child_does_not_write(void **state) {
    (void)state;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        wpi_report_write_at_exit();
        _exit(wpi_file_exists(path) ? 1 : 0);
    }
    int result = -1;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_int_equal(result, 0);
}

static void nothing_is_recorded_when_off(void **state) {
    (void)state;
    wpi_report_restart(NULL);
    assert_false(wpi_report_is_on());
    wpi_report_kernel(NULL, "a", grid, block, 0, 1);
    wpi_report_copy(NULL, WP_COPY_H2D, 1, 0, 1);
    wpi_report_memory(1);
    wpi_report_device("cpu", "x");
    wpi_report_write_at_exit();
    assert_false(wpi_file_exists(path));
    wpi_report_restart(path);
    wp_run_record record = finish();
    assert_u64(record.kernel_count, 0);
    assert_u64(record.memory_peak_bytes, 0);
    assert_string_equal(record.device_spec, "");
    wp_run_record_deinit(&record);
}

/* Records with a timeline from now on; returns its path. */
static char *start_timeline(void) {
    char *timeline = wpi_path_join(dir, "timeline.json");
    setenv("WARPAGE_TIMELINE", timeline, 1);
    wpi_report_restart(path);
    unsetenv("WARPAGE_TIMELINE");
    return timeline;
}

/* What was written; `timeline` is freed. */
static char *finish_timeline(char *timeline) {
    char *json = NULL;
    size_t bytes = 0;
    wp_error err = {0};
    wpi_report_write_at_exit();
    assert_status_ok(wpi_file_read(timeline, &json, &bytes, &err), &err);
    wpi_free(timeline);
    return json;
}

static void a_timeline_has_each_launch_and_copy_on_its_stream(void **state) {
    (void)state;
    const int streams[2] = {0};
    char *timeline = start_timeline();
    const uint64_t begin = 1000000000000; /* of a clock that runs since long */
    wpi_report_kernel(&streams[0], "a\"b", grid, block, begin + 1234567, begin + 1234999);
    wpi_report_kernel(&streams[0], "_ZN3abc5sweepIfEEvPT_", grid, block, begin, begin + 1);
    wpi_report_copy(&streams[1], WP_COPY_H2D, 4096, begin, begin + 3);
    wp_timeline_phase("pas\"ses", "pass 1", begin + 7, begin + 5);
    wp_timeline_phase("host", "gather", begin + 2, begin + 5);
    wp_timeline_phase("pas\"ses", "pass 2", begin + 9, begin + 12);
    char *json = finish_timeline(timeline);
    assert_contains(json, "\"name\":\"a\\\"b\",\"cat\":\"kernel\",\"pid\":1,\"tid\":0,"
                          "\"ts\":1234.567,\"dur\":0.432,\"args\":{\"kernel\":\"a\\\"b\"}}");
    assert_contains(json, "\"name\":\"abc::sweep<float>\",");
    assert_contains(json, "\"args\":{\"kernel\":\"void abc::sweep<float>(float*)\"}}");
    assert_contains(json, "\"name\":\"h2d\",\"cat\":\"copy\",\"pid\":1,\"tid\":1,\"ts\":0.000,"
                          "\"dur\":0.003,\"args\":{\"bytes\":4096}}");
    assert_contains(json, "\"args\":{\"name\":\"stream 1\"}");
    assert_contains(json, "\"tid\":2,\"args\":{\"name\":\"pas\\\"ses\"}");
    assert_contains(json, "\"tid\":3,\"args\":{\"name\":\"host\"}");
    assert_contains(json, "\"name\":\"pass 1\",\"cat\":\"phase\",\"pid\":1,\"tid\":2,"
                          "\"ts\":0.007,\"dur\":0.000,\"args\":{}}");
    assert_contains(json, "\"name\":\"pass 2\",\"cat\":\"phase\",\"pid\":1,\"tid\":2,"
                          "\"ts\":0.009,\"dur\":0.003,\"args\":{}}");
    wpi_free(json);
}

static void a_timeline_is_bounded_and_says_so(void **state) {
    (void)state;
    char *timeline = start_timeline();
    for (uint64_t i = 0; i < 65536 + 10; i++)
        wpi_report_copy(NULL, WP_COPY_D2H, 1, i, i + 1);
    char *json = finish_timeline(timeline);
    assert_contains(json, "10 later ones are left out");
    wpi_free(json);
}

#define RECORDER_TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void) {
    const struct CMUnitTest tests[] = {
        RECORDER_TEST(launches_of_a_kernel_add_up),
        RECORDER_TEST(many_kernels_are_told_apart),
        RECORDER_TEST(copies_add_up_by_kind),
        RECORDER_TEST(the_largest_memory_and_the_last_device_are_kept),
        RECORDER_TEST(the_record_knows_its_program),
        RECORDER_TEST(a_backward_clock_counts_as_no_time),
        RECORDER_TEST(threads_lose_nothing),
        RECORDER_TEST(memory_that_runs_out_drops_an_entry_only),
        RECORDER_TEST(a_forked_child_does_not_write),
        RECORDER_TEST(a_timeline_has_each_launch_and_copy_on_its_stream),
        RECORDER_TEST(a_timeline_is_bounded_and_says_so),
        RECORDER_TEST(nothing_is_recorded_when_off),
    };
    return wp_test_main(tests);
}
