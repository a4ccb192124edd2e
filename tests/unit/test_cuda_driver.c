/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers that are missing, too old, or do not work: one sentence each. A process can have one
 * driver, so each case is a process. */
#include "device/cuda/libcuda.h"

#include <sys/wait.h>
#include <unistd.h>

#include "fake_driver.h"
#include "warpage/device.h"

typedef struct attempt {
    const char *library;
    const char *name, *value; /* environment of the fake driver, or NULL */
    const char *spec;
    wp_status status;
    const char *part; /* of the sentence */
} attempt;

/* In a child: whether opening fails as it should. */
static int run_attempt(const attempt *a) {
    setenv("WARPAGE_LIBCUDA", a->library, 1);
    if (a->name != NULL) setenv(a->name, a->value, 1);
    wp_error err = {0};
    wp_device *device = NULL;
    const wp_status status = wp_device_open(a->spec, &device, &err);
    wp_device_close(device);
    if (status == a->status && (a->part == NULL || strstr(err.message, a->part) != NULL)) return 0;
    (void)fprintf(stderr, "%s: %s: %s\n", a->spec, wp_status_string(status), err.message);
    return 1;
}

static void check(const attempt *a) {
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(run_attempt(a));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define FAKE FAKE_CUDA_PATH
#define FAIL "FAKE_CUDA_FAIL"

static void every_obstacle_has_its_sentence(void **state) {
    (void)state;
    static const attempt attempts[] = {
        {FAKE, NULL, NULL, "cuda:0", WP_STATUS_OK, NULL},
        {FAKE, NULL, NULL, "cuda", WP_STATUS_OK, NULL},
        {"/nowhere/libcuda.so.1", NULL, NULL, "cuda:0", WP_STATUS_NOT_FOUND,
         "install NVIDIA's driver"},
        {FAKE_CUDA_OLD_PATH, NULL, NULL, "cuda:0", WP_STATUS_UNSUPPORTED,
         "lacks cuLaunchHostFunc, which was added in CUDA 10.0"},
        {FAKE, "FAKE_CUDA_VERSION", "9020", "cuda:0", WP_STATUS_UNSUPPORTED,
         "supports CUDA 9.2, which is too old"},
        {FAKE, "FAKE_CUDA_DEVICES", "0", "cuda:0", WP_STATUS_NOT_FOUND, "finds no GPU"},
        {FAKE, NULL, NULL, "cuda:1", WP_STATUS_NOT_FOUND, "reports 1 GPU"},
        {FAKE, NULL, NULL, "cuda:x", WP_STATUS_NOT_FOUND, "cuda:0 is the first"},
        {FAKE, NULL, NULL, "cuda:-1", WP_STATUS_NOT_FOUND, "cuda:0 is the first"},
        {FAKE, FAIL, "cuInit:1:803", "cuda:0", WP_STATUS_DEVICE, "different versions"},
        {FAKE, FAIL, "cuInit:1:34", "cuda:0", WP_STATUS_NOT_FOUND, "stub"},
        {FAKE, FAIL, "cuInit:1:999", "cuda:0", WP_STATUS_DEVICE, "/dev/nvidia"},
        {FAKE, FAIL, "cuDevicePrimaryCtxRetain:1:46", "cuda:0", WP_STATUS_DEVICE, "compute mode"},
        {FAKE, FAIL, "cuDevicePrimaryCtxRetain:1:2", "cuda:0", WP_STATUS_DEVICE_NOMEM, "memory"},
        {FAKE, FAIL, "cuDeviceGetName:1:1234", "cuda:0", WP_STATUS_DEVICE, "does not know"},
        {FAKE, "WARPAGE_DEVICE_MEMORY", "much", "cuda:0", WP_STATUS_PARSE, "device-memory"},
    };
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
        check(&attempts[i]);
}

static void a_driver_that_started_late_is_found(void **state) {
    (void)state;
    const fake_cuda_hooks *fake = fake_driver_use();
    const wpi_driver *driver;
    wp_error err = {0};
    fake->fail_at("cuInit", 1, 999);
    assert_status_fails(wpi_driver_load(&driver, &err), WP_STATUS_DEVICE, &err, "does not start");
    assert_null(driver);
    assert_status_ok(wpi_driver_load(&driver, &err), &err);
    assert_int_equal(driver->version, 12040);
}

static void results_have_names_and_statuses(void **state) {
    (void)state;
    assert_int_equal(wpi_cu_status(700), WP_STATUS_KERNEL_ADDRESS);
    assert_int_equal(wpi_cu_status(710), WP_STATUS_KERNEL_ASSERT);
    assert_int_equal(wpi_cu_status(716), WP_STATUS_KERNEL_MISALIGNED);
    assert_int_equal(wpi_cu_status(719), WP_STATUS_KERNEL_TRAP);
    assert_int_equal(wpi_cu_status(4321), WP_STATUS_DEVICE);
    assert_string_equal(wpi_cu_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_true(wpi_cu_is_sticky(700) && wpi_cu_is_sticky(719) && !wpi_cu_is_sticky(2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_obstacle_has_its_sentence),
        cmocka_unit_test(a_driver_that_started_late_is_found),
        cmocka_unit_test(results_have_names_and_statuses),
    };
    return wp_test_main(tests);
}
