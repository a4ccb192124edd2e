/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of pages against plain arrays of bool. */
#include "policy/pages.h"

#include "wp_random.h"
#include "wp_test.h"

typedef struct plain {
    bool has[WPI_CHUNK_PAGES];
} plain;

static void assert_same(const wpi_pages *set, const plain *reference) {
    for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page++)
        if (wpi_pages_has(set, page) != reference->has[page]) fail_msg("page %u", page);
}

static uint32_t count_plain(const plain *set, uint32_t first, uint32_t outer) {
    uint32_t count = 0;
    for (uint32_t page = first; page < outer; page++)
        count += set->has[page];
    return count;
}

/* The first page from `from` on that is, or is not, in the set. */
static uint32_t next_plain(const plain *set, uint32_t from, bool is_in) {
    while (from < WPI_CHUNK_PAGES && set->has[from] != is_in)
        from++;
    return from;
}

/* A range with ends at, beside and between the 64 pages of a word; empty ones as well. */
static void random_range(uint64_t *random, uint32_t *first, uint32_t *outer) {
    const uint64_t r = wp_random_next(random);
    const uint32_t a = (uint32_t)(r >> 8) % (WPI_CHUNK_PAGES + 1);
    const uint32_t b = (uint32_t)(r >> 24) % (WPI_CHUNK_PAGES + 1);
    *first = a < b ? a : b;
    *outer = a < b ? b : a;
    if (r % 4 == 0) *first = *first / 64 * 64;
    if (r % 8 < 2) *outer = *outer / 64 * 64 < *first ? *first : *outer / 64 * 64;
}

static void change(wpi_pages *set, plain *reference, uint64_t *random) {
    const uint64_t r = wp_random_next(random);
    const uint32_t page = (uint32_t)(r >> 8) % WPI_CHUNK_PAGES;
    uint32_t first = 0, outer = 0;
    switch (r % 8) {
    case 0:
        random_range(random, &first, &outer);
        wpi_pages_add_range(set, first, outer);
        for (uint32_t i = first; i < outer; i++)
            reference->has[i] = true;
        break;
    case 1:
    case 2:
    case 3:
        wpi_pages_add(set, page);
        reference->has[page] = true;
        break;
    default: wpi_pages_remove(set, page); reference->has[page] = false;
    }
}

static void sets_are_what_a_plain_array_is(void **state) {
    (void)state;
    wpi_pages set = {{0}};
    plain reference = {{0}};
    uint64_t random = 20261122;
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t first = 0, outer = 0;
        if (i % 500 == 0) {
            set = (wpi_pages){{0}};
            reference = (plain){{0}};
            assert_true(wpi_pages_is_empty(&set));
        }
        change(&set, &reference, &random);
        random_range(&random, &first, &outer);
        assert_same(&set, &reference);
        assert_u64(wpi_pages_count(&set), count_plain(&reference, 0, WPI_CHUNK_PAGES));
        assert_u64(wpi_pages_count_in(&set, first, outer), count_plain(&reference, first, outer));
        assert_u64(wpi_pages_next(&set, first), next_plain(&reference, first, true));
        assert_u64(wpi_pages_run_end(&set, first), next_plain(&reference, first, false));
        const uint32_t block = first / WPI_BLOCK_PAGES;
        assert_u64(wpi_pages_next_block(&set, block),
                   next_plain(&reference, block * WPI_BLOCK_PAGES, true) / WPI_BLOCK_PAGES);
        assert_u64(wpi_pages_is_empty(&set), next_plain(&reference, 0, true) == WPI_CHUNK_PAGES);
        assert_u64(wpi_pages_is_full(&set), next_plain(&reference, 0, false) == WPI_CHUNK_PAGES);
    }
}

static void two_sets_make_a_third(void **state) {
    (void)state;
    uint64_t random = 4711;
    for (uint32_t i = 0; i < 300; i++) {
        wpi_pages a = {{0}}, b = {{0}};
        plain as = {{0}}, bs = {{0}};
        for (uint32_t k = 0; k < i; k++) {
            change(&a, &as, &random);
            change(&b, &bs, &random);
        }
        const wpi_pages either = wpi_pages_or(&a, &b), both = wpi_pages_and(&a, &b);
        const wpi_pages rest = wpi_pages_without(&a, &b);
        for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page++) {
            assert_u64(wpi_pages_has(&either, page), as.has[page] || bs.has[page]);
            assert_u64(wpi_pages_has(&both, page), as.has[page] && bs.has[page]);
            assert_u64(wpi_pages_has(&rest, page), as.has[page] && !bs.has[page]);
        }
    }
}

static void ends_of_a_chunk_are_no_exception(void **state) {
    (void)state;
    wpi_pages set = {{0}};
    assert_u64(wpi_pages_next(&set, 0), WPI_CHUNK_PAGES);
    assert_u64(wpi_pages_next(&set, WPI_CHUNK_PAGES), WPI_CHUNK_PAGES);
    wpi_pages_add(&set, WPI_CHUNK_PAGES - 1);
    assert_u64(wpi_pages_next(&set, 0), WPI_CHUNK_PAGES - 1);
    assert_u64(wpi_pages_run_end(&set, WPI_CHUNK_PAGES - 1), WPI_CHUNK_PAGES);
    wpi_pages_add_range(&set, 0, WPI_CHUNK_PAGES);
    assert_u64(wpi_pages_count(&set), WPI_CHUNK_PAGES);
    assert_u64(wpi_pages_run_end(&set, 0), WPI_CHUNK_PAGES);
    assert_true(wpi_pages_is_full(&set));
    for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page++) {
        wpi_pages_remove(&set, page);
        assert_false(wpi_pages_is_full(&set));
        wpi_pages_add(&set, page);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_are_what_a_plain_array_is),
        cmocka_unit_test(two_sets_make_a_third),
        cmocka_unit_test(ends_of_a_chunk_are_no_exception),
    };
    return wp_test_main(tests);
}
