/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/reservation.h"

#include <pthread.h>

#include "wp_test.h"

enum { BYTES = 10000 };
static char host_a[BYTES], host_b[BYTES];

static char *reserve(size_t bytes) {
    void *base;
    wp_error err = {0};
    assert_status_ok(wpi_reservation_create(bytes, &base, &err), &err);
    return base;
}

static void map(char *address, char *host, size_t bytes) {
    wp_error err = {0};
    assert_status_ok(wpi_reservation_map(address, host, bytes, &err), &err);
}

static char *host_of(const char *address, uint32_t bytes) {
    wpi_reservation_cursor cursor = {0};
    return wpi_reservation_host(&cursor, (uintptr_t)address, bytes, false);
}

static void nothing_is_mapped_at_first(void **state) {
    (void)state;
    assert_false(wpi_reservation_any());
    char *base = reserve(BYTES);
    assert_true(wpi_reservation_any());
    assert_null(host_of(base, 1));
    void *found;
    size_t bytes;
    uint64_t mapped;
    assert_true(wpi_reservation_find(base + BYTES - 1, &found, &bytes, &mapped));
    assert_ptr_equal(found, base);
    assert_u64(bytes, BYTES);
    assert_u64(mapped, 0);
    assert_false(wpi_reservation_find(base + BYTES, NULL, NULL, NULL));
    assert_int_equal(wpi_reservation_free(base, true, NULL), WP_STATUS_OK);
    assert_false(wpi_reservation_any());
}

static void later_parts_replace_earlier_ones(void **state) {
    (void)state;
    char *base = reserve(BYTES);
    map(base, host_a, BYTES);
    map(base + 100, host_b, 50);
    assert_ptr_equal(host_of(base + 99, 1), host_a + 99);
    assert_ptr_equal(host_of(base + 100, 8), host_b);
    assert_ptr_equal(host_of(base + 149, 1), host_b + 49);
    assert_ptr_equal(host_of(base + 150, 16), host_a + 150);
    assert_null(host_of(base + 96, 8)); /* half in one part, half in another */
    assert_null(host_of(base + BYTES - 4, 8));
    map(base + 50, host_b + 1000, 200);
    assert_ptr_equal(host_of(base + 120, 1), host_b + 1070);
    assert_ptr_equal(host_of(base + 250, 1), host_a + 250);
    uint64_t mapped;
    assert_true(wpi_reservation_find(base, NULL, NULL, &mapped));
    assert_u64(mapped, BYTES);
    assert_int_equal(wpi_reservation_free(base, true, NULL), WP_STATUS_OK);
}

static void parts_that_continue_each_other_are_one(void **state) {
    (void)state;
    char *base = reserve(BYTES);
    map(base, host_a, 100);
    map(base + 100, host_a + 100, 100);
    map(base + 200, host_b, 100);
    assert_ptr_equal(host_of(base + 96, 8), host_a + 96);
    assert_null(host_of(base + 196, 8));
    wpi_reservation_cursor cursor = {0}; /* there and back */
    for (int i = 0; i < 300; i += 50)
        assert_ptr_equal(wpi_reservation_host(&cursor, (uintptr_t)base + (uintptr_t)i, 4, false),
                         i < 200 ? host_a + i : host_b + i - 200);
    assert_ptr_equal(wpi_reservation_host(&cursor, (uintptr_t)base, 4, false), host_a);
    assert_int_equal(wpi_reservation_free(base, true, NULL), WP_STATUS_OK);
}

static void mistakes_are_told(void **state) {
    (void)state;
    wp_error err = {0};
    void *base;
    assert_status_fails(wpi_reservation_create(0, &base, &err), WP_STATUS_INVALID, &err, "0 bytes");
    assert_status_fails(wpi_reservation_create(SIZE_MAX / 2, &base, &err), WP_STATUS_NOMEM, &err,
                        "no addresses left");
    char *reserved = reserve(BYTES);
    assert_status_fails(wpi_reservation_map(reserved, NULL, 1, &err), WP_STATUS_INVALID, &err,
                        "without host memory");
    assert_status_fails(wpi_reservation_map(reserved + 1, host_a, BYTES, &err), WP_STATUS_INVALID,
                        &err, "from offset 1 on, but 10000 bytes were reserved");
    assert_status_fails(wpi_reservation_map(host_a, host_a, 1, &err), WP_STATUS_INVALID, &err,
                        "not an address of streamingMalloc");
    assert_status_fails(wpi_reservation_free(reserved + 1, true, &err), WP_STATUS_INVALID, &err,
                        "not what streamingMalloc returned");
    assert_int_equal(wpi_reservation_free(reserved, true, NULL), WP_STATUS_OK);
    assert_status_fails(wpi_reservation_free(reserved, true, &err), WP_STATUS_INVALID, &err,
                        "is freed");
}

static void *reserve_and_free(void *arg) {
    (void)arg;
    for (int i = 0; i < 200; i++) {
        void *base = NULL;
        wpi_reservation_cursor cursor = {0};
        if (wpi_reservation_create(BYTES, &base, NULL) != WP_STATUS_OK ||
            wpi_reservation_map(base, host_a, BYTES, NULL) != WP_STATUS_OK ||
            wpi_reservation_host(&cursor, (uintptr_t)base + 7, 4, false) != host_a + 7 ||
            wpi_reservation_free(base, true, NULL) != WP_STATUS_OK)
            return arg;
    }
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state) {
    pthread_t threads[4];
    void *failed;
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reserve_and_free, host_b), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_mapped_at_first),
        cmocka_unit_test(later_parts_replace_earlier_ones),
        cmocka_unit_test(parts_that_continue_each_other_are_one),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(threads_do_not_disturb_each_other),
    };
    return wp_test_main(tests);
}
