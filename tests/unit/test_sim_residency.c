/* SPDX-License-Identifier: Apache-2.0 */
/* Where pages are: frames and sets against sums made by hand, counters with 27 and 5 bits. */
#include "sim/paging/page_residency.h"

#include "wp_random.h"
#include "wp_test.h"

#define FIRST ((uint64_t)3 << 40)

static wpi_pages range(uint32_t first, uint32_t outer) {
    wpi_pages pages = {{0}};
    wpi_pages_add_range(&pages, first, outer);
    return pages;
}

static void open_residency(wpi_residency *r, uint64_t frames, uint64_t bytes) {
    wp_error err = {0};
    wpi_residency_init(r, FIRST, frames);
    assert_status_ok(wpi_residency_add(r, FIRST, bytes, &err), &err);
}

static void come(wpi_residency *r, wpi_chunk *chunk, uint32_t first, uint32_t outer) {
    const wpi_pages pages = range(first, outer);
    wpi_residency_plan(r, chunk, &pages);
    wpi_residency_fetch(r, chunk, &pages);
    (void)wpi_residency_arrive(r, chunk, &pages);
}

/* "4MB + 168KB: two chunks of 2MB and one of 256KB." */
static void an_allocation_is_chunks_and_a_rest(void **state) {
    (void)state;
    wpi_residency r;
    open_residency(&r, 100, (4 << 20) + (168 << 10));
    assert_u64(r.chunk_count, 3);
    assert_u64(r.chunks[0].page_count, 512);
    assert_u64(r.chunks[1].tree_pages, 512);
    assert_u64(r.chunks[2].page_count, 42);
    assert_u64(r.chunks[2].tree_pages * WPI_PAGE_BYTES, 256 << 10);
    wpi_residency_deinit(&r);
    const struct {
        uint64_t bytes;
        uint32_t pages, tree_pages;
    } cases[] = {{1, 1, 16},         {65536, 16, 16},           {65537, 17, 32},
                 {131072, 32, 32},   {(1 << 20) + 1, 257, 512}, {(2 << 20) - 4096, 511, 512},
                 {2 << 20, 512, 512}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_residency(&r, 100, cases[i].bytes);
        assert_u64(r.chunk_count, 1);
        assert_u64(r.chunks[0].page_count, cases[i].pages);
        assert_u64(r.chunks[0].tree_pages, cases[i].tree_pages);
        wpi_residency_deinit(&r);
    }
}

/* Unused pages are on neither side until they are planned; created pages must be written back. */
static void untouched_pages_are_of_the_allocation(void **state) {
    (void)state;
    wpi_residency r;
    open_residency(&r, 100, (2 << 20) + (168 << 10));
    assert_true(wpi_pages_is_empty(&r.chunks[0].untouched));
    wpi_residency_set_untouched(&r, FIRST, (2 << 20) + (168 << 10));
    assert_u64(wpi_pages_count(&r.chunks[0].untouched), 512);
    assert_u64(wpi_pages_count(&r.chunks[1].untouched), 42);
    come(&r, &r.chunks[1], 10, 30);
    assert_u64(wpi_pages_count(&r.chunks[1].untouched), 22);
    assert_true(wpi_pages_is_empty(&r.chunks[1].dirty) && !r.chunks[1].is_written);
    const wpi_pages made = range(12, 14);
    wpi_residency_make(&r.chunks[1], &made);
    assert_u64(wpi_pages_count(&r.chunks[1].dirty), 2);
    assert_true(r.chunks[1].is_written);
    wpi_residency_deinit(&r);
}

static void addresses_have_chunks_or_none(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_residency r;
    open_residency(&r, 100, 2 << 20);
    assert_status_ok(wpi_residency_add(&r, FIRST + (8 << 20), 4096, &err), &err);
    assert_ptr_equal(wpi_residency_chunk(&r, FIRST + (2 << 20) - 1), &r.chunks[0]);
    assert_null(wpi_residency_chunk(&r, FIRST + (2 << 20)));
    assert_ptr_equal(wpi_residency_chunk(&r, FIRST + (8 << 20)), &r.chunks[4]);
    assert_null(wpi_residency_chunk(&r, FIRST - 1));
    assert_null(wpi_residency_chunk(&r, FIRST + (10 << 20)));
    wpi_residency_remove(&r, FIRST, 2 << 20);
    assert_null(wpi_residency_chunk(&r, FIRST));
    assert_u64(wpi_page_of(FIRST + (8 << 20) + 3 * 4096 + 5), 3);
    wpi_residency_deinit(&r);
}

/* Planned pages have no frame; coming, resident and leaving ones have. */
static void frames_are_counted_on_every_way(void **state) {
    (void)state;
    wpi_residency r;
    open_residency(&r, 100, 2 << 20);
    wpi_chunk *chunk = &r.chunks[0];
    const wpi_pages pages = range(10, 40), some = range(10, 20), others = range(20, 40);
    wpi_residency_plan(&r, chunk, &pages);
    assert_u64(wpi_residency_free(&r), 100);
    assert_true(wpi_page_is_here(&r, (wpi_page_number){10}));
    wpi_residency_fetch(&r, chunk, &some);
    assert_u64(wpi_residency_free(&r), 90);
    assert_u64(r.coming, 10);
    assert_true(wpi_chunk_is_busy(chunk));
    assert_u64(wpi_residency_arrive(&r, chunk, &some), 0);
    assert_u64(r.used, 10);
    wpi_residency_fetch(&r, chunk, &others);
    assert_u64(wpi_residency_arrive(&r, chunk, &others), 0);
    assert_u64(wpi_residency_free(&r), 70);
    wpi_residency_write(&r, (wpi_page_number){15});
    wpi_residency_write(&r, (wpi_page_number){25});
    wpi_residency_evict(&r, chunk, &some);
    assert_true(wpi_pages_has(&chunk->dirty, 25));
    assert_u64(wpi_pages_count(&chunk->dirty), 1);
    assert_u64(wpi_residency_free(&r), 70); /* not written back yet */
    assert_u64(r.leaving, 10);
    wpi_residency_release(&r, 10);
    assert_u64(wpi_residency_free(&r), 80);
    assert_true(chunk->is_written); /* there is still a page */
    wpi_residency_evict(&r, chunk, &others);
    assert_false(chunk->is_written);
    wpi_residency_plan(&r, chunk, &pages);
    wpi_residency_fetch(&r, chunk, &some);
    assert_u64(wpi_residency_arrive(&r, chunk, &some), 10); /* all of them had left */
    wpi_residency_deinit(&r);
}

/* A round trip for each block of which pages leave, however many. */
static void round_trips_are_counted_by_block(void **state) {
    (void)state;
    wpi_residency r;
    open_residency(&r, 512, 2 << 20);
    wpi_chunk *chunk = &r.chunks[0];
    for (uint32_t trip = 1; trip <= 3; trip++) {
        come(&r, chunk, 8, 40); /* of blocks 0, 1 and 2 */
        const wpi_pages pages = range(8, 40);
        wpi_residency_evict(&r, chunk, &pages);
        wpi_residency_release(&r, 32);
        for (uint32_t block = 0; block < 4; block++)
            assert_u64(wpi_counter_round_trips(chunk->blocks[block].counter), block < 3 ? trip : 0);
    }
    come(&r, chunk, 0, 16);
    const wpi_pages block = range(0, 16);
    wpi_residency_leave(&r, chunk, &block); /* the host wants them: that is none */
    assert_u64(wpi_counter_round_trips(chunk->blocks[0].counter), 3);
    wpi_residency_touch(&r, (wpi_page_number){8}); /* the two parts do not touch each other */
    assert_u64(wpi_counter_accesses(chunk->blocks[0].counter), 1);
    assert_u64(wpi_counter_round_trips(chunk->blocks[0].counter), 3);
    wpi_residency_deinit(&r);
}

/* "The framework halves the corresponding counters of all the basic blocks." */
static void a_full_access_counter_halves_all(void **state) {
    (void)state;
    wpi_residency r;
    open_residency(&r, 512, 4 << 20);
    assert_u64(WPI_COUNTER_MAX, (1u << 27) - 1);
    assert_u64(WPI_ROUND_TRIPS_MAX, 31);
    r.chunks[0].blocks[0].counter = 7u << WPI_COUNTER_BITS | (WPI_COUNTER_MAX - 1);
    r.chunks[0].blocks[31].counter = 5u << WPI_COUNTER_BITS | 9;
    r.chunks[1].blocks[2].counter = 31u << WPI_COUNTER_BITS | 1000;
    wpi_residency_touch(&r, (wpi_page_number){3});
    assert_u64(r.chunks[0].blocks[0].counter, 7u << WPI_COUNTER_BITS | WPI_COUNTER_MAX);
    assert_u64(wpi_counter_accesses(r.chunks[1].blocks[2].counter), 1000);
    wpi_residency_touch(&r, (wpi_page_number){3});
    assert_u64(r.chunks[0].blocks[0].counter, 7u << WPI_COUNTER_BITS | (WPI_COUNTER_MAX / 2 + 1));
    assert_u64(r.chunks[0].blocks[31].counter, 5u << WPI_COUNTER_BITS | 4);
    assert_u64(r.chunks[1].blocks[2].counter, 31u << WPI_COUNTER_BITS | 500);
    wpi_residency_deinit(&r);
}

static void full_round_trips_halve_all(void **state) {
    (void)state;
    wpi_residency r;
    open_residency(&r, 512, 4 << 20);
    r.chunks[0].blocks[0].counter = 31u << WPI_COUNTER_BITS | 77;
    r.chunks[0].blocks[9].counter = 1u << WPI_COUNTER_BITS | 78;
    r.chunks[1].blocks[2].counter = 20u << WPI_COUNTER_BITS | WPI_COUNTER_MAX;
    come(&r, &r.chunks[0], 0, 1);
    const wpi_pages page = range(0, 1);
    wpi_residency_evict(&r, &r.chunks[0], &page);
    assert_u64(r.chunks[0].blocks[0].counter, 16u << WPI_COUNTER_BITS | 77);
    assert_u64(r.chunks[0].blocks[9].counter, 78);
    assert_u64(r.chunks[1].blocks[2].counter, 10u << WPI_COUNTER_BITS | WPI_COUNTER_MAX);
    wpi_residency_deinit(&r);
}

static void ages_are_in_the_order_of_uses_and_arrivals(void **state) {
    (void)state;
    wpi_residency r;
    open_residency(&r, 512, 4 << 20);
    come(&r, &r.chunks[0], 0, 32);
    come(&r, &r.chunks[1], 0, 16);
    assert_true(r.chunks[0].blocks[0].age < r.chunks[0].blocks[1].age);
    assert_u64(r.chunks[0].age, r.chunks[0].blocks[1].age);
    assert_true(r.chunks[0].age < r.chunks[1].age);
    assert_true(r.chunks[0].frames_age < r.chunks[1].frames_age);
    wpi_residency_touch(&r, (wpi_page_number){2});
    assert_u64(r.chunks[0].age, r.chunks[0].blocks[0].age);
    assert_true(r.chunks[0].age > r.chunks[1].age);
    assert_true(r.chunks[0].frames_age < r.chunks[1].frames_age); /* memory was given before */
    assert_u64(r.chunks[0].blocks[2].age, 0);
    wpi_residency_deinit(&r);
}

/* ---- against plain arrays ---- */

typedef enum place { HOST, PLANNED, COMING, RESIDENT } place;

#define PAGES 1100u /* two chunks, and 76 pages */
#define FRAMES 700u

typedef struct plain {
    place places[PAGES];
    bool is_dirty[PAGES], has_left[PAGES];
    uint32_t counts[RESIDENT + 1], leaving;
} plain;

static void move(plain *reference, uint32_t page, place to) {
    reference->counts[reference->places[page]]--;
    reference->counts[to]++;
    reference->places[page] = to;
}

/* Up to four pages of a chunk that are there, from a random one on; `first` is the chunk's. */
static wpi_pages pick(const plain *reference, place there, uint32_t first, uint64_t random) {
    wpi_pages pages = {{0}};
    const uint32_t count = first + WPI_CHUNK_PAGES < PAGES ? WPI_CHUNK_PAGES : PAGES - first;
    for (uint32_t i = 0, found = 0; i < count && found < 1 + random % 4; i++) {
        const uint32_t page = (uint32_t)(random / 4 + i) % count;
        if (reference->places[first + page] != there) continue;
        wpi_pages_add(&pages, page);
        found++;
    }
    return pages;
}

static void assert_same(const wpi_residency *r, const plain *reference) {
    assert_u64(r->used, reference->counts[RESIDENT]);
    assert_u64(r->coming, reference->counts[COMING]);
    assert_u64(r->leaving, reference->leaving);
    for (uint32_t page = 0; page < PAGES; page++) {
        const wpi_chunk *chunk = &r->chunks[page / WPI_CHUNK_PAGES];
        const uint32_t own = page % WPI_CHUNK_PAGES;
        const place there = wpi_pages_has(&chunk->resident, own)  ? RESIDENT
                            : wpi_pages_has(&chunk->coming, own)  ? COMING
                            : wpi_pages_has(&chunk->planned, own) ? PLANNED
                                                                  : HOST;
        if (there != reference->places[page])
            fail_msg("page %u: %d, expected %d", page, there, reference->places[page]);
        assert_u64(wpi_pages_has(&chunk->dirty, own), reference->is_dirty[page]);
        assert_u64(wpi_pages_has(&chunk->left, own), reference->has_left[page]);
    }
}

static void step(wpi_residency *r, plain *reference, uint64_t random) {
    static const place froms[] = {HOST, PLANNED, COMING, RESIDENT, RESIDENT};
    const uint32_t number = (uint32_t)(random >> 8) % 3, action = (uint32_t)(random % 5);
    wpi_chunk *chunk = &r->chunks[number];
    const uint32_t first = number * WPI_CHUNK_PAGES;
    const wpi_pages pages = pick(reference, froms[action], first, random >> 16);
    const uint32_t count = wpi_pages_count(&pages);
    if (count == 0 || (action == 1 && count > wpi_residency_free(r))) return;
    uint32_t again = 0;
    switch (action) {
    case 0: wpi_residency_plan(r, chunk, &pages); break;
    case 1: wpi_residency_fetch(r, chunk, &pages); break;
    case 2: again = wpi_residency_arrive(r, chunk, &pages); break;
    case 3:
        wpi_residency_write(r, wpi_page_in((wpi_chunk_number){number}, wpi_pages_next(&pages, 0)));
        break;
    default: wpi_residency_evict(r, chunk, &pages);
    }
    if (action == 3) {
        reference->is_dirty[first + wpi_pages_next(&pages, 0)] = true;
        return;
    }
    for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page++) {
        if (!wpi_pages_has(&pages, page)) continue;
        move(reference, first + page, action == 4 ? HOST : (place)(action + 1));
        if (action == 2) again -= reference->has_left[first + page];
        if (action != 4) continue;
        reference->is_dirty[first + page] = false;
        reference->has_left[first + page] = true;
        reference->leaving++;
    }
    assert_u64(again, 0);
    if (reference->leaving < 100) return;
    wpi_residency_release(r, 100);
    reference->leaving -= 100;
}

static void a_chunk_is_in_use_while_one_of_its_blocks_is(void **state) {
    (void)state;
    wpi_residency r;
    open_residency(&r, FRAMES, WPI_CHUNK_BYTES);
    const wpi_chunk *chunk = &r.chunks[0];
    const wpi_block_number block = {3}, last = {31};
    wpi_residency_hold(&r, block);
    wpi_residency_hold(&r, block);
    wpi_residency_hold(&r, last);
    assert_false(wpi_residency_let_go(&r, block));
    assert_true(wpi_residency_let_go(&r, block));
    assert_false(wpi_block_is_busy(chunk, 3));
    assert_true(wpi_block_is_busy(chunk, 31));
    assert_true(wpi_chunk_is_busy(chunk));
    assert_true(wpi_residency_let_go(&r, last));
    assert_false(wpi_chunk_is_busy(chunk));
    wpi_residency_deinit(&r);
}

static void pages_are_where_a_plain_array_has_them(void **state) {
    (void)state;
    wpi_residency r;
    plain reference = {.counts = {[HOST] = PAGES}};
    uint64_t random = 1234567;
    open_residency(&r, FRAMES, (uint64_t)PAGES * WPI_PAGE_BYTES);
    for (uint32_t i = 0; i < 20000; i++) {
        step(&r, &reference, wp_random_next(&random));
        if (i % 20 == 0) assert_same(&r, &reference);
    }
    assert_same(&r, &reference);
    wpi_residency_deinit(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_is_chunks_and_a_rest),
        cmocka_unit_test(untouched_pages_are_of_the_allocation),
        cmocka_unit_test(addresses_have_chunks_or_none),
        cmocka_unit_test(frames_are_counted_on_every_way),
        cmocka_unit_test(round_trips_are_counted_by_block),
        cmocka_unit_test(a_full_access_counter_halves_all),
        cmocka_unit_test(full_round_trips_halve_all),
        cmocka_unit_test(ages_are_in_the_order_of_uses_and_arrivals),
        cmocka_unit_test(a_chunk_is_in_use_while_one_of_its_blocks_is),
        cmocka_unit_test(pages_are_where_a_plain_array_has_them),
    };
    return wp_test_main(tests);
}
