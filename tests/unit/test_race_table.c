/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of src/device/cpu/check/race_table.c. Random histories of a few threads are compared with
 * the order that each of them implies, by vector clocks: no access is called a race that is none,
 * and where threads meet in whole warps every race between the last accesses is found. */
#include <string.h>

#include "device/cpu/check/race_table.h"
#include "wp_random.h"
#include "wp_test.h"

enum { THREADS = 64, WARP = 32 };

static wpi_race_table *table_of(uint32_t threads, const void *shared, size_t shared_bytes) {
    wpi_race_table *t = wpi_race_table_new();
    assert_non_null(t);
    assert_true(wpi_race_table_prepare(t, threads, shared_bytes));
    wpi_race_table_begin(t, shared);
    return t;
}

static bool does(wpi_race_table *t, uint16_t thread, uint8_t flags, uintptr_t address,
                 uint64_t bytes) {
    const wpi_race_access now = {.site = 1, .thread = thread, .flags = flags};
    wpi_race_access earlier;
    return wpi_race_table_access(t, &now, address, bytes, 0, &earlier);
}

static void neighbouring_bytes_do_not_race(void **state) {
    (void)state;
    wpi_race_table *t = table_of(THREADS, (void *)0x1000, 256);
    for (uint16_t i = 0; i < THREADS; i++) {
        assert_false(does(t, i, WPI_RACE_WRITE, 0x1000 + i, 1));   /* shared */
        assert_false(does(t, i, WPI_RACE_WRITE, 0x900003 + i, 1)); /* elsewhere, odd */
    }
    assert_true(does(t, 7, 0, 0x1000, 16)); /* the others' bytes */
    assert_true(does(t, 7, 0, 0x900000 + 60, 8));
    wpi_race_table_free(t);
}

static void only_pairs_with_a_write_race(void **state) {
    (void)state;
    wpi_race_table *t = table_of(THREADS, NULL, 0);
    assert_false(does(t, 0, 0, 64, 4));
    assert_false(does(t, 1, 0, 64, 4));
    assert_true(does(t, 2, WPI_RACE_WRITE, 64, 4)); /* write after read */
    assert_true(does(t, 3, 0, 64, 4));              /* read after write */
    assert_true(does(t, 4, WPI_RACE_WRITE, 64, 4)); /* write after write */
    assert_false(does(t, 4, WPI_RACE_WRITE, 68, 4));
    assert_false(does(t, 4, 0, 68, 4)); /* its own */
    const uint8_t atomic = WPI_RACE_WRITE | WPI_RACE_ATOMIC;
    assert_false(does(t, 0, atomic, 128, 4));
    assert_false(does(t, 1, atomic, 128, 4));
    assert_false(does(t, 2, 0, 128, 4)); /* a hint */
    assert_true(does(t, 2, WPI_RACE_WRITE, 128, 4));
    assert_false(does(t, 3, WPI_RACE_VOLATILE, 132, 4));
    assert_false(does(t, 40, WPI_RACE_VOLATILE | WPI_RACE_WRITE, 132, 4)); /* a flag of warps */
    assert_false(does(t, 3, WPI_RACE_VOLATILE, 136, 4));
    assert_true(does(t, 4, WPI_RACE_VOLATILE | WPI_RACE_WRITE, 136, 4)); /* an exchange of lanes */
    wpi_race_table_free(t);
    t = table_of(THREADS, (void *)0x1000, 256);
    assert_false(does(t, 0, atomic, 0x1000, 4));
    assert_true(does(t, 1, 0, 0x1000, 4)); /* in shared memory a barrier is missing */
    wpi_race_table_free(t);
}

static void a_volatile_read_finds_what_a_fence_published(void **state) {
    (void)state;
    wpi_race_table *t = table_of(THREADS, NULL, 0);
    assert_false(does(t, 0, WPI_RACE_WRITE, 64, 4));
    assert_false(does(t, 0, WPI_RACE_WRITE, 68, 4));
    wpi_race_table_sync(t, 0);
    assert_false(does(t, 40, WPI_RACE_VOLATILE, 128, 4)); /* the flag */
    assert_false(does(t, 40, 0, 64, 4));
    assert_false(does(t, 0, WPI_RACE_WRITE, 72, 4)); /* after the fence */
    assert_false(does(t, 40, WPI_RACE_VOLATILE, 128, 4));
    assert_true(does(t, 40, 0, 72, 4));
    assert_true(does(t, 41, 0, 68, 4)); /* has not read the flag */
    wpi_race_table_free(t);
}

static void the_same_value_again_is_no_race(void **state) {
    (void)state;
    wpi_race_table *t = table_of(THREADS, NULL, 0);
    const uint8_t flags = WPI_RACE_WRITE | WPI_RACE_VALUE;
    const wpi_race_access a = {.thread = 0, .flags = flags}, b = {.thread = 1, .flags = flags};
    wpi_race_access earlier;
    const uint64_t value = UINT64_C(0x500000007);
    assert_false(wpi_race_table_access(t, &a, 64, 8, value, &earlier));
    assert_false(wpi_race_table_access(t, &b, 64, 8, value, &earlier));
    assert_true(wpi_race_table_access(t, &a, 64, 8, 7, &earlier)); /* the upper half differs */
    assert_int_equal(earlier.thread, 1);
    wpi_race_table_free(t);
}

static void a_barrier_and_a_meeting_put_in_order(void **state) {
    (void)state;
    wpi_race_table *t = table_of(THREADS, NULL, 0);
    assert_false(does(t, 0, WPI_RACE_WRITE, 64, 4));
    wpi_race_table_barrier(t);
    assert_false(does(t, 1, 0, 64, 4));
    for (int round = 0; round < 2; round++) /* before and after */
        for (uint32_t lane = 0; lane < WARP; lane++)
            wpi_race_table_sync(t, lane);
    assert_false(does(t, 2, WPI_RACE_WRITE, 64, 4));
    /* lane 2 goes on to the next meeting, lane 3 has not */
    wpi_race_table_sync(t, 2);
    assert_true(does(t, 3, 0, 64, 4));
    assert_true(does(t, 40, 0, 64, 4)); /* another warp has not met it */
    wpi_race_table_free(t);
}

static void many_words_between_barriers_are_remembered(void **state) {
    (void)state;
    wpi_race_table *t = table_of(THREADS, NULL, 0);
    enum { WORDS = 100000 };
    for (uintptr_t w = 0; w < WORDS; w++)
        assert_false(does(t, 0, WPI_RACE_WRITE, 0x100000 + 64 * w, 4));
    for (uintptr_t w = 0; w < WORDS; w++)
        assert_true(does(t, 1, 0, 0x100000 + 64 * w, 4));
    wpi_race_table_barrier(t);
    for (uintptr_t w = 0; w < 4 * WORDS; w++) /* more than it keeps */
        assert_false(does(t, 0, WPI_RACE_WRITE, 0x100000 + 4 * w, 4));
    wpi_race_table_free(t);
}

/* ---- against vector clocks ---- */

enum { WORDS = 6 };

/* seen[a][b]: the last step of b that a knows to be before its own next one. */
typedef struct history {
    uint32_t step[THREADS], seen[THREADS][THREADS];
    uint32_t write_step[WORDS], write_thread[WORDS]; /* step 0: none */
    bool is_written[WORDS];
} history;

static void meet(wpi_race_table *t, history *h, uint32_t first, uint32_t outer) {
    for (int round = 0; round < 2; round++)
        for (uint32_t lane = first; lane < outer; lane++)
            wpi_race_table_sync(t, lane);
    uint32_t joined[THREADS];
    for (uint32_t b = 0; b < THREADS; b++) {
        joined[b] = 0;
        for (uint32_t a = first; a < outer; a++) {
            const uint32_t knows = a == b ? h->step[a] : h->seen[a][b];
            if (knows > joined[b]) joined[b] = knows;
        }
    }
    for (uint32_t a = first; a < outer; a++)
        memcpy(h->seen[a], joined, sizeof joined);
}

static void random_histories_agree_with_vector_clocks(void **state) {
    (void)state;
    uint64_t random = 20261129, found = 0, missed = 0;
    for (int run = 0; run < 400; run++) {
        wpi_race_table *t = table_of(THREADS, (void *)0x4000, WORDS * 4);
        history h = {0};
        const uintptr_t base = run % 2 ? 0x4000 : 0x900000;
        const bool is_whole = run % 4 < 2; /* only whole warps and the block meet */
        for (int step = 0; step < 300; step++) {
            const uint32_t r = (uint32_t)(wp_random_next(&random) >> 16);
            const uint32_t what = r % 16, a = r / 16 % THREADS, w = r / 1024 % WORDS;
            if (what == 0) {
                const uint32_t warp = a / WARP * WARP;
                const uint32_t first = is_whole ? warp : warp + a % 8;
                meet(t, &h, first, is_whole ? warp + WARP : first + 1 + r / 65536 % 16);
                continue;
            }
            if (what == 1 && r / 65536 % 4 == 0) {
                wpi_race_table_barrier(t);
                meet(t, &h, 0, THREADS);
                continue;
            }
            h.step[a]++;
            const bool is_write = what < 8;
            const bool is_race =
                does(t, (uint16_t)a, is_write ? WPI_RACE_WRITE : 0, base + 4 * w, 4);
            if (is_write) {
                h.write_thread[w] = a;
                h.write_step[w] = h.step[a];
                h.is_written[w] = true;
                continue;
            }
            if (!h.is_written[w]) {
                assert_false(is_race);
                continue;
            }
            /* a read: the last write alone decides */
            const uint32_t b = h.write_thread[w];
            const bool is_ordered = a == b || h.seen[a][b] >= h.write_step[w];
            if (is_ordered) assert_false(is_race);
            found += is_race;
            missed += !is_race && !is_ordered;
            if (is_whole && a / WARP == b / WARP) assert_int_equal(is_race, !is_ordered);
        }
        wpi_race_table_free(t);
    }
    assert_true(found > 10 * missed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbouring_bytes_do_not_race),
        cmocka_unit_test(only_pairs_with_a_write_race),
        cmocka_unit_test(a_volatile_read_finds_what_a_fence_published),
        cmocka_unit_test(the_same_value_again_is_no_race),
        cmocka_unit_test(a_barrier_and_a_meeting_put_in_order),
        cmocka_unit_test(many_words_between_barriers_are_remembered),
        cmocka_unit_test(random_histories_agree_with_vector_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
