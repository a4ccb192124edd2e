/* SPDX-License-Identifier: Apache-2.0 */
/* Fills of much memory: what is in the range changes, and nothing beside it. */
#include "warpage/device.h"

#include "wp_test.h"

#define BYTES ((size_t)24 << 20)
#define FIRST ((size_t)4099) /* neither begin nor end is that of a page */
#define OUTER (BYTES - (size_t)70001)

static void check(const unsigned char *bytes, size_t first, size_t outer, unsigned char wanted) {
    for (size_t i = first; i < outer; i++)
        if (bytes[i] != wanted) fail_msg("byte %zu is %u, not %u", i, bytes[i], wanted);
}

static void fill_a_range(const char *spec, uint32_t value) {
    wp_device *device = NULL;
    wp_error err = {0};
    unsigned char *memory = NULL;
    assert_status_ok(wp_device_open(spec, &device, &err), &err);
    wp_queue *queue = wp_device_default_queue(device);
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_DEVICE, BYTES, 0, (void **)&memory, &err),
                     &err);
    assert_status_ok(wp_queue_fill(queue, memory, 0xa5, 1, BYTES, &err), &err);
    assert_status_ok(wp_queue_fill(queue, memory + FIRST, value, 1, OUTER - FIRST, &err), &err);
    assert_status_ok(wp_queue_wait(queue, &err), &err);
    check(memory, 0, FIRST, 0xa5);
    check(memory, FIRST, OUTER, (unsigned char)value);
    check(memory, OUTER, BYTES, 0xa5);
    assert_status_ok(wp_memory_free(device, memory, &err), &err);
    wp_device_close(device);
}

static void zeros(void **state) {
    (void)state;
    fill_a_range("cpu", 0);
    fill_a_range("sim:k80", 0);
}

static void other_values(void **state) {
    (void)state;
    fill_a_range("cpu", 7);
    fill_a_range("sim:k80", 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(zeros), cmocka_unit_test(other_values)};
    return wp_test_main(tests);
}
