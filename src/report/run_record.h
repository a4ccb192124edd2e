/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to report: building run records, and their forms. */
#ifndef WP_REPORT_RUN_RECORD_H
#define WP_REPORT_RUN_RECORD_H

#include "base/text.h"
#include "warpage/report.h"

/** Longest total time first; ties by name, so that equal runs give equal reports. */
void wpi_run_record_sort(wp_run_record *record);

/** One file for each form: json.c, report_csv.c, report_text.c, html.c. They append to `out`. */
void wpi_run_record_json(const wp_run_record *record, wpi_text *out);
void wpi_run_record_csv(const wp_run_record *record, wpi_text *out);
void wpi_run_record_text(const wp_run_record *record, wpi_text *out);
struct wpi_plots;
void wpi_run_record_html(const wp_run_record *record, wpi_text *out);
/** … with plots made before. */
void wpi_run_record_html_with(const wp_run_record *record, const struct wpi_plots *plots,
                              wpi_text *out);
/** The part of report_text.c on a simulated GPU's counters; the record must have a simulation. */
void wpi_run_record_text_simulation(const wp_run_record *record, wpi_text *out);

/** Reads JSON; `where` names the source in messages. On failure `out` is empty. */
WP_NODISCARD wp_status wpi_run_record_parse(const char *json, size_t length, const char *where,
                                            wp_run_record *out, wp_error *err);

#endif
