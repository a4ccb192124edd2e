/* SPDX-License-Identifier: Apache-2.0 */
/* What a simulation costs, by counts: events run and bytes of memory in use, never by the clock. */
#include <malloc.h>

#include "sim_script.h"
#include "wp_random.h"

typedef struct cost {
    uint64_t events;
    size_t bytes; /* in use at the end, beyond those before */
} cost;

static size_t bytes_in_use(void) {
    const struct mallinfo2 info = mallinfo2(); /* under the address sanitizer: nothing but zeros */
    return info.uordblks + info.hblkhd;
}

/* `count` loads by single lanes at random places, 16 under way in each of `sms` SMs; all misses of
 * all kinds occur. */
static cost cost_of(rig *r, uint32_t sms, uint64_t count) {
    uint64_t random = 5;
    const uint64_t events = wpi_engine_events_run(r->engine);
    const size_t bytes = bytes_in_use();
    for (uint64_t i = 0; i < count;) {
        for (uint32_t k = 0; k < 16 * sms && i < count; k++, i++)
            rig_issue(r, k % sms, (uint8_t)(i % 2), 1,
                      wp_random_next(&random) % ((uint64_t)1 << 32) / 4 * 4, 0,
                      wpi_engine_now(r->engine));
        wpi_engine_run(r->engine);
    }
    return (cost){wpi_engine_events_run(r->engine) - events, bytes_in_use() - bytes};
}

static void events_grow_linearly_with_accesses(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    (void)cost_of(&r, 8, 20000); /* caches and TLBs are full */
    const uint64_t few = cost_of(&r, 8, 20000).events, many = cost_of(&r, 8, 320000).events;
    print_message("%.3f events an access\n", (double)few / 20000);
    assert_near((double)many / (double)few, 16.0, 0.01);
    assert_true(few <
                20000 * 8); /* a line that misses everywhere takes four or five, a store more */
    rig_close(&r);
}

static void memory_does_not_grow_with_the_length_of_a_run(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    if (bytes_in_use() != 0)
        assert_true(cost_of(&r, 8, 20000).bytes > 0); /* pools get their size */
    assert_u64(cost_of(&r, 8, 320000).bytes, 0);
    rig_close(&r);
}

static void idle_sms_have_no_events(void **state) {
    (void)state;
    const char *const settings[][2] = {{"floorplan.tpcs=2", "floorplan.sms=2"},
                                       {"floorplan.tpcs=16", "floorplan.sms=16"}};
    uint64_t events[2];
    for (int i = 0; i < 2; i++) { /* 8 SMs, 512 SMs; four of them work */
        rig r;
        RIG_OPEN(&r, settings[i][0], settings[i][1], );
        events[i] = cost_of(&r, 4, 20000).events;
        rig_close(&r);
    }
    assert_u64(events[1], events[0]);
}

/* ---- launches ---- */

static const wp_trace_step steps[] = {
    {.op = WP_TRACE_ISSUE, .class = WP_TRACE_INT, .count = 1000, .chain = 1000},
    {.op = WP_TRACE_ACCESS, .value = 0},
};
static const wp_trace_block blocks[] = {{.step_count = 2, .access_count = 1}};
static const wp_trace_site sites[] = {
    {.access = WP_TRACE_STORE, .space = WP_TRACE_GLOBAL, .size_bytes = 4}};
static const wp_trace_tables tables = {.version = WP_TRACE_VERSION,
                                       .block_count = 1,
                                       .step_count = 2,
                                       .site_count = 1,
                                       .blocks = blocks,
                                       .steps = steps,
                                       .sites = sites};

static uint64_t events_of_launch(const char *tpcs, const char *sms, uint32_t instructions_factor) {
    const script_stop path[] = {{0, ~0u}};
    rig r;
    RIG_OPEN(&r, tpcs, sms, );
    script *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->source = (wpi_warp_source){.tables = &tables,
                                  .cta_count = 2,
                                  .warps_per_cta = 2,
                                  .threads_per_cta = 64,
                                  .registers_per_thread = 16};
    s->path = path;
    s->path_length = 1;
    s->repeats = instructions_factor;
    s->stride = 4;
    const uint64_t before = wpi_engine_events_run(r.engine);
    (void)script_run(&r, s);
    const uint64_t events = wpi_engine_events_run(r.engine) - before;
    free(s);
    rig_close(&r);
    return events;
}

static void a_launch_costs_what_its_sms_do(void **state) {
    (void)state;
    const uint64_t on_few = events_of_launch("floorplan.tpcs=2", "floorplan.sms=2", 50);
    assert_u64(events_of_launch("floorplan.tpcs=16", "floorplan.sms=16", 50), on_few);
    /* 1000 instructions between two accesses are an event or two, not a thousand. */
    assert_true(on_few < 2 * 2 * 50 * 10);
    assert_near((double)events_of_launch("floorplan.tpcs=2", "floorplan.sms=2", 800) /
                    (double)on_few,
                16.0, 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_grow_linearly_with_accesses),
        cmocka_unit_test(memory_does_not_grow_with_the_length_of_a_run),
        cmocka_unit_test(idle_sms_have_no_events),
        cmocka_unit_test(a_launch_costs_what_its_sms_do),
    };
    return wp_test_main(tests);
}
