/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel computes: its schedulers are busy. */
#include "base/text.h"
#include "report/rules/rules.h"

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double busy = wpi_fact_metric(f, "peak_issue_pct");
    if (busy < 70) return false;
    out->weight = f->share * busy / 100;
    out->line_times = WPI_LINE_TIME(EXECUTE) | WPI_LINE_TIME(NOT_SELECTED);
    out->evidence =
        wpi_format("Instructions occupy %.0f %% of the issue slots and their units: memory "
                   "does not hold it back",
                   busy);
    out->remedy = wpi_format("Execute fewer or cheaper instructions: float in place of double, "
                             "strength reduction, less work per element");
    out->bound = wpi_format("at most %.2f times as fast with the same instructions", 100 / busy);
    return true;
}

const wpi_rule wpi_rule_issue_slots = {.name = "issue-slots", .find = find};
