/* SPDX-License-Identifier: Apache-2.0 */
/* An access that is alone takes the sum of the parameters on its way. In cycles of 1 ns. */
#include "sim_rig.h"

#define LSU 10u
#define TLB1 1u
#define TLB2 9u
#define WALK (4 * 50u)
#define L1 20u
#define L2 100u
#define DRAM 80u
#define ROW 30u

static void each_way_takes_the_sum_of_its_stations(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    const uint64_t page = 64 * 1024;
    const struct {
        const char *what;
        uint32_t sm;
        uint64_t address;
        uint64_t cycles;
    } steps[] = {
        {"all misses", 0, 0, LSU + TLB1 + TLB2 + WALK + L1 + L2 + DRAM + ROW},
        {"all hits", 0, 0, LSU + TLB1 + L1},
        {"another sector of the line", 0, 32, LSU + TLB1 + L1 + L2 + DRAM},
        {"another SM: first TLB and L1 miss", 1, 0, LSU + TLB1 + TLB2 + L1 + L2},
        {"another page", 0, page, LSU + TLB1 + TLB2 + WALK + L1 + L2 + DRAM + ROW},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        print_message("%s\n", steps[i].what);
        assert_u64(rig_time(&r, steps[i].sm, WP_TRACE_LOAD, steps[i].address),
                   steps[i].cycles * WP_PS_PER_NS);
    }
    rig_close(&r);
}

static void without_l1_its_latency_is_not_paid(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, "l1.on=off", );
    assert_u64(rig_time(&r, 0, WP_TRACE_LOAD, 0),
               (LSU + TLB1 + TLB2 + WALK + L2 + DRAM + ROW) * WP_PS_PER_NS);
    assert_u64(rig_time(&r, 0, WP_TRACE_LOAD, 0), (LSU + TLB1 + L2) * WP_PS_PER_NS);
    rig_close(&r);
}

static void a_store_is_answered_when_it_is_translated(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    assert_u64(rig_time(&r, 0, WP_TRACE_STORE, 0), (LSU + TLB1 + TLB2 + WALK) * WP_PS_PER_NS);
    assert_u64(rig_time(&r, 0, WP_TRACE_STORE, 64), (LSU + TLB1) * WP_PS_PER_NS);
    rig_close(&r);
}

static void a_fence_waits_for_the_stores_before_it(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    rig_issue(&r, 0, WP_TRACE_STORE, 1, 0, 0, 0);
    wpi_memory_fence(r.memory, 0, 0, rig_note, &r, 0);
    wpi_engine_run(r.engine);
    assert_u64(r.answers, 2);
    assert_u64(r.last.answered, (LSU + TLB1 + TLB2 + WALK + L2 / 2) * WP_PS_PER_NS);
    /* None is under way: at once. */
    wpi_memory_fence(r.memory, 0, wpi_engine_now(r.engine), rig_note, &r, 0);
    wpi_engine_run(r.engine);
    assert_u64(r.last.answered, r.last.issued);
    rig_close(&r);
}

static void atomics_on_one_address_take_turns(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    (void)rig_time(&r, 0, WP_TRACE_ATOMIC, 0);
    assert_u64(rig_time(&r, 0, WP_TRACE_ATOMIC, 0), (LSU + TLB1 + L2 + 2) * WP_PS_PER_NS);
    rig_issue(&r, 0, WP_TRACE_ATOMIC, 0xffffffff, 0, 0, wpi_engine_now(r.engine));
    wpi_engine_run(r.engine);
    assert_u64(r.last.answered - r.last.issued, (LSU + TLB1 + L2 + 32 * 2) * WP_PS_PER_NS);
    /* Eight warps at once: 256 turns, and the LSU's cycle of each. */
    const wpi_time_ps begin = wpi_engine_now(r.engine);
    for (int warp = 0; warp < 8; warp++)
        rig_issue(&r, 0, WP_TRACE_ATOMIC, 0xffffffff, 0, 0, begin);
    wpi_engine_run(r.engine);
    assert_u64(r.last.answered - begin, (LSU + TLB1 + L2 + 256 * 2) * WP_PS_PER_NS);
    rig_close(&r);
}

static void host_memory_is_across_the_link(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    wpi_memory_set_host_range(r.memory, 1 << 30, 2u << 30);
    assert_u64(rig_time(&r, 0, WP_TRACE_LOAD, 1 << 30),
               (LSU + TLB1 + TLB2 + WALK + L1 + L2 + 500) * WP_PS_PER_NS);
    assert_u64(r.last.spent_ps[WPI_SPENT_LINK], 500 * WP_PS_PER_NS);
    assert_u64(rig_count(&r, "link.to_device.remote"), 32);
    rig_close(&r);
}

/* Copies that come after it wait for the 2 ns that it has the link. */
static void accesses_to_host_memory_do_not_wait_for_copies(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, "link.latency=0ns", );
    const uint64_t bytes = 16000; /* 1 us */
    wpi_memory_set_host_range(r.memory, 1 << 30, 2u << 30);
    for (int i = 0; i < 3; i++)
        wpi_memory_copy(r.memory, bytes, WPI_DIRECTION_TO_DEVICE, 0, rig_note, &r, 0);
    rig_issue(&r, 0, WP_TRACE_LOAD, 1, 1 << 30, 0, 0);
    wpi_engine_run_until(r.engine, 900 * WP_PS_PER_NS);
    assert_u64(r.answers, 1);
    assert_u64(r.last.answered, (LSU + TLB1 + TLB2 + WALK + L1 + L2 + 500) * WP_PS_PER_NS);
    wpi_memory_copy(r.memory, bytes, WPI_DIRECTION_TO_DEVICE, wpi_engine_now(r.engine), rig_note,
                    &r, 0);
    wpi_engine_run(r.engine);
    assert_u64(r.last.answered, 4002 * WP_PS_PER_NS);
    rig_close(&r);
}

static void accesses_to_host_memory_may_take_turns(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, "link.remote_turn=100ns", );
    wpi_memory_set_host_range(r.memory, 1 << 30, 2u << 30);
    for (uint32_t i = 0; i < 4; i++)
        rig_issue(&r, i, WP_TRACE_LOAD, 1, (1 << 30) + 4096 * i, 0, 0);
    wpi_engine_run(r.engine);
    assert_u64(r.answers, 4);
    assert_u64(r.last.answered,
               (LSU + TLB1 + TLB2 + WALK + L1 + L2 + 3 * 100 + 500) * WP_PS_PER_NS);
    rig_close(&r);
}

static void the_account_names_the_stations(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    (void)rig_time(&r, 0, WP_TRACE_LOAD, 0);
    const uint64_t expected[WPI_SPENT_COUNT] = {[WPI_SPENT_ISSUE] = LSU,
                                                [WPI_SPENT_TRANSLATION] = TLB1 + TLB2 + WALK,
                                                [WPI_SPENT_L1] = L1,
                                                [WPI_SPENT_L2] = L2,
                                                [WPI_SPENT_DRAM] = DRAM + ROW};
    for (uint32_t i = 0; i < WPI_SPENT_COUNT; i++) {
        print_message("%s\n", wpi_spent_name((wpi_spent)i));
        assert_u64(r.last.spent_ps[i], expected[i] * WP_PS_PER_NS);
    }
    rig_close(&r);
}

static void the_walk_cache_spares_all_levels_but_the_last(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, "walker.cache_entries=16", "walker.cache_latency=5cycles", );
    (void)rig_time(&r, 0, WP_TRACE_LOAD, 0);
    (void)rig_time(&r, 0, WP_TRACE_LOAD, 64 * 1024);
    assert_u64(r.last.spent_ps[WPI_SPENT_TRANSLATION], (TLB1 + TLB2 + 5 + 50) * WP_PS_PER_NS);
    /* A page of another leaf table (512 pages further on): two reads. */
    (void)rig_time(&r, 0, WP_TRACE_LOAD, 512 * 64 * 1024);
    assert_u64(r.last.spent_ps[WPI_SPENT_TRANSLATION], (TLB1 + TLB2 + 5 + 2 * 50) * WP_PS_PER_NS);
    rig_close(&r);
}

typedef struct performed_lanes {
    rig rig; /* first */
    uint32_t lanes[4];
    wpi_time_ps at[4];
    uint32_t count;
} performed_lanes;

static void note_performed(void *object, uint32_t lanes, wpi_time_ps now) {
    performed_lanes *seen = object;
    assert_true(seen->count < 4);
    seen->lanes[seen->count] = lanes;
    seen->at[seen->count++] = now;
}

/* Half of the lanes on one line, half on the next: each line's when it gets to L2. */
static void lanes_are_told_when_their_line_gets_to_l2(void **state) {
    (void)state;
    const struct {
        uint8_t kind, cache;
    } accesses[] = {{WP_TRACE_ATOMIC, WP_TRACE_CACHE_ALL},
                    {WP_TRACE_LOAD, WP_TRACE_CACHE_VOLATILE},
                    {WP_TRACE_LOAD, WP_TRACE_CACHE_GLOBAL}};
    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++) {
        performed_lanes seen = {.count = 0};
        RIG_OPEN(&seen.rig, );
        uint64_t addresses[WPI_LANES];
        for (uint32_t lane = 0; lane < WPI_LANES; lane++)
            addresses[lane] = lane / 16 * 128 + lane % 16 * 4;
        const wpi_access access = {.kind = accesses[i].kind,
                                   .cache = accesses[i].cache,
                                   .size_bytes = 4,
                                   .mask = 0xffff7fff,
                                   .addresses = addresses,
                                   .performed = note_performed};
        (void)wpi_memory_access(seen.rig.memory, &access, 0, rig_note, &seen, 0);
        wpi_engine_run(seen.rig.engine);
        const wpi_time_ps first = LSU + TLB1 + TLB2 + WALK + L2 / 2;
        assert_u64(seen.count, 2);
        assert_u64(seen.lanes[0], 0x7fff);
        assert_u64(seen.lanes[1], 0xffff0000);
        assert_u64(seen.at[0], first * WP_PS_PER_NS);
        assert_true(seen.at[1] >= seen.at[0] && seen.at[1] < seen.rig.last.answered);
        rig_close(&seen.rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_told_when_their_line_gets_to_l2),
        cmocka_unit_test(each_way_takes_the_sum_of_its_stations),
        cmocka_unit_test(without_l1_its_latency_is_not_paid),
        cmocka_unit_test(a_store_is_answered_when_it_is_translated),
        cmocka_unit_test(a_fence_waits_for_the_stores_before_it),
        cmocka_unit_test(atomics_on_one_address_take_turns),
        cmocka_unit_test(host_memory_is_across_the_link),
        cmocka_unit_test(accesses_to_host_memory_do_not_wait_for_copies),
        cmocka_unit_test(accesses_to_host_memory_may_take_turns),
        cmocka_unit_test(the_account_names_the_stations),
        cmocka_unit_test(the_walk_cache_spares_all_levels_but_the_last),
    };
    return wp_test_main(tests);
}
