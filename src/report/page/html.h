/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to report: common parts of HTML pages. */
#ifndef WP_REPORT_HTML_H
#define WP_REPORT_HTML_H

#include "base/text.h"
#include "warpage/report.h"

/** Head, title, program and device. */
void wpi_html_begin(const wp_run_record *record, wpi_text *out);
/** A kernel's full name as a heading; the beginning of a very long one. */
void wpi_html_full_name(wpi_text *out, const wp_run_kernel *kernel);
/** Page moves by allocation; empty without paging. */
void wpi_html_moves(const wp_run_simulation *simulation, wpi_text *out);
void wpi_html_end(const wp_run_record *record, wpi_text *out);

#endif
