/* SPDX-License-Identifier: Apache-2.0 */
/* The guide's policies do what the guide says. */
#include "policy/evict.h"
#include "policy/migrate.h"
#include "policy/prefetch.h"
#include "policy/tlb_sharing.h"

#include "sim/paging/page_residency.h"
#include "wp_test.h"

#define CHUNKS 3u

extern const wpi_policy wpi_policy_prefetch_next_block, wpi_policy_evict_read_first,
    wpi_policy_migrate_cautious, wpi_policy_tlb_sharing_both_sides;

static void the_block_behind_comes_too(void **state) {
    (void)state;
    wpi_prefetch_question question = {.page_count = WPI_CHUNK_PAGES, .tree_pages = WPI_CHUNK_PAGES};
    wpi_pages out = {{0}}, expected = {{0}};
    wpi_pages_add(&question.faulting, 40);
    wpi_pages_add(&question.faulting, 511);
    ((const wpi_prefetch_ops *)wpi_policy_prefetch_next_block.ops)->choose(&question, &out);
    wpi_pages_add_range(&expected, 32, 64);
    wpi_pages_add_range(&expected, 496, 512);
    assert_memory_equal(&out, &expected, sizeof out);
}

static void come(wpi_residency *residency, uint32_t chunk) {
    wpi_pages all = {{0}};
    wpi_pages_add_range(&all, 0, WPI_CHUNK_PAGES);
    wpi_residency_plan(residency, &residency->chunks[chunk], &all);
    wpi_residency_fetch(residency, &residency->chunks[chunk], &all);
    (void)wpi_residency_arrive(residency, &residency->chunks[chunk], &all);
}

static void what_was_only_read_leaves_first(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_residency residency;
    wpi_residency_init(&residency, 0, CHUNKS * WPI_CHUNK_PAGES);
    assert_status_ok(wpi_residency_add(&residency, 0, CHUNKS * (uint64_t)WPI_CHUNK_BYTES, &err),
                     &err);
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++)
        come(&residency, chunk);
    wpi_residency_write(&residency, (wpi_page_number){7});
    const wpi_evict_question question = {.residency = &residency};
    const wpi_evict_ops *ops = wpi_policy_evict_read_first.ops;
    for (uint32_t i = 0; i < CHUNKS; i++) {
        uint32_t chunk = CHUNKS;
        wpi_pages pages;
        assert_true(ops->choose(&question, &chunk, &pages));
        assert_u64(chunk, (i + 1) % CHUNKS);
        wpi_residency_evict(&residency, &residency.chunks[chunk], &pages);
    }
    wpi_residency_deinit(&residency);
}

static void a_page_that_went_back_needs_twice_as_many(void **state) {
    (void)state;
    const wpi_migrate_ops *ops = wpi_policy_migrate_cautious.ops;
    wpi_migrate_question question = {.frames = 100, .taken_frames = 74, .threshold = 8};
    assert_u64(ops->threshold(&question), 1);
    question.taken_frames = 75;
    assert_u64(ops->threshold(&question), 8);
    question.round_trips = 3;
    assert_u64(ops->threshold(&question), 64);
}

static void the_left_neighbour_is_asked_and_then_the_right(void **state) {
    (void)state;
    const wpi_tlb_sharing_ops *ops = wpi_policy_tlb_sharing_both_sides.ops;
    wpi_tlb_sharing_question question = {.tlbs = 16, .neighbours = 16};
    const int32_t expected[] = {-1, 1, 0};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ops->next(&question), expected[i]);
        question.asked = expected[i];
    }
    for (uint32_t hits = 1; hits < 4; hits++)
        assert_true(ops->stores(&(wpi_tlb_sharing_answer){hits, 2}) == (hits >= 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_block_behind_comes_too),
        cmocka_unit_test(what_was_only_read_leaves_first),
        cmocka_unit_test(a_page_that_went_back_needs_twice_as_many),
        cmocka_unit_test(the_left_neighbour_is_asked_and_then_the_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
