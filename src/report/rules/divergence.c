/* SPDX-License-Identifier: Apache-2.0 */
/* Most lanes of a warp are idle: branches and loops of different lengths. */
#include "base/text.h"
#include "report/rules/rules.h"

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double lanes = wpi_fact_metric(f, "lanes_pct");
    const double elsewhere = wpi_fact_fault_pct(f) + wpi_fact_metric(f, "warp_barrier_pct") +
                             wpi_fact_metric(f, "warp_threads_pct");
    if (lanes <= 0 || lanes > 60 || elsewhere >= 50) return false;
    out->weight = f->share * (1 - lanes / 100) * (1 - elsewhere / 100);
    out->evidence =
        wpi_format("A warp instruction has %.1f of 32 lanes at work (%.0f %%): the lanes "
                   "of a warp take different branches, or loops of different lengths",
                   lanes * .32, lanes);
    out->remedy =
        wpi_format("Give the lanes of a warp equal work: a warp for each long item, items "
                   "sorted by their length, or one element for each thread");
    out->bound = wpi_format("at most %.1f times as fast, if all lanes worked", 100 / lanes);
    return true;
}

const wpi_rule wpi_rule_divergence = {.name = "divergence", .find = find};
