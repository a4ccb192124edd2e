/* SPDX-License-Identifier: Apache-2.0 */
/* Warps wait for others of their block. */
#include "base/text.h"
#include "report/rules/rules.h"

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double waits = wpi_fact_metric(f, "warp_barrier_pct");
    if (waits < 25) return false;
    out->weight = f->share * waits / 100;
    out->line_times = WPI_LINE_TIME(BARRIER);
    out->evidence =
        wpi_format("%.0f %% of the time of its warps waits at barriers for other warps of "
                   "the block",
                   waits);
    out->remedy =
        wpi_format("Balance the work of a block's warps, use smaller blocks, or barriers of "
                   "a warp (__syncwarp) where a block's is not needed");
    out->bound = wpi_format("at most %.1f times as fast, without waiting", 1 / (1 - waits / 100));
    return true;
}

const wpi_rule wpi_rule_barriers = {.name = "barriers", .find = find};
