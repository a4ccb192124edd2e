/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tlb/tags.h"

#include "base/alloc.h"
#include "wp_random.h"
#include "wp_test.h"

/* The reference: each set an array, most recent first. */
#define SETS_MAX 8
#define WAYS_MAX 32
static uint64_t reference[SETS_MAX][WAYS_MAX];
static uint32_t reference_count[SETS_MAX];

static int find_reference(uint32_t set, uint64_t tag) {
    for (uint32_t i = 0; i < reference_count[set]; i++)
        if (reference[set][i] == tag) return (int)i;
    return -1;
}

static void front_reference(uint32_t set, uint32_t from, uint64_t tag) {
    memmove(&reference[set][1], &reference[set][0], from * sizeof reference[set][0]);
    reference[set][0] = tag;
}

static const wpi_policy *policy_of(const char *name) {
    const wpi_policy *policy = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_policy_find("replacement", name, &policy, &err), &err);
    return policy;
}

/* Random accesses; hits, and evicted tags, must be those of the reference. */
static void compare(const uint32_t *ways, uint32_t sets, wpi_hash hash, const char *replacement) {
    wp_error err = {0};
    wpi_tags tags;
    uint64_t random = 12345 + sets;
    memset(reference_count, 0, sizeof reference_count);
    assert_status_ok(wpi_tags_init(&tags, ways, sets, hash, policy_of(replacement), 1, &err), &err);
    for (uint32_t i = 0; i < 20000; i++) {
        const uint64_t tag = wp_random_next(&random) % 100 * (1 + i % 3);
        const uint32_t set = wpi_tags_set_of(&tags, tag);
        assert_true(set < sets);
        const int at = find_reference(set, tag);
        const uint32_t entry = wpi_tags_find(&tags, tag);
        assert_u64(entry != WPI_INDEX_NONE, at >= 0);
        if (at >= 0) {
            wpi_tags_touch(&tags, entry);
            if (strcmp(replacement, "lru") == 0) front_reference(set, (uint32_t)at, tag);
            continue;
        }
        wpi_tag_entry evicted;
        const uint32_t added = wpi_tags_insert(&tags, tag, &evicted);
        tags.entries[added].parts = 1;
        const bool is_full = reference_count[set] == ways[set];
        assert_u64(evicted.parts, is_full);
        if (is_full) assert_u64(evicted.tag, reference[set][ways[set] - 1]);
        if (!is_full) reference_count[set]++;
        front_reference(set, reference_count[set] - 1, tag);
    }
    wpi_tags_deinit(&tags);
}

static void lru_and_fifo_are_those_of_a_list(void **state) {
    (void)state;
    const uint32_t one[] = {17}, equal[] = {4, 4, 4, 4}, unequal[] = {3, 5, 8};
    const char *const policies[] = {"lru", "fifo"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        compare(one, 1, WPI_HASH_MODULO, policies[i]);
        compare(equal, 4, WPI_HASH_MODULO, policies[i]);
        compare(equal, 4, WPI_HASH_XOR, policies[i]);
        compare(unequal, 3, WPI_HASH_MODULO, policies[i]);
    }
}

static void random_replacement_spares_nobody_and_repeats(void **state) {
    (void)state;
    const uint32_t ways[] = {8};
    wp_error err = {0};
    uint64_t first[2][64];
    for (int run = 0; run < 2; run++) {
        wpi_tags tags;
        bool was_evicted[8] = {false};
        assert_status_ok(
            wpi_tags_init(&tags, ways, 1, WPI_HASH_MODULO, policy_of("random"), 77, &err), &err);
        for (uint64_t tag = 0; tag < 208; tag++) {
            wpi_tag_entry evicted;
            const uint32_t entry = wpi_tags_insert(&tags, tag, &evicted);
            tags.entries[entry].parts = 1;
            if (tag >= 8) was_evicted[entry] = true;
            if (tag < 64) first[run][tag] = entry;
        }
        for (int i = 0; i < 8; i++)
            assert_true(was_evicted[i]);
        wpi_tags_deinit(&tags);
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
}

static void seats_are_in_proportion_to_the_ways(void **state) {
    (void)state;
    const uint32_t ways[] = {8, 8, 8, 8, 8, 8, 17};
    wp_error err = {0};
    wpi_tags tags;
    uint32_t count[7] = {0};
    assert_status_ok(
        wpi_tags_init(&tags, ways, 7, WPI_HASH_MODULO, &wpi_policy_replacement_lru, 1, &err), &err);
    for (uint64_t tag = 1000; tag < 1065; tag++)
        count[wpi_tags_set_of(&tags, tag)]++;
    for (int set = 0; set < 7; set++)
        assert_u64(count[set], ways[set]);
    assert_u64(wpi_tags_set_of(&tags, 65), 6); /* the largest is first in each round */
    wpi_tags_deinit(&tags);
}

static void xor_folds_all_bits(void **state) {
    (void)state;
    uint32_t ways[128];
    for (int i = 0; i < 128; i++)
        ways[i] = 8;
    wp_error err = {0};
    wpi_tags tags;
    assert_status_ok(
        wpi_tags_init(&tags, ways, 128, WPI_HASH_XOR, &wpi_policy_replacement_lru, 1, &err), &err);
    /* Set bit i is the XOR of tag bits i, 7 + i, 14 + i, 21 + i. */
    for (uint32_t bit = 0; bit < 28; bit++)
        assert_u64(wpi_tags_set_of(&tags, (uint64_t)1 << bit), 1u << (bit % 7));
    assert_u64(wpi_tags_set_of(&tags, 1u << 3 | 1u << 10), 0);
    wpi_tags_deinit(&tags);
}

static void memory_that_runs_out_is_reported(void **state) {
    (void)state;
    const uint32_t ways[] = {4, 5};
    wp_error err = {0};
    for (uint64_t n = 1; n <= 4; n++) {
        wpi_tags tags;
        wpi_alloc_fail_at(n);
        assert_status_fails(
            wpi_tags_init(&tags, ways, 2, WPI_HASH_MODULO, &wpi_policy_replacement_lru, 1, &err),
            WP_STATUS_NOMEM, &err, "9 TLB entries");
        wpi_alloc_fail_at(0);
    }
}

/* `room`: the size given to the index, which holds 100 keys at most. */
static void compare_index(uint32_t room) {
    static uint32_t values[512];
    uint64_t random = 31337;
    uint32_t count = 0;
    wpi_index index;
    assert_true(wpi_index_init(&index, room));
    for (int i = 0; i < 512; i++)
        values[i] = WPI_INDEX_NONE;
    for (int i = 0; i < 50000; i++) {
        const uint64_t key = wp_random_next(&random) % 512;
        assert_u64(wpi_index_find(&index, key << 20), values[key]);
        if (values[key] != WPI_INDEX_NONE) {
            (void)wpi_index_take(&index, key << 20);
            values[key] = WPI_INDEX_NONE;
            count--;
        } else if (count < 100) {
            values[key] = (uint32_t)i;
            wpi_index_add(&index, key << 20, values[key]);
            count++;
        }
        assert_u64(index.count, count);
    }
    wpi_index_deinit(&index);
}

static void the_index_agrees_with_a_plain_array(void **state) {
    (void)state;
    compare_index(100);
    compare_index(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_and_fifo_are_those_of_a_list),
        cmocka_unit_test(random_replacement_spares_nobody_and_repeats),
        cmocka_unit_test(seats_are_in_proportion_to_the_ways),
        cmocka_unit_test(xor_folds_all_bits),
        cmocka_unit_test(memory_that_runs_out_is_reported),
        cmocka_unit_test(the_index_agrees_with_a_plain_array),
    };
    return wp_test_main(tests);
}
