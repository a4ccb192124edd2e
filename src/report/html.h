/* SPDX-License-Identifier: Apache-2.0 */
/** Inside the report room: parts of a page, which pages of their own begin and end with. */
#ifndef WP_REPORT_HTML_H
#define WP_REPORT_HTML_H

#include "base/text.h"
#include "warpage/report.h"

/** Head, title, and what ran where. */
void wpi_html_begin(const wp_run_record *record, wpi_text *out);
/** What paging did, by allocation; nothing, where there is none. */
void wpi_html_moves(const wp_run_simulation *simulation, wpi_text *out);
void wpi_html_end(const wp_run_record *record, wpi_text *out);

#endif
