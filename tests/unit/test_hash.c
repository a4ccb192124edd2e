/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "wp_test.h"

static void equal_bytes_and_seed_give_equal_hashes(void **state) {
    (void)state;
    char a[40] = "the same bytes at two places", b[41] = "the same bytes at two places";
    assert_u64(wpi_hash64(a, 28, 7), wpi_hash64(b, 28, 7));
}

static void seed_length_and_every_bit_count(void **state) {
    (void)state;
    unsigned char data[24] = {0};
    const uint64_t base = wpi_hash64(data, sizeof data, 0);
    assert_true(base != wpi_hash64(data, sizeof data, 1));
    for (size_t length = 0; length < sizeof data; length++)
        assert_true(base != wpi_hash64(data, length, 0));
    for (size_t bit = 0; bit < 8 * sizeof data; bit++) {
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(base != wpi_hash64(data, sizeof data, 0));
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void counters_do_not_collide_and_spread_over_the_low_bits(void **state) {
    (void)state;
    enum { COUNT = 20000, BUCKETS = 64 };
    uint64_t *hashes = calloc(COUNT, sizeof *hashes);
    assert_non_null(hashes);
    unsigned buckets[BUCKETS] = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        hashes[i] = wpi_hash64(&i, sizeof i, 0);
        buckets[hashes[i] % BUCKETS]++;
    }
    /* Six standard deviations of a fair throw around the mean. */
    const double mean = (double)COUNT / (double)BUCKETS;
    for (int i = 0; i < BUCKETS; i++)
        assert_near((double)buckets[i], mean, 6.0 / 17.6);
    qsort(hashes, COUNT, sizeof *hashes, by_value);
    for (size_t i = 1; i < COUNT; i++)
        assert_true(hashes[i - 1] != hashes[i]);
    free(hashes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_and_seed_give_equal_hashes),
        cmocka_unit_test(seed_length_and_every_bit_count),
        cmocka_unit_test(counters_do_not_collide_and_spread_over_the_low_bits),
    };
    return wp_test_main(tests);
}
