/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to shared memory take turns at its banks. */
#include "base/text.h"
#include "report/rules/rules.h"

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double conflicts = wpi_fact_metric(f, "shared_conflicts_per_access");
    const double waits = wpi_fact_metric(f, "warp_shared_pct");
    const double busy = wpi_fact_metric(f, "peak_shared_pct");
    if (conflicts < 1 || (waits < 15 && busy < 50)) return false;
    const double held = (waits > busy ? waits : busy) / 100,
                 saved = held * conflicts / (conflicts + 1);
    out->weight = f->share * saved;
    out->line_times = WPI_LINE_TIME(SHARED);
    out->evidence = wpi_format("%.0f %% of the time of its warps waits for shared memory, whose "
                               "accesses take %.1f cycles each, %.1f of them for bank conflicts",
                               waits, conflicts + 1, conflicts);
    out->remedy =
        wpi_format("Pad the rows of arrays in shared memory by one word, so that a column "
                   "lies in different banks");
    out->bound = wpi_format("at most %.1f times as fast, without conflicts", 1 / (1 - saved));
    return true;
}

const wpi_rule wpi_rule_bank_conflicts = {.name = "bank-conflicts", .find = find};
