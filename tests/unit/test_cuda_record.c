/* SPDX-License-Identifier: Apache-2.0 */
/* What the run record says of a CUDA device. */
#include <pthread.h>
#include <unistd.h>

#include "cuda_bench.h"
#include "report/recorder.h"

#define RECORD_PATH "/tmp/warpage_test_XXXXXX" /* mkstemp's */

/* A device whose record will be at `path`. */
static wp_device *open_recorded(char *path) {
    const int file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    wpi_report_restart(path);
    return open_fake();
}

static wp_run_record take_record(const char *path) {
    wpi_report_write_at_exit();
    wp_run_record record;
    wp_error err = {0};
    assert_status_ok(wp_run_record_read(path, &record, &err), &err);
    wpi_report_restart(NULL);
    (void)unlink(path);
    return record;
}

static void the_record_holds_what_ran(void **state) {
    (void)state;
    char path[] = RECORD_PATH;
    wp_device *d = open_recorded(path);
    wp_queue *q = wp_device_default_queue(d);
    wp_error err = {0};
    wp_module *m;
    wp_kernel *bare;
    void *memory;
    char host[64] = {0};
    assert_status_ok(wp_module_load(d, image, &m, &err), &err);
    assert_status_ok(wp_module_find_kernel(m, "bare", &bare, &err), &err);
    assert_status_ok(wp_memory_alloc(d, WP_MEMORY_DEVICE, 64, 0, &memory, &err), &err);
    const wp_launch launch = {.kernel = bare, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    assert_status_ok(wp_queue_launch(q, &launch, &err), &err);
    assert_status_ok(wp_queue_copy(q, memory, host, 64, &err), &err);
    assert_status_ok(wp_queue_wait(q, &err), &err);
    /* What was refused did not run. */
    fake->fail_at("cuLaunchKernel", 1, 701);
    assert_int_equal(wp_queue_launch(q, &launch, &err), WP_STATUS_LAUNCH);
    fake->fail_at("cuMemcpyAsync", 1, 1);
    assert_int_equal(wp_queue_copy(q, memory, host, 64, &err), WP_STATUS_INVALID);
    fake->fail_at("cuMemsetD8Async", 1, 1);
    assert_int_equal(wp_queue_fill(q, memory, 0, 1, 64, &err), WP_STATUS_INVALID);
    /* A launch whose marks cannot be made runs all the same. */
    fake->fail_at("cuEventCreate", 1, 2);
    assert_status_ok(wp_queue_launch(q, &launch, &err), &err);
    assert_status_ok(wp_queue_wait(q, &err), &err);
    /* A kernel behind a fault has no time. */
    assert_status_ok(wp_queue_launch(q, &launch, &err), &err);
    fake->fail_at("cuStreamSynchronize", 1, 719);
    assert_int_equal(wp_queue_wait(q, &err), WP_STATUS_KERNEL_TRAP);
    assert_status_ok(wp_device_reset(d, &err), &err);
    wp_module_unload(m);
    close_clean(d);
    wp_run_record record = take_record(path);
    assert_u64(record.kernel_count, 1);
    assert_u64(record.kernels[0].launches, 1);
    assert_u64(record.copies[WP_COPY_H2D].count, 1);
    assert_u64(record.copies[WP_COPY_FILL].count, 0);
    wp_run_record_deinit(&record);
}

static void *destroy_queue(void *arg) {
    wp_queue_destroy(arg);
    return NULL;
}

static void a_recorded_queue_can_be_destroyed_by_any_thread(void **state) {
    (void)state;
    char path[] = RECORD_PATH;
    wp_device *d = open_recorded(path);
    wp_error err = {0};
    wp_queue *q;
    void *memory;
    pthread_t thread;
    assert_status_ok(wp_queue_create(d, true, &q, &err), &err);
    assert_status_ok(wp_memory_alloc(d, WP_MEMORY_DEVICE, 64, 0, &memory, &err), &err);
    assert_status_ok(wp_queue_fill(q, memory, 0, 1, 64, &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, destroy_queue, q), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close_clean(d);
    wp_run_record record = take_record(path);
    assert_u64(record.copies[WP_COPY_FILL].count, 1);
    wp_run_record_deinit(&record);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_holds_what_ran),
        cmocka_unit_test(a_recorded_queue_can_be_destroyed_by_any_thread),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
