/* SPDX-License-Identifier: Apache-2.0 */
/** Streamed launches, in all forms of a record. */
#ifndef WP_REPORT_STREAMED_H
#define WP_REPORT_STREAMED_H

#include "report/json/json_parts.h"
#include "report/run_record.h"

/** Adds a launch to the kernel's row, or makes one. `launch` keeps its strings. False: no memory.
 */
bool wpi_streamed_add(wp_run_record *record, const wp_run_streamed *launch);
void wpi_streamed_deinit(wp_run_record *record);
json_t *wpi_streamed_to_json(const wp_run_record *record);
void wpi_streamed_from_json(wpi_json_reader *reader, const json_t *array, wp_run_record *out);
void wpi_streamed_text(const wp_run_record *record, wpi_text *out);
void wpi_streamed_html(const wp_run_record *record, wpi_text *out);

#endif
