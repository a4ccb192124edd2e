/* SPDX-License-Identifier: Apache-2.0 */
/** Warp operations of words have the results of requests: random operations, operands, and ways in
 * which threads reach them. */
#include "cpu_program.h"

#define FULL 0xffffffffu
#define THREADS_MOST 96u

typedef enum way { LEAVES, FIRST_STOP, SECOND_STOP } way;

typedef struct words_case {
    uint32_t op;
    uint64_t b; /* … of the region: maybe with WP_WORDS_OWN_LANES */
    way ways[THREADS_MOST];
    uint32_t values[THREADS_MOST], lanes[THREADS_MOST];
} words_case;

static void give(wp_cpu_block *b, const words_case *c, uint32_t t) {
    b->words[t] = c->values[t];
    b->lane_words[t] = c->lanes[t];
}

static void ask(wp_cpu_block *b, const words_case *c, uint32_t t) {
    const bool has_lane = (c->b & WP_WORDS_OWN_LANES) != 0;
    b->requests[t] = (wp_cpu_request){.op = c->op,
                                      .mask = FULL,
                                      .a = c->values[t],
                                      .b = has_lane ? (c->b >> 32 << 32) + c->lanes[t] : c->b};
}

/* In words, or in requests: the kernel's third argument says which. */
static uint32_t part_ways(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    const words_case *c = ARG(b, 1, const words_case *);
    for (uint32_t t = first; t < outer; t++) {
        if (ARG(b, 2, uint64_t) != 0)
            give(b, c, t);
        else
            ask(b, c, t);
        b->states[t] = c->ways[t] == LEAVES ? WP_STATE_EXIT : (uint32_t)c->ways[t];
    }
    return WP_STATE_MIXED;
}

static uint32_t keep(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++)
        ARG(b, 0, uint32_t *)
    [t] = ARG(b, 2, uint64_t) != 0 ? b->words[t] : (uint32_t)b->requests[t].result;
    return WP_STATE_EXIT;
}

/* All states in one function, as compiled code has it where threads stay together. */
static uint32_t keep_whole(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    const words_case *c = ARG(b, 1, const words_case *);
    for (uint32_t t = first; t < outer; t++)
        give(b, c, t);
    wp_rt_warps(b, c->op, c->b);
    return keep(b, first, outer);
}

static void run_case(const wp_cpu_kernel *code, const words_case *c, uint32_t threads,
                     uint64_t in_words, uint32_t *out) {
    wp_error err = {0};
    uint32_t *to = out;
    memset(out, 0xee, THREADS_MOST * sizeof *out);
    assert_status_ok(run_once("1", code, 1, threads, (void *[]){&to, &c, &in_words}, &err), &err);
}

static uint64_t seed = 1;

static uint32_t random_below(uint32_t bound) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % bound;
}

static uint32_t random_op(void) {
    static const uint32_t ops[] = {WP_STOP_WARP_SYNC,   WP_STOP_SHFL_IDX,    WP_STOP_SHFL_UP,
                                   WP_STOP_SHFL_DOWN,   WP_STOP_SHFL_BFLY,   WP_STOP_VOTE_ALL,
                                   WP_STOP_VOTE_ANY,    WP_STOP_VOTE_UNI,    WP_STOP_VOTE_BALLOT,
                                   WP_STOP_REDUX_ADD,   WP_STOP_REDUX_MIN_S, WP_STOP_REDUX_MAX_S,
                                   WP_STOP_REDUX_MIN_U, WP_STOP_REDUX_MAX_U, WP_STOP_REDUX_AND,
                                   WP_STOP_REDUX_OR,    WP_STOP_REDUX_XOR};
    return ops[random_below(COUNT_OF(ops))] | (random_below(4) == 0 ? WP_STOP_FLAG_ACTIVE : 0);
}

static bool is_shuffle(uint32_t op) {
    return WP_STOP_KIND(op) >= WP_STOP_SHFL_IDX && WP_STOP_KIND(op) <= WP_STOP_SHFL_BFLY;
}

/* A lane or distance, or each thread its own, and a width of 1 to 32 lanes. */
static uint64_t random_operand(uint32_t op) {
    const uint32_t width = 1u << random_below(6);
    const uint32_t clamp = WP_STOP_KIND(op) == WP_STOP_SHFL_UP ? 0 : 31;
    const uint32_t lane = random_below(3) == 0 ? WP_WORDS_OWN_LANES : random_below(32);
    return lane | (uint64_t)(clamp | (32 - width) << 8) << 32;
}

/* Most words are 0 or all are: votes then differ. */
static uint32_t random_value(uint32_t kind) {
    if (kind == 0) return 0;
    if (kind == 1) return random_below(2);
    return random_below(UINT32_MAX);
}

static way random_way(uint32_t kind, uint32_t t, uint32_t cut) {
    switch (kind) {
    case 0: return FIRST_STOP;
    case 1: return t < cut ? FIRST_STOP : LEAVES;
    case 2: return t < cut ? FIRST_STOP : SECOND_STOP;
    case 3: return t % 3 == 0 ? LEAVES : FIRST_STOP;
    default: return (way)random_below(3);
    }
}

static void compare(const words_case *c, uint32_t threads) {
    uint32_t expected[THREADS_MOST], got[THREADS_MOST];
    const wp_cpu_region asking[] = {REGION(part_ways, WP_STOP_NONE, 0), REGION(keep, c->op, 0),
                                    REGION(keep, c->op, 0)};
    wp_cpu_region alike[] = {REGION(part_ways, WP_STOP_NONE, 0),
                             REGION(keep, c->op, WP_CPU_REGION_ALIKE),
                             REGION(keep, c->op, WP_CPU_REGION_ALIKE)};
    alike[1].b = alike[2].b = c->b;
    const wp_cpu_kernel by_requests = REGION_KERNEL("asks", asking, 3, 0, WP_CPU_KERNEL_WARP);
    const wp_cpu_kernel by_words =
        REGION_KERNEL("alike", alike, 3, 0, WP_CPU_KERNEL_WARP | WP_CPU_KERNEL_WORDS);
    run_case(&by_requests, c, threads, 0, expected);
    run_case(&by_words, c, threads, 1, got);
    if (WP_STOP_KIND(c->op) == WP_STOP_WARP_SYNC)
        return; /* it has no result, and came to its end */
    assert_memory_equal(got, expected, sizeof got);
}

static void words_have_the_results_of_requests(void **state) {
    (void)state;
    enum { CASES = 1500 };
    for (uint32_t i = 0; i < CASES; i++) {
        const uint32_t threads = 1 + random_below(THREADS_MOST);
        const uint32_t ways = random_below(5), cut = random_below(threads) + 1;
        const uint32_t values = random_below(3);
        words_case c = {.op = random_op()};
        if (is_shuffle(c.op)) c.b = random_operand(c.op);
        for (uint32_t t = 0; t < threads; t++) {
            c.ways[t] = random_way(ways, t, cut);
            c.values[t] = random_value(values);
            c.lanes[t] = random_below(40);
        }
        compare(&c, threads);
    }
}

static void a_block_may_perform_them_itself(void **state) {
    (void)state;
    enum { CASES = 300 };
    for (uint32_t i = 0; i < CASES; i++) {
        uint32_t expected[THREADS_MOST], got[THREADS_MOST];
        const uint32_t threads = 1 + random_below(THREADS_MOST);
        words_case c = {.op = random_op()};
        if (is_shuffle(c.op)) c.b = random_operand(c.op);
        for (uint32_t t = 0; t < threads; t++) {
            c.ways[t] = FIRST_STOP;
            c.values[t] = random_value(i % 3);
            c.lanes[t] = random_below(40);
        }
        const wp_cpu_region asking[] = {REGION(part_ways, WP_STOP_NONE, 0), REGION(keep, c.op, 0)};
        const wp_cpu_region one[] = {REGION(keep_whole, WP_STOP_NONE, 0)};
        const wp_cpu_kernel by_requests = REGION_KERNEL("asks", asking, 3, 0, WP_CPU_KERNEL_WARP);
        wp_cpu_kernel whole = REGION_KERNEL("whole", one, 3, 0, WP_CPU_KERNEL_WORDS);
        run_case(&by_requests, &c, threads, 0, expected);
        run_case(&whole, &c, threads, 1, got);
        if (WP_STOP_KIND(c.op) != WP_STOP_WARP_SYNC) assert_memory_equal(got, expected, sizeof got);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_the_results_of_requests),
        cmocka_unit_test(a_block_may_perform_them_itself),
    };
    return wp_test_main(tests);
}
