/* SPDX-License-Identifier: Apache-2.0 */
/** Opening devices and giving out their memory. */
#include "device/device.h"

#include "wp_test.h"

static wp_device *open_with(const char *variable, const char *value) {
    wp_device *device;
    wp_error err = {0};
    setenv(variable, value, 1);
    assert_status_ok(wp_device_open("cpu", &device, &err), &err);
    unsetenv(variable);
    return device;
}

static void unknown_devices_are_refused(void **state) {
    (void)state;
    wp_device *device;
    wp_error err = {0};
    assert_status_fails(wp_device_open("gpu", &device, &err), WP_STATUS_NOT_FOUND, &err, "'gpu'");
    assert_null(device);
    assert_status_fails(wp_device_open("cpu:3", &device, &err), WP_STATUS_NOT_FOUND, &err, ":3");
}

static void workers_are_the_multiprocessors(void **state) {
    (void)state;
    wp_device *device = open_with("WARPAGE_WORKERS", "3");
    const wp_device_info *info = wp_device_get_info(device);
    assert_int_equal(info->sm_count, 3);
    assert_string_equal(info->spec, "cpu");
    assert_true(info->clock_hz > 100000000u);
    wp_device_close(device);
}

static void a_wrong_number_of_workers_is_refused(void **state) {
    (void)state;
    wp_device *device;
    wp_error err = {0};
    setenv("WARPAGE_WORKERS", "many", 1);
    assert_true(wp_device_open("cpu", &device, &err) != WP_STATUS_OK);
    unsetenv("WARPAGE_WORKERS");
    assert_contains(err.message, "many");
}

static void an_unknown_instruction_set_is_refused(void **state) {
    (void)state;
    wp_device *device;
    wp_error err = {0};
    setenv("WARPAGE_CPU_ISA", "avx9", 1);
    assert_status_fails(wp_device_open("cpu", &device, &err), WP_STATUS_INVALID, &err,
                        "'avx9'; it must be best or baseline");
    unsetenv("WARPAGE_CPU_ISA");
}

static void device_memory_has_a_limit_that_names_its_option(void **state) {
    (void)state;
    wp_device *device = open_with("WARPAGE_DEVICE_MEMORY", "1MiB");
    wp_error err = {0};
    void *a, *b;
    uint64_t free_bytes, total_bytes;
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_DEVICE, 600 * 1024, 0, &a, &err), &err);
    wp_memory_info(device, &free_bytes, &total_bytes);
    assert_u64(total_bytes, 1 << 20);
    assert_u64(free_bytes, (1 << 20) - 600 * 1024);
    assert_status_fails(wp_memory_alloc(device, WP_MEMORY_DEVICE, 500 * 1024, 0, &b, &err),
                        WP_STATUS_DEVICE_NOMEM, &err,
                        "500.00 KiB requested, 424.00 KiB of 1.00 MiB");
    assert_contains(err.message, "--device-memory");
    assert_null(b);
    assert_status_ok(wp_memory_free(device, a, &err), &err);
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_DEVICE, 1 << 20, 0, &b, &err), &err);
    wp_device_close(device);
}

static void managed_memory_may_exceed_the_limit(void **state) {
    (void)state;
    wp_device *device = open_with("WARPAGE_DEVICE_MEMORY", "1MiB");
    wp_error err = {0};
    char *data;
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_MANAGED, 16 << 20, 0, (void **)&data, &err),
                     &err);
    data[(16 << 20) - 1] = 1;
    assert_status_ok(wp_memory_free(device, data, &err), &err);
    wp_device_close(device);
}

static void absurd_sizes_are_out_of_memory(void **state) {
    (void)state;
    wp_device *device = open_with("WARPAGE_WORKERS", "1");
    wp_error err = {0};
    void *data;
    assert_int_equal(wp_memory_alloc(device, WP_MEMORY_DEVICE, SIZE_MAX - 10, 0, &data, &err),
                     WP_STATUS_DEVICE_NOMEM);
    assert_int_equal(wp_memory_alloc(device, WP_MEMORY_DEVICE, (size_t)1 << 60, 0, &data, &err),
                     WP_STATUS_DEVICE_NOMEM);
    wp_device_close(device);
}

static void allocations_are_aligned_zero_size_is_null(void **state) {
    (void)state;
    wp_device *device = open_with("WARPAGE_WORKERS", "1");
    wp_error err = {0};
    void *data;
    for (size_t size_bytes = 1; size_bytes < ((size_t)8 << 20); size_bytes = size_bytes * 3 + 1) {
        assert_status_ok(wp_memory_alloc(device, WP_MEMORY_DEVICE, size_bytes, 0, &data, &err),
                         &err);
        assert_int_equal((uintptr_t)data % 512, 0);
    }
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_DEVICE, 0, 0, &data, &err), &err);
    assert_null(data);
    assert_status_ok(wp_memory_free(device, NULL, &err), &err);
    wp_device_close(device);
}

static void any_address_inside_finds_its_allocation(void **state) {
    (void)state;
    wp_device *device = open_with("WARPAGE_WORKERS", "1");
    wp_error err = {0};
    char *data;
    wp_allocation found;
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_PINNED, 1000, 42, (void **)&data, &err),
                     &err);
    assert_true(wp_memory_find(device, data + 999, &found));
    assert_ptr_equal(found.base, data);
    assert_int_equal(found.size_bytes, 1000);
    assert_int_equal(found.kind, WP_MEMORY_PINNED);
    assert_int_equal(found.flags, 42);
    assert_false(wp_memory_find(device, data + 1000, &found));
    wp_device_close(device);
}

static void only_bases_of_this_device_can_be_freed(void **state) {
    (void)state;
    wp_device *device = open_with("WARPAGE_WORKERS", "1"),
              *other = open_with("WARPAGE_WORKERS", "1");
    wp_error err = {0};
    char *data;
    int local;
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_DEVICE, 1000, 0, (void **)&data, &err),
                     &err);
    assert_status_fails(wp_memory_free(device, data + 4, &err), WP_STATUS_INVALID, &err,
                        "is not its start");
    assert_status_fails(wp_memory_free(other, data, &err), WP_STATUS_INVALID, &err,
                        "is not memory of the device cpu");
    assert_status_fails(wp_memory_free(device, &local, &err), WP_STATUS_INVALID, &err,
                        "is not memory");
    assert_status_ok(wp_memory_free(device, data, &err), &err);
    assert_int_equal(wp_memory_free(device, data, &err), WP_STATUS_INVALID);
    wp_device_close(device);
    wp_device_close(other);
}

static void host_memory_can_be_registered_once(void **state) {
    (void)state;
    static char host[4096];
    wp_device *device = open_with("WARPAGE_WORKERS", "1");
    wp_error err = {0};
    wp_allocation found;
    assert_status_ok(wp_memory_register(device, host, sizeof host, 1, &err), &err);
    assert_true(wp_memory_find(device, host + 17, &found));
    assert_int_equal(found.kind, WP_MEMORY_REGISTERED);
    assert_status_fails(wp_memory_register(device, host + 8, 8, 0, &err), WP_STATUS_INVALID, &err,
                        "overlap");
    assert_status_fails(wp_memory_free(device, host, &err), WP_STATUS_INVALID, &err,
                        "registered host memory");
    assert_status_ok(wp_memory_unregister(device, host, &err), &err);
    assert_int_equal(wp_memory_unregister(device, host, &err), WP_STATUS_INVALID);
    wp_device_close(device);
}

static void a_reset_frees_everything(void **state) {
    (void)state;
    wp_device *device = open_with("WARPAGE_DEVICE_MEMORY", "1MiB");
    wp_error err = {0};
    void *data;
    uint64_t free_bytes, total_bytes;
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_DEVICE, 1 << 20, 0, &data, &err), &err);
    assert_status_ok(wp_device_reset(device, &err), &err);
    wp_memory_info(device, &free_bytes, &total_bytes);
    assert_u64(free_bytes, total_bytes);
    assert_int_equal(wp_memory_free(device, data, &err), WP_STATUS_INVALID);
    wp_device_close(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_devices_are_refused),
        cmocka_unit_test(workers_are_the_multiprocessors),
        cmocka_unit_test(a_wrong_number_of_workers_is_refused),
        cmocka_unit_test(an_unknown_instruction_set_is_refused),
        cmocka_unit_test(device_memory_has_a_limit_that_names_its_option),
        cmocka_unit_test(managed_memory_may_exceed_the_limit),
        cmocka_unit_test(absurd_sizes_are_out_of_memory),
        cmocka_unit_test(allocations_are_aligned_zero_size_is_null),
        cmocka_unit_test(any_address_inside_finds_its_allocation),
        cmocka_unit_test(only_bases_of_this_device_can_be_freed),
        cmocka_unit_test(host_memory_can_be_registered_once),
        cmocka_unit_test(a_reset_frees_everything),
    };
    return wp_test_main(tests);
}
