/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a warp access scattered addresses: each load moves many sectors of which little is
 * used. */
#include "base/text.h"
#include "report/rules/rules.h"

#define SECTORS_OF_WORDS 4.0 /* 32 threads read consecutive words */
#define SECTORS_OF_LINE 3.0  /* consecutive doubles take 8 or 9 sectors, too, but of few lines */

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double sectors = wpi_fact_metric(f, "sectors_per_load");
    const double waits = wpi_fact_metric(f, "warp_lsu_pct") + wpi_fact_metric(f, "warp_l1_pct") +
                         wpi_fact_metric(f, "warp_l2_pct") + wpi_fact_metric(f, "warp_dram_pct");
    const double lines = (double)wpi_fact_count(f, "memory_load_lines");
    const bool are_double =
        sectors < 3 * SECTORS_OF_WORDS &&
        (double)wpi_fact_count(f, "memory_load_sectors") > SECTORS_OF_LINE * lines;
    if (sectors < 2 * SECTORS_OF_WORDS || are_double || waits < 30 || wpi_fact_fault_pct(f) >= 30)
        return false;
    const double saved = waits / 100 * (1 - SECTORS_OF_WORDS / sectors);
    out->weight = f->share * saved;
    out->line_times =
        WPI_LINE_TIME(LSU) | WPI_LINE_TIME(L1) | WPI_LINE_TIME(L2) | WPI_LINE_TIME(DRAM);
    out->evidence = wpi_format("A load touches %.1f sectors where neighbouring words need 4, and "
                               "%.0f %% of the time of its warps waits for the load/store unit, "
                               "caches and DRAM",
                               sectors, waits);
    out->remedy = wpi_format("Let neighbouring threads read neighbouring addresses: sort the "
                             "indices, turn arrays of structures into structures of arrays, or "
                             "stage blocks through shared memory");
    out->bound = wpi_format("at most %.1f times as fast, if these waits shrink as the sectors do",
                            1 / (1 - saved));
    return true;
}

const wpi_rule wpi_rule_coalescing = {.name = "coalescing", .find = find};
