/* SPDX-License-Identifier: Apache-2.0 */
#include "study/paging_facts.h"

#include <inttypes.h>
#include <string.h>

#define WAIT_PCT_SMALL 5.0

static double wait_pct(const wp_run_simulation *s) {
    uint64_t all = 0, waiting = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        const wp_run_column *column = &s->columns[i];
        if (strncmp(column->name, "memory_spent_", 13) != 0) continue;
        all += s->values[column->first];
        if (strcmp(column->name, "memory_spent_fault_ps") == 0) waiting = s->values[column->first];
    }
    return all != 0 ? 100.0 * (double)waiting / (double)all : 0;
}

static uint64_t kernel_ns(const wp_run_record *record) {
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < record->kernel_count; i++)
        sum_ns += record->kernels[i].time_ns;
    return sum_ns;
}

static uint64_t managed_bytes(const wp_run_simulation *s) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->allocation_count; i++)
        if (strcmp(s->allocations[i].kind, "managed") == 0)
            bytes += s->allocations[i].count * s->allocations[i].bytes;
    return bytes;
}

wpi_paging_facts wpi_paging_facts_of(const wp_run_record *record) {
    const wp_run_simulation *s = record->simulation;
    const uint64_t *v = s->values;
    return (wpi_paging_facts){
        .time_ns = s->time_ps / 1000,
        .kernel_ns = kernel_ns(record),
        .wait_pct = wait_pct(s),
        .far_faults = wp_run_count(record, v, "paging_far_faults"),
        .fetched_pages = wp_run_count(record, v, "paging_fetched"),
        .prefetched_pages = wp_run_count(record, v, "paging_prefetched"),
        .again_pages = wp_run_count(record, v, "paging_thrashed"),
        .evicted_pages = wp_run_count(record, v, "paging_evicted"),
        .host_faults = wp_run_count(record, v, "paging_host_faults"),
        .host_pages = wp_run_count(record, v, "paging_host_fetched"),
        .remote_accesses = wp_run_count(record, v, "paging_remote"),
        .link_bytes = wp_run_count(record, v, "link_to_device_copied_bytes") +
                      wp_run_count(record, v, "link_to_device_remote_bytes") +
                      wp_run_count(record, v, "link_to_host_copied_bytes") +
                      wp_run_count(record, v, "link_to_host_remote_bytes"),
        .managed_bytes = managed_bytes(s),
    };
}

/* The mean number of fetches of a page that was fetched. */
static double times_fetched(const wpi_paging_facts *f) {
    const uint64_t different = f->fetched_pages - f->again_pages;
    return different != 0 ? (double)f->fetched_pages / (double)different : 0;
}

static void diagnose_device(const wpi_paging_facts *f, wpi_text *out) {
    if (f->fetched_pages == 0) {
        wpi_text_append(out, "No page is migrated to the device.");
    } else if (f->evicted_pages != 0 && f->again_pages != 0) {
        wpi_text_appendf(
            out,
            "Thrashing: device memory is smaller than the data, and each migrated page was "
            "migrated %.1f times on average.",
            times_fetched(f));
    } else if (f->evicted_pages != 0) {
        wpi_text_append(out,
                        "Device memory is smaller than the data, but no evicted page was migrated "
                        "again.");
    } else if (f->wait_pct < WAIT_PCT_SMALL) {
        wpi_text_appendf(
            out,
            "The data fits in device memory, and only %.1f %% of the access time is spent on "
            "far faults: little can be gained.",
            f->wait_pct);
    } else {
        wpi_text_appendf(
            out,
            "The data fits in device memory; %.1f %% of the access time is spent on far "
            "faults, %s.",
            f->wait_pct,
            f->again_pages != 0 ? "some on pages migrated before"
                                : "all on pages accessed for the first time");
    }
}

static void diagnose_host(const wpi_paging_facts *f, wpi_text *out) {
    if (f->host_pages == 0) return;
    if (f->evicted_pages == 0 && f->again_pages != 0) {
        wpi_text_appendf(out,
                         " Pages move back and forth: %" PRIu64
                         " pages were migrated to the host, %" PRIu64 " again to the device.",
                         f->host_pages, f->again_pages);
    } else {
        wpi_text_appendf(
            out, " %" PRIu64 " page%s migrated to the host, by %" PRIu64 " host page fault%s.",
            f->host_pages, f->host_pages == 1 ? " was" : "s were", f->host_faults,
            f->host_faults == 1 ? "" : "s");
    }
}

void wpi_paging_diagnose(const wpi_paging_facts *facts, wpi_text *out) {
    diagnose_device(facts, out);
    diagnose_host(facts, out);
}
