/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed from counters, against arithmetic; and a simulation's way through JSON and CSV.
 */
#include "report/metrics.h"

#include "base/alloc.h"
#include "report/run_record.h"
#include "report/simulation.h"
#include "wp_test.h"

/* A GPU of 4 SMs at 1 GHz; a kernel of 1000 cycles. */
enum {
    TIME,
    THREADS,
    WARPS,
    RESIDENT,
    HITS_1,
    MERGES_1,
    MISSES_1,
    HITS_2,
    MERGES_2,
    MISSES_2,
    SPENT_ISSUE,
    SPENT_QUEUE,
    ISSUE,
    WARP_EXECUTE,
    WARP_FAULT,
    WARP_DRAM,
    LOAD_LINES,
    STORE_LINES,
    ATOMIC_LINES,
    REDUCE_LINES,
    SHARED,
    CONFLICTS,
    DRAM_BUSY,
    L2_BUSY,
    HANDLER,
    WALKS,                                  /* a histogram */
    PORTS = WALKS + WP_RUN_HISTOGRAM_VALUES /* … */
};

static wp_run_column columns[] = {
    [TIME] = {"kernel_time_ps", "ps", false, TIME},
    [THREADS] = {"kernel_thread_instructions", "instructions", false, THREADS},
    [WARPS] = {"kernel_warp_instructions", "instructions", false, WARPS},
    [RESIDENT] = {"kernel_resident_warps_ps", "ps", false, RESIDENT},
    [HITS_1] = {"tlb_l1_hits", "requests", false, HITS_1},
    [MERGES_1] = {"tlb_l1_merges", "requests", false, MERGES_1},
    [MISSES_1] = {"tlb_l1_misses", "requests", false, MISSES_1},
    [HITS_2] = {"tlb_l2_hits", "requests", false, HITS_2},
    [MERGES_2] = {"tlb_l2_merges", "requests", false, MERGES_2},
    [MISSES_2] = {"tlb_l2_misses", "requests", false, MISSES_2},
    [SPENT_ISSUE] = {"memory_spent_issue_ps", "ps", false, SPENT_ISSUE},
    [SPENT_QUEUE] = {"memory_spent_queue_ps", "ps", false, SPENT_QUEUE},
    [ISSUE] = {"kernel_issue_ps", "ps", false, ISSUE},
    [WARP_EXECUTE] = {"warp_time_execute_ps", "ps", false, WARP_EXECUTE},
    [WARP_FAULT] = {"warp_time_fault_ps", "ps", false, WARP_FAULT},
    [WARP_DRAM] = {"warp_time_dram_ps", "ps", false, WARP_DRAM},
    [LOAD_LINES] = {"memory_load_lines", "lines", false, LOAD_LINES},
    [STORE_LINES] = {"memory_store_lines", "lines", false, STORE_LINES},
    [ATOMIC_LINES] = {"memory_atomic_lines", "lines", false, ATOMIC_LINES},
    [REDUCE_LINES] = {"memory_reduce_lines", "lines", false, REDUCE_LINES},
    [SHARED] = {"shared_accesses", "warp accesses", false, SHARED},
    [CONFLICTS] = {"shared_conflict_cycles", "cycles", false, CONFLICTS},
    [DRAM_BUSY] = {"dram_utilisation_ps", "ps", false, DRAM_BUSY},
    [L2_BUSY] = {"l2_utilisation_ps", "ps", false, L2_BUSY},
    [HANDLER] = {"paging_handler_utilisation_ps", "ps", false, HANDLER},
    [WALKS] = {"walker_latency_ps", "ps", true, WALKS},
    [WALKS + 1] = {"tlb_l1_port_wait_ps", "ps", true, PORTS},
};

#define COLUMNS (sizeof columns / sizeof columns[0])
#define VALUES (PORTS + WP_RUN_HISTOGRAM_VALUES)

static uint64_t values[VALUES] = {[TIME] = 1000000,
                                  [THREADS] = 64000,
                                  [WARPS] = 4000,
                                  [RESIDENT] = 32 * 1000000,
                                  [HITS_1] = 60,
                                  [MERGES_1] = 20,
                                  [MISSES_1] = 20,
                                  [HITS_2] = 5,
                                  [MERGES_2] = 0,
                                  [MISSES_2] = 15,
                                  [SPENT_ISSUE] = 250,
                                  [SPENT_QUEUE] = 750,
                                  [ISSUE] = 400000,
                                  [WARP_EXECUTE] = 8000000,
                                  [WARP_FAULT] = 20000000,
                                  [WARP_DRAM] = 4000000,
                                  [LOAD_LINES] = 1000,
                                  [STORE_LINES] = 500,
                                  [ATOMIC_LINES] = 300,
                                  [REDUCE_LINES] = 200,
                                  [SHARED] = 250,
                                  [CONFLICTS] = 750,
                                  [DRAM_BUSY] = 1000000,
                                  [L2_BUSY] = 3000000,
                                  [HANDLER] = 500000,
                                  [PORTS] = 600,
                                  [WALKS] = 4,
                                  [WALKS + 1] = 50000,
                                  [WALKS + 2 + 14] = 4};

static wp_run_series series[] = {{"dram_utilisation", 100, 2, (uint64_t[]){5, 0, 200}, 3},
                                 {"l2_utilisation", 100, 3, (uint64_t[]){0}, 1}};

static wp_run_allocation allocations[] = {
    {"x", "main+0x1 in p", "device", 2, 8192, 0, 4096, true, {7, 6, 5, 4}, {0}, {0}},
    {"t", "", "variable", 1, 0, 0, 0, false, {1, 0, 0, 0}, {0}, {0}}};

static wp_run_page page = {0, 4096, {3, 2, 1, 1}};

static wp_run_simulation simulation = {
    .series = series,
    .series_count = 2,
    .allocations = allocations,
    .allocation_count = 2,
    .page_bytes = 4096,
    .pages = &page,
    .page_count = 1,
    .footprint = (wp_run_touches[]){{1, 2, 3, 4}, {0, 0, 0, 9}},
    .map = {4096, 1 << 17, 2, 3, (uint32_t[]){1, 0, 0, 4294967295u, 5, 6}},

    .time_ps = 5000000,
    .counted_ps = 2000000,
    .machine = {.sm_count = 4,
                .warps_per_sm = 16,
                .clock_hz = 1000000000,
                .dram_channels = 2,
                .schedulers = 2,
                .tlb_count = {4, 1},
                .tlb_ports = {2, 0}},
    .columns = columns,
    .column_count = COLUMNS,
    .value_count = VALUES,
    .values = values};

typedef struct wanted {
    const char *name;
    bool is_found;
    double value;
} wanted;

static void look(void *object, const wpi_metric *metric) {
    wanted *w = object;
    if (strcmp(w->name, metric->name) != 0) return;
    assert_false(w->is_found); /* each one once */
    w->is_found = true;
    w->value = metric->value;
}

static double metric(const char *name) {
    wanted w = {.name = name};
    wpi_metrics_visit(&simulation, values, 2000000, look, &w);
    if (!w.is_found) fail_msg("no metric '%s'", name);
    return w.value;
}

static void rates_are_of_the_time_of_kernels(void **state) {
    (void)state;
    assert_near(metric("ipc"), 4.0, 1e-12); /* 4000 in 1000 cycles */
    assert_near(metric("ipc_per_sm"), 1.0, 1e-12);
    assert_near(metric("thread_ipc"), 64.0, 1e-12);
    assert_near(metric("lanes_pct"), 50.0, 1e-12);
    assert_near(metric("occupancy_pct"), 50.0, 1e-12); /* 32 of 64 */
}

static void every_level_of_tlbs_has_its_ratio(void **state) {
    (void)state;
    assert_near(metric("tlb_l1_hit_pct"), 60.0, 1e-12);
    assert_near(metric("tlb_l2_hit_pct"), 25.0, 1e-12);
    wanted w = {.name = "tlb_l3_hit_pct"};
    wpi_metrics_visit(&simulation, values, 2000000, look, &w);
    assert_false(w.is_found);
}

static void means_are_sums_by_counts(void **state) {
    (void)state;
    assert_near(metric("walk_latency_mean_ns"), 12.5, 1e-12);
    assert_near(metric("spent_issue_pct") + metric("spent_queue_pct"), 100.0, 1e-9);
    assert_near(metric("spent_queue_pct"), 75.0, 1e-9);
}

static void peaks_are_of_the_machine_s_capacity(void **state) {
    (void)state;
    assert_near(metric("peak_issue_pct"), 5.0, 1e-9);        /* 0.4 of 8 us of schedulers */
    assert_near(metric("peak_lsu_pct"), 50.0, 1e-9);         /* 2000 lines of 4 x 1000 cycles */
    assert_near(metric("peak_shared_pct"), 25.0, 1e-9);      /* 1000 cycles of them */
    assert_near(metric("dram_utilisation_pct"), 25.0, 1e-9); /* of 2 channels in 2 us */
    assert_near(metric("peak_l2_pct"), 50.0, 1e-9);          /* of 3 slices in 2 us */
    assert_near(metric("peak_tlb_l1_pct"), 7.5, 1e-9);       /* 600 of 4 x 2 x 1000 look-ups */
    assert_near(metric("peak_fault_handler_pct"), 25.0, 1e-9);
    wanted w = {.name = "peak_tlb_l2_pct"}; /* ports are unlimited */
    wpi_metrics_visit(&simulation, values, 2000000, look, &w);
    assert_false(w.is_found);
}

static void the_parts_of_warps_time_add_up_to_all_of_it(void **state) {
    (void)state;
    assert_near(metric("warp_execute_pct"), 25.0, 1e-9);
    assert_near(metric("warp_fault_pct"), 62.5, 1e-9);
    assert_near(metric("warp_execute_pct") + metric("warp_fault_pct") + metric("warp_dram_pct"),
                100.0, 1e-9);
    assert_u64(values[WARP_EXECUTE] + values[WARP_FAULT] + values[WARP_DRAM], values[RESIDENT]);
    assert_near(wpi_metric_value(&simulation, values, 2000000, "warp_fault_pct"), 62.5, 1e-9);
    assert_near(wpi_metric_value(&simulation, values, 2000000, "no_such"), 0, 1e-9);
}

static void the_machine_survives_the_json(void **state) {
    (void)state;
    json_t *json = wpi_simulation_to_json(&simulation);
    wp_run_simulation *back = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_simulation_from_json(json, "here", &back, &err), &err);
    assert_memory_equal(&back->machine, &simulation.machine, sizeof back->machine);
    wpi_simulation_destroy(back);
    json_decref(json);
}

static void what_was_not_measured_has_no_metric(void **state) {
    (void)state;
    uint64_t none[VALUES] = {0};
    wanted w = {.name = "tlb_l1_hit_pct"};
    wpi_metrics_visit(&simulation, none, 0, look, &w);
    assert_false(w.is_found);
}

static void people_get_three_digits_and_a_unit(void **state) {
    (void)state;
    const struct {
        wpi_metric metric;
        const char *text;
    } cases[] = {{{"a", "", "", "", "", 0.00123}, "0.0012"},
                 {{"a", "", "", "", "", 12.25}, "12.25"},
                 {{"a", "", "%", "", "", 0.004}, "0.00 %"},
                 {{"a", "", "ns", "", "", 339.6}, "340 ns"},
                 {{"a", "", "ns", "", "", 1160.2}, "1.16 us"},
                 {{"a", "", "B/s", "", "", 4.8e11}, "480.00 GB/s"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32];
        assert_string_equal(wpi_metric_format(&cases[i].metric, text), cases[i].text);
    }
}

static wp_run_record record_of(wp_run_kernel *kernel) {
    *kernel = (wp_run_kernel){.name = "k",
                              .display_name = "k(int, char)",
                              .launches = 1,
                              .overlapped = 1,
                              .values = values};
    static char *no_program[] = {NULL};
    return (wp_run_record){.version = "1",
                           .device_spec = "sim:x",
                           .device_name = "X",
                           .program = no_program,
                           .kernels = kernel,
                           .kernel_count = 1,
                           .simulation = &simulation};
}

static void json_gives_back_what_was_counted(void **state) {
    (void)state;
    wp_run_kernel kernel;
    const wp_run_record record = record_of(&kernel);
    wp_run_record back;
    wp_error err = {0};
    char *json = wp_run_record_to_json(&record);
    assert_contains(json, "\"simulated_time_ns\": 5000,");
    assert_contains(json, "\"thread_instructions\": 64000,");
    assert_null(strstr(json, "wall_time_ns"));
    assert_status_ok(wpi_run_record_parse(json, strlen(json), "here", &back, &err), &err);
    assert_u64(wp_run_count(&back, back.simulation->values, "tlb_l1_hits"), 60);
    assert_u64(wp_run_count(&back, back.kernels[0].values, "walker_latency_ps"), 4);
    assert_u64(wp_run_count(&back, back.kernels[0].values, "no_such"), 0);
    assert_u64(back.kernels[0].overlapped, 1);
    assert_u64(back.simulation->series[0].busy_ps[2], 200);
    assert_string_equal(back.simulation->allocations[0].site, "main+0x1 in p");
    assert_false(back.simulation->allocations[1].has_place);
    assert_memory_equal(&back.simulation->pages[0].touches, &page.touches, sizeof page.touches);
    assert_memory_equal(back.simulation->map.accesses, simulation.map.accesses,
                        6 * sizeof(uint32_t));
    assert_u64(back.simulation->footprint[1].walks, 9);
    char *again = wp_run_record_to_json(&back);
    assert_string_equal(again, json);
    wp_run_text_free(again);
    wp_run_text_free(json);
    wp_run_record_deinit(&back);
}

static void a_damaged_simulation_is_refused(void **state) {
    (void)state;
    wp_run_kernel kernel;
    const wp_run_record record = record_of(&kernel);
    char *json = wp_run_record_to_json(&record);
    char *unit = strstr(json, "\"units\"");
    assert_non_null(unit);
    unit[1] = 'U';
    wp_run_record back;
    wp_error err = {0};
    assert_status_fails(wpi_run_record_parse(json, strlen(json), "here", &back, &err),
                        WP_STATUS_PARSE, &err, "units");
    wp_run_text_free(json);
}

/* Commas outside quotes. */
static size_t cells_of(const char *line) {
    size_t count = 1;
    bool is_quoted = false;
    for (; *line != '\r' && *line != '\0'; line++) {
        if (*line == '"') is_quoted = !is_quoted;
        count += *line == ',' && !is_quoted;
    }
    return count;
}

static void each_row_of_the_csv_has_all_cells(void **state) {
    (void)state;
    wp_run_kernel kernel;
    wp_run_record record = record_of(&kernel);
    record.copies[WP_COPY_H2D] = (wp_run_copies){1, 2, 3};
    char *csv = wp_run_record_to_csv(&record);
    const size_t cells = cells_of(csv);
    assert_true(cells > 8 + COLUMNS);
    size_t rows = 0;
    for (const char *line = csv; line != NULL && *line != '\0'; rows++) {
        assert_u64(cells_of(line), cells);
        line = strstr(line, "\r\n");
        if (line != NULL) line += 2;
    }
    assert_u64(rows, 4); /* names, kernel, copy, run */
    wp_run_text_free(csv);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_of_the_time_of_kernels),
        cmocka_unit_test(every_level_of_tlbs_has_its_ratio),
        cmocka_unit_test(means_are_sums_by_counts),
        cmocka_unit_test(peaks_are_of_the_machine_s_capacity),
        cmocka_unit_test(the_parts_of_warps_time_add_up_to_all_of_it),
        cmocka_unit_test(the_machine_survives_the_json),
        cmocka_unit_test(what_was_not_measured_has_no_metric),
        cmocka_unit_test(people_get_three_digits_and_a_unit),
        cmocka_unit_test(json_gives_back_what_was_counted),
        cmocka_unit_test(a_damaged_simulation_is_refused),
        cmocka_unit_test(each_row_of_the_csv_has_all_cells),
    };
    return wp_test_main(tests);
}
