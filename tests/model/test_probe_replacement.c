/* SPDX-License-Identifier: Apache-2.0 */
/* LRU, FIFO and random replacement are recognised, with noise and behind another level. */
#include "probe/infer/hierarchy.h"
#include "sim/tlb/tags.h"
#include "wp_test.h"

#include "tlb_truth.h"

static model_level level(uint32_t sets, uint32_t ways, uint64_t page_bytes, double cycles,
                         const wpi_policy *replacement) {
    model_level l = {.page_bytes = page_bytes,
                     .fill_bytes = page_bytes,
                     .miss_cycles = cycles,
                     .replacement = replacement};
    set_equal(&l, sets, ways);
    return l;
}

static wpi_level_replacement found_at(const model *m, uint32_t number,
                                      wpi_level_replacement expected) {
    tlb_sampler object;
    tlb_sampler_init(&object, m, 7);
    const wpi_sampler sampler = tlb_sampler_table(&object);
    wpi_hierarchy *h = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_infer(&sampler, NULL, &h, &err), &err);
    assert_true(h->level_count > number);
    const wpi_number found = h->levels[number].replacement;
    if (!found.is_known && expected != WPI_LEVEL_REPLACEMENT_COUNT) truth_show(h);
    wpi_hierarchy_destroy(h);
    tlb_sampler_deinit(&object);
    return found.is_known ? (wpi_level_replacement)found.value : WPI_LEVEL_REPLACEMENT_COUNT;
}

/* An L1 of 16 entries, and the level in question behind it. */
static void check(uint32_t sets, uint32_t ways, double noise, const wpi_policy *replacement,
                  wpi_level_replacement expected) {
    static model m;
    m = (model){.level_count = 2,
                .sm_count = 1,
                .memory_bytes = (uint64_t)1 << 40,
                .base_cycles = 200,
                .noise_cycles = noise};
    m.levels[0] = level(1, 16, 128 << 10, 20, &wpi_policy_replacement_lru);
    m.levels[1] = level(sets, ways, 2 << 20, 120, replacement);
    assert_int_equal(found_at(&m, 1, expected), expected);
    m.levels[0] = m.levels[1];
    m.level_count = 1;
    assert_int_equal(found_at(&m, 0, expected), expected);
}

static void lru_fifo_and_random_are_told_apart(void **state) {
    (void)state;
    static const uint32_t shapes[][2] = {{1, 64}, {16, 4}, {64, 2}, {32, 8}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const double noise = i % 2 == 0 ? 0 : 5;
        check(shapes[i][0], shapes[i][1], noise, &wpi_policy_replacement_lru, WPI_LEVEL_LRU);
        check(shapes[i][0], shapes[i][1], noise, &wpi_policy_replacement_fifo, WPI_LEVEL_FIFO);
        if (shapes[i][1] > 2)
            check(shapes[i][0], shapes[i][1], noise, &wpi_policy_replacement_random,
                  WPI_LEVEL_RANDOM);
    }
}

static void a_set_of_one_way_has_none(void **state) {
    (void)state;
    check(64, 1, 0, &wpi_policy_replacement_fifo, WPI_LEVEL_REPLACEMENT_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_fifo_and_random_are_told_apart),
        cmocka_unit_test(a_set_of_one_way_has_none),
    };
    return wp_test_main(tests);
}
