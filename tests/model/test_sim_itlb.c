/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction TLBs against arithmetic. A cycle is 1 ns; pages of code have 4096 bytes, 512
 * instructions of 8. */
#include "sim_script.h"

#define PAGE_INSTRUCTIONS 512u
#define PAGES 8u
#define MISS_NS (1 + 9 + 200) /* itlb.latency, tlb.l2.latency, a walk of four levels of 50 */
#define SECOND_NS (1 + 9)     /* … that the second level spares */

/* Block i is page i: its instructions do not wait for each other. */
static const wp_trace_step steps[] = {
    {.op = WP_TRACE_ISSUE, .class = WP_TRACE_FP32, .count = PAGE_INSTRUCTIONS, .chain = 1},
};
static const wp_trace_block blocks[PAGES] = {
    {.step_count = 1}, {.step_count = 1}, {.step_count = 1}, {.step_count = 1},
    {.step_count = 1}, {.step_count = 1}, {.step_count = 1}, {.step_count = 1},
};
static const wp_trace_tables tables = {.version = WP_TRACE_VERSION,
                                       .block_count = PAGES,
                                       .step_count = 1,
                                       .blocks = blocks,
                                       .steps = steps};

/* One warp a CTA: how long the path takes. */
static wpi_time_ps time_of(rig *r, const script_stop *path, uint32_t length, uint32_t repeats,
                           uint64_t ctas) {
    script *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->source = (wpi_warp_source){.tables = &tables,
                                  .cta_count = ctas,
                                  .warps_per_cta = 1,
                                  .threads_per_cta = WPI_LANES,
                                  .registers_per_thread = 16};
    s->path = path;
    s->path_length = length;
    s->repeats = repeats;
    const wpi_time_ps time = script_run(r, s);
    free(s);
    return time;
}

#define OPEN(r, ...)                                                                               \
    RIG_OPEN(r, "page.bytes=4KiB", "itlb.on=on", "class.fp32.lanes=128", "sm.schedulers=4",        \
             "class.fp32.latency=1cycle", __VA_ARGS__)

static const script_stop path[PAGES] = {{0, ~0u}, {1, ~0u}, {2, ~0u}, {3, ~0u},
                                        {4, ~0u}, {5, ~0u}, {6, ~0u}, {7, ~0u}};
#define PAGE_NS ((wpi_time_ps)PAGE_INSTRUCTIONS)

static void a_miss_takes_the_look_up_the_second_level_and_the_walk(void **state) {
    (void)state;
    rig r;
    OPEN(&r, "itlb.entries=4", );
    assert_u64(time_of(&r, path, 1, 1, 1), (PAGE_NS + MISS_NS) * WP_PS_PER_NS);
    assert_u64(time_of(&r, path, 1, 3, 1), 3 * PAGE_NS * WP_PS_PER_NS); /* hits cost nothing */
    assert_u64(rig_count(&r, "itlb.misses"), 1);
    assert_u64(rig_count(&r, "itlb.hits"), 3);
    assert_u64(rig_count(&r, "itlb.wait"), MISS_NS * WP_PS_PER_NS);
    assert_u64(rig_count(&r, "tlb.l1.misses"), 0); /* the data TLB was not asked */
    assert_u64(rig_count(&r, "tlb.l2.misses"), 1);
    rig_close(&r);
}

static void a_loop_that_fits_misses_once_and_one_that_does_not_each_time(void **state) {
    (void)state;
    for (uint32_t pages = 3; pages <= 5; pages++) {
        rig r;
        OPEN(&r, "itlb.entries=4", );
        const uint32_t rounds = 10, misses = pages <= 4 ? pages : pages * rounds;
        const uint32_t others = misses - pages; /* which the second level still has */
        assert_u64(time_of(&r, path, pages, rounds, 1),
                   (pages * rounds * PAGE_NS + pages * MISS_NS + others * SECOND_NS) *
                       WP_PS_PER_NS);
        assert_u64(rig_count(&r, "itlb.misses"), misses);
        assert_u64(rig_count(&r, "itlb.hits"), pages * rounds - misses);
        assert_u64(rig_count(&r, "walker.walks"), pages);
        rig_close(&r);
    }
}

static void each_sm_has_its_own_and_the_second_level_is_shared(void **state) {
    (void)state;
    rig r;
    OPEN(&r, );
    (void)time_of(&r, path, 1, 1, 8); /* a CTA on each of 8 SMs */
    assert_u64(rig_count(&r, "itlb.misses"), 8);
    assert_u64(rig_count(&r, "walker.walks"), 1);
    rig_close(&r);
}

static void without_it_code_costs_nothing(void **state) {
    (void)state;
    rig r;
    OPEN(&r, "itlb.on=off", );
    assert_u64(time_of(&r, path, PAGES, 1, 1), PAGES * PAGE_NS * WP_PS_PER_NS);
    assert_u64(rig_count(&r, "itlb.misses"), 0);
    rig_close(&r);
}

static void a_second_level_must_be_there(void **state) {
    (void)state;
    const char *const settings[] = {"itlb.on=on", "tlb.levels=1"};
    wp_error err = {0};
    wpi_profile *p = NULL;
    assert_status_fails(wpi_profile_parse(RIG_PROFILE, "rig.ini", settings, 2, &p, &err),
                        WP_STATUS_INVALID, &err, "itlb.on: there is no L2 TLB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_takes_the_look_up_the_second_level_and_the_walk),
        cmocka_unit_test(a_loop_that_fits_misses_once_and_one_that_does_not_each_time),
        cmocka_unit_test(each_sm_has_its_own_and_the_second_level_is_shared),
        cmocka_unit_test(without_it_code_costs_nothing),
        cmocka_unit_test(a_second_level_must_be_there),
    };
    return wp_test_main(tests);
}
