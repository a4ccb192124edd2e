/* SPDX-License-Identifier: Apache-2.0 */
/* Most lanes of a warp are idle: branches and loops of different lengths. */
#include "base/text.h"
#include "report/rules/rules.h"

/* Lanes that idle while the line's instructions issue. */
static uint64_t idle_lanes(const uint64_t *counts) {
    const uint64_t lanes = 32 * counts[WP_RUN_LINE_WARP_INSTRUCTIONS];
    const uint64_t active = counts[WP_RUN_LINE_THREAD_INSTRUCTIONS];
    return lanes > active ? lanes - active : 0;
}

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double lanes = wpi_fact_metric(f, "lanes_pct");
    const double elsewhere = wpi_fact_fault_pct(f) + wpi_fact_metric(f, "warp_barrier_pct") +
                             wpi_fact_metric(f, "warp_threads_pct");
    if (lanes <= 0 || lanes > WPI_RULE_LANES_PCT || elsewhere >= 50) return false;
    out->weight = f->share * (1 - lanes / 100) * (1 - elsewhere / 100);
    out->evidence =
        wpi_format("A warp instruction has %.1f of 32 lanes at work (%.0f %%): the lanes "
                   "of a warp take different branches, or loops of different lengths",
                   lanes * .32, lanes);
    out->remedy =
        wpi_format("Give the lanes of a warp equal work: a warp for each long item, items "
                   "sorted by their length, or one element for each thread");
    out->line_count = idle_lanes;
    out->bound = wpi_format("%.1f times fewer warp instructions, if all lanes worked", 100 / lanes);
    return true;
}

const wpi_rule wpi_rule_divergence = {.name = "divergence", .find = find};
