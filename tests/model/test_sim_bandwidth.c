/* SPDX-License-Identifier: Apache-2.0 */
/* What bounds throughput does bound it, and nothing else does: at most the limit, at least 95% of
 * it. */
#include "sim/memory/dram.h"
#include "sim_rig.h"
#include "wp_random.h"

/* `window` accesses under way in each SM, each one followed by the next when it is answered. */
typedef struct stream {
    rig rig;
    uint32_t sms;
    uint64_t issued, count;
    uint64_t stride; /* between accesses; lanes are next to each other */
    uint64_t span;   /* addresses are modulo it */
    bool is_random;  /* one lane at a random place of the span */
    uint8_t kind;
    uint64_t random;
    wpi_time_ps latency_sum;
} stream;

static void stream_answered(void *object, uint64_t token, const wpi_answer *answer);

static void stream_issue(stream *s, uint32_t sm, wpi_time_ps now) {
    uint64_t addresses[WPI_LANES];
    const uint64_t first = s->is_random ? wp_random_next(&s->random) % s->span / 128 * 128
                                        : s->issued * s->stride % s->span;
    for (uint32_t i = 0; i < WPI_LANES; i++)
        addresses[i] = first + 4 * i;
    const wpi_access access = {.sm = sm,
                               .kind = s->kind,
                               .size_bytes = 4,
                               .mask = s->is_random ? 1 : 0xffffffff,
                               .addresses = addresses};
    s->issued++;
    (void)wpi_memory_access(s->rig.memory, &access, now, stream_answered, s, sm);
}

static void stream_answered(void *object, uint64_t token, const wpi_answer *answer) {
    stream *s = object;
    rig_note(&s->rig, token, answer);
    s->latency_sum += answer->answered - answer->issued;
    if (s->issued < s->count) stream_issue(s, (uint32_t)token, answer->answered);
}

/* Runs it; returns the time it took. */
static wpi_time_ps stream_run(stream *s, uint32_t window) {
    const wpi_time_ps begin = wpi_engine_now(s->rig.engine);
    for (uint32_t i = 0; i < window; i++)
        for (uint32_t sm = 0; sm < s->sms && s->issued < s->count; sm++)
            stream_issue(s, sm, begin);
    wpi_engine_run(s->rig.engine);
    assert_u64(s->rig.answers, s->count);
    return wpi_engine_now(s->rig.engine) - begin;
}

static void assert_reached(double got, double limit) {
    print_message("%.4g of at most %.4g\n", got, limit);
    assert_true(got <= limit * 1.0001);
    assert_true(got >= limit * 0.95);
}

#define NO_TLB "tlb.l1.entries=1024", "tlb.l2.entries=4096", "tlb.l1.ports=32"

static void dram_gives_its_bandwidth_to_reads(void **state) {
    (void)state;
    stream s = {.sms = 8, .count = 40000, .stride = 128, .span = 1 << 30};
    RIG_OPEN(&s.rig, NO_TLB, "l1.on=off", "dram.row_window=4", "page.bytes=2MiB", );
    const wpi_time_ps took = stream_run(&s, 64);
    assert_reached((double)s.count * 128 / (double)took, 0.064);
    assert_u64(rig_count(&s.rig, "dram.read"), s.count * 128);
    rig_close(&s.rig);
}

static void dram_gives_its_bandwidth_to_writes(void **state) {
    (void)state;
    stream s = {.sms = 8, .count = 60000, .stride = 128, .span = 1 << 30, .kind = WP_TRACE_STORE};
    RIG_OPEN(&s.rig, NO_TLB, "dram.row_window=4", "page.bytes=2MiB", "lsu.stores=64", );
    (void)stream_run(&s, 64); /* L2 is full of dirty lines: each store writes one */
    const uint64_t before = rig_count(&s.rig, "dram.written");
    s.issued = s.rig.answers = 0;
    const wpi_time_ps took = stream_run(&s, 64);
    assert_u64(rig_count(&s.rig, "dram.written") - before, s.count * 128);
    assert_reached((double)s.count * 128 / (double)took, 0.064);
    rig_close(&s.rig);
}

/* Lines read and written in each of 4 channels, and writes between two turns: a line takes a
 * channel 8 ns, and a turn 20 ns. Reads alone and writes alone need none. */
static void a_channel_turns_once_for_a_batch_of_writes(void **state) {
    (void)state;
    static const struct {
        const char *efficiency, *batch;
        uint32_t reads, writes; /* of each round */
        uint64_t expected_ns;
    } cases[] = {
        {"dram.efficiency=100%", "dram.write_batch=16", 1, 0, 1024 * 8},
        {"dram.efficiency=100%", "dram.write_batch=16", 0, 1, 1024 * 8},
        {"dram.efficiency=100%", "dram.write_batch=16", 1, 1, 2048 * 8 + 1024 / 16 * 20},
        {"dram.efficiency=100%", "dram.write_batch=32", 1, 1, 2048 * 8 + 1024 / 32 * 20},
        {"dram.efficiency=100%", "dram.write_batch=16", 2, 1, 3072 * 8 + 1024 / 16 * 20},
        {"dram.efficiency=80%", "dram.write_batch=16", 1, 0, 1024 * 10},
        {"dram.efficiency=80%", "dram.write_batch=16", 1, 1, 2048 * 10 + 1024 / 16 * 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig r;
        wpi_dram dram;
        wp_error err = {0};
        RIG_OPEN(&r, "dram.row_miss=0ns", "dram.turnaround=20ns", cases[i].efficiency,
                 cases[i].batch, );
        assert_status_ok(wpi_dram_init(&dram, r.profile, &err), &err);
        for (uint64_t line = 0; line < 4 * 1024; line++) {
            wpi_time_ps access_ps;
            for (uint32_t n = 0; n < cases[i].reads; n++)
                (void)wpi_dram_read(&dram, line, 4, 0, &access_ps);
            for (uint32_t n = 0; n < cases[i].writes; n++)
                (void)wpi_dram_write(&dram, line, 4, 0);
        }
        for (uint32_t c = 0; c < 4; c++)
            assert_u64(dram.channels[c].free, cases[i].expected_ns * WP_PS_PER_NS);
        wpi_dram_deinit(&dram);
        rig_close(&r);
    }
}

static void l2_gives_its_bandwidth(void **state) {
    (void)state;
    stream s = {.sms = 8, .count = 40000, .stride = 128, .span = 512 * 1024};
    RIG_OPEN(&s.rig, NO_TLB, "l1.on=off", "l2.hash=modulo", );
    (void)stream_run(&s, 64);
    s.issued = s.rig.answers = 0;
    const wpi_time_ps took = stream_run(&s, 64);
    assert_reached((double)s.count * 128 / (double)took, 0.128);
    rig_close(&s.rig);
}

static void an_sm_gets_no_more_than_its_port(void **state) {
    (void)state;
    stream s = {.sms = 1, .count = 20000, .stride = 128, .span = 512 * 1024};
    RIG_OPEN(&s.rig, NO_TLB, "l1.on=off", );
    (void)stream_run(&s, 64);
    s.issued = s.rig.answers = 0;
    assert_reached((double)s.count * 128 / (double)stream_run(&s, 64), 0.064);
    rig_close(&s.rig);
}

static void one_warp_moves_a_line_in_each_round_trip(void **state) {
    (void)state;
    stream s = {.sms = 1, .count = 1000, .stride = 128, .span = 8192};
    RIG_OPEN(&s.rig, NO_TLB, "l1.on=off", );
    (void)stream_run(&s, 1);
    s.issued = s.rig.answers = 0;
    /* LSU 10, TLB 1, L2 100. */
    assert_u64(stream_run(&s, 1), s.count * 111 * WP_PS_PER_NS);
    rig_close(&s.rig);
}

static void concurrency_is_throughput_times_latency(void **state) {
    (void)state;
    const uint32_t windows[] = {1, 4, 16, 64};
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        stream s = {.sms = 8, .count = 20000, .stride = 128, .span = 1 << 30};
        RIG_OPEN(&s.rig, NO_TLB, "page.bytes=2MiB", );
        const wpi_time_ps took = stream_run(&s, windows[i]);
        assert_near((double)s.latency_sum / (double)took, 8.0 * windows[i], 0.02);
        rig_close(&s.rig);
    }
}

static void walkers_bound_random_access(void **state) {
    (void)state;
    const uint32_t counts[] = {1, 4, 16};
    const char *const settings[] = {"walker.count=1", "walker.count=4", "walker.count=16"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        stream s = {
            .sms = 8, .count = 4000, .span = (uint64_t)1 << 40, .is_random = true, .random = 7};
        RIG_OPEN(&s.rig, settings[i], "walker.queue=8", );
        const wpi_time_ps took = stream_run(&s, 32);
        assert_reached((double)rig_count(&s.rig, "walker.walks") / (double)took,
                       counts[i] / 200000.0);
        assert_u64(rig_count(&s.rig, "walker.busy_max"), counts[i]);
        rig_close(&s.rig);
    }
}

static void mshrs_of_l1_bound_the_misses_of_an_sm(void **state) {
    (void)state;
    stream s = {.sms = 1, .count = 4000, .stride = 128, .span = 1 << 20};
    RIG_OPEN(&s.rig, NO_TLB, "l1.mshrs=8", "l1.bytes=2KiB", "l2.mshrs=64", );
    (void)stream_run(&s, 64);
    s.issued = s.rig.answers = 0;
    /* An MSHR is taken from the look-up to the line's return: 20 + 100 cycles. */
    assert_reached((double)s.count / (double)stream_run(&s, 64), 8 / 120000.0);
    rig_close(&s.rig);
}

static void mshrs_of_l2_bound_the_reads_of_dram(void **state) {
    (void)state;
    stream s = {.sms = 8, .count = 8000, .stride = 128, .span = 1 << 30};
    RIG_OPEN(&s.rig, NO_TLB, "l1.on=off", "l2.slices=1", "l2.mshrs=4", "dram.row_miss=0",
             "page.bytes=2MiB", );
    assert_reached((double)s.count / (double)stream_run(&s, 64), 4 / 80000.0);
    rig_close(&s.rig);
}

/* Of the lanes in `mask`, `stride` bytes apart: for how many cycles the LSU is occupied. */
static uint32_t lsu_cycles(const char *lanes, uint32_t mask, uint64_t stride) {
    rig r;
    uint64_t addresses[WPI_LANES];
    RIG_OPEN(&r, NO_TLB, lanes, );
    for (uint32_t i = 0; i < WPI_LANES; i++)
        addresses[i] = stride * i;
    const wpi_access access = {
        .kind = WP_TRACE_LOAD, .size_bytes = 4, .mask = mask, .addresses = addresses};
    const uint32_t cycles = wpi_memory_access(r.memory, &access, 0, rig_note, &r, 0);
    wpi_engine_run(r.engine);
    rig_close(&r);
    return cycles;
}

static void the_lsu_takes_groups_of_lanes_and_lines_in_turns(void **state) {
    (void)state;
    assert_u64(lsu_cycles("lsu.lanes=32", 0xffffffff, 4), 1);
    assert_u64(lsu_cycles("lsu.lanes=32", 0xffffffff, 64), 16);
    assert_u64(lsu_cycles("lsu.lanes=8", 0xffffffff, 4), 4);
    assert_u64(lsu_cycles("lsu.lanes=8", 0x0000ffff, 4), 2);
    assert_u64(lsu_cycles("lsu.lanes=8", 0x00010001, 4), 2);
    assert_u64(lsu_cycles("lsu.lanes=8", 0xffffffff, 64), 16);
}

static void stores_under_way_bound_stores(void **state) {
    (void)state;
    stream s = {.sms = 1, .count = 4000, .stride = 128, .span = 1 << 16, .kind = WP_TRACE_STORE};
    RIG_OPEN(&s.rig, NO_TLB, "lsu.stores=4", );
    /* A store is under way for half of L2's latency. */
    assert_reached((double)s.count / (double)stream_run(&s, 16), 4 / 50000.0);
    rig_close(&s.rig);
}

static void the_link_gives_its_bandwidth(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, "link.engines_to_device=2", );
    const uint64_t bytes = 4 << 20;
    const wpi_time_ps begin = wpi_engine_now(r.engine);
    for (int i = 0; i < 16; i++)
        wpi_memory_copy(r.memory, bytes, WPI_DIRECTION_TO_DEVICE, begin, rig_note, &r, 0);
    wpi_memory_copy(r.memory, bytes, WPI_DIRECTION_TO_HOST, begin, rig_note, &r, 0);
    wpi_engine_run(r.engine);
    assert_u64(r.answers, 17);
    assert_reached(16 * (double)bytes / (double)(wpi_engine_now(r.engine) - begin), 0.016);
    rig_close(&r);
}

static void the_link_bounds_accesses_to_host_memory(void **state) {
    (void)state;
    for (uint8_t kind = WP_TRACE_LOAD; kind <= WP_TRACE_STORE; kind++) {
        stream s = {.sms = 8, .count = 20000, .stride = 128, .span = 1 << 24, .kind = kind};
        RIG_OPEN(&s.rig, NO_TLB, "l1.on=off", "page.bytes=2MiB", );
        wpi_memory_set_host_range(s.rig.memory, 0, 1 << 30);
        const wpi_time_ps took = stream_run(&s, 64);
        assert_reached((double)s.count * 128 / (double)took, 0.016);
        assert_u64(rig_count(&s.rig, kind == WP_TRACE_LOAD ? "link.to_device.remote"
                                                           : "link.to_host.remote"),
                   s.count * 128);
        rig_close(&s.rig);
    }
}

static void directions_of_the_link_do_not_wait_for_each_other(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    const uint64_t bytes = 16000000; /* 1 ms */
    wpi_memory_copy(r.memory, bytes, WPI_DIRECTION_TO_DEVICE, 0, rig_note, &r, 0);
    wpi_memory_copy(r.memory, bytes, WPI_DIRECTION_TO_HOST, 0, rig_note, &r, 0);
    wpi_engine_run(r.engine);
    assert_u64(wpi_engine_now(r.engine), 1001 * WP_PS_PER_US);
    rig_close(&r);
}

typedef struct text_of_run {
    char data[1 << 17];
    size_t length;
} text_of_run;

static void write_statistic(void *object, const wpi_statistic *statistic) {
    text_of_run *text = object;
    uint64_t sum = statistic->value;
    if (statistic->histogram != NULL)
        for (uint32_t i = 0; i < WPI_HISTOGRAM_CLASSES; i++)
            sum = sum * 31 + statistic->histogram->classes[i] + statistic->histogram->sum;
    if (statistic->utilisation != NULL)
        for (uint32_t i = 0; i < statistic->utilisation->slice_count; i++)
            sum = sum * 31 + statistic->utilisation->busy_ps[i];
    text->length += (size_t)snprintf(text->data + text->length, sizeof text->data - text->length,
                                     "%s %llu\n", statistic->name, (unsigned long long)sum);
}

static void two_runs_count_the_same(void **state) {
    (void)state;
    static text_of_run texts[2];
    for (int run = 0; run < 2; run++) {
        stream s = {
            .sms = 8, .count = 5000, .span = (uint64_t)1 << 24, .is_random = true, .random = 42};
        RIG_OPEN(&s.rig, "tlb.l1.replacement=random", "tlb.l2.sharing=gpc", );
        (void)stream_run(&s, 32);
        wpi_memory_statistics(s.rig.memory, write_statistic, &texts[run]);
        rig_close(&s.rig);
    }
    assert_true(texts[0].length > 1000);
    assert_string_equal(texts[0].data, texts[1].data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dram_gives_its_bandwidth_to_reads),
        cmocka_unit_test(dram_gives_its_bandwidth_to_writes),
        cmocka_unit_test(a_channel_turns_once_for_a_batch_of_writes),
        cmocka_unit_test(l2_gives_its_bandwidth),
        cmocka_unit_test(an_sm_gets_no_more_than_its_port),
        cmocka_unit_test(one_warp_moves_a_line_in_each_round_trip),
        cmocka_unit_test(concurrency_is_throughput_times_latency),
        cmocka_unit_test(walkers_bound_random_access),
        cmocka_unit_test(mshrs_of_l1_bound_the_misses_of_an_sm),
        cmocka_unit_test(mshrs_of_l2_bound_the_reads_of_dram),
        cmocka_unit_test(the_lsu_takes_groups_of_lanes_and_lines_in_turns),
        cmocka_unit_test(stores_under_way_bound_stores),
        cmocka_unit_test(the_link_gives_its_bandwidth),
        cmocka_unit_test(the_link_bounds_accesses_to_host_memory),
        cmocka_unit_test(directions_of_the_link_do_not_wait_for_each_other),
        cmocka_unit_test(two_runs_count_the_same),
    };
    return wp_test_main(tests);
}
