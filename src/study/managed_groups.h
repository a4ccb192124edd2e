/* SPDX-License-Identifier: Apache-2.0 */
/** Managed allocations of the program's source: those of one name, size and place in the program
 * are one group. */
#ifndef WP_STUDY_MANAGED_GROUPS_H
#define WP_STUDY_MANAGED_GROUPS_H

#include "base/strings.h"
#include "warpage/report.h"
#include "warpage/trace.h"

typedef struct wpi_managed_group {
    char *name; /* of the variable or kernel parameter; "allocation 3" */
    bool is_named;
    char *site;
    uint64_t address; /* of the first */
    uint64_t bytes, count;
    uint64_t reads, writes; /* of the device */
    uint64_t moves[WP_RUN_MOVES];
    wpi_strings numbers; /* of its allocations: "3" */
} wpi_managed_group;

typedef struct wpi_managed_groups {
    wpi_managed_group *items;
    size_t count;
} wpi_managed_groups;

/** An allocation of the trace, as wp_trace_read_managed visits them; `groups` is the object. */
void wpi_managed_groups_add(void *groups, const wp_trace_allocation *allocation);
/** Adds names, accesses and paging counts from a run; allocations that the run does not distinguish
 * become one group. */
void wpi_managed_groups_describe(wpi_managed_groups *groups, const wp_run_record *record);
/** Those that matter: with most far faults, pages moved and remote accesses first, and at least a
 * hundredth of them all. Returns how many, at most `most`; `out`: [most]. */
size_t wpi_managed_groups_order(const wpi_managed_groups *groups, size_t *out, size_t most);
void wpi_managed_groups_deinit(wpi_managed_groups *groups);

#endif
