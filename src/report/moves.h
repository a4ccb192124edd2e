/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to report: page moves by allocation. */
#ifndef WP_REPORT_MOVES_H
#define WP_REPORT_MOVES_H

#include "warpage/report.h"

/** A column of text tables: some moves, summed. */
typedef struct wpi_moves_column {
    const char *title;
    unsigned moves; /* a bit each */
} wpi_moves_column;

#define WPI_MOVES_COLUMNS 7u
extern const wpi_moves_column wpi_moves_columns[WPI_MOVES_COLUMNS];

uint64_t wpi_moves_in(const wpi_moves_column *column, const wp_run_allocation *allocation);
/** Whether no allocation has any. */
bool wpi_moves_none(const wpi_moves_column *column, const wp_run_simulation *simulation);

/** Whether the allocation's pages migrate. */
bool wpi_moves_are_of(const wp_run_simulation *simulation, const wp_run_allocation *allocation);
/** Allocations whose pages migrate, most moves first: [*count] indices, for wpi_free. */
size_t *wpi_moves_order(const wp_run_simulation *simulation, size_t *count);

/** The move that a counter sums ("paging_evicted"); WP_RUN_MOVES: none. */
wp_run_move wpi_move_of_counter(const char *counter);

#endif
