/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages come with those that fault, against sets made by hand from what the papers say. Sets
 * are written as ranges of pages; blocks have 16. */
#include "policy/prefetch.h"

#include "wp_random.h"
#include "wp_test.h"

#define BLOCK(number) ((number) * WPI_BLOCK_PAGES)

typedef struct scene {
    wpi_prefetch_question question;
    uint64_t random;
    wpi_pages chosen; /* with those that fault, without what is here and what does not exist */
} scene;

static scene new_scene(uint32_t page_count, uint32_t tree_pages) {
    return (scene){
        .question = {.page_count = page_count, .tree_pages = tree_pages, .threshold_percent = 51},
        .random = 88172645463325252u};
}

static wpi_pages range(uint32_t first, uint32_t outer) {
    wpi_pages pages = {{0}};
    wpi_pages_add_range(&pages, first, outer);
    return pages;
}

static void ask(scene *s, const char *name) {
    const wpi_policy *policy = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_policy_find("prefetch", name, &policy, &err), &err);
    s->question.random = &s->random;
    s->chosen = (wpi_pages){{0}};
    ((const wpi_prefetch_ops *)policy->ops)->choose(&s->question, &s->chosen);
    s->chosen = wpi_pages_or(&s->chosen, &s->question.faulting);
    s->chosen = wpi_pages_without(&s->chosen, &s->question.here);
    const wpi_pages exist = range(0, s->question.page_count);
    s->chosen = wpi_pages_and(&s->chosen, &exist);
}

/* One page faults, and all that is chosen comes. */
static void fault(scene *s, const char *name, uint32_t page) {
    s->question.faulting = range(page, page + 1);
    ask(s, name);
    s->question.here = wpi_pages_or(&s->question.here, &s->chosen);
}

static void assert_pages(const wpi_pages *pages, const wpi_pages *expected) {
    for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page++)
        if (wpi_pages_has(pages, page) != wpi_pages_has(expected, page))
            fail_msg("page %u is %s", page, wpi_pages_has(pages, page) ? "chosen" : "not chosen");
}

static void assert_range(const wpi_pages *pages, uint32_t first, uint32_t outer) {
    const wpi_pages expected = range(first, outer);
    assert_pages(pages, &expected);
}

/* How many faults it takes to get all pages, touched in order. */
static uint32_t sequential_faults(const char *name, uint32_t page_count, uint32_t tree_pages) {
    scene s = new_scene(page_count, tree_pages);
    uint32_t faults = 0;
    for (uint32_t page = 0; page < page_count; page++) {
        if (wpi_pages_has(&s.question.here, page)) continue;
        fault(&s, name, page);
        faults++;
    }
    return faults;
}

static void none_brings_only_what_faults(void **state) {
    (void)state;
    scene s = new_scene(512, 512);
    fault(&s, "none", 77);
    assert_range(&s.chosen, 77, 78);
    assert_u64(sequential_faults("none", 512, 512), 512);
}

static void sequential_local_brings_blocks(void **state) {
    (void)state;
    scene s = new_scene(512, 512);
    s.question.faulting = range(15, 17); /* the last page of block 0 and the first of block 1 */
    ask(&s, "sequential-local");
    assert_range(&s.chosen, 0, 32);
    assert_u64(sequential_faults("sequential-local", 512, 512), 32);
    assert_u64(sequential_faults("sequential-local", 40, 64), 3);
}

static void locality_brings_512_kib(void **state) {
    (void)state;
    scene s = new_scene(512, 512);
    fault(&s, "locality", 200);
    assert_range(&s.chosen, 128, 256);
    assert_u64(sequential_faults("locality", 512, 512), 4);
}

/* ---- tree ---- */

/* In order: blocks 0, 1, 2 (with 3), 4 (to 7), 8 (to 15), 16 (to 31); each time a node has more
 * than half. */
static void six_faults_in_order_bring_a_chunk(void **state) {
    (void)state;
    const struct {
        uint32_t page, outer;
    } steps[] = {{0, BLOCK(1)},        {BLOCK(1), BLOCK(2)},  {BLOCK(2), BLOCK(4)},
                 {BLOCK(4), BLOCK(8)}, {BLOCK(8), BLOCK(16)}, {BLOCK(16), BLOCK(32)}};
    scene s = new_scene(512, 512);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        fault(&s, "tree", steps[i].page);
        assert_range(&s.chosen, steps[i].page, steps[i].outer);
    }
    assert_u64(sequential_faults("tree", 512, 512), 6);
}

/* A tree of 2^i blocks takes i + 1 faults. */
static void smaller_trees_take_fewer_faults(void **state) {
    (void)state;
    for (uint32_t blocks = 1, faults = 1; blocks <= WPI_CHUNK_BLOCKS; blocks *= 2, faults++)
        assert_u64(sequential_faults("tree", BLOCK(blocks), BLOCK(blocks)), faults);
    assert_u64(sequential_faults("driver", 512, 512), 6);
}

/* Half of a node is not more than half: two blocks of four, one in each half, stay alone. The third
 * makes its own half whole, and then the node. */
static void half_of_a_node_is_not_enough(void **state) {
    (void)state;
    scene s = new_scene(BLOCK(8), BLOCK(8));
    fault(&s, "tree", BLOCK(1));
    assert_range(&s.chosen, BLOCK(1), BLOCK(2));
    fault(&s, "tree", BLOCK(3));
    assert_range(&s.chosen, BLOCK(3), BLOCK(4));
    fault(&s, "tree", BLOCK(5));
    fault(&s, "tree", BLOCK(7));
    assert_range(&s.chosen, BLOCK(7), BLOCK(8));
    /* Blocks 1, 3, 5, 7 are there: each second leaf. Block 0 fills the node of 0 and 1 by itself,
     * makes three of four in 0 to 3, so 2 comes; now six of eight are there, so 4 and 6 come as
     * well. */
    fault(&s, "tree", BLOCK(0) + 5);
    wpi_pages expected = range(BLOCK(0), BLOCK(1));
    wpi_pages_add_range(&expected, BLOCK(2), BLOCK(3));
    wpi_pages_add_range(&expected, BLOCK(4), BLOCK(5));
    wpi_pages_add_range(&expected, BLOCK(6), BLOCK(7));
    assert_pages(&s.chosen, &expected);
}

/* Sizes of what comes at a time: 64 KiB to 1 MiB. */
static void the_largest_answer_is_half_a_chunk(void **state) {
    (void)state;
    scene s = new_scene(512, 512);
    s.question.here = range(0, BLOCK(16));
    fault(&s, "tree", 511);
    assert_range(&s.chosen, BLOCK(16), BLOCK(32));
    assert_u64(wpi_pages_count(&s.chosen) * WPI_PAGE_BYTES, 1 << 20);
}

/* 168 KiB of a tree of 256 KiB: the third block, of 40 KiB, is more than half with the others, but
 * pages 42 to 63 do not exist. */
static void pages_that_do_not_exist_do_not_come(void **state) {
    (void)state;
    scene s = new_scene(42, 64);
    fault(&s, "tree", 0);
    fault(&s, "tree", 16);
    assert_range(&s.chosen, 16, 32);
    fault(&s, "tree", 41);
    assert_range(&s.chosen, 32, 42);
}

/* ---- as the driver does it ---- */

/* 51 percent of 32 pages is 16.32: one block of two is not enough, and of 512 pages 262 are. */
static void the_driver_takes_more_than_its_threshold(void **state) {
    (void)state;
    scene s = new_scene(512, 512);
    fault(&s, "driver", 3);
    assert_range(&s.chosen, 0, 16);
    s.question.here = range(0, 261); /* of which 256 to 260 are of block 16 */
    s.question.here = wpi_pages_without(&s.question.here, &(wpi_pages){{1}});
    s.question.faulting = range(0, 1); /* makes 261: 50.98 percent */
    ask(&s, "driver");
    assert_range(&s.chosen, 0, 1);
    wpi_pages_add(&s.question.here, 261); /* makes 262: 51.17 percent */
    ask(&s, "driver");
    wpi_pages expected = range(262, 512);
    wpi_pages_add(&expected, 0);
    assert_pages(&s.chosen, &expected);
}

/* The threshold must be exceeded, not met: 50 percent of 32 pages with one block. */
static void the_drivers_threshold_is_exceeded_not_met(void **state) {
    (void)state;
    scene s = new_scene(512, 512);
    s.question.threshold_percent = 50;
    fault(&s, "driver", 0);
    assert_range(&s.chosen, 0, 16);
    s.question.threshold_percent = 49;
    s.question.here = (wpi_pages){{0}};
    fault(&s, "driver", 0);
    assert_range(&s.chosen, 0, 32);
    s.question.threshold_percent = 1; /* 16 of 512 are 3 percent */
    s.question.here = (wpi_pages){{0}};
    fault(&s, "driver", 0);
    assert_range(&s.chosen, 0, 512);
}

/* The paper's tree looks at blocks, from the leaves up, and takes over what it adds; the driver
 * looks at what is there, from each fault up. Blocks 1, 3, 5, 7 and then 0: of the first four three
 * are there, which is 75 percent; of the first eight five, which is 62. */
static void the_driver_takes_the_largest_region_that_is_dense(void **state) {
    (void)state;
    scene s = new_scene(512, 512);
    for (uint32_t block = 1; block < 8; block += 2)
        fault(&s, "driver", BLOCK(block));
    fault(&s, "driver", 0);
    const wpi_pages first = range(0, BLOCK(8));
    const wpi_pages chosen_there = wpi_pages_and(&s.question.here, &first);
    assert_range(&chosen_there, 0, BLOCK(8));
    assert_u64(wpi_pages_count(&s.question.here), BLOCK(8));
}

/* At the end of an allocation of 40 pages the last region of 32 has 8: the block that faults fills
 * it. */
static void the_drivers_regions_end_with_the_allocation(void **state) {
    (void)state;
    scene s = new_scene(40, 64);
    fault(&s, "driver", 35);
    assert_range(&s.chosen, 32, 40);
    fault(&s, "driver", 0); /* 24 of 40: 60 percent */
    assert_range(&s.chosen, 0, 32);
}

/* ---- random ---- */

/* Pages that are nowhere yet, where they are wanted: with the first fault. */
static void the_driver_brings_2_mib_to_where_they_are_wanted_first(void **state) {
    (void)state;
    scene s = new_scene(512, 512);
    s.question.first = range(0, 300);
    fault(&s, "driver", 17);
    assert_range(&s.chosen, 0, 300);
    scene t = new_scene(512, 512);
    t.question.first = range(0, 300);
    fault(&t, "tree", 17);
    assert_range(&t.chosen, BLOCK(1), BLOCK(2));
}

static void random_brings_one_more_at_most_for_each_fault(void **state) {
    (void)state;
    scene s = new_scene(200, 256);
    s.question.here = range(0, 50);
    s.question.faulting = range(60, 70);
    uint32_t most = 0;
    for (uint32_t i = 0; i < 100; i++) {
        ask(&s, "random");
        const uint32_t count = wpi_pages_count(&s.chosen);
        assert_true(count >= 10 && count <= 20);
        most = count > most ? count : most;
    }
    assert_true(most >= 14);         /* of ten draws, 5.5 in the mean are missing */
    s.question.here = range(0, 195); /* 195 to 199 fault, and nothing else is missing */
    s.question.faulting = range(195, 200);
    ask(&s, "random");
    assert_range(&s.chosen, 195, 200);
}

/* 40,000 draws from 256 pages of a tree: 156.25 each of the 100 that are missing. The deviation of
 * a count is 12.5, of chi-squared, of 100 such counts, 14.1; bounds are five of these. */
static void random_pages_are_uniform_over_the_tree(void **state) {
    (void)state;
    uint32_t counts[WPI_CHUNK_PAGES + 1] = {0};
    scene s = new_scene(250, 256);
    s.question.here = range(0, 149);
    s.question.faulting = range(149, 150); /* 150 to 249 are missing */
    for (uint32_t i = 0; i < 40000; i++) {
        ask(&s, "random");
        assert_true(wpi_pages_count(&s.chosen) <= 2);
        counts[wpi_pages_next(&s.chosen, 150)]++;
    }
    double chi_squared = 0;
    for (uint32_t page = 150; page < 250; page++) {
        const double off = (double)counts[page] - 156.25;
        chi_squared += off * off / 156.25;
        assert_within((double)counts[page], 156.25, 5 * 12.5);
    }
    assert_within(chi_squared, 99.6, 5 * 14.1);
}

/* ---- while the link is idle ---- */

#define IDLE_CHUNKS 3u

/* Managed memory of three chunks, the second one free, the last one with 40 pages. */
typedef struct idle_scene {
    wpi_chunk chunks[IDLE_CHUNKS];
    wpi_residency residency;
    uint64_t position, random;
} idle_scene;

static void open_idle(idle_scene *s) {
    *s = (idle_scene){.random = 88172645463325252u};
    s->chunks[0].page_count = WPI_CHUNK_PAGES;
    s->chunks[2].page_count = 40;
    s->residency = (wpi_residency){.chunks = s->chunks, .chunk_count = IDLE_CHUNKS};
}

/* What is chosen is resident then. */
static bool bring_next(idle_scene *s, const char *name, uint32_t *chunk, wpi_pages *pages) {
    const wpi_policy *policy = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_policy_find("prefetch", name, &policy, &err), &err);
    const wpi_prefetch_ops *ops = policy->ops;
    const wpi_prefetch_idle question = {&s->residency, NULL, &s->position, &s->random};
    *chunk = IDLE_CHUNKS;
    *pages = (wpi_pages){{0}};
    if (!ops->next(&question, chunk, pages)) return false;
    assert_true(*chunk < IDLE_CHUNKS && !wpi_pages_is_empty(pages));
    const wpi_pages missing = wpi_prefetch_missing(&s->chunks[*chunk]);
    const wpi_pages strange = wpi_pages_without(pages, &missing);
    assert_true(wpi_pages_is_empty(&strange));
    s->chunks[*chunk].resident = wpi_pages_or(&s->chunks[*chunk].resident, pages);
    return true;
}

static void idle_sequential_follows_addresses(void **state) {
    (void)state;
    idle_scene s;
    uint32_t chunk;
    wpi_pages pages;
    open_idle(&s);
    s.chunks[0].resident = range(0, 20);
    s.chunks[0].coming = range(40, 44);
    s.chunks[0].planned = range(44, 48);
    s.chunks[0].stays_on_host = range(BLOCK(3), WPI_CHUNK_PAGES);
    const struct {
        uint32_t chunk, first, outer;
    } steps[] = {{0, 20, 32}, {0, 32, 40}, {2, 0, 16}, {2, 16, 32}, {2, 32, 40}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_true(bring_next(&s, "idle-sequential", &chunk, &pages));
        assert_u64(chunk, steps[i].chunk);
        assert_range(&pages, steps[i].first, steps[i].outer);
    }
    assert_false(bring_next(&s, "idle-sequential", &chunk, &pages));
    /* What has left lies behind: it comes when the end has been reached. */
    wpi_pages_remove(&s.chunks[0].resident, 5);
    assert_true(bring_next(&s, "idle-sequential", &chunk, &pages));
    assert_u64(chunk, 0);
    assert_range(&pages, 5, 6);
}

/* 16 pages are missing in one chunk, 40 in the other: of 14000 draws 4000 are of the first, with a
 * deviation of 53.5, of which the bound is five. */
static void idle_random_takes_any_missing_page(void **state) {
    (void)state;
    uint32_t first_count = 0, chunk;
    wpi_pages pages;
    idle_scene s;
    open_idle(&s);
    for (uint32_t i = 0; i < 14000; i++) {
        s.chunks[0].resident = range(BLOCK(1), WPI_CHUNK_PAGES);
        s.chunks[2].resident = (wpi_pages){{0}};
        assert_true(bring_next(&s, "idle-random", &chunk, &pages));
        first_count += chunk == 0;
    }
    assert_within((double)first_count, 4000, 5 * 53.5);
}

/* 35 blocks, whole, each once. */
static void idle_random_ends_when_all_is_there(void **state) {
    (void)state;
    uint32_t count = 0, chunk;
    wpi_pages pages;
    idle_scene s;
    open_idle(&s);
    while (bring_next(&s, "idle-random", &chunk, &pages))
        count++;
    assert_u64(count, 35);
    assert_range(&s.chunks[0].resident, 0, WPI_CHUNK_PAGES);
    assert_range(&s.chunks[2].resident, 0, 40);
}

/* Block 3 of the first chunk was used last: what is behind it comes first, then what is before it.
 * Of the last chunk all is there that may come, of the second nothing, so both are left alone. */
static void idle_tree_completes_a_chunk_that_is_used(void **state) {
    (void)state;
    uint32_t count = 0, chunk;
    wpi_pages pages;
    idle_scene s;
    open_idle(&s);
    s.residency.frames = 10000;
    s.residency.used = 100;
    s.chunks[0].resident = range(BLOCK(2), BLOCK(4));
    s.chunks[0].frames_age = 2;
    s.chunks[0].blocks[3].age = 7;
    s.chunks[0].blocks[10].age = 8; /* it faults, not yet seen by the driver */
    s.chunks[0].stays_on_host = range(BLOCK(31), WPI_CHUNK_PAGES);
    s.chunks[2].resident = range(0, 20);
    s.chunks[2].stays_on_host = range(20, 40);
    s.chunks[2].frames_age = 3;
    for (uint32_t block = 4; bring_next(&s, "idle-tree", &chunk, &pages); block++, count++) {
        assert_u64(chunk, 0);
        if (block == 31) block = 0;
        assert_range(&pages, BLOCK(block), BLOCK(block + 1));
    }
    assert_u64(count, 29);
}

/* 128 of 512 pages are here: worth it while up to a quarter of memory is taken. Of two the one that
 * got frames last comes first. */
static void idle_tree_asks_for_more_the_fuller_memory_is(void **state) {
    (void)state;
    static const struct {
        uint64_t used, coming, leaving;
        bool comes;
    } cases[] = {{0, 128, 0, true}, {200, 25, 25, true}, {200, 25, 26, false}, {251, 0, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t chunk;
        wpi_pages pages;
        idle_scene s;
        open_idle(&s);
        s.residency.frames = 1000;
        s.residency.used = cases[i].used;
        s.residency.coming = cases[i].coming;
        s.residency.leaving = cases[i].leaving;
        s.chunks[0].resident = range(0, 128);
        s.chunks[0].frames_age = 1;
        assert_u64(bring_next(&s, "idle-tree", &chunk, &pages), cases[i].comes);
        if (!cases[i].comes) continue;
        s.chunks[2].resident = range(0, 20);
        s.chunks[2].frames_age = 2;
        assert_true(bring_next(&s, "idle-tree", &chunk, &pages));
        assert_u64(chunk, 2);
    }
}

/* What faults brings what it does with the tree. */
static void idle_tree_is_a_tree_to_faults(void **state) {
    (void)state;
    scene tree = new_scene(512, 512), idle = tree;
    for (uint32_t page = 0; page < 512; page += 37) {
        fault(&tree, "tree", page);
        fault(&idle, "idle-tree", page);
        assert_pages(&idle.chosen, &tree.chosen);
    }
}

static void idle_ones_add_nothing_to_faults(void **state) {
    (void)state;
    assert_u64(sequential_faults("idle-sequential", 512, 512), 512);
    assert_u64(sequential_faults("idle-random", 512, 512), 512);
}

/* ---- all ---- */

/* Whatever is there and faults: answers depend on nothing else, and come from the chunk's tree. */
static void all_answers_are_of_the_tree(void **state) {
    (void)state;
    uint64_t random = 99;
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++) {
        if (strcmp((*p)->kind, "prefetch") != 0) continue;
        for (uint32_t i = 0; i < 500; i++) {
            scene s = new_scene(1 + (uint32_t)(wp_random_next(&random) % 512), WPI_BLOCK_PAGES);
            while (s.question.tree_pages < s.question.page_count)
                s.question.tree_pages *= 2;
            for (uint64_t k = wp_random_next(&random) % 300; k > 0; k--)
                wpi_pages_add(&s.question.here,
                              (uint32_t)(wp_random_next(&random) % s.question.page_count));
            const uint32_t page = (uint32_t)(wp_random_next(&random) % s.question.page_count);
            wpi_pages_remove(&s.question.here, page);
            s.question.faulting = range(page, page + 1);
            scene again = s;
            ask(&s, (*p)->name);
            ask(&again, (*p)->name);
            assert_pages(&again.chosen, &s.chosen);
            assert_true(wpi_pages_has(&s.chosen, page));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_brings_only_what_faults),
        cmocka_unit_test(sequential_local_brings_blocks),
        cmocka_unit_test(locality_brings_512_kib),
        cmocka_unit_test(six_faults_in_order_bring_a_chunk),
        cmocka_unit_test(smaller_trees_take_fewer_faults),
        cmocka_unit_test(half_of_a_node_is_not_enough),
        cmocka_unit_test(the_largest_answer_is_half_a_chunk),
        cmocka_unit_test(pages_that_do_not_exist_do_not_come),
        cmocka_unit_test(the_driver_takes_more_than_its_threshold),
        cmocka_unit_test(the_drivers_threshold_is_exceeded_not_met),
        cmocka_unit_test(the_driver_takes_the_largest_region_that_is_dense),
        cmocka_unit_test(the_drivers_regions_end_with_the_allocation),
        cmocka_unit_test(the_driver_brings_2_mib_to_where_they_are_wanted_first),
        cmocka_unit_test(random_brings_one_more_at_most_for_each_fault),
        cmocka_unit_test(random_pages_are_uniform_over_the_tree),
        cmocka_unit_test(idle_sequential_follows_addresses),
        cmocka_unit_test(idle_random_takes_any_missing_page),
        cmocka_unit_test(idle_random_ends_when_all_is_there),
        cmocka_unit_test(idle_tree_completes_a_chunk_that_is_used),
        cmocka_unit_test(idle_tree_asks_for_more_the_fuller_memory_is),
        cmocka_unit_test(idle_tree_is_a_tree_to_faults),
        cmocka_unit_test(idle_ones_add_nothing_to_faults),
        cmocka_unit_test(all_answers_are_of_the_tree),
    };
    return wp_test_main(tests);
}
