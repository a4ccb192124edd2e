/* SPDX-License-Identifier: Apache-2.0 */
/** A simulated GPU opened as a device: the numbers it shows, and WARPAGE_SET. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "device/device.h"
#include "device/sim/variables.h"

#include "wp_test.h"

/* The C library's, as a test wants it: whether the list of exit functions has room. */
static bool exit_list_is_full;
int atexit(void (*function)(void));
int atexit(void (*function)(void)) {
    (void)function; /* nothing of the library needs to run at the end of this test */
    return exit_list_is_full ? 1 : 0;
}

static uint64_t memory_bytes(const char *settings) {
    setenv("WARPAGE_SET", settings, 1);
    wp_error err = {0};
    wp_device *device = NULL;
    assert_status_ok(wp_device_open("sim:k80", &device, &err), &err);
    const uint64_t bytes = wp_device_get_info(device)->memory_bytes;
    wp_device_close(device);
    unsetenv("WARPAGE_SET");
    return bytes;
}

static void settings_are_in_force(void **state) {
    (void)state;
    assert_int_equal(memory_bytes("gpu.memory=64MiB"), 64 << 20);
    assert_int_equal(memory_bytes(" gpu.seed=3 ; gpu.memory=32MiB;"), 32 << 20);
    assert_int_equal(memory_bytes("gpu.memory=32MiB;gpu.memory=16MiB"), 16 << 20);
    assert_int_not_equal(memory_bytes(""), 16 << 20);
}

static void expect_refusal(const char *settings, wp_status status, const char *part) {
    setenv("WARPAGE_SET", settings, 1);
    wp_error err = {0};
    wp_device *device = NULL;
    assert_status_fails(wp_device_open("sim:k80", &device, &err), status, &err, part);
    assert_null(device);
    unsetenv("WARPAGE_SET");
}

static void wrong_settings_are_refused(void **state) {
    (void)state;
    expect_refusal("gpu.memori=1GiB", WP_STATUS_NOT_FOUND, "gpu.memory");
    expect_refusal("gpu.memory", WP_STATUS_PARSE, "gpu.memory");
    expect_refusal("tlb.l2.entries=0", WP_STATUS_INVALID, "tlb.l2.entries");
}

typedef struct seen {
    size_t l2, l4;
    bool is_set;
} seen;

static void see(void *object, const wp_device_key *key) {
    seen *s = object;
    s->l2 += strncmp(key->name, "tlb.l2.", 7) == 0;
    s->l4 += strncmp(key->name, "tlb.l4.", 7) == 0;
    if (strcmp(key->name, "tlb.l2.entries") == 0)
        s->is_set = strcmp(key->value, "128") == 0 && strcmp(key->source, "--set") == 0;
}

static void keys_are_those_in_force(void **state) {
    (void)state;
    seen s = {0};
    wp_error err = {0};
    setenv("WARPAGE_SET", "tlb.l2.entries=128", 1);
    assert_status_ok(wp_device_visit_keys("sim:k80", see, &s, &err), &err);
    unsetenv("WARPAGE_SET");
    assert_true(s.l2 > 5);
    assert_int_equal(s.l4, 0);
    assert_true(s.is_set);
    assert_status_fails(wp_device_visit_keys("cpu", see, &s, &err), WP_STATUS_UNSUPPORTED, &err,
                        "'cpu'");
}

static wp_status open_with_failure(const char *spec, uint64_t n, wp_error *err) {
    wp_device *device = NULL;
    wpi_alloc_fail_at(n);
    const wp_status status = wp_device_open(spec, &device, err);
    wpi_alloc_fail_at(0);
    if (status == WP_STATUS_OK)
        wp_device_close(device);
    else
        assert_null(device);
    return status;
}

static bool is_of(const wp_error *err, const char *place) {
    return err->file != NULL && strstr(err->file, place) != NULL;
}

/* From `n` allocations, with which it opens, to fewer in steps, while it still does. */
static uint64_t fewer_allocations(const char *spec, uint64_t n, uint64_t step) {
    wp_error err = {0};
    assert_status_ok(open_with_failure(spec, n, &err), &err);
    while (n > step && open_with_failure(spec, n - step, &err) == WP_STATUS_OK)
        n -= step;
    return n;
}

/* Fails the allocations of an opening, from its last one back to those of the CPU device, which is
 * made before the rest: an error each time, and with a sanitizer no leak. */
static void open_with_failing_memory(const char *spec) {
    uint64_t n = fewer_allocations(spec, 20000, 128);
    n = fewer_allocations(spec, n, 8);
    wp_error err = {0};
    bool has_met_cpu = false;
    uint64_t failed = 0;
    for (n += 16; n > 1 && !(has_met_cpu && !is_of(&err, "device/cpu/")); n--) {
        err = (wp_error){0};
        if (open_with_failure(spec, n, &err) == WP_STATUS_OK) continue;
        assert_true(strlen(err.message) > 0);
        has_met_cpu = has_met_cpu || is_of(&err, "device/cpu/");
        failed++;
    }
    assert_true(has_met_cpu);
    assert_true(failed > 10);
}

static void an_opening_without_memory_is_an_error(void **state) {
    (void)state;
    void *variables = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(variables, MAP_FAILED);
    wpi_variables_place(variables, 16384);
    open_with_failing_memory("sim:k80");
    open_with_failing_memory("sim:gtx1080ti"); /* its pages move */
}

static char *trace_path(char **dir) {
    wp_error err = {0};
    assert_status_ok(wpi_temp_dir_create(dir, &err), &err);
    char *path = wpi_path_join(*dir, "t.wpt");
    setenv("WARPAGE_TRACE", path, 1);
    return path;
}

static void end_trace(char *dir, char *path) {
    unsetenv("WARPAGE_TRACE");
    wpi_free(path);
    wpi_temp_dir_remove(dir);
    wpi_free(dir);
}

static bool is_recording(const wp_device *device) {
    return device->ops->note_query != NULL;
}

/* First, while the list was never joined. */
static void a_recording_that_cannot_end_does_not_begin(void **state) {
    (void)state;
    char *dir = NULL, *path = trace_path(&dir);
    wp_device *device = NULL;
    wp_error err = {0};
    exit_list_is_full = true;
    assert_status_fails(wp_device_open("sim:k80", &device, &err), WP_STATUS_NOMEM, &err,
                        "exit functions");
    exit_list_is_full = false;
    assert_null(device);
    assert_false(wpi_file_exists(path));
    assert_status_ok(wp_device_open("sim:k80", &device, &err), &err);
    assert_true(is_recording(device));
    wp_device_close(device);
    end_trace(dir, path);
}

static void a_second_device_leaves_a_recording_alone(void **state) {
    (void)state;
    char *dir = NULL, *path = trace_path(&dir);
    wp_device *first = NULL, *second = NULL;
    wp_error err = {0};
    assert_status_ok(wp_device_open("sim:k80", &first, &err), &err);
    assert_true(is_recording(first));
    assert_status_ok(wp_device_open("sim:p100", &second, &err), &err);
    assert_true(is_recording(first));
    assert_false(is_recording(second));
    wp_device_close(second);
    assert_true(is_recording(first));
    wp_device_close(first);
    end_trace(dir, path);
}

/* "key=default", for each key whose policy looks ahead. */
static void list_ahead(void *object, const wp_device_key *key) {
    if (key->needs_future) wpi_text_appendf(object, " %s=%s", key->name, key->fallback);
}

static void policies_that_look_ahead_are_marked(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_text found = {0};
    setenv("WARPAGE_SET", "paging.evict=oracle;paging.prefetch_full=oracle", 1);
    assert_status_ok(wp_device_visit_keys("sim:gtx1080ti", list_ahead, &found, &err), &err);
    assert_string_equal(wpi_text_string(&found), " paging.prefetch_full=same paging.evict=lru-2m");
    wpi_text_clear(&found);
    unsetenv("WARPAGE_SET");
    assert_status_ok(wp_device_visit_keys("sim:gtx1080ti", list_ahead, &found, &err), &err);
    assert_string_equal(wpi_text_string(&found), "");
    wpi_text_deinit(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_that_cannot_end_does_not_begin),
        cmocka_unit_test(a_second_device_leaves_a_recording_alone),
        cmocka_unit_test(an_opening_without_memory_is_an_error),
        cmocka_unit_test(settings_are_in_force),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(keys_are_those_in_force),
        cmocka_unit_test(policies_that_look_ahead_are_marked),
    };
    return wp_test_main(tests);
}
