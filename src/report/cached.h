/* SPDX-License-Identifier: Apache-2.0 */
/** Launches of cached kernels (wpcc --cache), in all forms of a record. */
#ifndef WP_REPORT_CACHED_H
#define WP_REPORT_CACHED_H

#include "report/json/json_parts.h"
#include "report/run_record.h"

/** Adds launches to the kernel's row, or makes one. `launches` keeps its strings. False: no memory.
 */
bool wpi_cached_add(wp_run_record *record, const wp_run_cached *launches);
void wpi_cached_deinit(wp_run_record *record);
json_t *wpi_cached_to_json(const wp_run_record *record);
void wpi_cached_from_json(wpi_json_reader *reader, const json_t *array, wp_run_record *out);
void wpi_cached_text(const wp_run_record *record, wpi_text *out);
void wpi_cached_html(const wp_run_record *record, wpi_text *out);

#endif
