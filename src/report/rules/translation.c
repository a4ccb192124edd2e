/* SPDX-License-Identifier: Apache-2.0 */
/* Warps wait for TLBs and page walks. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/rules/rules.h"

static uint64_t walks_of(const wp_run_allocation *a) {
    return a->touches.walks;
}

/* Settings under which look-ups and walks take no time, for the levels that there are. */
static char *ideal(const wp_run_machine *machine) {
    wpi_text text = {0};
    wpi_text_append(&text, "walker.count=0;walker.level_latency=0ns");
    for (unsigned i = 0; i < WP_RUN_TLB_LEVELS && machine->tlb_count[i] != 0; i++)
        wpi_text_appendf(&text, ";tlb.l%u.ports=0;tlb.l%u.mshrs=0;tlb.l%u.latency=0ns", i + 1,
                         i + 1, i + 1);
    return wpi_text_take(&text);
}

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double waits = wpi_fact_metric(f, "warp_translation_pct");
    if (waits < 15 || wpi_fact_fault_pct(f) >= 15) return false;
    char *mostly = wpi_fact_mostly(f, walks_of);
    out->weight = f->share * waits / 100;
    out->line_times = WPI_LINE_TIME(TRANSLATION);
    out->evidence = wpi_format(
        "%.0f %% of the time of its warps waits for address translation: an access touches %.1f "
        "pages, the L1 TLB hits %.0f %% of look-ups, and there are %" PRIu64 " page walks%s",
        waits, wpi_fact_metric(f, "pages_per_access"), wpi_fact_metric(f, "tlb_l1_hit_pct"),
        wpi_fact_count(f, "walker_walks"), mostly);
    out->remedy = wpi_format("Let the threads of a warp stay on few pages: sort or partition the "
                             "indices by the reach of the TLB, as `warpage groupby` does, or use "
                             "larger pages");
    out->ideal = ideal(&f->record->simulation->machine);
    out->ideal_name = "free address translation";
    wpi_free(mostly);
    return true;
}

const wpi_rule wpi_rule_translation = {.name = "translation", .find = find};
