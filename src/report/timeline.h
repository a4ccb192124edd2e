/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels and copies one by one, as Chrome's trace format, which Perfetto opens: a track for each
 * stream and for phases that the program names, and counters of simulated GPUs. WARPAGE_TIMELINE
 * names the file.
 *
 * Thread rule: the caller keeps calls apart (the recorder's mutex).
 */
#ifndef WP_REPORT_TIMELINE_H
#define WP_REPORT_TIMELINE_H

#include "warpage/report.h"

/** Starts anew, for a file (copied); NULL: nothing is kept. */
void wpi_timeline_start(const char *path);
bool wpi_timeline_is_on(void);
/** A kernel (`name`), or a copy (NULL). `queue` is told apart by its address only. At most 65536
 *  are kept; the timeline says how many were not. */
void wpi_timeline_add(const void *queue, const char *name, wp_copy_kind copy, uint64_t bytes,
                      uint64_t start_ns, uint64_t end_ns);
/** A phase of the program, on the track of that name. Counts as one of those kept. */
void wpi_timeline_add_phase(const char *track, const char *name, uint64_t start_ns,
                            uint64_t end_ns);
/** Writes the file, with counters if the record has a simulation. */
WP_NODISCARD wp_status wpi_timeline_write(const wp_run_record *record, wp_error *err);
/** The same as a string (wpi_free). */
WP_NODISCARD char *wpi_timeline_to_json(const wp_run_record *record);

#endif
