/* SPDX-License-Identifier: Apache-2.0 */
/** A run's numbers about managed memory, and their meaning in words. */
#ifndef WP_STUDY_PAGING_FACTS_H
#define WP_STUDY_PAGING_FACTS_H

#include "base/text.h"
#include "warpage/report.h"

typedef struct wpi_paging_facts {
    uint64_t time_ns;   /* simulated, of the whole run */
    uint64_t kernel_ns; /* of all launches */
    double wait_pct;    /* of the time of all accesses, waiting for pages */
    uint64_t far_faults, fetched_pages, prefetched_pages;
    uint64_t again_pages; /* fetched again after an eviction */
    uint64_t evicted_pages, host_faults,
        host_pages;           /* that host and those that the host took back */
    uint64_t remote_accesses; /* across the link */
    uint64_t link_bytes;      /* both ways, copies and accesses */
    uint64_t managed_bytes;
} wpi_paging_facts;

/** Of a record with a simulation. */
wpi_paging_facts wpi_paging_facts_of(const wp_run_record *record);

/** One or two sentences. */
void wpi_paging_diagnose(const wpi_paging_facts *facts, wpi_text *out);

#endif
