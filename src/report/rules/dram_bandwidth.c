/* SPDX-License-Identifier: Apache-2.0 */
/* DRAM is near its peak. */
#include "base/text.h"
#include "base/units.h"
#include "report/rules/rules.h"

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double busy = wpi_fact_metric(f, "dram_utilisation_pct");
    const double waits = wpi_fact_metric(f, "warp_dram_pct") + wpi_fact_metric(f, "warp_l2_pct") +
                         wpi_fact_metric(f, "warp_lsu_pct");
    const double hits = (double)wpi_fact_count(f, "dram_row_hits");
    const double misses = (double)wpi_fact_count(f, "dram_row_misses");
    if (busy < 60 || waits < 20) return false;
    char read[32];
    out->weight = f->share * busy / 100 * waits / 100;
    out->line_times = WPI_LINE_TIME(DRAM);
    out->evidence = wpi_format(
        "DRAM is busy for %.0f %% of the time, at %.0f GB/s, and reads %s; %.0f %% of its "
        "accesses open another row",
        busy, wpi_fact_metric(f, "dram_bytes_per_s") * 1e-9,
        wpi_format_bytes(wpi_fact_count(f, "dram_read_bytes"), read),
        hits + misses > 0 ? 100 * misses / (hits + misses) : 0);
    out->remedy = wpi_format("Move fewer bytes: reuse them in shared memory or L2, use narrower "
                             "types, fuse kernels that read the same data");
    out->ideal = wpi_format("dram.bandwidth=100000GB/s;dram.row_miss=0ns;dram.latency=0ns");
    out->ideal_name = "DRAM that costs nothing";
    return true;
}

const wpi_rule wpi_rule_dram_bandwidth = {.name = "dram-bandwidth", .find = find};
