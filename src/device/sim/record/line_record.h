/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts by line of the source: the model counts by access and block of code (line_counts.h), each
 * kernel for itself; the record has a row for each line.
 *
 * Thread rule: as of the observer.
 */
#ifndef WP_DEVICE_SIM_LINE_RECORD_H
#define WP_DEVICE_SIM_LINE_RECORD_H

#include "base/fail.h"
#include "sim/engine/line_counts.h"

typedef struct wpi_line_record wpi_line_record;

/** NULL: out of memory. */
wpi_line_record *wpi_line_record_create(void);
void wpi_line_record_destroy(wpi_line_record *record); /* NULL allowed */

/** The counts of a kernel's launches, of code with these tables, which stay the record's. The
 * tables need not outlive the call. NULL: out of memory. */
wpi_line_counts *wpi_line_record_of(wpi_line_record *record, const char *kernel,
                                    const wp_trace_tables *tables);
/** Sets lines and line_count of `out` to the lines that were executed, by kernel, file, line and
 * calls. */
void wpi_line_record_fill(const wpi_line_record *record, wp_run_simulation *out);

#endif
