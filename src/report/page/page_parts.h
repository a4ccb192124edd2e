/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parts of a run's page, one file each, in the order of html.c. Each appends its section, or
 * nothing where the record has nothing for it. What grows with a program (kernels, shapes,
 * allocations) is cut off, and the page says how much is left out: report.json and report.csv have
 * all of it.
 */
#ifndef WP_REPORT_PAGE_PARTS_H
#define WP_REPORT_PAGE_PARTS_H

#include "base/text.h"
#include "report/plots.h"
#include "warpage/report.h"

/** "<tag>text</tag>" and "<td>number</td>". */
void wpi_html_cell(wpi_text *out, const char *tag, const char *text);
void wpi_html_number(wpi_text *out, uint64_t number);
/** A kernel's short name in at most `columns` columns, with the full one, which is cut off where it
 *  is very long, as its title. `tag`: the element and its attributes, "th scope=row". */
void wpi_html_kernel_name(wpi_text *out, const char *tag, const wp_run_kernel *kernel,
                          size_t columns);
/** A table's beginning and its heads, NULL-terminated; in a box that scrolls, named `label`. */
void wpi_html_begin_heads(wpi_text *out, const char *label, const char *const *names);
/** "… and 12 more: see report.csv", if `count` is not 0. */
void wpi_html_left_out(wpi_text *out, size_t count, const char *where);

/* ---- html_kernels.c ---- */

/** Kernels by time, sortable. */
void wpi_html_kernels(const wp_run_record *record, wpi_text *out);
/** Their full names, and their launches by grid and block. */
void wpi_html_shapes(const wp_run_record *record, wpi_text *out);

/* ---- html_source.c ---- */

/** The source of the kernels with counts by line, if the record has them. */
void wpi_html_source(const wp_run_record *record, wpi_text *out);

/* ---- html_speed.c ---- */

/** Each resource's percentage of its own peak, by kernel. */
void wpi_html_speed(const wp_run_record *record, wpi_text *out);
/** What warps spent their time on, by kernel. */
void wpi_html_warp_time(const wp_run_record *record, wpi_text *out);
/** Utilisation by time, a strip for each resource. */
void wpi_html_utilisation(const wp_run_simulation *simulation, wpi_text *out);

/* ---- html_roofline.c ---- */

/** Kernels below the roofs of issue slots, DRAM and link. */
void wpi_html_roofline(const wp_run_record *record, wpi_text *out);

/* ---- html_details.c ---- */

void wpi_html_copies(const wp_run_record *record, wpi_text *out);
void wpi_html_plots(const wpi_plots *plots, wpi_text *out);
void wpi_html_metrics(const wp_run_record *record, wpi_text *out);
void wpi_html_allocations(const wp_run_simulation *simulation, wpi_text *out);
void wpi_html_hot_pages(const wp_run_simulation *simulation, wpi_text *out);
void wpi_html_counters(const wp_run_record *record, wpi_text *out);

#endif
