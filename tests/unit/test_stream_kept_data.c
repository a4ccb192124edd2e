/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/kept_data.h"

#include <string.h>

#include "base/alloc.h"
#include "device/device.h"
#include "stream/kept_fill.h"
#include "stream/reservation.h"
#include "wp_test.h"

enum { BYTES = 1000 };

static wp_device *device;
static wp_queue *queue;
static char host[BYTES], *mapped;

static int open(void **state) {
    void *base;
    (void)state;
    if (wp_device_open("cpu", &device, NULL) != WP_STATUS_OK) return -1;
    queue = wp_device_default_queue(device);
    if (wpi_reservation_create(BYTES, &base, NULL) != WP_STATUS_OK) return -1;
    mapped = base;
    for (int i = 0; i < BYTES; i++)
        host[i] = (char)(i * 7);
    return wpi_reservation_map(mapped, host, BYTES, NULL) == WP_STATUS_OK ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    wpi_kept_data_free_all();
    const bool is_freed = wpi_reservation_free(mapped, true, NULL) == WP_STATUS_OK;
    wp_device_close(device);
    return is_freed ? 0 : -1;
}

static void keep(char *address, size_t bytes) {
    wp_error err = {0};
    assert_status_ok(wpi_kept_data_set(device, address, bytes, &err), &err);
}

static wpi_kept_use use(wp_queue *by, bool is_written) {
    wpi_kept_use u = {0};
    wp_error err = {0};
    assert_status_ok(wpi_kept_data_use(by, mapped + 3, is_written, &u, &err), &err);
    assert_status_ok(wp_queue_wait(by, &err), &err);
    return u;
}

static void the_first_launch_copies_the_range(void **state) {
    (void)state;
    assert_u64(use(queue, false).count, 0);
    keep(mapped + 16, 100); /* 96 of them */
    assert_true(wpi_kept_data_has(mapped + 900));
    wpi_kept_use u = use(queue, true);
    assert_u64(u.count, 1);
    assert_u64(u.bytes, 96);
    assert_u64(u.sent_bytes, 96);
    assert_u64(u.ranges[0].first, (uintptr_t)mapped + 16);
    assert_memory_equal(u.ranges[0].memory, host + 16, 96);
    assert_u64(use(queue, false).sent_bytes, 0);
    wp_error err = {0}; /* through another parameter */
    assert_status_ok(wpi_kept_data_use(queue, mapped + 500, false, &u, &err), &err);
    assert_u64(u.count, 1);
}

static void a_range_up_to_the_end_is_whole(void **state) {
    (void)state;
    keep(mapped + 32, BYTES - 32);
    assert_u64(use(queue, false).bytes, BYTES - 32);
    keep(mapped, 15);
    assert_false(wpi_kept_data_has(mapped));
    assert_u64(use(queue, false).count, 0);
}

static void what_is_forgotten_is_copied_again(void **state) {
    (void)state;
    keep(mapped, 160);
    (void)use(queue, false);
    host[5]++;
    wpi_kept_data_forget(mapped + 160, 10); /* behind it */
    assert_u64(use(queue, false).sent_bytes, 0);
    wpi_kept_data_forget(mapped + 5, 1);
    const wpi_kept_use u = use(queue, false);
    assert_u64(u.sent_bytes, 160);
    assert_memory_equal(u.ranges[0].memory, host, 160);
}

static void what_another_device_writes_is_copied_again(void **state) {
    (void)state;
    wp_device *other;
    assert_int_equal(wp_device_open("cpu", &other, NULL), WP_STATUS_OK);
    keep(mapped, 160);
    (void)use(queue, false);
    assert_u64(use(wp_device_default_queue(other), false).count, 0);
    assert_u64(use(queue, false).sent_bytes, 0);
    assert_u64(use(wp_device_default_queue(other), true).count, 0);
    assert_u64(use(queue, false).sent_bytes, 160);
    wp_device_close(other);
}

static void parts_that_are_not_mapped_are_refused(void **state) {
    (void)state;
    void *base;
    wpi_kept_use u = {0};
    wp_error err = {0};
    assert_int_equal(wpi_reservation_create(BYTES, &base, NULL), WP_STATUS_OK);
    assert_int_equal(wpi_reservation_map(base, host, 100, NULL), WP_STATUS_OK);
    keep(base, 112);
    assert_int_equal(wpi_kept_data_use(queue, base, false, &u, &err), WP_STATUS_INVALID);
    assert_non_null(strstr(err.message, "nothing is mapped at offset 100 "));
    assert_u64(u.count, 0);
    assert_int_equal(wpi_reservation_map((char *)base + 100, host, 12, NULL), WP_STATUS_OK);
    assert_int_equal(wpi_kept_data_use(queue, base, false, &u, &err), WP_STATUS_OK);
    assert_u64(u.sent_bytes, 112);
    assert_int_equal(wp_queue_wait(queue, NULL), WP_STATUS_OK);
    assert_memory_equal(u.ranges[0].memory, host, 100);
    assert_memory_equal(u.ranges[0].memory + 100, host, 12);
    wpi_kept_data_free(base);
    assert_false(wpi_kept_data_has(base));
    assert_int_equal(wpi_reservation_free(base, true, NULL), WP_STATUS_OK);
}

/* In pieces of several sizes, down to none, by several threads; behind what was queued before. */
static void large_ranges_are_staged_in_pieces(void **state) {
    (void)state;
    static const uint64_t pinned[] = {0, 9 * 4096, 9 * 4096 * 3 + 5, 100};
    const size_t bytes = 5 * (size_t)WPI_KEPT_FILL_PIECE_BYTES + 48;
    char *large = wpi_malloc(bytes);
    void *base;
    assert_non_null(large);
    assert_int_equal(wpi_kept_fill_piece_bytes(0), WPI_KEPT_FILL_PIECE_BYTES);
    assert_int_equal(wpi_kept_fill_piece_bytes(9 * 4096), 4096);
    assert_int_equal(wpi_kept_fill_piece_bytes(9 * 4096 - 1), 0);
    assert_int_equal(wpi_kept_fill_piece_bytes(UINT64_MAX), WPI_KEPT_FILL_PIECE_BYTES);
    assert_int_equal(wpi_reservation_create(bytes, &base, NULL), WP_STATUS_OK);
    assert_int_equal(wpi_reservation_map(base, large, bytes / 2, NULL), WP_STATUS_OK);
    assert_int_equal(
        wpi_reservation_map((char *)base + bytes / 2, large + bytes / 2, bytes - bytes / 2, NULL),
        WP_STATUS_OK);
    keep(base, bytes);
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        wpi_kept_use u = {.pinned_bytes_max = pinned[i]};
        wp_error err = {0};
        for (size_t at = 0; at < bytes; at++)
            large[at] = (char)(at * 31 + (at >> 12) + i);
        assert_status_ok(wp_queue_fill(queue, large + bytes - 4, (uint32_t)i, 4, 1, &err), &err);
        wpi_kept_data_forget(base, 1);
        assert_status_ok(wpi_kept_data_use(queue, base, false, &u, &err), &err);
        assert_u64(u.sent_bytes, bytes);
        assert_status_ok(wp_queue_wait(queue, &err), &err);
        assert_int_equal(large[bytes - 4], (char)i);
        assert_memory_equal(u.ranges[0].memory, large, bytes);
    }
    wpi_kept_data_free(base);
    assert_int_equal(wpi_reservation_free(base, true, NULL), WP_STATUS_OK);
    wpi_free(large);
}

static void wrong_ranges_are_refused(void **state) {
    (void)state;
    wp_error err = {0};
    assert_int_equal(wpi_kept_data_set(device, host, 16, &err), WP_STATUS_INVALID);
    assert_int_equal(wpi_kept_data_set(device, mapped + 8, 16, &err), WP_STATUS_INVALID);
    assert_int_equal(wpi_kept_data_set(device, mapped + 16, BYTES - 15, &err), WP_STATUS_INVALID);
    assert_non_null(strstr(err.message, "offset 16 on, but 1000 bytes"));
    assert_false(wpi_kept_data_has(mapped));
    assert_false(wpi_kept_data_has(host));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open, close_all)
    const struct CMUnitTest tests[] = {
        TEST(the_first_launch_copies_the_range),
        TEST(a_range_up_to_the_end_is_whole),
        TEST(what_is_forgotten_is_copied_again),
        TEST(what_another_device_writes_is_copied_again),
        TEST(parts_that_are_not_mapped_are_refused),
        TEST(large_ranges_are_staged_in_pieces),
        TEST(wrong_ranges_are_refused),
    };
    return wp_test_main(tests);
}
