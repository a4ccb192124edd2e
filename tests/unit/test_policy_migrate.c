/* SPDX-License-Identifier: Apache-2.0 */
/* How many accesses bring a page: equation 1 of Ganguly et al., IPDPS'20, and the schemes that they
 * compare it with (section V). */
#include "policy/migrate.h"

#include "wp_test.h"

static const wpi_migrate_ops *ops_of(const char *name) {
    const wpi_policy *policy = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_policy_find("migrate", name, &policy, &err), &err);
    return policy->ops;
}

static uint64_t threshold(const char *name, const wpi_migrate_question *question) {
    return ops_of(name)->threshold(question);
}

/* t_s = 8, p = 2 as in the paper's examples, memory of 1000 pages. */
static wpi_migrate_question question(uint64_t taken_frames, bool is_oversubscribed,
                                     uint32_t round_trips) {
    return (wpi_migrate_question){.accesses = 1,
                                  .round_trips = round_trips,
                                  .frames = 1000,
                                  .taken_frames = taken_frames,
                                  .is_oversubscribed = is_oversubscribed,
                                  .threshold = 8,
                                  .penalty = 2};
}

/* "If less than 12.5% of device memory is allocated … 1"; "8 just before reaching the full
 * capacity", "and 9 upon oversubscription" by the first line of the equation. */
static void adaptive_grows_with_memory(void **state) {
    (void)state;
    const struct {
        uint64_t taken_frames, threshold;
    } cases[] = {{0, 1},   {124, 1}, {125, 2}, {249, 2}, {250, 3},
                 {500, 5}, {874, 7}, {875, 8}, {999, 8}, {1000, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const wpi_migrate_question q = question(cases[i].taken_frames, false, 31);
        assert_u64(threshold("adaptive", &q), cases[i].threshold);
    }
}

/* "After the 16th access after oversubscription"; "evicted twice … 48". */
static void adaptive_grows_with_round_trips(void **state) {
    (void)state;
    const uint64_t expected[] = {16, 32, 48, 64};
    for (uint32_t round_trips = 0; round_trips < 4; round_trips++) {
        const wpi_migrate_question q = question(500, true, round_trips);
        assert_u64(threshold("adaptive", &q), expected[round_trips]);
    }
    wpi_migrate_question largest = question(1000, true, 31);
    largest.threshold = 1u << 26;
    largest.penalty = 1048576;
    assert_u64(threshold("adaptive", &largest), (uint64_t)1 << (26 + 20 + 5));
}

static void schemes_differ_by_when_they_count(void **state) {
    (void)state;
    for (uint32_t is_full = 0; is_full < 2; is_full++) {
        const wpi_migrate_question q = question(900, is_full != 0, 3);
        assert_u64(threshold("first-touch", &q), 1);
        assert_u64(threshold("always", &q), 8);
        assert_u64(threshold("oversub", &q), is_full != 0 ? 8 : 1);
        assert_u64(threshold("zero-copy", &q), UINT64_MAX);
    }
}

/* As long as memory is empty the first access brings a block; when it is full, as many bytes as
 * moving it there and back, and once more for each stay in vain. */
static void payback_weighs_bytes_against_the_move(void **state) {
    (void)state;
    assert_true(ops_of("payback")->counts_bytes);
    for (uint64_t taken_frames = 0; taken_frames <= 1000; taken_frames += 250) {
        wpi_migrate_question q = question(taken_frames, false, 3);
        q.move_bytes = 80000;
        assert_u64(threshold("payback", &q), 80 * taken_frames);
    }
    for (uint32_t in_vain = 0; in_vain < 32; in_vain++) {
        wpi_migrate_question q = question(500, true, 3);
        q.move_bytes = 80000;
        q.in_vain = in_vain;
        assert_u64(threshold("payback", &q), (uint64_t)160000 * (in_vain + 1));
    }
}

/* If a pass over the block costs as much as moving it there and back, it moves at once; after stays
 * in vain it costs as much again for each. */
static void payback_moves_at_once_where_one_pass_pays(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        const bool is_paid = (i & 1) != 0, is_full = (i & 2) != 0;
        const uint32_t in_vain = i / 4 * 3;
        wpi_migrate_question q = question(500, is_full, 3);
        q.move_bytes = 80000;
        q.pass_bytes = is_paid ? 160000 : 159999;
        q.in_vain = in_vain;
        const uint64_t rented = is_full ? (uint64_t)160000 * (in_vain + 1) : 40000;
        assert_u64(threshold("payback", &q), is_paid ? (uint64_t)160000 * in_vain : rented);
        q.local_bytes = is_paid ? 79999 : threshold("payback", &q) + 159999;
        if (is_paid || is_full) assert_true(ops_of("payback")->was_in_vain(&q));
        q.local_bytes++;
        if (is_paid || is_full) assert_false(ops_of("payback")->was_in_vain(&q));
    }
}

/* It saved what its accesses would have taken, and cost what was paid before and the move. */
static void payback_judges_a_stay_by_what_it_saved(void **state) {
    (void)state;
    const wpi_migrate_ops *ops = ops_of("payback");
    for (uint32_t in_vain = 0; in_vain < 4; in_vain++) {
        wpi_migrate_question q = question(1000, true, 31);
        q.move_bytes = 80000;
        q.in_vain = in_vain;
        q.local_bytes = threshold("payback", &q) + 160000;
        assert_false(ops->was_in_vain(&q));
        q.local_bytes--;
        assert_true(ops->was_in_vain(&q));
    }
}

/* "On write access, the page is … exclusively copied to the device memory irrespective of the
 * access frequency", but with zero-copy, and where they are weighed as reads are. */
static void writes_bring_pages_but_with_two(void **state) {
    (void)state;
    uint32_t kinds = 0;
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++) {
        if (strcmp((*p)->kind, "migrate") != 0) continue;
        const wpi_migrate_ops *ops = (*p)->ops;
        const bool counts =
            strcmp((*p)->name, "zero-copy") == 0 || strcmp((*p)->name, "payback") == 0;
        assert_u64(ops->counts_writes, counts);
        kinds++;
    }
    assert_true(kinds >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adaptive_grows_with_memory),
        cmocka_unit_test(adaptive_grows_with_round_trips),
        cmocka_unit_test(schemes_differ_by_when_they_count),
        cmocka_unit_test(payback_weighs_bytes_against_the_move),
        cmocka_unit_test(payback_moves_at_once_where_one_pass_pays),
        cmocka_unit_test(payback_judges_a_stay_by_what_it_saved),
        cmocka_unit_test(writes_bring_pages_but_with_two),
    };
    return wp_test_main(tests);
}
