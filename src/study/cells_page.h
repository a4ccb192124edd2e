/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs of one program side by side, as sections of a page: `compare` and `advise`. Each run is a
 * cell with a label.
 *
 *     small multiples   a panel for each number that differs, a bar for each cell
 *     kernels           a row for each kernel, a column for each cell
 *     lines             those lines of the source whose time differs most (records with lines)
 */
#ifndef WP_STUDY_CELLS_PAGE_H
#define WP_STUDY_CELLS_PAGE_H

#include "base/text.h"
#include "warpage/report.h"

typedef struct wpi_cell {
    const char *label;
    const wp_run_record *record; /* of a simulated GPU */
} wpi_cell;

/** Appends the sections; nothing for fewer than two cells. Tables have the first columns and say
 *  how many are left out. */
void wpi_cells_html(const wpi_cell *cells, size_t count, wpi_text *out);

#endif
