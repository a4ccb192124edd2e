/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels and copies one by one, as Chrome's trace format, which Perfetto opens: a track for each
 * stream and for phases that the program names, and counters of simulated GPUs. WARPAGE_TIMELINE
 * names the file.
 *
 * Thread rule: the caller serialises calls (the recorder's mutex).
 */
#ifndef WP_REPORT_TIMELINE_H
#define WP_REPORT_TIMELINE_H

#include "warpage/report.h"

/** Starts an empty timeline for a file (copied); NULL: none. */
void wpi_timeline_start(const char *path);
bool wpi_timeline_is_on(void);
/** Adds a kernel (`name`), or a copy (NULL). Only the address of `queue` is used. At most 65536 are
 *  kept; the timeline has the number of the others. */
void wpi_timeline_add(const void *queue, const char *name, wp_copy_kind copy, uint64_t bytes,
                      uint64_t start_ns, uint64_t end_ns);
/** Adds a phase of the program, on the named track. Counts towards the limit. */
void wpi_timeline_add_phase(const char *track, const char *name, uint64_t start_ns,
                            uint64_t end_ns);
/** Writes the file, with counters if the record has a simulation. */
WP_NODISCARD wp_status wpi_timeline_write(const wp_run_record *record, wp_error *err);
/** The same as a string (wpi_free). */
WP_NODISCARD char *wpi_timeline_to_json(const wp_run_record *record);

#endif
