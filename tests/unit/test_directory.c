/* SPDX-License-Identifier: Apache-2.0 */
/* A neighbouring directory table against a plain list (NeiDty, Section III-B). */
#include "sim/tlb/directory.h"

#include "wp_random.h"
#include "wp_test.h"

#define ENTRIES 8u
#define PAGES 24u

typedef struct known {
    uint64_t page, neighbours;
    bool is_local;
} known;

/* The reference, in order of coming. */
typedef struct list {
    known entries[ENTRIES];
    uint32_t count;
} list;

static uint32_t find(const list *l, uint64_t page) {
    uint32_t i = 0;
    while (i < l->count && l->entries[i].page != page)
        i++;
    return i;
}

static void take_out(list *l, uint32_t at) {
    memmove(&l->entries[at], &l->entries[at + 1], (l->count - at - 1) * sizeof l->entries[0]);
    l->count--;
}

/* "It would preferentially evict the entry that has been stored in local L1 TLB, or evict one entry
 * according to FIFO". */
static void add(list *l, uint64_t page, uint32_t neighbour, bool is_local) {
    uint32_t at = find(l, page);
    if (at == l->count) {
        if (l->count == ENTRIES) {
            uint32_t leaves = 0;
            while (leaves < ENTRIES && !l->entries[leaves].is_local)
                leaves++;
            take_out(l, leaves < ENTRIES ? leaves : 0);
        }
        at = l->count++;
        l->entries[at] = (known){page, 0, is_local};
    }
    l->entries[at].neighbours |= (uint64_t)1 << neighbour;
}

static void drop(list *l, uint64_t page, uint32_t neighbour) {
    const uint32_t at = find(l, page);
    if (at == l->count) return;
    l->entries[at].neighbours &= ~((uint64_t)1 << neighbour);
    if (l->entries[at].neighbours == 0) take_out(l, at);
}

static void it_is_a_list_of_what_neighbours_have(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_directory d;
    list l = {0};
    uint64_t random = 5;
    assert_status_ok(wpi_directory_init(&d, ENTRIES, &err), &err);
    for (uint32_t i = 0; i < 50000; i++) {
        const uint64_t r = wp_random_next(&random), page = (r >> 32) % PAGES;
        const uint32_t neighbour = (uint32_t)(r >> 8) % 2;
        const bool is_local = (r >> 16) % 2 != 0;
        if (r % 4 < 2) {
            wpi_directory_add(&d, page, neighbour, is_local);
            add(&l, page, neighbour, is_local);
        } else if (r % 4 == 2) {
            wpi_directory_remove(&d, page, neighbour);
            drop(&l, page, neighbour);
        } else {
            wpi_directory_set_local(&d, page, is_local);
            if (find(&l, page) < l.count) l.entries[find(&l, page)].is_local = is_local;
        }
        for (uint64_t k = 0; k < PAGES; k++) {
            const uint32_t at = find(&l, k);
            assert_u64(wpi_directory_find(&d, k), at < l.count ? l.entries[at].neighbours : 0);
        }
    }
    assert_true(d.eviction_count > 100);
    wpi_directory_clear(&d);
    for (uint64_t k = 0; k < PAGES; k++)
        assert_u64(wpi_directory_find(&d, k), 0);
    wpi_directory_deinit(&d);
}

/* Tags of 3 bits: pages 8 apart are one entry. */
static void pages_of_one_tag_are_taken_for_each_other(void **state) {
    (void)state;
    assert_u64(wpi_directory_tag(1, 3), 1);
    assert_u64(wpi_directory_tag(2, 3), 2);
    assert_u64(wpi_directory_tag(8, 3), 1); /* 001 000: folded 001 */
    assert_u64(wpi_directory_tag(UINT64_MAX, 1), 0);
    assert_u64(wpi_directory_tag((uint64_t)1 << 40 | 5, 40), 4);
}

static void hits_are_of_an_entry_as_long_as_it_lives(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_directory d;
    assert_status_ok(wpi_directory_init(&d, ENTRIES, &err), &err);
    assert_u64(wpi_directory_count_hit(&d, 4), 0);
    wpi_directory_add(&d, 4, 0, false);
    assert_u64(wpi_directory_count_hit(&d, 4), 1);
    wpi_directory_add(&d, 4, 1, false);
    assert_u64(wpi_directory_count_hit(&d, 4), 2);
    wpi_directory_remove(&d, 4, 0);
    wpi_directory_remove(&d, 4, 1);
    wpi_directory_add(&d, 4, 1, false);
    assert_u64(wpi_directory_count_hit(&d, 4), 1);
    wpi_directory_deinit(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_a_list_of_what_neighbours_have),
        cmocka_unit_test(pages_of_one_tag_are_taken_for_each_other),
        cmocka_unit_test(hits_are_of_an_entry_as_long_as_it_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
