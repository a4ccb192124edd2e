/* SPDX-License-Identifier: Apache-2.0 */
/* Warps wait for pages that were never on the device. Pages that come back are
 * oversubscription.c's. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/units.h"
#include "report/rules/rules.h"

static uint64_t faults_of(const wp_run_allocation *a) {
    return a->moves[WP_RUN_MOVE_FAR_FAULTS];
}

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double waits = wpi_fact_fault_pct(f);
    const uint64_t faults = wpi_fact_count(f, "paging_far_faults");
    const uint64_t fetched = wpi_fact_count(f, "paging_fetched");
    const uint64_t made = wpi_fact_count(f, "paging_made");
    if (waits < 15 || faults == 0) return false;
    const uint64_t thrashed = wpi_fact_count(f, "paging_thrashed");
    if (thrashed != 0 && 5 * thrashed >= fetched + made) return false;
    char *mostly = wpi_fact_mostly(f, faults_of);
    out->weight = f->share * waits / 100;
    out->line_times = WPI_LINE_TIME(FAULT) | WPI_LINE_TIME(TRANSLATION) | WPI_LINE_TIME(LSU);
    out->evidence = wpi_format(
        "%.0f %% of the time of its warps waits for far faults: %" PRIu64 " faults%s; %" PRIu64
        " pages migrated, %" PRIu64
        " zero-filled, and the fault handler is busy for %.0f %% of the time",
        waits, faults, mostly, fetched, made, wpi_fact_metric(f, "peak_fault_handler_pct"));
    out->remedy = wpi_format(
        "%s", fetched >= made ? "Migrate the data before the kernel needs them: "
                                "cudaMemPrefetchAsync; `warpage advise` tries it"
                              : "Touch the memory before: cudaMemPrefetchAsync to the device, "
                                "or cudaMalloc, whose pages are resident from the start");
    out->ideal = wpi_format("paging.latency=0ns;paging.batch_latency=0ns;paging.fault_latency=0ns;"
                            "paging.block_latency=0ns;paging.interrupt=0ns;"
                            "link.bandwidth=10000GB/s;link.latency=0ns");
    out->ideal_name = "far faults that cost nothing";
    wpi_free(mostly);
    return true;
}

const wpi_rule wpi_rule_far_faults = {.name = "far-faults", .find = find};
