/* SPDX-License-Identifier: Apache-2.0 */
/* SMs against arithmetic: how many CTAs fit, what issue and latency take, that divergence
 * serialises, who gets the turn, that stores do not pile up, that CTAs which wait make room. Cycles
 * of 1 ns. */
#include "base/abi.h"
#include "device/device.h"
#include "sim/engine/reserve.h"
#include "sim_script.h"

#define ALL (~0u)

/* FP32: 6 cycles of latency, a warp a cycle of each of 4 schedulers. */
#define ONE_SM                                                                                     \
    "floorplan.gpcs=1", "floorplan.tpcs=1", "floorplan.sms=1", "sm.schedulers=4",                  \
        "class.fp32.latency=6cycles", "class.fp32.lanes=128", "class.int.latency=4cycles",         \
        "class.int.lanes=128", "class.sync.latency=20cycles", "sm.warps=64", "sm.ctas=32",         \
        "sm.threads=2048", "sm.registers=65536", "sm.register_granule=256", "shared.bytes=96KiB",  \
        "shared.cta_bytes=48KiB", "shared.granule=256B"

#define NO_TLB                                                                                     \
    "page.bytes=2MiB", "tlb.levels=1", "tlb.l1.entries=64", "tlb.l1.latency=0cycles",              \
        "walker.level_latency=0cycles", "walker.count=0"

enum { CHAIN, FREE, HALF, BARRIER, LOAD, STORE, SHORT, MIXED, BLOCK_COUNT };

static const wp_trace_step steps[] = {
    {.op = WP_TRACE_ISSUE, .class = WP_TRACE_FP32, .count = 100, .chain = 100},
    {.op = WP_TRACE_ISSUE, .class = WP_TRACE_FP32, .count = 1000, .chain = 1},
    {.op = WP_TRACE_ISSUE, .class = WP_TRACE_FP32, .count = 50, .chain = 50},
    {.op = WP_TRACE_ISSUE, .class = WP_TRACE_SYNC, .count = 1, .chain = 1},
    {.op = WP_TRACE_STOP, .value = WP_STOP_BARRIER},
    {.op = WP_TRACE_ACCESS, .value = 0},
    {.op = WP_TRACE_WAIT, .value = 0},
    {.op = WP_TRACE_ACCESS, .value = 1},
    {.op = WP_TRACE_ISSUE, .class = WP_TRACE_INT, .count = 4, .chain = 1},
    {.op = WP_TRACE_ISSUE, .class = WP_TRACE_FP32, .count = 1000, .chain = 1},
    {.op = WP_TRACE_ISSUE, .class = WP_TRACE_INT, .count = 1000, .chain = 1},
};

static const wp_trace_block blocks[BLOCK_COUNT] = {
    [CHAIN] = {.first_step = 0, .step_count = 1},
    [FREE] = {.first_step = 1, .step_count = 1},
    [HALF] = {.first_step = 2, .step_count = 1},
    [BARRIER] = {.first_step = 3, .step_count = 2},
    [LOAD] = {.first_step = 5, .step_count = 2, .access_count = 1},
    [STORE] = {.first_step = 7, .step_count = 1, .access_count = 1},
    [SHORT] = {.first_step = 8, .step_count = 1},
    [MIXED] = {.first_step = 9, .step_count = 2},
};

static const wp_trace_site sites[] = {
    {.access = WP_TRACE_LOAD,
     .space = WP_TRACE_GLOBAL,
     .cache = WP_TRACE_CACHE_GLOBAL,
     .size_bytes = 4},
    {.access = WP_TRACE_STORE, .space = WP_TRACE_GLOBAL, .size_bytes = 4},
};

static const wp_trace_tables tables = {.version = WP_TRACE_VERSION,
                                       .block_count = BLOCK_COUNT,
                                       .step_count = sizeof steps / sizeof steps[0],
                                       .site_count = 2,
                                       .blocks = blocks,
                                       .steps = steps,
                                       .sites = sites};

static script *new_script(const script_stop *path, uint32_t length, uint64_t ctas, uint32_t warps) {
    script *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->source = (wpi_warp_source){.tables = &tables,
                                  .cta_count = ctas,
                                  .warps_per_cta = warps,
                                  .threads_per_cta = warps * WPI_LANES,
                                  .registers_per_thread = 16};
    s->path = path;
    s->path_length = length;
    s->stride = 4;
    return s;
}

static wpi_time_ps time_of(const script_stop *path, uint32_t length, uint64_t ctas,
                           uint32_t warps) {
    rig r;
    RIG_OPEN(&r, ONE_SM, );
    script *s = new_script(path, length, ctas, warps);
    const wpi_time_ps time = script_run(&r, s);
    free(s);
    rig_close(&r);
    return time;
}

static void a_chain_takes_its_latency_and_free_instructions_their_slots(void **state) {
    (void)state;
    const script_stop chain[] = {{CHAIN, ALL}}, free_ones[] = {{FREE, ALL}};
    assert_u64(time_of(chain, 1, 1, 1), 100 * 6 * WP_PS_PER_NS);
    /* Latency is hidden: the slots of 4 schedulers are what 8 warps share. */
    assert_u64(time_of(chain, 1, 1, 8), 100 * 6 * WP_PS_PER_NS + 100 * WP_PS_PER_NS);
    assert_u64(time_of(free_ones, 1, 1, 1), 1000 * WP_PS_PER_NS);
    assert_u64(time_of(free_ones, 1, 1, 4), 1000 * WP_PS_PER_NS);
    assert_u64(time_of(free_ones, 1, 1, 32), 8 * 1000 * WP_PS_PER_NS);
}

/* 1000 instructions of either class, each of which its units take two cycles for: as on a V100,
 * whose integer cores work beside the FP32 cores; as on a P100, where these are the same; and with
 * no pipes, where the scheduler waits for its units. */
static void classes_in_different_pipes_work_beside_each_other(void **state) {
    (void)state;
    static const struct {
        const char *pipes, *of_fp32, *of_int;
        uint32_t warps;
        uint64_t expected_ns;
    } cases[] = {
        {"sm.pipes=on", "class.fp32.pipe=fma", "class.int.pipe=alu", 4, 2000},
        {"sm.pipes=on", "class.fp32.pipe=fma", "class.int.pipe=alu", 8, 2 * 2000},
        {"sm.pipes=on", "class.fp32.pipe=fma", "class.int.pipe=fma", 4, 4000},
        {"sm.pipes=on", "class.fp32.pipe=fma", "class.int.pipe=fma", 8, 2 * 4000},
        {"sm.pipes=on", "class.fp32.pipe=issue", "class.int.pipe=issue", 4, 4000},
        {"sm.pipes=off", "class.fp32.pipe=fma", "class.int.pipe=alu", 4, 4000},
    };
    const script_stop mixed[] = {{MIXED, ALL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig r;
        RIG_OPEN(&r, ONE_SM, "class.fp32.lanes=64", "class.int.lanes=64", cases[i].pipes,
                 cases[i].of_fp32, cases[i].of_int, );
        script *s = new_script(mixed, 1, 1, cases[i].warps);
        assert_u64(script_run(&r, s), cases[i].expected_ns * WP_PS_PER_NS);
        free(s);
        rig_close(&r);
    }
}

/* A scheduler of width 2 issues at most every second instruction beside the one before; eight warps
 * share its slots. Machine code would say itself which do: the steps here are of an estimate. */
static void some_instructions_of_an_estimate_issue_in_pairs(void **state) {
    (void)state;
    static const struct {
        const char *width, *pairs;
        uint64_t expected_ns;
    } cases[] = {
        {"sm.issue_width=1", "sm.pairs=100%", 8000}, {"sm.issue_width=2", "sm.pairs=100%", 4000},
        {"sm.issue_width=2", "sm.pairs=50%", 4000},  {"sm.issue_width=2", "sm.pairs=20%", 6400},
        {"sm.issue_width=2", "sm.pairs=0%", 8000},
    };
    const script_stop free_ones[] = {{FREE, ALL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig r;
        RIG_OPEN(&r, ONE_SM, "class.fp32.lanes=256", "class.fp32.pipe=fma", cases[i].width,
                 cases[i].pairs, );
        script *s = new_script(free_ones, 1, 1, 32);
        assert_u64(script_run(&r, s), cases[i].expected_ns * WP_PS_PER_NS);
        free(s);
        rig_close(&r);
    }
}

/* From the first one on, 1000 instructions take a warp 500 turns of all that go on; where those are
 * few it is the scheduler's slots that count. The second half of 8 warps has its first one 1000
 * slots later. */
static void instructions_are_fetched_for_one_warp_at_a_time(void **state) {
    (void)state;
    const script_stop free_ones[] = {{FREE, ALL}};
    const uint64_t expected_ns[] = {1000, 1000, 1000 + 8 * 500};
    const uint32_t warps[] = {1, 2, 8};
    for (uint32_t i = 0; i < 3; i++) {
        rig r;
        RIG_OPEN(&r, ONE_SM, "sm.fetch_width=2", );
        script *s = new_script(free_ones, 1, 1, warps[i]);
        assert_u64(script_run(&r, s), expected_ns[i] * WP_PS_PER_NS);
        free(s);
        rig_close(&r);
    }
}

/* Four SMs with a chain of 600 ns each; the last begins three skews after the first. */
static void sms_begin_one_after_the_other(void **state) {
    (void)state;
    const script_stop chain[] = {{CHAIN, ALL}};
    rig r;
    RIG_OPEN(&r, ONE_SM, "floorplan.tpcs=4", "gpu.sm_skew=7ns", );
    script *s = new_script(chain, 1, 8, 1);
    assert_u64(script_run(&r, s), (600 + 3 * 7) * WP_PS_PER_NS);
    free(s);
    rig_close(&r);
}

/* CTAs of a chain of 600 ns begin 500 ns after the kernel, 3 ns apart, whatever their SM. On one SM
 * with room for 4 CTAs, the fifth takes the place of the first, at 500 + 600 ns. */
static void a_kernel_takes_its_overhead_and_starts_ctas_in_turn(void **state) {
    (void)state;
    static const struct {
        const char *tpcs, *ctas_per_sm;
        uint64_t ctas, expected_ns;
    } cases[] = {
        {"floorplan.tpcs=1", "sm.ctas=32", 1, 500 + 600},
        {"floorplan.tpcs=1", "sm.ctas=32", 4, 500 + 3 * 3 + 600},
        {"floorplan.tpcs=4", "sm.ctas=32", 8, 500 + 7 * 3 + 600},
        {"floorplan.tpcs=1", "sm.ctas=4", 8, 500 + 3 * 3 + 2 * 600},
    };
    const script_stop chain[] = {{CHAIN, ALL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig r;
        RIG_OPEN(&r, ONE_SM, cases[i].tpcs, cases[i].ctas_per_sm, "gpu.kernel_overhead=500ns",
                 "gpu.cta_interval=3ns", );
        script *s = new_script(chain, 1, cases[i].ctas, 1);
        assert_u64(script_run(&r, s), cases[i].expected_ns * WP_PS_PER_NS);
        free(s);
        rig_close(&r);
    }
}

/* Two launches of six CTAs on four SMs, each of which has room for all: the SMs they come to. */
static void expect_places(const char *placement, const char *first, const char *second) {
    const script_stop chain[] = {{CHAIN, ALL}};
    const char *const expected[] = {first, second};
    wp_error err = {0};
    wpi_gpu *gpu;
    rig r;
    RIG_OPEN(&r, ONE_SM, "floorplan.tpcs=4", placement, );
    assert_status_ok(wpi_gpu_create(r.profile, r.engine, r.memory, &gpu, &err), &err);
    for (int launch = 0; launch < 2; launch++) {
        script *s = new_script(chain, 1, 6, 1);
        (void)script_launch(&r, gpu, s);
        for (uint32_t cta = 0; cta < 6; cta++)
            assert_int_equal(s->placed[cta], expected[launch][cta] - '0');
        free(s);
    }
    wpi_gpu_destroy(gpu);
    rig_close(&r);
}

static void ctas_go_to_sms_in_turn_or_fill_one(void **state) {
    (void)state;
    expect_places("gpu.cta_placement=round-robin", "012301", "012301");
    expect_places("gpu.cta_placement=rotate", "123012", "301230");
    expect_places("gpu.cta_placement=fill", "000000", "000000");
}

static void divergence_serialises(void **state) {
    (void)state;
    const script_stop together[] = {{CHAIN, ALL}, {HALF, ALL}, {CHAIN, ALL}};
    const script_stop apart[] = {{CHAIN, ALL}, {HALF, 0xffff}, {HALF, 0xffff0000}, {CHAIN, ALL}};
    assert_u64(time_of(together, 3, 1, 1), (100 + 50 + 100) * 6 * WP_PS_PER_NS);
    assert_u64(time_of(apart, 4, 1, 1), (100 + 2 * 50 + 100) * 6 * WP_PS_PER_NS);

    rig r;
    RIG_OPEN(&r, ONE_SM, );
    script *s = new_script(apart, 4, 1, 1);
    (void)script_run(&r, s);
    assert_u64(s->numbers.warp_instructions, 100 + 50 + 50 + 100);
    assert_u64(s->numbers.thread_instructions, 32 * 100 + 16 * 50 + 16 * 50 + 32 * 100);
    free(s);
    rig_close(&r);
}

static void a_barrier_waits_for_the_last(void **state) {
    (void)state;
    /* 8 warps on 4 schedulers: the second of each comes 100 slots later, all leave together. */
    const script_stop path[] = {{CHAIN, ALL}, {BARRIER, ALL}, {CHAIN, ALL}};
    const wpi_time_ps alone = time_of(path, 3, 1, 1), eight = time_of(path, 3, 1, 8);
    assert_u64(alone, (100 * 6 + 20 + 100 * 6) * WP_PS_PER_NS);
    assert_u64(eight, alone + 2 * 100 * WP_PS_PER_NS);
}

/* ---- occupancy ---- */

/* NVIDIA's rule, as its calculator has it: a warp's registers in units, each scheduler has its own
 * share of the register file, shared memory in units. */
static uint64_t calculated(uint32_t threads, uint32_t registers, uint32_t shared_bytes) {
    const uint64_t warps = (threads + 31) / 32;
    uint64_t ctas = 64 / warps < 32 ? 64 / warps : 32;
    if (2048 / threads < ctas) ctas = 2048 / threads;
    const uint64_t of_a_warp = (registers * 32 + 255) / 256 * 256;
    const uint64_t by_registers = 65536 / 4 / of_a_warp * 4 / warps;
    if (by_registers < ctas) ctas = by_registers;
    const uint64_t shared = (shared_bytes + 255) / 256 * 256;
    if (shared != 0 && 96 * 1024 / shared < ctas) ctas = 96 * 1024 / shared;
    return ctas;
}

/* What the same GPU answers to a program that asks (cudaOccupancyMaxActiveBlocksPerMultiprocessor).
 */
static uint32_t queried(uint32_t threads, uint32_t registers, uint32_t shared_bytes) {
    const wp_device_info device = {.threads_per_block_max = 1024,
                                   .threads_per_sm_max = 2048,
                                   .blocks_per_sm_max = 32,
                                   .registers_per_sm = 65536,
                                   .registers_per_block = 65536,
                                   .register_granule = 256,
                                   .schedulers = 4,
                                   .shared_bytes_per_sm = 96 * 1024,
                                   .shared_bytes_per_block_optin = 48 * 1024,
                                   .shared_granule_bytes = 256};
    const wp_kernel_info kernel = {.register_count = registers,
                                   .shared_static_bytes = shared_bytes};
    const uint32_t ctas = wpi_occupancy_blocks(&device, &kernel, threads, 0);
    assert_int_equal(ctas == 0, wpi_occupancy_threads(&device, registers) < threads);
    return ctas;
}

/* As on the K80, whose SMs have two blocks' registers. */
static void a_block_has_less_than_an_sm(void **state) {
    (void)state;
    wp_device_info device = {.threads_per_block_max = 1024,
                             .registers_per_sm = 131072,
                             .registers_per_block = 65536,
                             .register_granule = 256,
                             .schedulers = 4};
    assert_int_equal(wpi_occupancy_threads(&device, 64), 1024);
    assert_int_equal(wpi_occupancy_threads(&device, 128), 512);
    device.registers_per_block = 131072;
    assert_int_equal(wpi_occupancy_threads(&device, 128), 1024);
}

static void as_many_ctas_fit_as_the_calculator_says(void **state) {
    (void)state;
    static const uint32_t threads[] = {32, 64, 96, 128, 192, 256, 320, 512, 768, 1024};
    static const uint32_t registers[] = {16, 32, 37, 40, 63, 64, 128, 255};
    static const uint32_t shared[] = {0, 1000, 4096, 16384, 49152};
    const script_stop path[] = {{CHAIN, ALL}};
    /* Some by hand, so that the rule itself is not taken on trust. */
    assert_int_equal(calculated(256, 32, 0), 8);
    assert_int_equal(calculated(64, 40, 0), 24);
    assert_int_equal(calculated(1024, 64, 0), 1);
    assert_int_equal(calculated(128, 16, 16384), 6);
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        for (size_t g = 0; g < sizeof registers / sizeof registers[0]; g++) {
            for (size_t b = 0; b < sizeof shared / sizeof shared[0]; b++) {
                const uint64_t expected = calculated(threads[t], registers[g], shared[b]);
                assert_u64(queried(threads[t], registers[g], shared[b]), expected);
                if (expected == 0) continue;
                rig r;
                RIG_OPEN(&r, ONE_SM, );
                script *s = new_script(path, 1, 40, threads[t] / 32);
                s->source.registers_per_thread = registers[g];
                s->source.shared_bytes_per_cta = shared[b];
                (void)script_run(&r, s);
                if (s->resident_most != expected)
                    fail_msg("%u threads, %u registers, %u bytes: %u CTAs, expected %u", threads[t],
                             registers[g], shared[b], s->resident_most, (unsigned)expected);
                free(s);
                rig_close(&r);
            }
        }
    }
}

/* ---- whose turn it is ---- */

/* Two warps on one scheduler, which never wait: the order in which they take their blocks. */
static void order_of_turns(const char *scheduler, uint32_t log[SCRIPT_LOG_MAX]) {
    const script_stop path[] = {{SHORT, ALL}};
    rig r;
    RIG_OPEN(&r, ONE_SM, "sm.schedulers=1", "class.int.lanes=32", scheduler, );
    script *s = new_script(path, 1, 1, 2);
    s->repeats = 8;
    (void)script_run(&r, s);
    memcpy(log, s->log, sizeof s->log);
    assert_int_equal(s->log_count, 2 * (8 + 1));
    free(s);
    rig_close(&r);
}

static void greedy_schedulers_stay_and_others_go_round(void **state) {
    (void)state;
    uint32_t log[SCRIPT_LOG_MAX];
    order_of_turns("sm.scheduler=gto", log);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(log[i], 0);
    order_of_turns("sm.scheduler=rr", log);
    for (uint32_t i = 2; i < 16; i++)
        assert_int_equal(log[i], 1 - log[i - 1]);
}

/* ---- memory ---- */

/* Little's law: as long as nothing is full, warps that wait for one load at a time make warps /
 * latency loads. */
static void throughput_is_concurrency_over_latency(void **state) {
    (void)state;
    const script_stop path[] = {{LOAD, ALL}};
    wpi_time_ps alone = 0;
    for (uint32_t warps = 1; warps <= 16; warps *= 2) {
        rig r;
        RIG_OPEN(&r, ONE_SM, NO_TLB, "l1.on=off", "dram.row_miss=0cycles",
                 "l2.bandwidth=4096B/cycle", "l2.sm_bandwidth=4096B/cycle",
                 "dram.bandwidth=4096B/cycle", );
        script *s = new_script(path, 1, 1, warps);
        s->repeats = 200;
        s->step = 128;
        const wpi_time_ps time = script_run(&r, s);
        if (warps == 1) alone = time;
        assert_true(time >= alone && time <= alone + alone / 20);
        free(s);
        rig_close(&r);
    }
}

/* However many stores warps have to make, only so many lines of them are in the LSU. */
static void stores_do_not_pile_up(void **state) {
    (void)state;
    const script_stop path[] = {{STORE, ALL}};
    rig r;
    RIG_OPEN(&r, ONE_SM, NO_TLB, "lsu.stores=16", );
    script *s = new_script(path, 1, 64, 8);
    s->repeats = 50;
    s->stride = 128; /* 32 lines each */
    s->step = 32 * 128;
    (void)script_run(&r, s);
    assert_u64(rig_count(&r, "memory.store.lines"), 64 * 8 * 50 * 32);
    /* The launch ended with its last store. */
    assert_u64(s->numbers.end_ps, wpi_engine_now(r.engine));
    free(s);
    rig_close(&r);
}

/* Eight lanes read eight lines, which fall into one of L1's 32 sets of four, or into two or more if
 * it has a larger size: then they are found again. */
static uint64_t l1_hits_with(const char *sizes, bool prefers_l1, uint8_t shared_carveout,
                             uint32_t shared_bytes, uint32_t *resident_most) {
    const script_stop path[] = {{LOAD, 0xff}};
    const wp_trace_site cached_sites[] = {{.access = WP_TRACE_LOAD,
                                           .space = WP_TRACE_GLOBAL,
                                           .cache = WP_TRACE_CACHE_ALL,
                                           .size_bytes = 4},
                                          sites[1]};
    wp_trace_tables cached_tables = tables;
    cached_tables.sites = cached_sites;
    rig r;
    RIG_OPEN(&r, ONE_SM, NO_TLB, "l1.on=off", "l1.bytes=16KiB", "l1.ways=4", "l1.hash=modulo",
             "shared.bytes=48KiB", "shared.cta_bytes=48KiB", sizes, );
    script *s = new_script(path, 1, 4, 1);
    s->source.tables = &cached_tables;
    s->source.prefers_l1 = prefers_l1;
    s->source.shared_carveout = shared_carveout;
    s->source.shared_bytes_per_cta = shared_bytes;
    s->repeats = 10;
    s->stride = 32 * 128;
    (void)script_run(&r, s);
    const uint64_t hits = rig_count(&r, "l1.hits");
    *resident_most = s->resident_most;
    free(s);
    rig_close(&r);
    return hits;
}

static uint64_t l1_hits(const char *preferred, bool prefers_l1, uint32_t shared_bytes,
                        uint32_t *resident_most) {
    return l1_hits_with(preferred, prefers_l1, 0, shared_bytes, resident_most);
}

static void l1_has_what_shared_memory_leaves(void **state) {
    (void)state;
    const char *sizes = "shared.carveouts=0B, 16KiB, 32KiB, 48KiB";
    const uint64_t most = 8 * 4 * (10 - 1); /* CTAs may miss at the same time */
    uint32_t resident;
    assert_true(l1_hits_with(sizes, true, 0, 0, &resident) >= most); /* 64 KiB */
    /* As many CTAs as fit come first. */
    assert_u64(l1_hits_with(sizes, true, 0, 12 << 10, &resident), 0);
    assert_int_equal(resident, 4);
    /* A program may prefer fewer, but one fits. */
    assert_true(l1_hits_with(sizes, true, 1 + 50, 12 << 10, &resident) >= most);
    assert_int_equal(resident, 2);
    assert_true(l1_hits_with(sizes, true, 1 + 0, 12 << 10, &resident) >= most);
    assert_int_equal(resident, 1);
    assert_u64(l1_hits_with(sizes, true, 1 + 100, 0, &resident), 0);
    /* Without sizes to choose from a preference has no effect. */
    assert_u64(l1_hits_with("shared.carveouts=", true, 1 + 0, 12 << 10, &resident), 0);
    assert_int_equal(resident, 4);
}

static void a_launch_that_prefers_l1_has_more_of_it_and_less_shared_memory(void **state) {
    (void)state;
    uint32_t resident;
    assert_u64(l1_hits("l1.preferred=48KiB", false, 12 << 10, &resident), 0);
    assert_int_equal(resident, 4);
    assert_u64(l1_hits("l1.preferred=48KiB", true, 12 << 10, &resident), 8 * (4 * 10 - 1));
    assert_int_equal(resident, 1);
    assert_u64(l1_hits("l1.preferred=16KiB", true, 12 << 10, &resident), 0);
    assert_int_equal(resident, 4);
    /* A hint: it has none where there is no choice, or a CTA would not fit. */
    assert_u64(l1_hits("l1.preferred=0B", true, 12 << 10, &resident), 0);
    assert_u64(l1_hits("l1.preferred=48KiB", true, 20 << 10, &resident), 0);
    assert_int_equal(resident, 2);
}

/* A launch reads what the one before it has read, or written. */
static uint64_t l2_hits_again(const char *cold, uint32_t before) {
    const script_stop first[] = {{before, ALL}}, second[] = {{LOAD, ALL}};
    rig r;
    RIG_OPEN(&r, ONE_SM, cold, );
    script *s = new_script(first, 1, 1, 1);
    (void)script_run(&r, s);
    free(s);
    const uint64_t hits_before = rig_count(&r, "l2.hits");
    s = new_script(second, 1, 1, 1);
    (void)script_run(&r, s);
    free(s);
    const uint64_t hits = rig_count(&r, "l2.hits") - hits_before;
    rig_close(&r);
    return hits;
}

static void a_cold_l2_keeps_nothing_of_the_kernel_before(void **state) {
    (void)state;
    assert_u64(l2_hits_again("l2.cold=off", LOAD), 4);
    assert_u64(l2_hits_again("l2.cold=on", LOAD), 0);
    assert_u64(l2_hits_again("l2.cold=off", STORE), 4);
    assert_u64(l2_hits_again("l2.cold=on", STORE), 0);
}

/* A launch reads 128 bytes at 0 after a copy to `address`. */
static uint64_t l2_hits_of_copy(const char *copies, uint64_t address, uint64_t bytes) {
    const script_stop path[] = {{LOAD, ALL}};
    rig r;
    RIG_OPEN(&r, ONE_SM, "l2.bytes=1MiB", copies, );
    wpi_memory_copied(r.memory, address, bytes);
    script *s = new_script(path, 1, 1, 1);
    (void)script_run(&r, s);
    free(s);
    const uint64_t hits = rig_count(&r, "l2.hits");
    rig_close(&r);
    return hits;
}

static void copies_leave_their_last_lines_in_l2(void **state) {
    (void)state;
    assert_u64(l2_hits_of_copy("l2.copies=off", 0, 128), 0);
    assert_u64(l2_hits_of_copy("l2.copies=on", 0, 128), 4);
    assert_u64(l2_hits_of_copy("l2.copies=on", 8, 40), 2);
    assert_u64(l2_hits_of_copy("l2.copies=on", 127, 200), 1);
    assert_u64(l2_hits_of_copy("l2.copies=on", 128, 128), 0);
    assert_u64(l2_hits_of_copy("l2.copies=on", 0, 2 << 20), 0);
}

/* Warps, four of them one a scheduler, load from constant or shared memory ten times, words that
 * are `stride` bytes apart in neighbouring lanes. */
static uint64_t loads_ns(uint8_t space, uint64_t stride, uint32_t warps, const char *turn) {
    const script_stop path[] = {{LOAD, ALL}};
    const wp_trace_site its_sites[] = {{.access = WP_TRACE_LOAD, .space = space, .size_bytes = 4},
                                       sites[1]};
    wp_trace_tables its_tables = tables;
    its_tables.sites = its_sites;
    rig r;
    RIG_OPEN(&r, ONE_SM, "class.constant.latency=20cycles", "class.constant.lanes=64",
             "shared.banks=32", "shared.bank_bytes=4B", "shared.latency=20cycles", turn, );
    script *s = new_script(path, 1, 1, warps);
    s->source.tables = &its_tables;
    s->repeats = 10;
    s->stride = stride;
    const wpi_time_ps time = script_run(&r, s);
    assert_u64(s->numbers.warp_instructions, warps * 10);
    assert_u64(rig_count(&r, "l2.hits"), 0);
    free(s);
    rig_close(&r);
    return time / WP_PS_PER_NS;
}

static uint64_t constant_ns(uint64_t stride, uint32_t warps) {
    return loads_ns(WP_TRACE_CONST, stride, warps, "shared.turn=1cycle");
}

/* "If a warp's threads read several words, the throughput decreases by their number": each turn of
 * a scheduler's 16 lanes takes two cycles. */
static void lanes_that_read_several_words_of_constant_memory_take_turns(void **state) {
    (void)state;
    const uint64_t one = constant_ns(0, 4);
    assert_u64(one, 10 * (20 + 2));
    assert_u64(constant_ns(1, 4), one + 10 * 2 * (8 - 1));
    assert_u64(constant_ns(4, 4), one + 10 * 2 * (32 - 1));
    /* The turns of a scheduler's two warps do not overlap; their latency does. */
    assert_u64(constant_ns(4, 8), 2 * 10 * 2 * 32 + 20);
}

static uint64_t shared_ns(uint64_t stride, uint32_t warps, const char *turn) {
    return loads_ns(WP_TRACE_SHARED, stride, warps, turn);
}

/* With 16 bytes between lanes four want words of each eighth bank. A warp waits from turn to turn,
 * while the banks are free for others: a second one comes behind the four cycles of its turns, not
 * behind its wait. */
static void lanes_that_want_several_words_of_a_bank_take_turns(void **state) {
    (void)state;
    assert_u64(shared_ns(4, 1, "shared.turn=5cycles"), 10 * (1 + 20));
    assert_u64(shared_ns(16, 1, "shared.turn=1cycle"), 10 * (3 + 1 + 20));
    assert_u64(shared_ns(16, 1, "shared.turn=5cycles"), 10 * (3 * 5 + 1 + 20));
    assert_u64(shared_ns(16, 2, "shared.turn=5cycles"), 10 * (3 * 5 + 1 + 20) + 4);
}

/* ---- CTAs that wait for grids ---- */

/* CTAs of one warp that wait once for a grid each. */
typedef struct waiting {
    script script; /* first */
    uint32_t waits[SCRIPT_CTAS_MAX];
    uint32_t continued_on[SCRIPT_CTAS_MAX]; /* SM */
} waiting;

static waiting *new_waiting(uint64_t ctas) {
    static const script_stop path[] = {{CHAIN, ALL}};
    waiting *w = calloc(1, sizeof *w);
    assert_non_null(w);
    script *s = new_script(path, 1, ctas, 1);
    w->script = *s;
    free(s);
    w->script.source.shared_bytes_per_cta = 48 * 1024;
    return w;
}

enum { WILL_WAIT = 0, WAITS, DONE };

static wpi_source_answer next_or_wait(wpi_warp_source *source, uint32_t slot, uint32_t warp,
                                      uint32_t blocked, wpi_warp_block *out) {
    waiting *w = (waiting *)(void *)source;
    if (w->waits[slot] != DONE) {
        w->waits[slot] = WAITS;
        return WPI_SOURCE_WAIT;
    }
    return script_next(source, slot, warp, blocked, out);
}

static bool awaits_grids(void *object, uint32_t slot) {
    return ((waiting *)object)->waits[slot] == WAITS;
}

static bool grids_done(void *object, uint32_t slot, uint32_t sm) {
    waiting *w = object;
    w->waits[slot] = DONE;
    w->continued_on[slot] = sm;
    return true;
}

static wp_status start_waiting(wpi_warp_source *source, uint64_t cta, uint32_t sm, uint32_t *slot,
                               wpi_windows *windows, wp_error *err) {
    const wp_status status = script_start(source, cta, sm, slot, windows, err);
    ((waiting *)(void *)source)->waits[*slot] = WILL_WAIT;
    return status;
}

static const wpi_warp_source_ops waiting_ops = {
    .start = start_waiting, .next = next_or_wait, .finish = script_finish};

static void ctas_that_wait_for_grids_make_room_for_them_and_pay_for_their_state(void **state) {
    (void)state;
    enum {
        CTAS = 5,
        HELD = 2 /* CTAs of 48 KiB on the SM */,
        STATE_BYTES = 48 * 1024 + 32 * 16 * 4
    };
    const wpi_time_ps move_ps = wpi_bytes_ps(STATE_BYTES, UINT64_C(10000000000)),
                      latency_ps = 300 * WP_PS_PER_NS;
    rig r;
    RIG_OPEN(&r, ONE_SM, NO_TLB, "dram.bandwidth=10GB/s", "l2.sm_bandwidth=20GB/s",
             "dram.latency=100ns", "l2.latency=200ns", );
    wp_error err = {0};
    wpi_gpu *gpu;
    assert_status_ok(wpi_gpu_create(r.profile, r.engine, r.memory, &gpu, &err), &err);
    waiting *parents = new_waiting(CTAS);
    parents->script.source.ops = &waiting_ops;
    parents->script.source.waits = (wpi_source_waits){awaits_grids, grids_done, parents};
    static const script_stop path[] = {{CHAIN, ALL}};
    script *child = new_script(path, 1, 1, 1);
    child->source.ops = &script_ops;
    child->source.shared_bytes_per_cta = 48 * 1024;
    child->source.is_nested = true;
    assert_status_ok(wpi_gpu_launch(gpu, &parents->script.source, script_ended, parents, &err),
                     &err);
    wpi_engine_run(r.engine);
    assert_int_equal(parents->script.resident, HELD);
    const wpi_time_ps before = wpi_engine_now(r.engine);
    assert_status_ok(wpi_gpu_launch(gpu, &child->source, script_ended, child, &err), &err);
    wpi_engine_run(r.engine);
    assert_true(child->is_done);
    /* The newest parent's state leaves first; then the chain of 100 instructions runs. */
    assert_u64(child->numbers.end_ps - before, move_ps + latency_ps + 600 * WP_PS_PER_NS);
    assert_int_equal(parents->script.resident, HELD); /* no further one begins beside it */
    const wpi_time_ps done = wpi_engine_now(r.engine);
    wpi_gpu_grids_done(gpu, &parents->script.source, HELD - 1);
    wpi_engine_run(r.engine);
    /* It came back, ended, and another one waits in its place. */
    assert_int_equal(parents->script.resident, HELD);
    assert_true(wpi_engine_now(r.engine) - done >= move_ps + latency_ps + 600 * WP_PS_PER_NS);
    while (!parents->script.is_done) {
        for (uint32_t slot = 0; slot < HELD; slot++)
            if (awaits_grids(parents, slot)) wpi_gpu_grids_done(gpu, &parents->script.source, slot);
        wpi_engine_run(r.engine);
    }
    assert_u64(parents->script.numbers.ctas, CTAS);
    assert_u64(parents->script.numbers.swapped_ctas, 1);
    wpi_gpu_destroy(gpu);
    free(parents);
    free(child);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_takes_its_latency_and_free_instructions_their_slots),
        cmocka_unit_test(classes_in_different_pipes_work_beside_each_other),
        cmocka_unit_test(some_instructions_of_an_estimate_issue_in_pairs),
        cmocka_unit_test(instructions_are_fetched_for_one_warp_at_a_time),
        cmocka_unit_test(sms_begin_one_after_the_other),
        cmocka_unit_test(a_kernel_takes_its_overhead_and_starts_ctas_in_turn),
        cmocka_unit_test(ctas_go_to_sms_in_turn_or_fill_one),
        cmocka_unit_test(divergence_serialises),
        cmocka_unit_test(a_barrier_waits_for_the_last),
        cmocka_unit_test(a_block_has_less_than_an_sm),
        cmocka_unit_test(as_many_ctas_fit_as_the_calculator_says),
        cmocka_unit_test(greedy_schedulers_stay_and_others_go_round),
        cmocka_unit_test(throughput_is_concurrency_over_latency),
        cmocka_unit_test(stores_do_not_pile_up),
        cmocka_unit_test(a_cold_l2_keeps_nothing_of_the_kernel_before),
        cmocka_unit_test(copies_leave_their_last_lines_in_l2),
        cmocka_unit_test(lanes_that_read_several_words_of_constant_memory_take_turns),
        cmocka_unit_test(lanes_that_want_several_words_of_a_bank_take_turns),
        cmocka_unit_test(l1_has_what_shared_memory_leaves),
        cmocka_unit_test(ctas_that_wait_for_grids_make_room_for_them_and_pay_for_their_state),
        cmocka_unit_test(a_launch_that_prefers_l1_has_more_of_it_and_less_shared_memory),
    };
    return wp_test_main(tests);
}
