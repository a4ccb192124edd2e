/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/paging/access_watch.h"

#include "base/alloc.h"
#include "wp_random.h"
#include "wp_test.h"

#define PAGE ((uint64_t)4096)
#define BASE ((uint64_t)1 << 40)

/* One allocation from BASE on without an end, and variables below. */
static void locate(void *object, uint64_t address, const char *name, wpi_watch_range *out) {
    (*(uint64_t *)object)++;
    if (address >= BASE)
        *out = (wpi_watch_range){
            .has_place = true, .first = BASE, .base = BASE, .bytes = (uint64_t)1 << 40};
    else
        *out = (wpi_watch_range){.allocation = strcmp(name, "x") == 0 ? 1 : 2};
}

static wpi_watch *watch_with(uint64_t *asked) {
    wpi_watch *watch;
    wp_error err = {0};
    *asked = 0;
    assert_status_ok(wpi_watch_create(PAGE, locate, asked, &watch, &err), &err);
    return watch;
}

static uint64_t sum_of_pages(const wpi_watch_counts *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->page_count; i++)
        sum += c->pages[i].reads + c->pages[i].writes;
    return sum;
}

static uint64_t sum_of_map(const wpi_watch_counts *c) {
    uint64_t sum = 0;
    for (uint32_t s = 0; s < c->slice_count; s++)
        for (uint32_t r = 0; r < c->row_count; r++)
            sum += c->map[s][r];
    return sum;
}

static void pages_and_allocations_are_counted(void **state) {
    (void)state;
    uint64_t asked;
    wpi_watch *watch = watch_with(&asked);
    wpi_watch_access(watch, BASE + 3 * PAGE + 17, "a", false, true, 0);
    wpi_watch_access(watch, BASE + 3 * PAGE + 900, "a", true, false, 0);
    wpi_watch_walk(watch, BASE + 3 * PAGE);
    wpi_watch_counts c;
    wpi_watch_get(watch, &c);
    const wpi_touches *all[2] = {&c.allocations[0], &c.pages[3]};
    for (int i = 0; i < 2; i++) {
        assert_u64(all[i]->reads, 1);
        assert_u64(all[i]->writes, 1);
        assert_u64(all[i]->tlb_misses, 1);
        assert_u64(all[i]->walks, 1);
    }
    assert_u64(c.page_count, 4);
    assert_u64(asked, 1); /* of one page: asked once */
    wpi_watch_forget(watch);
    wpi_watch_walk(watch, BASE + 3 * PAGE);
    assert_u64(asked, 2);
    wpi_watch_destroy(watch);
}

static void of_a_large_allocation_every_page_is_known_at_once(void **state) {
    (void)state;
    uint64_t asked;
    wpi_watch *watch = watch_with(&asked);
    for (uint64_t i = 0; i < 100000; i++)
        wpi_watch_access(watch, BASE + i * 97 % 50000 * PAGE, "a", false, false, 0);
    assert_u64(asked, 1);
    wpi_watch_destroy(watch);
}

static void variables_of_one_page_are_told_apart(void **state) {
    (void)state;
    uint64_t asked;
    wpi_watch *watch = watch_with(&asked);
    static const char x[] = "x", y[] = "y";
    for (int i = 0; i < 10; i++) {
        wpi_watch_access(watch, 64, x, false, false, 0);
        wpi_watch_access(watch, 128, y, false, false, 0);
        wpi_watch_access(watch, 128, y, false, false, 0);
    }
    wpi_watch_counts c;
    wpi_watch_get(watch, &c);
    assert_u64(c.allocations[1].reads, 10);
    assert_u64(c.allocations[2].reads, 20);
    assert_u64(c.page_count, 0);
    wpi_watch_destroy(watch);
}

static void a_large_footprint_is_counted_in_larger_pieces(void **state) {
    (void)state;
    uint64_t asked, random = 3;
    wpi_watch *watch = watch_with(&asked);
    const uint64_t pages = (uint64_t)WPI_WATCH_PAGES * 5, count = 100000;
    for (uint64_t i = 0; i < count; i++)
        wpi_watch_access(watch, BASE + wp_random_next(&random) % pages * PAGE, "a", i % 2 != 0,
                         false, 0);
    wpi_watch_access(watch, BASE + (pages - 1) * PAGE, "a", false, false, 0);
    wpi_watch_counts c;
    wpi_watch_get(watch, &c);
    assert_u64(c.page_bytes, 8 * PAGE); /* 5 times too many: doubled three times */
    assert_u64(c.page_count, (pages + 7) / 8);
    assert_u64(sum_of_pages(&c), count + 1);
    assert_u64(sum_of_map(&c), count + 1);
    assert_true(c.row_count <= WPI_WATCH_ROWS && c.row_bytes * c.row_count >= pages * PAGE);
    wpi_watch_destroy(watch);
}

static void a_page_may_be_accessed_very_often(void **state) {
    (void)state;
    uint64_t asked;
    wpi_watch *watch = watch_with(&asked);
    const uint64_t reads = 3 * 65536 + 17, writes = 65535, misses = 65536;
    for (uint64_t i = 0; i < reads; i++)
        wpi_watch_access(watch, BASE + 5 * PAGE, "a", false, i < misses, 0);
    for (uint64_t i = 0; i < writes; i++) {
        wpi_watch_access(watch, BASE + 5 * PAGE, "a", true, false, 0);
        wpi_watch_walk(watch, BASE + 5 * PAGE);
        wpi_watch_walk(watch, BASE + 5 * PAGE);
    }
    wpi_watch_counts c;
    for (int i = 0; i < 2; i++) { /* asking changes nothing */
        wpi_watch_get(watch, &c);
        assert_u64(c.pages[5].reads, reads);
        assert_u64(c.pages[5].writes, writes);
        assert_u64(c.pages[5].tlb_misses, misses);
        assert_u64(c.pages[5].walks, 2 * writes);
        assert_u64(c.allocations[0].reads, reads);
    }
    wpi_watch_destroy(watch);
}

static void moves_are_of_the_allocation_at_the_address(void **state) {
    (void)state;
    uint64_t asked;
    wpi_watch *watch = watch_with(&asked);
    wpi_watch_move(watch, BASE, WP_RUN_MOVE_FETCHED, 16);
    wpi_watch_move(watch, BASE + 512 * PAGE, WP_RUN_MOVE_FETCHED, 3);
    wpi_watch_move(watch, BASE, WP_RUN_MOVE_EVICTED, 2);
    wpi_watch_counts c;
    wpi_watch_get(watch, &c);
    assert_u64(c.moves[0][WP_RUN_MOVE_FETCHED], 19);
    assert_u64(c.moves[0][WP_RUN_MOVE_EVICTED], 2);
    assert_u64(c.moves[0][WP_RUN_MOVE_THRASHED], 0);
    assert_u64(c.moves[1][WP_RUN_MOVE_FETCHED], 0);
    assert_u64(c.page_count, 0); /* none was accessed */
    wpi_watch_destroy(watch);
}

static void a_long_run_has_coarser_slices(void **state) {
    (void)state;
    uint64_t asked;
    wpi_watch *watch = watch_with(&asked);
    const wpi_time_ps end = (wpi_time_ps)50 * WP_PS_PER_S;
    for (uint64_t i = 0; i <= 1000; i++)
        wpi_watch_access(watch, BASE + i % 7 * PAGE, "a", false, false, end / 1000 * i);
    wpi_watch_counts c;
    wpi_watch_get(watch, &c);
    assert_u64(sum_of_map(&c), 1001);
    assert_true(c.slice_count <= WPI_WATCH_SLICES && c.slice_count > WPI_WATCH_SLICES / 2);
    assert_true(c.slice_count * c.slice_ps > end);
    /* Even in time, so even on the map, but at its end. */
    const uint64_t each = 1000 * c.slice_ps / end;
    for (uint32_t s = 0; s + 1 < c.slice_count; s++) {
        uint64_t sum = 0;
        for (uint32_t r = 0; r < c.row_count; r++)
            sum += c.map[s][r];
        assert_true(sum >= each && sum <= each + 2);
    }
    wpi_watch_destroy(watch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_and_allocations_are_counted),
        cmocka_unit_test(of_a_large_allocation_every_page_is_known_at_once),
        cmocka_unit_test(variables_of_one_page_are_told_apart),
        cmocka_unit_test(a_large_footprint_is_counted_in_larger_pieces),
        cmocka_unit_test(a_page_may_be_accessed_very_often),
        cmocka_unit_test(moves_are_of_the_allocation_at_the_address),
        cmocka_unit_test(a_long_run_has_coarser_slices),
    };
    return wp_test_main(tests);
}
