/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "wp_test.h"

static void the_nth_allocation_fails_once(void **state) {
    (void)state;
    wpi_alloc_fail_at(2);
    void *first = wpi_malloc(8);
    void *second = wpi_calloc(2, 8);
    void *third = wpi_malloc(8);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    wpi_free(first);
    wpi_free(third);
}

static void failing_can_be_switched_off(void **state) {
    (void)state;
    wpi_alloc_fail_at(1);
    wpi_alloc_fail_at(0);
    void *memory = wpi_malloc(8);
    assert_non_null(memory);
    wpi_free(memory);
}

static void a_failed_realloc_leaves_the_memory_alone(void **state) {
    (void)state;
    char *memory = wpi_strdup("kept");
    assert_non_null(memory);
    wpi_alloc_fail_at(1);
    assert_null(wpi_realloc(memory, 1000));
    assert_string_equal(memory, "kept");
    wpi_free(memory);
}

static void every_kind_of_allocation_can_be_made_to_fail(void **state) {
    (void)state;
    wpi_alloc_fail_at(1);
    assert_null(wpi_malloc(1));
    wpi_alloc_fail_at(1);
    assert_null(wpi_calloc(1, 1));
    wpi_alloc_fail_at(1);
    assert_null(wpi_malloc_aligned(64, 1));
    wpi_alloc_fail_at(1);
    assert_null(wpi_strdup("x"));
    wpi_alloc_fail_at(1);
    assert_null(wpi_strndup("xyz", 2));
}

static void a_size_of_zero_is_not_a_failure(void **state) {
    (void)state;
    void *a = wpi_malloc(0);
    void *b = wpi_calloc(0, 8);
    assert_non_null(a);
    assert_non_null(b);
    wpi_free(a);
    wpi_free(b);
    wpi_free(NULL);
}

static void aligned_memory_is_aligned_and_large_enough(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 63, 64, 65, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *memory = wpi_malloc_aligned(64, sizes[i]);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 64, 0);
        memset(memory, 1, sizes[i]);
        wpi_free(memory);
    }
    assert_null(wpi_malloc_aligned(64, SIZE_MAX - 1));
}

static void strndup_stops_at_the_end_and_at_the_limit(void **state) {
    (void)state;
    char *cut = wpi_strndup("abcdef", 3);
    char *whole = wpi_strndup("abc", 100);
    assert_string_equal(cut, "abc");
    assert_string_equal(whole, "abc");
    wpi_free(cut);
    wpi_free(whole);
}

static void products_that_do_not_fit_are_refused(void **state) {
    (void)state;
    size_t out = 7;
    assert_true(wpi_mul_size(SIZE_MAX / 3, 3, &out));
    assert_u64(out, SIZE_MAX / 3 * 3);
    assert_true(wpi_mul_size(SIZE_MAX, 0, &out));
    assert_u64(out, 0);
    assert_false(wpi_mul_size(SIZE_MAX / 2, 3, &out));
    assert_u64(out, 0);
    volatile size_t huge = SIZE_MAX;
    assert_null(wpi_calloc(huge, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nth_allocation_fails_once),
        cmocka_unit_test(failing_can_be_switched_off),
        cmocka_unit_test(a_failed_realloc_leaves_the_memory_alone),
        cmocka_unit_test(every_kind_of_allocation_can_be_made_to_fail),
        cmocka_unit_test(a_size_of_zero_is_not_a_failure),
        cmocka_unit_test(aligned_memory_is_aligned_and_large_enough),
        cmocka_unit_test(strndup_stops_at_the_end_and_at_the_limit),
        cmocka_unit_test(products_that_do_not_fit_are_refused),
    };
    return wp_test_main(tests);
}
