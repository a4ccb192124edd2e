/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule: what it finds in which counters, and when it is silent; and the verdict made of them.
 */
#include "report/rules/rules.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/rules/verdict.h"
#include "report/run_record.h"
#include "report/simulation.h"
#include "warpage/device.h"
#include "wp_test.h"

/* A GPU of 10 SMs at 1 GHz with 2 schedulers each, 4 DRAM channels and two levels of TLBs; one
 * kernel of 1 ms, which is the run. Its counters are those that a test sets; the time of warps has
 * 100000 ps, so that 1000 are 1 %. */
#define KERNEL_PS 1000000000u

typedef struct counter {
    const char *name;
    uint64_t value;
    uint64_t sum; /* of a histogram, which `value` counts; 0: a plain counter */
} counter;

#define COUNTERS_MAX 64u

typedef struct fixture {
    wp_run_column columns[COUNTERS_MAX];
    uint64_t values[COUNTERS_MAX * WP_RUN_HISTOGRAM_VALUES];
    wp_run_allocation allocations[2];
    wp_run_series series[1];
    wp_run_simulation simulation;
    wp_run_kernel kernels[2];
    wp_run_record record;
} fixture;

static void add_counter(fixture *f, const counter *c) {
    wp_run_simulation *s = &f->simulation;
    f->columns[s->column_count++] =
        (wp_run_column){(char *)(uintptr_t)c->name, "x", c->sum != 0, s->value_count};
    f->values[s->value_count] = c->value;
    if (c->sum != 0) f->values[s->value_count + 1] = c->sum;
    s->value_count += c->sum != 0 ? WP_RUN_HISTOGRAM_VALUES : 1;
}

static bool has(const counter *counters, const char *name) {
    for (; counters->name != NULL; counters++)
        if (strcmp(counters->name, name) == 0) return true;
    return false;
}

/* `counters` ends with a name of NULL. What it does not set of the time of warps goes to
 * instructions; their lanes all work. */
static void make(fixture *f, const counter *counters) {
    static char *no_program[] = {NULL};
    uint64_t warp_time = 0;
    *f = (fixture){0};
    f->simulation = (wp_run_simulation){.time_ps = KERNEL_PS,
                                        .counted_ps = KERNEL_PS,
                                        .machine = {.sm_count = 10,
                                                    .warps_per_sm = 10,
                                                    .clock_hz = 1000000000,
                                                    .page_bytes = 4096,
                                                    .dram_channels = 4,
                                                    .schedulers = 2,
                                                    .walker_count = 8,
                                                    .tlb_count = {10, 1},
                                                    .tlb_ports = {1, 1}},
                                        .columns = f->columns,
                                        .values = f->values,
                                        .allocations = f->allocations,
                                        .allocation_count = 2,
                                        .series = f->series,
                                        .series_count = 1};
    f->series[0] = (wp_run_series){"l2_utilisation", 1000, 4, NULL, 0};
    for (const counter *c = counters; c->name != NULL; c++) {
        add_counter(f, c);
        if (strncmp(c->name, "warp_time_", 10) == 0) warp_time += c->value;
    }
    const counter usual[] = {{"kernel_time_ps", KERNEL_PS, 0},
                             {"kernel_resident_warps_ps", 50ull * KERNEL_PS, 0}, /* 50 % */
                             {"kernel_warp_instructions", 1000, 0},
                             {"kernel_thread_instructions", 32000, 0},
                             {"warp_time_execute_ps", 100000 - warp_time, 0}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (!has(counters, usual[i].name)) add_counter(f, &usual[i]);
    f->allocations[0] =
        (wp_run_allocation){.name = "large",
                            .site = "main+0x1",
                            .kind = "managed",
                            .count = 1,
                            .bytes = 1 << 20,
                            .touches = {.walks = 90},
                            .moves = {[WP_RUN_MOVE_FAR_FAULTS] = 75, [WP_RUN_MOVE_THRASHED] = 80}};
    f->allocations[1] =
        (wp_run_allocation){.name = "small",
                            .site = "main+0x2",
                            .kind = "managed",
                            .count = 1,
                            .bytes = 4096,
                            .touches = {.walks = 10},
                            .moves = {[WP_RUN_MOVE_FAR_FAULTS] = 25, [WP_RUN_MOVE_THRASHED] = 20}};
    f->kernels[0] = (wp_run_kernel){.name = "k",
                                    .display_name = "k(int)",
                                    .launches = 1,
                                    .time_ns = KERNEL_PS / 1000,
                                    .grid = {1, 1, 1},
                                    .block = {32, 1, 1},
                                    .values = f->values};
    f->record = (wp_run_record){.version = "1",
                                .device_spec = "sim:x",
                                .device_name = "X",
                                .program = no_program,
                                .kernels = f->kernels,
                                .kernel_count = 1,
                                .simulation = &f->simulation};
}

/* What the rule finds; the caller releases it. False: nothing. */
static bool find_in(const wpi_rule *rule, const counter *counters, wpi_finding *out) {
    fixture *f = wpi_malloc(sizeof *f);
    make(f, counters);
    const wpi_rule_facts facts = {&f->record, rule->is_of_run ? NULL : f->kernels, f->values,
                                  KERNEL_PS, 1};
    *out = (wpi_finding){0};
    const bool is_found = rule->find(&facts, out);
    wpi_free(f);
    return is_found;
}

/* Settings that make a part ideal must be keys of simulated GPUs. */
static void can_be_set(const char *settings) {
    wp_device *device = NULL;
    wp_error err = {0};
    setenv("WARPAGE_SET", settings, 1);
    assert_status_ok(wp_device_open("sim:p100", &device, &err), &err);
    wp_device_close(device);
    unsetenv("WARPAGE_SET");
}

static void finds(const wpi_rule *rule, const counter *counters, double weight,
                  const char *evidence) {
    wpi_finding found;
    if (!find_in(rule, counters, &found)) fail_msg("%s is silent", rule->name);
    assert_near(found.weight, weight, 1e-3);
    assert_contains(found.evidence, evidence);
    assert_true(found.remedy[0] != '\0');
    assert_true(found.bound != NULL || found.ideal != NULL);
    assert_true(found.ideal == NULL || found.ideal_name != NULL);
    if (found.ideal != NULL) can_be_set(found.ideal);
    const size_t length = strlen(found.evidence);
    assert_true(found.evidence[length - 1] != '.'); /* the verdict adds it */
    wpi_finding_deinit(&found);
}

static void is_silent(const wpi_rule *rule, const counter *counters) {
    wpi_finding found;
    if (find_in(rule, counters, &found)) fail_msg("%s says: %s", rule->name, found.evidence);
}

#define COUNTERS(...) ((const counter[]){__VA_ARGS__, {NULL, 0, 0}})

static void far_faults_of_pages_that_come_once(void **state) {
    (void)state;
    finds(&wpi_rule_far_faults,
          COUNTERS({"warp_time_fault_ps", 80000, 0}, {"paging_far_faults", 100, 0},
                   {"paging_fetched", 500, 0}, {"paging_made", 12, 0}, {"paging_thrashed", 0, 0},
                   {"paging_handler_utilisation_ps", KERNEL_PS / 2, 0}),
          .8,
          "80 % of the time of its warps waits for far faults: 100 faults, 75 % of them in `large` "
          "(1.00 MiB); 500 pages migrated, 12 zero-filled, and the fault handler is busy for 50 %");
    is_silent(&wpi_rule_far_faults,
              COUNTERS({"warp_time_fault_ps", 10000, 0}, {"paging_far_faults", 100, 0}));
    is_silent(&wpi_rule_far_faults, /* oversubscription's */
              COUNTERS({"warp_time_fault_ps", 80000, 0}, {"paging_far_faults", 100, 0},
                       {"paging_fetched", 500, 0}, {"paging_thrashed", 400, 0}));
}

static void queues_of_tlbs_behind_faults_are_waits_for_faults(void **state) {
    (void)state;
    const counter *counters = COUNTERS(
        {"warp_time_fault_ps", 10000, 0}, {"warp_time_translation_ps", 45000, 0},
        {"paging_far_faults", 100, 0}, {"paging_handler_utilisation_ps", KERNEL_PS / 2, 0});
    finds(&wpi_rule_far_faults, counters, .55, "55 % of the time");
    is_silent(&wpi_rule_translation, counters);
}

static void pages_that_come_again(void **state) {
    (void)state;
    finds(&wpi_rule_oversubscription,
          COUNTERS({"warp_time_fault_ps", 60000, 0}, {"paging_fetched", 500, 0},
                   {"paging_thrashed", 400, 0},
                   {"link_to_device_utilisation_ps", KERNEL_PS / 4, 0}),
          .6,
          "of 500 pages migrated in, 400 had been evicted before, 80 % of them in `large` (1.00 "
          "MiB); "
          "the link to the device is busy for 25 %");
    is_silent(&wpi_rule_oversubscription,
              COUNTERS({"warp_time_fault_ps", 60000, 0}, {"paging_fetched", 500, 0},
                       {"paging_thrashed", 50, 0}));
}

static void waits_for_translation(void **state) {
    (void)state;
    wpi_finding found;
    const counter *counters =
        COUNTERS({"warp_time_translation_ps", 60000, 0}, {"tlb_l1_hits", 10, 0},
                 {"tlb_l1_merges", 0, 0}, {"tlb_l1_misses", 90, 0}, {"walker_walks", 90, 0});
    finds(&wpi_rule_translation, counters, .6,
          "hits 10 % of look-ups, and there are 90 page walks, "
          "90 % of them in `large`");
    assert_true(find_in(&wpi_rule_translation, counters, &found));
    assert_contains(found.ideal, "tlb.l1.ports=0");
    assert_contains(found.ideal, "tlb.l2.mshrs=0");
    assert_null(strstr(found.ideal, "tlb.l3"));
    wpi_finding_deinit(&found);
    is_silent(&wpi_rule_translation, COUNTERS({"warp_time_translation_ps", 10000, 0}));
}

static void scattered_loads(void **state) {
    (void)state;
    finds(&wpi_rule_coalescing,
          COUNTERS({"warp_time_l2_ps", 60000, 0}, {"memory_load_sectors", 1600, 0},
                   {"memory_load_accesses", 100, 0}),
          .45, "A load touches 16.0 sectors"); /* 3/4 of 60 % */
    is_silent(&wpi_rule_coalescing,            /* consecutive doubles, not aligned to sectors */
              COUNTERS({"warp_time_l2_ps", 60000, 0}, {"memory_load_sectors", 900, 0},
                       {"memory_load_lines", 250, 0}, {"memory_load_accesses", 100, 0}));
    finds(&wpi_rule_coalescing,
          COUNTERS({"warp_time_l2_ps", 60000, 0}, {"memory_load_sectors", 800, 0},
                   {"memory_load_lines", 800, 0}, {"memory_load_accesses", 100, 0}),
          .3, "A load touches 8.0 sectors");
    is_silent(&wpi_rule_coalescing,
              COUNTERS({"warp_time_l2_ps", 60000, 0}, {"memory_load_sectors", 400, 0},
                       {"memory_load_accesses", 100, 0}));
}

static void dram_near_its_peak(void **state) {
    (void)state;
    finds(&wpi_rule_dram_bandwidth,
          COUNTERS({"warp_time_dram_ps", 50000, 0},
                   {"dram_utilisation_ps", 4ull * KERNEL_PS * 9 / 10, 0},
                   {"dram_read_bytes", 4 << 20, 0}, {"dram_written_bytes", 0, 0},
                   {"dram_row_hits", 25, 0}, {"dram_row_misses", 75, 0}),
          .45, "DRAM is busy for 90 % of the time, at 4 GB/s, and reads 4.00 MiB; 75 %");
    is_silent(&wpi_rule_dram_bandwidth, COUNTERS({"warp_time_dram_ps", 50000, 0},
                                                 {"dram_utilisation_ps", 4ull * KERNEL_PS / 2, 0}));
}

static void too_few_warps_to_hide_latency(void **state) {
    (void)state;
    finds(&wpi_rule_few_warps,
          COUNTERS({"warp_time_l2_ps", 70000, 0}, {"warp_time_barrier_ps", 20000, 0},
                   {"kernel_resident_warps_ps", KERNEL_PS, 0},
                   {"kernel_issue_ps", 20ull * KERNEL_PS / 50, 0}),
          .8, "fill 1.0 % of the slots, so latency is not hidden: 80 %");
    is_silent(&wpi_rule_few_warps, COUNTERS({"warp_time_l2_ps", 70000, 0}));
    is_silent(&wpi_rule_few_warps, /* 2 % of the slots, 1 of 8 lanes: 16 % if all lanes worked */
              COUNTERS({"warp_time_l2_ps", 90000, 0},
                       {"kernel_resident_warps_ps", 2ull * KERNEL_PS, 0},
                       {"kernel_thread_instructions", 4000, 0}));
    finds(&wpi_rule_few_warps, /* 4 % if all lanes worked */
          COUNTERS({"warp_time_l2_ps", 90000, 0}, {"kernel_resident_warps_ps", KERNEL_PS, 0},
                   {"kernel_thread_instructions", 8000, 0}),
          1, "fill 1.0 % of the slots");
    is_silent(&wpi_rule_few_warps, /* something is busy */
              COUNTERS({"warp_time_l2_ps", 70000, 0}, {"kernel_resident_warps_ps", KERNEL_PS, 0},
                       {"kernel_issue_ps", 20ull * KERNEL_PS / 2, 0}));
}

static void idle_lanes(void **state) {
    (void)state;
    finds(&wpi_rule_divergence, COUNTERS({"kernel_thread_instructions", 8000, 0}), .75,
          "8.0 of 32 lanes at work (25 %)");
    is_silent(&wpi_rule_divergence, COUNTERS({"kernel_thread_instructions", 24000, 0}));
}

static void atomics_on_one_address(void **state) {
    (void)state;
    finds(&wpi_rule_contended_atomics, /* 1 GHz: 500000 turns take half of 1 ms */
          COUNTERS({"l2_atomic_turns", 500000, 0}, {"memory_atomic_accesses", 10000, 0},
                   {"memory_reduce_accesses", 10000, 0}),
          .5, "takes 25.0 turns at the L2");
    is_silent(&wpi_rule_contended_atomics, /* as many, of 128000 accesses to neighbouring words */
              COUNTERS({"l2_atomic_turns", 500000, 0}, {"memory_atomic_accesses", 128000, 0}));
    is_silent(&wpi_rule_contended_atomics, /* few */
              COUNTERS({"l2_atomic_turns", 32000, 0}, {"memory_atomic_accesses", 1000, 0}));
}

static void conflicts_of_banks(void **state) {
    (void)state;
    finds(&wpi_rule_bank_conflicts,
          COUNTERS({"warp_time_shared_ps", 40000, 0}, {"shared_accesses", 100, 0},
                   {"shared_conflict_cycles", 300, 0}),
          .3, "take 4.0 cycles each, 3.0 of them");
    is_silent(&wpi_rule_bank_conflicts,
              COUNTERS({"warp_time_shared_ps", 40000, 0}, {"shared_accesses", 100, 0},
                       {"shared_conflict_cycles", 10, 0}));
}

static void waits_at_barriers(void **state) {
    (void)state;
    finds(&wpi_rule_barriers, COUNTERS({"warp_time_barrier_ps", 40000, 0}), .4,
          "40 % of the time of its warps waits at barriers");
    is_silent(&wpi_rule_barriers, COUNTERS({"warp_time_barrier_ps", 20000, 0}));
}

static void busy_issue_slots(void **state) {
    (void)state;
    finds(&wpi_rule_issue_slots, COUNTERS({"kernel_issue_ps", 20ull * KERNEL_PS * 9 / 10, 0}), .9,
          "occupy 90 % of the issue slots");
    is_silent(&wpi_rule_issue_slots, COUNTERS({"kernel_issue_ps", 20ull * KERNEL_PS / 2, 0}));
}

/* Rules of the run look at the record. */
static bool find_in_run(const wpi_rule *rule, uint64_t time_ps, uint64_t launches,
                        uint64_t copies_ns, wpi_finding *out) {
    fixture *f = wpi_malloc(sizeof *f);
    make(f, COUNTERS({"x", 0, 0}));
    f->simulation.time_ps = f->simulation.counted_ps = time_ps;
    f->kernels[0].launches = launches;
    f->record.copies[WP_COPY_H2D] = (wp_run_copies){1, 1 << 20, copies_ns};
    const wpi_rule_facts facts = {&f->record, NULL, f->values, time_ps, 1};
    *out = (wpi_finding){0};
    const bool is_found = rule->find(&facts, out);
    wpi_free(f);
    return is_found;
}

static void a_gpu_that_is_idle_between_launches(void **state) {
    (void)state;
    wpi_finding found; /* 1 ms of kernels, 1 ms of copies, 4 ms in all */
    assert_true(find_in_run(&wpi_rule_launches, 4ull * KERNEL_PS, 10, 1000000, &found));
    assert_near(found.weight, .5, 1e-9);
    assert_contains(found.evidence, "For 2.00 ms of 4.00 ms neither a kernel nor a copy runs: 10 "
                                    "launches, 200.0 us apart");
    assert_string_equal(found.ideal, "gpu.launch_latency=0ns");
    can_be_set(found.ideal);
    wpi_finding_deinit(&found);
    assert_false(find_in_run(&wpi_rule_launches, 4ull * KERNEL_PS, 1, 1000000, &found));
    assert_false(find_in_run(&wpi_rule_launches, 2ull * KERNEL_PS, 10, 1000000, &found));
}

static void copies_that_take_long(void **state) {
    (void)state;
    wpi_finding found;
    assert_true(find_in_run(&wpi_rule_copies, 4ull * KERNEL_PS, 1, 3000000, &found));
    assert_near(found.weight, .75, 1e-9);
    assert_contains(found.evidence, "take 3.00 ms, 75 % of the run, for 1.00 MiB");
    assert_contains(found.bound, "at most 1.3 times");
    wpi_finding_deinit(&found);
    assert_false(find_in_run(&wpi_rule_copies, 4ull * KERNEL_PS, 1, 1000000, &found));
}

/* ---- the verdict ---- */

#define MANY                                                                                       \
    COUNTERS({"warp_time_l2_ps", 40000, 0}, {"warp_time_barrier_ps", 30000, 0},                    \
             {"memory_load_sectors", 3200, 0}, {"memory_load_accesses", 100, 0},                   \
             {"kernel_thread_instructions", 8000, 0},                                              \
             {"dram_utilisation_ps", 4ull * KERNEL_PS, 0})

static void the_three_heaviest_findings_in_order(void **state) {
    (void)state;
    fixture *f = wpi_malloc(sizeof *f);
    wpi_verdict v;
    make(f, MANY);
    wpi_verdict_make(&f->record, &v);
    assert_u64(v.count, WPI_VERDICT_LINES);
    assert_string_equal(v.lines[0].rule->name, "divergence");     /* .75 x .7 */
    assert_string_equal(v.lines[1].rule->name, "dram-bandwidth"); /* .4 */
    assert_string_equal(v.lines[2].rule->name, "coalescing");     /* .35; barriers have .3 */
    wpi_verdict_deinit(&v);
    wpi_free(f);
}

static void a_run_in_which_nothing_stands_out_has_none(void **state) {
    (void)state;
    fixture *f = wpi_malloc(sizeof *f);
    wpi_text text = {0};
    make(f, COUNTERS({"warp_time_l2_ps", 10000, 0}));
    wpi_verdict_text(&f->record, &text);
    wpi_verdict_html(&f->record, &text);
    f->record.simulation = NULL; /* on other devices, neither */
    wpi_verdict_text(&f->record, &text);
    assert_u64(text.length, 0);
    wpi_free(f);
}

static void its_text_has_at_most_100_columns(void **state) {
    (void)state;
    fixture *f = wpi_malloc(sizeof *f);
    wpi_text text = {0};
    make(f, MANY);
    wpi_verdict_text(&f->record, &text);
    assert_contains(wpi_text_string(&text), "\n  what holds it back\n  1. A warp instruction");
    char *rest = text.data;
    for (char *line = strtok_r(text.data, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        if (wpi_text_columns(line) > 100) fail_msg("%zu columns: %s", wpi_text_columns(line), line);
    wpi_text_deinit(&text);
    wpi_free(f);
}

static void of_several_kernels_it_names_the_one(void **state) {
    (void)state;
    fixture *f = wpi_malloc(sizeof *f);
    wpi_text text = {0};
    make(f, COUNTERS({"warp_time_barrier_ps", 40000, 0}));
    f->record.kernel_count = 2;
    f->kernels[0].display_name = "a<'<'>(int)";
    f->kernels[1] = (wp_run_kernel){.name = "b", .display_name = "b()", .time_ns = 250000};
    wpi_verdict_html(&f->record, &text);
    assert_contains(wpi_text_string(&text), "a&lt;'&lt;'&gt; (80 % of kernel time): 40 % of");
    wpi_text_deinit(&text);
    wpi_free(f);
}

static void with_counts_by_line_it_names_the_line_that_waits(void **state) {
    (void)state;
    fixture *f = wpi_malloc(sizeof *f);
    wpi_text text = {0};
    wp_run_line lines[] = {
        {.kernel = "k", .file = "/src/a.cu", .names = "", .line = 7},
        {.kernel = "k", .file = "/src/a.cu", .names = "", .line = 9},
        {.kernel = "other", .file = "/src/a.cu", .names = "", .line = 1},
    };
    lines[0].counts[WP_RUN_LINE_BARRIER_PS] = 10;
    lines[0].counts[WP_RUN_LINE_EXECUTE_PS] = 1000;
    lines[1].counts[WP_RUN_LINE_BARRIER_PS] = 30;
    lines[2].counts[WP_RUN_LINE_BARRIER_PS] = 500;
    make(f, COUNTERS({"warp_time_barrier_ps", 40000, 0}));
    f->simulation.lines = lines;
    f->simulation.line_count = 3;
    wpi_verdict_html(&f->record, &text);
    assert_contains(wpi_text_string(&text), "warps of the block; 75 % of that at a.cu:9.");
    assert_contains(wpi_text_string(&text), "<a class=place href=\"#k0-0-9\"><span>a.cu:9</span>");
    wpi_text_deinit(&text);
    wpi_free(f);
}

static void an_estimate_goes_through_the_json_and_replaces_the_hint(void **state) {
    (void)state;
    fixture *f = wpi_malloc(sizeof *f);
    wp_run_record back;
    wp_run_kernel faster = {.name = "k", .time_ns = 250000};
    wp_run_simulation shorter = {.time_ps = 400000000};
    const wp_run_record ideal = {.kernels = &faster, .kernel_count = 1, .simulation = &shorter};
    wp_run_ideal ideals[WP_RUN_IDEALS];
    wpi_text text = {0};
    wp_error err = {0};
    make(f, COUNTERS({"warp_time_translation_ps", 50000, 0}));
    wpi_verdict_text(&f->record, &text);
    assert_contains(wpi_text_string(&text), "warpage run --estimate");
    assert_u64(wp_run_record_ideals(&f->record, ideals), 1);
    assert_string_equal(ideals[0].rule, "translation");
    assert_contains(ideals[0].settings, "walker.count=0");
    wp_run_text_free(ideals[0].settings);
    wp_run_record_add_estimate(&f->record, "translation", &ideal);
    char *json = wp_run_record_to_json(&f->record);
    assert_contains(json, "\"ideal_time_ns\": 400000");
    assert_status_ok(wpi_run_record_parse(json, strlen(json), "here", &back, &err), &err);
    wpi_text_clear(&text);
    wpi_verdict_text(&back, &text);
    for (char *c = text.data; *c != '\0'; c++)
        if (*c == '\n') *c = ' '; /* the text is wrapped */
    assert_contains(wpi_text_string(&text), "4.00 times as fast, and the run");
    assert_contains(wpi_text_string(&text), "2.50 times as fast.");
    wp_run_record_deinit(&back);
    wp_run_text_free(json);
    wpi_free(f->record.estimates[0].rule);
    wpi_free(f->record.estimates[0].kernel_times_ns);
    wpi_free(f->record.estimates);
    wpi_text_deinit(&text);
    wpi_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_faults_of_pages_that_come_once),
        cmocka_unit_test(queues_of_tlbs_behind_faults_are_waits_for_faults),
        cmocka_unit_test(pages_that_come_again),
        cmocka_unit_test(waits_for_translation),
        cmocka_unit_test(scattered_loads),
        cmocka_unit_test(dram_near_its_peak),
        cmocka_unit_test(too_few_warps_to_hide_latency),
        cmocka_unit_test(idle_lanes),
        cmocka_unit_test(atomics_on_one_address),
        cmocka_unit_test(conflicts_of_banks),
        cmocka_unit_test(waits_at_barriers),
        cmocka_unit_test(busy_issue_slots),
        cmocka_unit_test(a_gpu_that_is_idle_between_launches),
        cmocka_unit_test(copies_that_take_long),
        cmocka_unit_test(the_three_heaviest_findings_in_order),
        cmocka_unit_test(a_run_in_which_nothing_stands_out_has_none),
        cmocka_unit_test(its_text_has_at_most_100_columns),
        cmocka_unit_test(of_several_kernels_it_names_the_one),
        cmocka_unit_test(with_counts_by_line_it_names_the_line_that_waits),
        cmocka_unit_test(an_estimate_goes_through_the_json_and_replaces_the_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
