/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of the CUDA device, once for each call of the driver, with that call failing: it
 * is reported, and nothing leaks. */
#include "cuda_bench.h"

static void set_flag(void *flag) {
    *(int *)flag = 1;
}

/* Uses every operation. Returns how many failed; what a failed one should have made is left out. */
static unsigned use_everything(wp_device *d) {
    unsigned failures = 0;
    wp_error err = {0};
    wp_queue *q = NULL;
    wp_event *e = NULL;
    wp_module *m = NULL;
    wp_kernel *mix = NULL;
    void *memory = NULL, *managed = NULL, *pinned = NULL, *array = NULL, *variable = NULL;
    static char own[64];
    char host[256] = {0};
    size_t size_bytes;
    uint64_t handle = 0, surface = 0, value;
    int flag;
#define TRY(expression) failures += (expression) != WP_STATUS_OK
    TRY(wp_queue_create(d, true, &q, &err));
    TRY(wp_event_create(d, &e, &err));
    TRY(wp_module_load(d, image, &m, &err));
    TRY(wp_memory_alloc(d, WP_MEMORY_DEVICE, 4096, 0, &memory, &err));
    TRY(wp_memory_alloc(d, WP_MEMORY_MANAGED, 4096, 1, &managed, &err));
    TRY(wp_memory_alloc(d, WP_MEMORY_PINNED, 4096, 0, &pinned, &err));
    const wp_status is_registered = wp_memory_register(d, own, sizeof own, 0, &err);
    TRY(is_registered);
    const wpi_array description = {.width = 16,
                                   .height = 4,
                                   .element_bytes = 4,
                                   .channel_bits = {32},
                                   .channel = WPI_TEX_CHANNEL_FLOAT,
                                   .flags = 2};
    TRY(wpi_device_array_create(d, &description, &array, &err));
    TRY(wpi_device_set_limit(d, WPI_LIMIT_STACK, 2048, &err));
    TRY(wpi_device_get_limit(d, WPI_LIMIT_STACK, &value, &err));
    if (q == NULL) q = wp_device_default_queue(d);
    if (memory != NULL) {
        TRY(wp_queue_copy(q, memory, host, 100, &err));
        TRY(wp_queue_copy_2d(q, memory, 16, host, 8, 8, 4, &err));
        TRY(wp_queue_fill(q, memory, 1, 1, 10, &err));
        TRY(wp_queue_fill(q, memory, 1, 2, 10, &err));
        TRY(wp_queue_fill(q, memory, 1, 4, 10, &err));
    }
    if (array != NULL) {
        TRY(wp_queue_copy(q, array, host, 256, &err));
        const wpi_texture t = {.data = array,
                               .width = 16,
                               .height = 4,
                               .channel_bits = {32},
                               .channel = WPI_TEX_CHANNEL_FLOAT};
        TRY(wpi_device_texture_create(d, &t, false, &handle, &err));
        TRY(wpi_device_texture_create(d, &t, true, &surface, &err));
    }
    if (m != NULL) {
        TRY(wp_module_find_kernel(m, "mix", &mix, &err));
        TRY(wp_module_find_variable(m, "table", &variable, &size_bytes, &err));
        if (variable != NULL) TRY(wpi_device_texture_bind(d, variable, handle, &err));
    }
    if (mix != NULL) {
        void *args[] = {&value, host, &flag};
        wp_launch launch = {.kernel = mix, .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
        TRY(wp_queue_launch(q, &launch, &err));
        failures += wp_kernel_occupancy_blocks(mix, 32, 0) == 0;
        launch.is_cooperative = true;
        TRY(wp_queue_launch(q, &launch, &err));
        TRY(wpi_kernel_set_shared_max(mix, 60000, &err));
    }
    flag = 0;
    TRY(wp_queue_host_call(q, set_flag, &flag, &err));
    if (e != NULL) {
        TRY(wp_event_record(e, q, &err));
        TRY(wp_queue_wait_event(wp_device_default_queue(d), e, &err));
        TRY(wp_event_wait(e, &err));
    }
    TRY(wp_queue_wait(q, &err));
    TRY(wp_device_wait(d, &err));
    wpi_device_texture_destroy(d, handle, false);
    wpi_device_texture_destroy(d, surface, true);
    if (is_registered == WP_STATUS_OK) TRY(wp_memory_unregister(d, own, &err));
    TRY(wp_memory_free(d, array, &err));
    TRY(wp_memory_free(d, memory, &err));
    TRY(wp_memory_free(d, managed, &err));
    TRY(wp_memory_free(d, pinned, &err));
#undef TRY
    wp_module_unload(m);
    wp_event_destroy(e);
    if (q != wp_device_default_queue(d)) wp_queue_destroy(q);
    return failures;
}

/* Calls without which one can do: what they answer has another source, or is only taken down. */
static bool may_fail_silently(const char *symbol) {
    static const char *const symbols[] = {"cuDeviceGetAttribute", "cuDeviceGetPCIBusId",
                                          "cuEventDestroy_v2",    "cuStreamDestroy_v2",
                                          "cuStreamQuery",        "cuModuleUnload",
                                          "cuMemHostUnregister",  "cuTexObjectDestroy",
                                          "cuSurfObjectDestroy",  "cuDevicePrimaryCtxRelease_v2"};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strcmp(symbols[i], symbol) == 0) return true;
    return false;
}

static bool takes_down(const char *symbol) {
    return strcmp(symbol, "cuStreamQuery") == 0 || strstr(symbol, "Destroy") != NULL ||
           strstr(symbol, "Free") != NULL || strstr(symbol, "Unload") != NULL ||
           strstr(symbol, "Unregister") != NULL;
}

/* Opens, uses, closes, with the n-th call failing; false when there were fewer calls. */
static bool run_with_failure(unsigned n, int result) {
    wp_device *d = NULL;
    wp_error err = {0};
    fake->fail_at("*", n, result);
    const wp_status opened = wp_device_open("cuda:0", &d, &err);
    unsigned failures = opened != WP_STATUS_OK;
    if (failures != 0 && err.message[0] == '\0') fail_msg("call %u: no sentence", n);
    if (d != NULL) failures += use_everything(d);
    const bool was_used = d != NULL;
    wp_device_close(d);
    const char *symbol = fake->failed();
    fake->fail_at("*", 0, 0);
    if (symbol[0] == '\0') {
        assert_int_equal(failures, 0);
        return false;
    }
    assert_no_misuse(fake);
    if (strcmp(symbol, "cuDevicePrimaryCtxRelease_v2") == 0) { /* still held: give it up */
        const wpi_driver *driver;
        assert_status_ok(wpi_driver_load(&driver, &err), &err);
        assert_int_equal(driver->context_release(0), WPI_CU_SUCCESS);
    }
    if (failures == 0 && !may_fail_silently(symbol) && was_used &&
        strcmp(symbol, "cuCtxSynchronize") != 0 && strcmp(symbol, "cuCtxSetCurrent") != 0)
        fail_msg("call %u: %s failed and nobody was told", n, symbol);
    /* What could not be taken down is all that may be left, and what only it held. */
    const bool is_down = takes_down(symbol) || strcmp(symbol, "cuCtxSetCurrent") == 0 ||
                         strcmp(symbol, "cuCtxSynchronize") == 0 || (result >= 700 && result < 720);
    if (!is_down && fake->left() != 0)
        fail_msg("call %u: %s failed, %u objects are left", n, symbol, fake->left());
    wpi_memory_entry entry;
    if (wpi_memory_map_next(wpi_memory_map_global(), NULL, &entry))
        fail_msg("call %u: %s failed, the map has entries left", n, symbol);
    return true;
}

static void fail_every_call(int result) {
    unsigned n = 1;
    while (run_with_failure(n, result))
        n++;
    assert_true(n > 100);
}

static void no_failure_is_lost_or_leaks(void **state) {
    (void)state;
    fail_every_call(999);
}

static void no_sticky_failure_is_lost_or_leaks(void **state) {
    (void)state;
    fail_every_call(719);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_failure_is_lost_or_leaks),
        cmocka_unit_test(no_sticky_failure_is_lost_or_leaks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
