/* SPDX-License-Identifier: Apache-2.0 */
/** Inside the report room: what paging did, by allocation. */
#ifndef WP_REPORT_MOVES_H
#define WP_REPORT_MOVES_H

#include "warpage/report.h"

/** A column of tables for people: some moves together. */
typedef struct wpi_moves_column {
    const char *title;
    unsigned moves; /* a bit each */
} wpi_moves_column;

#define WPI_MOVES_COLUMNS 7u
extern const wpi_moves_column wpi_moves_columns[WPI_MOVES_COLUMNS];

uint64_t wpi_moves_in(const wpi_moves_column *column, const wp_run_allocation *allocation);
/** No allocation has any. */
bool wpi_moves_none(const wpi_moves_column *column, const wp_run_simulation *simulation);

/** Its pages move. */
bool wpi_moves_are_of(const wp_run_simulation *simulation, const wp_run_allocation *allocation);
/** Allocations whose pages move, those to which most happened first: [*count] indices, for
 * wpi_free. */
size_t *wpi_moves_order(const wp_run_simulation *simulation, size_t *count);

/** Which move a counter is the sum of ("paging_evicted"); WP_RUN_MOVES: of none. */
wp_run_move wpi_move_of_counter(const char *counter);

#endif
