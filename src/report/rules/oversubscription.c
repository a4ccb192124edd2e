/* SPDX-License-Identifier: Apache-2.0 */
/* Pages are evicted and migrated again: the data in use exceed device memory. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/rules/rules.h"

static uint64_t thrashed_of(const wp_run_allocation *a) {
    return a->moves[WP_RUN_MOVE_THRASHED];
}

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double waits = wpi_fact_fault_pct(f);
    const uint64_t fetched = wpi_fact_count(f, "paging_fetched") + wpi_fact_count(f, "paging_made");
    const uint64_t thrashed = wpi_fact_count(f, "paging_thrashed");
    if (waits < 15 || thrashed == 0 || 5 * thrashed < fetched) return false;
    char *mostly = wpi_fact_mostly(f, thrashed_of);
    out->weight = f->share * waits / 100;
    out->line_times = WPI_LINE_TIME(FAULT) | WPI_LINE_TIME(TRANSLATION) | WPI_LINE_TIME(LSU);
    out->evidence = wpi_format("%.0f %% of the time of its warps waits for far faults, and the "
                               "data do not fit: of %" PRIu64 " pages migrated in, %" PRIu64
                               " had been evicted before%s; the link to the device is busy "
                               "for %.0f %% of the time",
                               waits, fetched, thrashed, mostly,
                               wpi_fact_metric(f, "link_to_device_utilisation_pct"));
    out->remedy = wpi_format("Work on tiles that fit until they are done, or keep cold data on the "
                             "host (cudaMemAdvise, `--migrate payback`); `warpage advise` ranks "
                             "such changes");
    out->ideal = wpi_format("paging.oversubscribe=50%%");
    out->ideal_name = "memory for all of the data";
    wpi_free(mostly);
    return true;
}

const wpi_rule wpi_rule_oversubscription = {.name = "oversubscription", .find = find};
