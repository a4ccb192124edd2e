/* SPDX-License-Identifier: Apache-2.0 */
/** Plots of a run on a simulated GPU, drawn by gnuplot as SVG. */
#ifndef WP_REPORT_PLOTS_H
#define WP_REPORT_PLOTS_H

#include "warpage/report.h"

#define WPI_PLOTS_MAX 4u

typedef struct wpi_plot {
    const char *name;  /* "utilisation": also of the file */
    const char *title; /* for people */
    char *svg;
} wpi_plot;

typedef struct wpi_plots {
    wpi_plot items[WPI_PLOTS_MAX];
    size_t count;
    char why_not[160]; /* why plots are missing; "": none is */
} wpi_plots;

/** Draws all plots that have data; none for real devices. */
void wpi_plots_make(const wp_run_record *record, wpi_plots *out);
void wpi_plots_deinit(wpi_plots *plots); /* `{0}` is fine */

#endif
