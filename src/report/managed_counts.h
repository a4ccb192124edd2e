/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to report: events of pages of managed memory. */
#ifndef WP_REPORT_MANAGED_H
#define WP_REPORT_MANAGED_H

#include <jansson.h>

#include "base/text.h"
#include "report/json/json_parts.h"
#include "warpage/report.h"

json_t *wpi_managed_to_json(const wp_run_managed *managed);
wp_run_managed *wpi_managed_from_json(wpi_json_reader *r, const json_t *object);
void wpi_managed_destroy(wp_run_managed *managed); /* NULL allowed */

/** The allocation's name, or its number, for tables and plots. For wpi_free. */
char *wpi_managed_name(const wp_run_managed *managed, size_t allocation);

/** A plot: writes gnuplot's script, data included. False: there is nothing to draw. */
typedef bool (*wpi_page_plot_fn)(const wp_run_record *record, wpi_text *out);

/** Accesses of each page; accesses over time; migrations over time; the link over time. */
bool wpi_plot_frequency(const wp_run_record *record, wpi_text *out);
bool wpi_plot_accesses(const wp_run_record *record, wpi_text *out);
bool wpi_plot_movement(const wp_run_record *record, wpi_text *out);
bool wpi_plot_link(const wp_run_record *record, wpi_text *out);

#endif
