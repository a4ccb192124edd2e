/* SPDX-License-Identifier: Apache-2.0 */
/* Too few warps to hide latency: they wait, and no resource is busy. */
#include "base/text.h"
#include "report/rules/rules.h"

static double busiest(const wpi_rule_facts *f) {
    static const char *const peaks[] = {
        "peak_issue_pct",        "peak_lsu_pct",    "peak_shared_pct",
        "peak_l1_pct",           "peak_l2_pct",     "dram_utilisation_pct",
        "peak_tlb_l1_pct",       "peak_tlb_l2_pct", "walker_utilisation_pct",
        "peak_fault_handler_pct"};
    double most = 0;
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++)
        if (wpi_fact_metric(f, peaks[i]) > most) most = wpi_fact_metric(f, peaks[i]);
    return most;
}

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double occupancy = wpi_fact_metric(f, "occupancy_pct");
    const double waits = wpi_fact_metric(f, "warp_l1_pct") + wpi_fact_metric(f, "warp_l2_pct") +
                         wpi_fact_metric(f, "warp_dram_pct") +
                         wpi_fact_metric(f, "warp_shared_pct") +
                         wpi_fact_metric(f, "warp_execute_pct");
    const double peak = busiest(f);
    if (occupancy > 25 || waits < 50 || peak > 30 || f->kernel == NULL) return false;
    /* Idle lanes that become warps of their own: divergence.c has that, if it is enough. */
    const double lanes = wpi_fact_metric(f, "lanes_pct");
    if (lanes > 0 && lanes <= WPI_RULE_LANES_PCT && 100 * occupancy / lanes >= 10) return false;
    if (wpi_fact_atomic_pct(f) >= 30) return false; /* contended_atomics.c */
    out->weight = f->share * waits / 100;
    out->line_times = WPI_LINE_TIME(L1) | WPI_LINE_TIME(L2) | WPI_LINE_TIME(DRAM) |
                      WPI_LINE_TIME(SHARED) | WPI_LINE_TIME(EXECUTE);
    out->evidence =
        wpi_format("Its warps fill %.1f %% of the slots, so latency is not hidden: %.0f "
                   "%% of their time is latency of L1, L2, DRAM and instructions, while "
                   "the busiest resource is at %.0f %% of its peak",
                   occupancy, waits, peak);
    out->remedy = wpi_format("Give the kernel more threads that work at the same time, smaller "
                             "pieces for each, or several independent loads in flight per thread");
    out->bound = peak >= 5 ? wpi_format("the busiest resource allows at most %.0f times the speed",
                                        100 / peak)
                           : wpi_format("the busiest resource allows more than 20 times the speed");
    return true;
}

const wpi_rule wpi_rule_few_warps = {.name = "few-warps", .find = find};
