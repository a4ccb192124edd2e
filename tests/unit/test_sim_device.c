/* SPDX-License-Identifier: Apache-2.0 */
/** A simulated GPU opened as a device: the numbers it shows, and WARPAGE_SET. */
#include <string.h>

#include "device/device.h"

#include "wp_test.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_in_force),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(keys_are_those_in_force),
    };
    return wp_test_main(tests);
}
