/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes become warps: by hand for the shapes that control flow has, at random for nested ones. */
#include "device/sim/merge.h"
#include "wp_random.h"
#include "wp_test.h"

#define BLOCKS_MAX 64u
#define WORDS_MAX 65536u

static wp_trace_block blocks[BLOCKS_MAX];
static wp_trace_step steps[BLOCKS_MAX];
static const wp_trace_tables tables = {
    .version = WP_TRACE_VERSION, .blocks = blocks, .steps = steps};

static wpi_lane_words lanes[WPI_MERGE_LANES];
static uint64_t words[WORDS_MAX][WPI_MERGE_LANES];
static uint64_t addresses[8 * WPI_MERGE_LANES];
static wpi_merge merge;

/* Block `number`, whose threads meet at `join`; it ends in `op` and makes `accesses`. */
static void block(uint32_t number, uint32_t join, wp_trace_op op, uint32_t accesses) {
    blocks[number] = (wp_trace_block){
        .join = join, .first_step = number, .step_count = 1, .access_count = accesses};
    steps[number] = (wp_trace_step){.op = (uint16_t)op};
}

static int begin(void **state) {
    (void)state;
    wpi_merge_start(&merge, lanes, &words[0][0], ~0u);
    for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++)
        lanes[lane].lane.limit = lanes[lane].words + WORDS_MAX * WP_TRACE_STRIDE;
    return 0;
}

static void write_word(uint32_t lane, uint64_t word) {
    assert_true(lanes[lane].lane.cursor < lanes[lane].lane.limit);
    *lanes[lane].lane.cursor = word;
    lanes[lane].lane.cursor += WP_TRACE_STRIDE;
    wpi_merge_take(&merge);
}

/* Lanes in `mask` enter blocks without accesses. */
static void walk(uint32_t mask, const uint32_t *numbers, uint32_t count) {
    for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++) {
        for (uint32_t i = 0; i < count && (mask >> lane & 1u) != 0; i++)
            write_word(lane, numbers[i]);
    }
}
#define WALK(mask, ...)                                                                            \
    walk(mask, (const uint32_t[]){__VA_ARGS__}, sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

static void expect(uint32_t number, uint32_t mask) {
    uint32_t got, got_mask;
    assert_int_equal(wpi_merge_next(&merge, &tables, 0, &got, &got_mask, addresses),
                     WPI_MERGE_BLOCK);
    assert_int_equal(got, number);
    assert_int_equal(got_mask, mask);
}

static void expect_answer(wpi_merge_answer answer, uint32_t blocked) {
    uint32_t got, mask;
    assert_int_equal(wpi_merge_next(&merge, &tables, blocked, &got, &mask, addresses), answer);
}

static void lanes_that_go_together_are_one_warp(void **state) {
    (void)state;
    block(0, 1, WP_TRACE_ISSUE, 2);
    block(1, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    for (uint32_t lane = 0; lane < 32; lane++) {
        write_word(lane, 0);
        write_word(lane, 1000 + lane);
        write_word(lane, 2000 + lane);
        write_word(lane, 1);
    }
    merge.exited = ~0u;
    expect(0, ~0u);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_u64(addresses[lane], 1000 + lane);
        assert_u64(addresses[32 + lane], 2000 + lane);
    }
    expect(1, ~0u);
    expect_answer(WPI_MERGE_EXIT, 0);
}

/* 0: if → 1 else 2; join 3 */
static void arms_of_a_branch_run_one_after_the_other_and_meet(void **state) {
    (void)state;
    block(0, 3, WP_TRACE_ISSUE, 0);
    block(1, 3, WP_TRACE_ISSUE, 0);
    block(2, 3, WP_TRACE_ISSUE, 0);
    block(3, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    WALK(0x0000ffff, 0, 1, 3);
    WALK(0xffff0000, 0, 2, 3);
    merge.exited = ~0u;
    expect(0, ~0u);
    expect(1, 0x0000ffff);
    expect(2, 0xffff0000);
    expect(3, ~0u);
    expect_answer(WPI_MERGE_EXIT, 0);
}

/* 0 → 1 (loop, exit 2): lane i takes i turns. */
static void lanes_leave_a_loop_one_by_one_and_wait_behind_it(void **state) {
    (void)state;
    block(0, 1, WP_TRACE_ISSUE, 0);
    block(1, 2, WP_TRACE_ISSUE, 0);
    block(2, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    for (uint32_t lane = 0; lane < 32; lane++) {
        write_word(lane, 0);
        for (uint32_t turn = 0; turn <= lane; turn++)
            write_word(lane, 1);
        write_word(lane, 2);
    }
    merge.exited = ~0u;
    expect(0, ~0u);
    for (uint32_t turn = 0; turn < 32; turn++)
        expect(1, ~0u << turn);
    expect(2, ~0u);
    expect_answer(WPI_MERGE_EXIT, 0);
}

static void a_lane_that_returns_early_is_not_waited_for(void **state) {
    (void)state;
    block(0, WP_TRACE_NONE, WP_TRACE_ISSUE, 0);
    block(1, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    block(2, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    WALK(1, 0, 1);
    WALK(~1u, 0, 2);
    merge.exited = ~0u;
    expect(0, ~0u);
    expect(1, 1);
    expect(2, ~1u);
    expect_answer(WPI_MERGE_EXIT, 0);
}

/* 0 calls; half the lanes go into function 3, the others into 4; both come back to 1. */
static void an_indirect_call_parts_lanes_until_it_returns(void **state) {
    (void)state;
    block(0, 1, WP_TRACE_CALL, 0);
    block(1, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    block(3, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    block(4, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    WALK(0x0000ffff, 0, 3, 1);
    WALK(0xffff0000, 0, 4, 1);
    merge.exited = ~0u;
    expect(0, ~0u);
    expect(3, 0x0000ffff);
    expect(4, 0xffff0000);
    expect(1, ~0u);
}

/* 0 calls through a pointer, 1 again: a function that is not traced, for some lanes or for all. */
static void a_call_of_what_is_not_traced_goes_on_behind(void **state) {
    (void)state;
    block(0, 1, WP_TRACE_CALL, 0);
    block(1, 2, WP_TRACE_CALL, 0);
    block(2, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    block(3, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    WALK(0x0000ffff, 0, 1, 2);
    WALK(0xffff0000, 0, 3, 1, 2);
    merge.exited = ~0u;
    expect(0, ~0u);
    expect(3, 0xffff0000);
    expect(1, ~0u);
    expect(2, ~0u);
    expect_answer(WPI_MERGE_EXIT, 0);
}

/* Two calls one after the other, each into two functions. */
static void calls_in_a_row_keep_their_depth(void **state) {
    (void)state;
    block(0, 1, WP_TRACE_CALL, 0);
    block(1, 2, WP_TRACE_CALL, 0);
    block(2, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    block(3, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    block(4, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    WALK(0x55555555, 0, 3, 1, 4, 2);
    WALK(0xaaaaaaaa, 0, 4, 1, 3, 2);
    merge.exited = ~0u;
    expect(0, ~0u);
    expect(3, 0x55555555);
    expect(4, 0xaaaaaaaa);
    expect(1, ~0u);
    expect(3, 0xaaaaaaaa);
    expect(4, 0x55555555);
    expect(2, ~0u);
    expect_answer(WPI_MERGE_EXIT, 0);
}

/* 0 calls 0 again (join 1) to different depths. */
static void recursion_of_different_depth_comes_back_together(void **state) {
    (void)state;
    block(2, 5, WP_TRACE_CALL, 0); /* kernel: calls f */
    block(5, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    block(6, WP_TRACE_NONE, WP_TRACE_ISSUE, 0); /* f: if */
    block(7, 8, WP_TRACE_CALL, 0);              /*    calls f */
    block(8, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    block(9, WP_TRACE_NONE, WP_TRACE_RETURN, 0); /*    else */
    WALK(0x0000ffff, 2, 6, 9, 5);
    WALK(0xffff0000, 2, 6, 7, 6, 9, 8, 5);
    merge.exited = ~0u;
    expect(2, ~0u);
    expect(6, ~0u);
    expect(7, 0xffff0000);
    expect(6, 0xffff0000);
    expect(9, 0xffff0000);
    expect(8, 0xffff0000);
    expect(9, 0x0000ffff);
    expect(5, ~0u);
}

static void words_that_are_not_there_yet_are_asked_for(void **state) {
    (void)state;
    block(0, 1, WP_TRACE_ISSUE, 0);
    block(1, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    WALK(~0u, 0);
    expect(0, ~0u);
    expect_answer(WPI_MERGE_NEEDS, 0);
    WALK(0x7fffffff, 1);
    expect_answer(WPI_MERGE_NEEDS, 0);
    WALK(0x80000000, 1);
    merge.exited = ~0u;
    expect(1, ~0u);
    expect_answer(WPI_MERGE_EXIT, 0);
}

/* Lanes of one arm wait (for a lock that lanes of the other hold): the other arm runs. */
static void a_group_that_waits_lets_the_other_run(void **state) {
    (void)state;
    block(0, 3, WP_TRACE_ISSUE, 0);
    block(1, 3, WP_TRACE_ISSUE, 0);
    block(2, 3, WP_TRACE_ISSUE, 0);
    block(3, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    WALK(1, 0, 1);
    WALK(~1u, 0, 2);
    expect(0, ~0u);
    expect(1, 1);
    expect(2, ~1u);
    expect_answer(WPI_MERGE_NEEDS, 0);
    WALK(~0u, 3);
    merge.exited = ~0u;
    expect(3, ~0u);
}

/* Lanes that went on alone are looked at beside others, which are at another row: each group does
 * what its own words say, and they become one where both are at one place. */
static void loose_lanes_are_met_again(void **state) {
    (void)state;
    const uint32_t ahead = 0x0000ffff, behind = 0xffff0000;
    block(0, 2, WP_TRACE_ISSUE, 0);
    block(1, 2, WP_TRACE_ISSUE, 0);
    block(2, 3, WP_TRACE_ISSUE, 0);
    block(3, 4, WP_TRACE_ISSUE, 0);
    block(4, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    WALK(ahead, 0, 2, 3, 4);
    WALK(behind, 0, 1);
    expect(0, ~0u);
    expect(1, behind);
    expect_answer(WPI_MERGE_NEEDS, 0);
    assert_true(wpi_merge_loosen(&merge, 0));
    expect(2, ahead);
    expect(3, ahead);
    WALK(behind, 2, 3, 4);
    merge.exited = ~0u;
    wpi_merge_pass(&merge);
    expect(2, behind);
    expect(3, behind);
    expect(4, ~0u);
    expect_answer(WPI_MERGE_EXIT, 0);
}

/* Four ifs in one another, again and again. In each round a lane stays inside the innermost one,
 * and the others go on without it: what they leave behind must not use up the groups. */
static void groups_that_loose_lanes_leave_behind_are_used_again(void **state) {
    (void)state;
    enum { DEPTH = 4, ROUNDS = 20, JOIN = 10, END = 5 };
    static uint32_t walks[WPI_MERGE_LANES][ROUNDS * 2 * (DEPTH + 1)];
    uint32_t counts[WPI_MERGE_LANES] = {0}, at[WPI_MERGE_LANES] = {0}, number, mask;
    for (uint32_t k = 0; k < DEPTH; k++) {
        block(k, JOIN + k, WP_TRACE_ISSUE, 0);
        block(JOIN + k, k == 0 ? END : JOIN + k - 1, WP_TRACE_ISSUE, 0);
    }
    block(DEPTH, JOIN + DEPTH - 1, WP_TRACE_ISSUE, 0);
    block(END, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    for (uint32_t round = 0; round <= ROUNDS; round++) {
        for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++) {
            const uint32_t from = counts[lane];
            uint32_t back = lane < ROUNDS ? DEPTH : 0;
            if (round < ROUNDS) {
                if (lane < round) continue;
                /* the last lanes go to each of the depths, and return */
                const uint32_t depth = lane == round ? DEPTH : lane < 28 ? 0 : lane - 28;
                for (uint32_t k = 0; k <= depth; k++)
                    walks[lane][counts[lane]++] = k;
                back = lane == round ? 0 : depth + 1;
            }
            while (back-- > 0)
                walks[lane][counts[lane]++] = JOIN + back;
            if (round == ROUNDS) walks[lane][counts[lane]++] = END;
            walk(1u << lane, &walks[lane][from], counts[lane] - from);
        }
        if (round == ROUNDS) merge.exited = ~0u;
        for (;;) {
            const wpi_merge_answer answer =
                wpi_merge_next(&merge, &tables, 0, &number, &mask, addresses);
            for (uint32_t lane = 0; answer == WPI_MERGE_BLOCK && lane < WPI_MERGE_LANES; lane++)
                if ((mask >> lane & 1u) != 0) assert_int_equal(number, walks[lane][at[lane]++]);
            if (answer == WPI_MERGE_BLOCK) continue;
            assert_int_equal(answer, round == ROUNDS ? WPI_MERGE_EXIT : WPI_MERGE_NEEDS);
            if (answer == WPI_MERGE_EXIT || !wpi_merge_loosen(&merge, 0)) break;
        }
        for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++)
            assert_int_equal(at[lane], counts[lane]);
    }
}

static void lanes_at_a_barrier_stay_there(void **state) {
    (void)state;
    block(0, 3, WP_TRACE_ISSUE, 0);
    block(1, 3, WP_TRACE_STOP, 0);
    block(2, 3, WP_TRACE_ISSUE, 0);
    block(3, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
    WALK(1, 0, 1, 3);
    WALK(~1u, 0, 2, 3);
    merge.exited = ~0u;
    expect(0, ~0u);
    expect(1, 1);
    uint32_t number, mask;
    assert_int_equal(wpi_merge_next(&merge, &tables, 1, &number, &mask, addresses),
                     WPI_MERGE_BLOCK);
    assert_int_equal(number, 2);
    expect_answer(WPI_MERGE_NEEDS, 1);
    expect(3, ~0u);
}

/* ---- nested code at random ----
 *
 * A tree of ifs and loops, each with a block before and the block behind as its join. Lanes walk it
 * with decisions of their own. What comes out must be each lane's own walk, and the blocks behind a
 * construct must be executed by all lanes that entered it, at once. */

typedef struct random_code {
    uint64_t random;
    uint32_t block_count;
    uint32_t entered[BLOCKS_MAX]; /* how many times lanes entered a block in all */
} random_code;

static uint32_t new_block(random_code *code) {
    assert_true(code->block_count < BLOCKS_MAX);
    return code->block_count++;
}

static void emit(random_code *code, uint32_t number, uint32_t mask) {
    for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++) {
        if ((mask >> lane & 1u) != 0) write_word(lane, number);
    }
    code->entered[number] += (uint32_t)__builtin_popcount(mask);
}

typedef struct construct {
    uint32_t head, join;
    int32_t parts[2]; /* constructs; -1: a single block */
    uint32_t part_blocks[2];
    bool is_loop;
} construct;

static construct constructs[16];

static uint32_t plan(random_code *code, uint32_t *count, uint32_t depth) {
    const uint32_t c = (*count)++;
    constructs[c] =
        (construct){.parts = {-1, -1}, .is_loop = (wp_random_next(&code->random) >> 40) % 2 == 0};
    constructs[c].head = new_block(code);
    for (uint32_t i = 0; i < 2; i++) {
        constructs[c].part_blocks[i] = new_block(code);
        if (depth != 0 && *count < 12 && (wp_random_next(&code->random) >> 40) % 2 == 0)
            constructs[c].parts[i] = (int32_t)plan(code, count, depth - 1);
    }
    constructs[c].join = new_block(code);
    block(constructs[c].head, constructs[c].join, WP_TRACE_ISSUE, 0);
    /* A part's block goes on to the construct within, or back. */
    for (uint32_t i = 0; i < 2; i++) {
        const int32_t inner = constructs[c].parts[i];
        const uint32_t back =
            constructs[c].is_loop && i == 0 ? constructs[c].head : constructs[c].join;
        const uint32_t next = inner >= 0 ? constructs[inner].head : back;
        block(constructs[c].part_blocks[i], next, WP_TRACE_ISSUE, 0);
        if (inner >= 0) block(constructs[inner].join, back, WP_TRACE_ISSUE, 0);
    }
    return c;
}

static void take(random_code *code, uint32_t c, uint32_t mask);

static void take_part(random_code *code, uint32_t c, uint32_t i, uint32_t mask) {
    if (mask == 0) return;
    emit(code, constructs[c].part_blocks[i], mask);
    if (constructs[c].parts[i] >= 0) take(code, (uint32_t)constructs[c].parts[i], mask);
}

static void take(random_code *code, uint32_t c, uint32_t mask) {
    emit(code, constructs[c].head, mask);
    if (!constructs[c].is_loop) {
        const uint32_t chosen = (uint32_t)(wp_random_next(&code->random) >> 20) & mask;
        take_part(code, c, 0, chosen);
        take_part(code, c, 1, mask & ~chosen);
    } else {
        uint32_t left = mask;
        for (uint32_t turn = 0; turn < 3; turn++) {
            left &= (uint32_t)(wp_random_next(&code->random) >> 20);
            if (left == 0) break;
            take_part(code, c, 0, left);
            emit(code, constructs[c].head, left);
        }
    }
    emit(code, constructs[c].join, mask);
}

static void nested_code_comes_out_as_each_lane_walked_it(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        begin(NULL);
        random_code code = {.random = seed * 0x9e3779b97f4a7c15u};
        uint32_t count = 0;
        const uint32_t top = plan(&code, &count, 3);
        block(constructs[top].join, WP_TRACE_NONE, WP_TRACE_RETURN, 0);
        take(&code, top, ~0u);
        merge.exited = ~0u;
        const uint64_t *at[WPI_MERGE_LANES];
        for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++)
            at[lane] = &words[0][lane];
        uint32_t number, mask, last_mask = 0;
        while (wpi_merge_next(&merge, &tables, 0, &number, &mask, addresses) == WPI_MERGE_BLOCK) {
            for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++) {
                if ((mask >> lane & 1u) == 0) continue;
                if (*at[lane] != number)
                    fail_msg("seed %u: lane %u is not at block %u", seed, lane, number);
                at[lane] += WP_TRACE_STRIDE;
            }
            last_mask = mask;
        }
        for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++)
            assert_ptr_equal(at[lane], lanes[lane].lane.cursor);
        assert_int_equal(number, constructs[top].join);
        if (last_mask != ~0u) fail_msg("seed %u: at the end only 0x%08x meet", seed, last_mask);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lanes_that_go_together_are_one_warp, begin),
        cmocka_unit_test_setup(arms_of_a_branch_run_one_after_the_other_and_meet, begin),
        cmocka_unit_test_setup(lanes_leave_a_loop_one_by_one_and_wait_behind_it, begin),
        cmocka_unit_test_setup(a_lane_that_returns_early_is_not_waited_for, begin),
        cmocka_unit_test_setup(an_indirect_call_parts_lanes_until_it_returns, begin),
        cmocka_unit_test_setup(a_call_of_what_is_not_traced_goes_on_behind, begin),
        cmocka_unit_test_setup(calls_in_a_row_keep_their_depth, begin),
        cmocka_unit_test_setup(recursion_of_different_depth_comes_back_together, begin),
        cmocka_unit_test_setup(words_that_are_not_there_yet_are_asked_for, begin),
        cmocka_unit_test_setup(a_group_that_waits_lets_the_other_run, begin),
        cmocka_unit_test_setup(loose_lanes_are_met_again, begin),
        cmocka_unit_test_setup(groups_that_loose_lanes_leave_behind_are_used_again, begin),
        cmocka_unit_test_setup(lanes_at_a_barrier_stay_there, begin),
        cmocka_unit_test(nested_code_comes_out_as_each_lane_walked_it),
    };
    return wp_test_main(tests);
}
