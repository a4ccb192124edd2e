/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves first, on residencies made by hand: ages come from the order of arrivals and uses. */
#include "policy/evict.h"

#include <string.h>

#include "sim/paging/page_residency.h"
#include "wp_random.h"
#include "wp_test.h"

#define BLOCK(number) ((number) * WPI_BLOCK_PAGES)
#define CHUNKS 4u

typedef struct scene {
    wpi_residency residency;
    uint64_t random, notes[CHUNKS];
    bool is_pressed;
    uint32_t reserve_percent;
    const wpi_policy *policy; /* the last one, whose notes these are */
    uint32_t chunk;           /* the answer */
    wpi_pages pages;
} scene;

static wpi_pages range(uint32_t first, uint32_t outer) {
    wpi_pages pages = {{0}};
    wpi_pages_add_range(&pages, first, outer);
    return pages;
}

/* All pages of an allocation of `bytes` are on the host. */
static void open_scene(scene *s, uint64_t bytes) {
    wp_error err = {0};
    *s = (scene){.random = 88172645463325252u};
    wpi_residency_init(&s->residency, 0, CHUNKS * WPI_CHUNK_PAGES);
    assert_status_ok(wpi_residency_add(&s->residency, 0, bytes, &err), &err);
    s->residency.page_ages =
        calloc((size_t)CHUNKS * WPI_CHUNK_PAGES, sizeof *s->residency.page_ages);
    assert_non_null(s->residency.page_ages);
}

static void close_scene(scene *s) {
    free(s->residency.page_ages);
    s->residency.page_ages = NULL;
    wpi_residency_deinit(&s->residency);
}

static void come(scene *s, uint32_t chunk, uint32_t first, uint32_t outer) {
    const wpi_pages pages = range(first, outer);
    wpi_chunk *own = &s->residency.chunks[chunk];
    wpi_residency_plan(&s->residency, own, &pages);
    wpi_residency_fetch(&s->residency, own, &pages);
    (void)wpi_residency_arrive(&s->residency, own, &pages);
}

static wpi_page_number page_of(uint32_t chunk, uint32_t page) {
    return wpi_page_in((wpi_chunk_number){chunk}, page);
}

static void use(scene *s, uint32_t chunk, uint32_t page, uint32_t times) {
    for (uint32_t i = 0; i < times; i++)
        wpi_residency_touch(&s->residency, page_of(chunk, page));
}

static void hold(scene *s, uint32_t chunk, uint32_t block) {
    wpi_residency_hold(&s->residency, wpi_block_in((wpi_chunk_number){chunk}, block));
}

static bool ask(scene *s, const char *name) {
    const wpi_policy *policy = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_policy_find("evict", name, &policy, &err), &err);
    if (policy != s->policy) memset(s->notes, 0, sizeof s->notes);
    s->policy = policy;
    const wpi_evict_question question = {.residency = &s->residency,
                                         .reserve_percent = s->reserve_percent,
                                         .is_pressed = s->is_pressed,
                                         .random = &s->random,
                                         .notes = s->notes};
    return ((const wpi_evict_ops *)policy->ops)->choose(&question, &s->chunk, &s->pages);
}

static void assert_leaves(scene *s, const char *name, uint32_t chunk, uint32_t first,
                          uint32_t outer) {
    if (!ask(s, name)) fail_msg("%s: nothing leaves", name);
    assert_u64(s->chunk, chunk);
    for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page++)
        if (wpi_pages_has(&s->pages, page) != (page >= first && page < outer))
            fail_msg("%s: page %u of %u to %u", name, page, first, outer);
}

/* ---- 2 MiB ---- */

static void lru_takes_the_chunk_used_longest_ago(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)3 * WPI_CHUNK_BYTES);
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        come(&s, chunk, 0, 512);
    assert_leaves(&s, "lru-2m", 0, 0, 512); /* who came first, when none was used */
    use(&s, 0, 300, 1);
    assert_leaves(&s, "lru-2m", 1, 0, 512);
    use(&s, 1, 7, 1);
    assert_leaves(&s, "lru-2m", 2, 0, 512);
    assert_leaves(&s, "driver", 0, 0, 512); /* whose order is that of memory given, not of uses */
    close_scene(&s);
}

/* "Only when it is fully populated and not currently addressed." */
static void lru_takes_only_full_chunks_that_are_not_in_use(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)3 * WPI_CHUNK_BYTES);
    come(&s, 0, 0, 511);
    come(&s, 1, 0, 512);
    come(&s, 2, 0, 512);
    hold(&s, 1, 31);
    assert_leaves(&s, "lru-2m", 2, 0, 512);
    hold(&s, 2, 0);
    assert_false(ask(&s, "lru-2m"));
    s.is_pressed = true;
    assert_leaves(&s, "lru-2m", 0, 0, 511);
    hold(&s, 0, 5);
    assert_false(ask(&s, "lru-2m"));
    close_scene(&s);
}

static void chunks_to_which_pages_come_stay(void **state) {
    (void)state;
    scene s;
    open_scene(&s, WPI_CHUNK_BYTES);
    come(&s, 0, 0, 500);
    const wpi_pages rest = range(500, 512);
    wpi_residency_plan(&s.residency, &s.residency.chunks[0], &rest);
    wpi_residency_fetch(&s.residency, &s.residency.chunks[0], &rest);
    s.is_pressed = true;
    assert_false(ask(&s, "lru-2m"));
    assert_false(ask(&s, "lfu-2m"));
    assert_false(ask(&s, "driver"));
    (void)wpi_residency_arrive(&s.residency, &s.residency.chunks[0], &rest);
    assert_leaves(&s, "lru-2m", 0, 0, 512);
    close_scene(&s);
}

/* The last chunk of an allocation is full when all pages that exist are there. */
static void a_rest_is_full_with_the_pages_it_has(void **state) {
    (void)state;
    scene s;
    open_scene(&s, WPI_CHUNK_BYTES + (uint64_t)40 * WPI_PAGE_BYTES);
    come(&s, 1, 0, 39);
    assert_false(ask(&s, "lru-2m"));
    come(&s, 1, 39, 40);
    assert_leaves(&s, "lru-2m", 1, 0, 40);
    close_scene(&s);
}

static void the_driver_takes_what_got_memory_first(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)2 * WPI_CHUNK_BYTES);
    come(&s, 1, 0, 100);
    come(&s, 0, 0, 512);
    assert_leaves(&s, "driver", 1, 0, 100);
    come(&s, 1, 100, 101); /* any of its pages makes it the last */
    assert_leaves(&s, "driver", 0, 0, 512);
    close_scene(&s);
}

/* Counts decide, then whether it was written, then age. */
static void lfu_takes_the_chunk_with_the_fewest_accesses(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)3 * WPI_CHUNK_BYTES);
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        come(&s, chunk, 0, 512);
    use(&s, 0, 0, 2); /* of different blocks: a chunk's count is their sum */
    use(&s, 0, 511, 2);
    use(&s, 1, 17, 3);
    use(&s, 2, 99, 5);
    assert_leaves(&s, "lfu-2m", 1, 0, 512);
    hold(&s, 1, 0);
    assert_leaves(&s, "lfu-2m", 0, 0, 512);
    close_scene(&s);
}

static void of_equal_counts_what_was_only_read_leaves_first(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)3 * WPI_CHUNK_BYTES);
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        come(&s, chunk, 0, 512);
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        use(&s, chunk, 0, 4);
    wpi_residency_write(&s.residency, page_of(0, 3));
    assert_leaves(&s, "lfu-2m", 1, 0, 512); /* older than 2, and 0 was written */
    wpi_residency_write(&s.residency, page_of(1, 3));
    assert_leaves(&s, "lfu-2m", 2, 0, 512);
    wpi_residency_write(&s.residency, page_of(2, 3));
    assert_leaves(&s, "lfu-2m", 0, 0, 512); /* all were: as LRU */
    close_scene(&s);
}

/* Half of four chunks: 0 and 1 stay although they are older. */
static void reserved_chunks_stay(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)4 * WPI_CHUNK_BYTES);
    for (uint32_t chunk = 0; chunk < 4; chunk++)
        come(&s, chunk, 0, 512);
    s.reserve_percent = 24; /* of four: none */
    assert_leaves(&s, "lru-2m", 0, 0, 512);
    s.reserve_percent = 50;
    assert_leaves(&s, "lru-2m", 2, 0, 512);
    s.is_pressed = true;
    assert_leaves(&s, "lru-2m", 0, 0, 512);
    close_scene(&s);
}

/* ---- 64 KiB ---- */

static void sequential_local_takes_the_oldest_block_of_the_oldest_chunk(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)2 * WPI_CHUNK_BYTES);
    for (uint32_t block = 0; block < 4; block++)
        for (uint32_t chunk = 0; chunk < 2; chunk++)
            come(&s, chunk, BLOCK(block), BLOCK(block + 1));
    assert_leaves(&s, "sequential-local", 0, BLOCK(0), BLOCK(1));
    use(&s, 0, BLOCK(1), 1); /* now chunk 1 is the older one */
    assert_leaves(&s, "sequential-local", 1, BLOCK(0), BLOCK(1));
    hold(&s, 1, 0);
    assert_leaves(&s, "sequential-local", 1, BLOCK(1), BLOCK(2));
    use(&s, 1, BLOCK(1), 1);
    assert_leaves(&s, "sequential-local", 0, BLOCK(0), BLOCK(1));
    use(&s, 0, BLOCK(0), 1);
    assert_leaves(&s, "sequential-local", 1, BLOCK(2), BLOCK(3));
    close_scene(&s);
}

static void blocks_with_holes_leave_only_when_pressed(void **state) {
    (void)state;
    scene s;
    open_scene(&s, WPI_CHUNK_BYTES);
    come(&s, 0, 0, 15);
    assert_false(ask(&s, "sequential-local"));
    assert_false(ask(&s, "tree"));
    s.is_pressed = true;
    assert_leaves(&s, "sequential-local", 0, 0, 15);
    close_scene(&s);
}

/* 8 blocks, all there; the oldest leaves each time:
 * 0: 7 of 8 left. 1: 6. 2: node 0-3 has one of four left, which is less than half: 3 leaves with
 * it; four of eight are left, which is not. 4: three of eight: 5, 6 and 7 leave with it. */
static void the_tree_drains_nodes_that_are_less_than_half_full(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)8 * WPI_BLOCK_PAGES * WPI_PAGE_BYTES);
    wpi_chunk *chunk = &s.residency.chunks[0];
    assert_u64(chunk->tree_pages, BLOCK(8));
    for (uint32_t block = 0; block < 8; block++)
        come(&s, 0, BLOCK(block), BLOCK(block + 1));
    const struct {
        uint32_t first, outer;
    } steps[] = {{0, 1}, {1, 2}, {2, 4}, {4, 8}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_leaves(&s, "tree", 0, BLOCK(steps[i].first), BLOCK(steps[i].outer));
        wpi_residency_evict(&s.residency, chunk, &s.pages);
    }
    assert_false(ask(&s, "tree"));
    close_scene(&s);
}

static void the_tree_leaves_blocks_in_use_alone(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)4 * WPI_BLOCK_PAGES * WPI_PAGE_BYTES);
    for (uint32_t block = 0; block < 4; block++)
        come(&s, 0, BLOCK(block), BLOCK(block + 1));
    const wpi_pages first = range(0, BLOCK(2));
    wpi_residency_evict(&s.residency, &s.residency.chunks[0], &first);
    hold(&s, 0, 3); /* block 2 leaves, one of four is left, but in use */
    assert_leaves(&s, "tree", 0, BLOCK(2), BLOCK(3));
    close_scene(&s);
}

/* Block 0 is gone. Block 1 is about to leave: with 2 three of four are gone, and 3 leaves, too. Or
 * block 0 is asked for again: with 1 gone, too, and 2, two of four are left, and 3 stays. */
static void the_tree_knows_what_comes_and_what_leaves(void **state) {
    (void)state;
    for (uint32_t is_coming = 0; is_coming < 2; is_coming++) {
        scene s;
        open_scene(&s, (uint64_t)4 * WPI_BLOCK_PAGES * WPI_PAGE_BYTES);
        wpi_chunk *chunk = &s.residency.chunks[0];
        for (uint32_t block = 0; block < 4; block++)
            come(&s, 0, BLOCK(block), BLOCK(block + 1));
        const wpi_pages first = range(0, BLOCK(1)), second = range(BLOCK(1), BLOCK(2));
        wpi_residency_evict(&s.residency, chunk, &first);
        if (is_coming != 0) {
            wpi_residency_evict(&s.residency, chunk, &second);
            wpi_residency_plan(&s.residency, chunk, &first);
        } else {
            chunk->unlisted = second;
        }
        assert_leaves(&s, "tree", 0, BLOCK(2), is_coming != 0 ? BLOCK(3) : BLOCK(4));
        close_scene(&s);
    }
}

/* ---- 4 KiB ---- */

static void assert_page_leaves(scene *s, const char *name, uint32_t chunk, uint32_t page) {
    assert_leaves(s, name, chunk, page, page + 1);
    wpi_residency_evict(&s->residency, &s->residency.chunks[chunk], &s->pages);
    wpi_residency_release(&s->residency, 1);
}

static void lru_of_pages_takes_the_page_used_longest_ago(void **state) {
    (void)state;
    scene s;
    open_scene(&s, (uint64_t)2 * WPI_CHUNK_BYTES);
    come(&s, 1, 40, 41);
    come(&s, 0, 7, 8);
    come(&s, 0, 100, 101);
    come(&s, 1, 300, 301);
    use(&s, 0, 7, 1);
    assert_page_leaves(&s, "lru-4k", 1, 40);
    assert_page_leaves(&s, "lru-4k", 0, 100);
    hold(&s, 1, 300 / WPI_BLOCK_PAGES);
    assert_page_leaves(&s, "lru-4k", 0, 7);
    assert_false(ask(&s, "lru-4k"));
    assert_true(wpi_residency_let_go(&s.residency, wpi_page_block(page_of(1, 300))));
    assert_page_leaves(&s, "lru-4k", 1, 300);
    close_scene(&s);
}

/* Notes and ages against the oldest of all pages. */
static void lru_of_pages_is_exact_under_random_use(void **state) {
    (void)state;
    scene s;
    uint64_t random = 31337;
    open_scene(&s, (uint64_t)CHUNKS * WPI_CHUNK_BYTES);
    for (uint32_t i = 0; i < 6000; i++) {
        const uint64_t r = wp_random_next(&random);
        const uint32_t chunk = (uint32_t)(r >> 8) % CHUNKS, page = (uint32_t)(r >> 16) % 512;
        if (!wpi_pages_has(&s.residency.chunks[chunk].resident, page))
            come(&s, chunk, page, page + 1);
        else
            use(&s, chunk, page, 1);
        if (s.residency.used < 200) continue;
        uint32_t oldest = UINT32_MAX;
        for (uint32_t at = 0; at < CHUNKS * WPI_CHUNK_PAGES; at++) {
            const wpi_chunk *own = &s.residency.chunks[at / WPI_CHUNK_PAGES];
            if (!wpi_pages_has(&own->resident, at % WPI_CHUNK_PAGES)) continue;
            if (oldest == UINT32_MAX || s.residency.page_ages[at] < s.residency.page_ages[oldest])
                oldest = at;
        }
        assert_page_leaves(&s, "lru-4k", oldest / WPI_CHUNK_PAGES, oldest % WPI_CHUNK_PAGES);
    }
    close_scene(&s);
}

/* 128 pages over two chunks; each is drawn as often as pages that are not there lie in front of it.
 */
static void random_starts_anywhere(void **state) {
    (void)state;
    scene s;
    uint32_t counts[2 * WPI_CHUNK_PAGES] = {0};
    open_scene(&s, (uint64_t)2 * WPI_CHUNK_BYTES);
    for (uint32_t page = 0; page < 512; page += 8)
        for (uint32_t chunk = 0; chunk < 2; chunk++)
            come(&s, chunk, page, page + 1);
    hold(&s, 0, 0); /* pages 0 and 8 of chunk 0 stay: page 16 has their share */
    for (uint32_t i = 0; i < 51200; i++) {
        assert_true(ask(&s, "random"));
        assert_u64(wpi_pages_count(&s.pages), 1);
        counts[s.chunk * WPI_CHUNK_PAGES + wpi_pages_next(&s.pages, 0)]++;
    }
    assert_u64(counts[0] + counts[8], 0);
    /* 400 a page, 1200 for that one; standard deviations of 20 and 34. */
    assert_within((double)counts[16], 1200, 5 * 34);
    for (uint32_t page = 24; page < 1024; page += 8)
        assert_within((double)counts[page], 400, 5 * 20);
    close_scene(&s);
}

/* ---- all ---- */

static void nothing_leaves_memory_that_is_empty(void **state) {
    (void)state;
    scene s;
    open_scene(&s, WPI_CHUNK_BYTES);
    for (uint32_t pressed = 0; pressed < 2; pressed++) {
        s.is_pressed = pressed != 0;
        for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++)
            if (strcmp((*p)->kind, "evict") == 0) assert_false(ask(&s, (*p)->name));
    }
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_takes_the_chunk_used_longest_ago),
        cmocka_unit_test(lru_takes_only_full_chunks_that_are_not_in_use),
        cmocka_unit_test(chunks_to_which_pages_come_stay),
        cmocka_unit_test(a_rest_is_full_with_the_pages_it_has),
        cmocka_unit_test(the_driver_takes_what_got_memory_first),
        cmocka_unit_test(lfu_takes_the_chunk_with_the_fewest_accesses),
        cmocka_unit_test(of_equal_counts_what_was_only_read_leaves_first),
        cmocka_unit_test(reserved_chunks_stay),
        cmocka_unit_test(sequential_local_takes_the_oldest_block_of_the_oldest_chunk),
        cmocka_unit_test(blocks_with_holes_leave_only_when_pressed),
        cmocka_unit_test(the_tree_drains_nodes_that_are_less_than_half_full),
        cmocka_unit_test(the_tree_leaves_blocks_in_use_alone),
        cmocka_unit_test(the_tree_knows_what_comes_and_what_leaves),
        cmocka_unit_test(lru_of_pages_takes_the_page_used_longest_ago),
        cmocka_unit_test(lru_of_pages_is_exact_under_random_use),
        cmocka_unit_test(random_starts_anywhere),
        cmocka_unit_test(nothing_leaves_memory_that_is_empty),
    };
    return wp_test_main(tests);
}
