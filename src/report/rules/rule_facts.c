/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/text.h"
#include "base/units.h"
#include "report/metrics.h"
#include "report/rules/rules.h"
#include "report/simulation.h"

double wpi_fact_metric(const wpi_rule_facts *f, const char *name) {
    return wpi_metric_value(f->record->simulation, f->values, f->time_ps, name);
}

uint64_t wpi_fact_count(const wpi_rule_facts *f, const char *name) {
    return wp_run_count(f->record, f->values, name);
}

double wpi_fact_sum(const wpi_rule_facts *f, const char *name) {
    const wp_run_column *column = wpi_simulation_column(f->record->simulation, name);
    return column != NULL && column->is_histogram ? (double)f->values[column->first + 1] : 0;
}

/* Requests behind one that faults wait for ports and MSHRs of the TLBs, and those behind them for
 * room in the load/store unit. */
double wpi_fact_fault_pct(const wpi_rule_facts *f) {
    const double faults = wpi_fact_metric(f, "warp_fault_pct");
    const bool is_serving = wpi_fact_metric(f, "peak_fault_handler_pct") >= 30;
    if (!is_serving) return faults;
    return faults + wpi_fact_metric(f, "warp_translation_pct") + wpi_fact_metric(f, "warp_lsu_pct");
}

double wpi_fact_atomic_pct(const wpi_rule_facts *f) {
    const double turns = (double)wpi_fact_count(f, "l2_atomic_turns");
    const double accesses = (double)wpi_fact_count(f, "memory_atomic_accesses") +
                            (double)wpi_fact_count(f, "memory_reduce_accesses");
    const double clock_hz = (double)f->record->simulation->machine.clock_hz;
    if (f->kernel == NULL || turns < 8 * accesses || clock_hz <= 0) return 0;
    const double pct = 100 * turns / clock_hz / ((double)f->time_ps * 1e-12);
    return pct < 100 ? pct : 100;
}

char *wpi_fact_mostly(const wpi_rule_facts *f, uint64_t (*count)(const wp_run_allocation *a)) {
    const wp_run_simulation *s = f->record->simulation;
    const wp_run_allocation *most = NULL;
    uint64_t sum = 0;
    char bytes[32];
    for (size_t i = 0; i < s->allocation_count; i++) {
        sum += count(&s->allocations[i]);
        if (most == NULL || count(&s->allocations[i]) > count(most)) most = &s->allocations[i];
    }
    if (sum == 0 || 2 * count(most) < sum || (most->name[0] == '\0' && most->site[0] == '\0'))
        return wpi_format("%s", "");
    return wpi_format(", %.0f %% of them in `%.60s` (%s)", 100 * (double)count(most) / (double)sum,
                      most->name[0] != '\0' ? most->name : most->site,
                      wpi_format_bytes(most->bytes, bytes));
}

void wpi_finding_deinit(wpi_finding *finding) {
    wpi_free(finding->evidence);
    wpi_free(finding->remedy);
    wpi_free(finding->bound);
    wpi_free(finding->ideal);
    *finding = (wpi_finding){0};
}
