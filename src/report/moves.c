/* SPDX-License-Identifier: Apache-2.0 */
#include "report/moves.h"

#include <string.h>

#include "base/alloc.h"
#include "report/simulation.h"

const char *wp_run_move_name(wp_run_move move) {
    static const char *const names[WP_RUN_MOVES] = {"far_faults",   "fetched",   "made",
                                                    "evicted",      "thrashed",  "remote",
                                                    "host_fetched", "sent_back", "returned"};
    return (unsigned)move < WP_RUN_MOVES ? names[move] : "unknown";
}

const wpi_moves_column wpi_moves_columns[WPI_MOVES_COLUMNS] = {
    {"far faults", 1u << WP_RUN_MOVE_FAR_FAULTS},
    {"migrated in", 1u << WP_RUN_MOVE_FETCHED},
    {"zero-filled", 1u << WP_RUN_MOVE_MADE},
    {"evicted", 1u << WP_RUN_MOVE_EVICTED},
    {"migrated again", 1u << WP_RUN_MOVE_THRASHED},
    {"remote", 1u << WP_RUN_MOVE_REMOTE},
    {"to host",
     1u << WP_RUN_MOVE_HOST_FETCHED | 1u << WP_RUN_MOVE_SENT_BACK | 1u << WP_RUN_MOVE_RETURNED}};

uint64_t wpi_moves_in(const wpi_moves_column *column, const wp_run_allocation *a) {
    uint64_t sum = 0;
    for (uint32_t move = 0; move < WP_RUN_MOVES; move++)
        if ((column->moves >> move & 1) != 0) sum += a->moves[move];
    return sum;
}

bool wpi_moves_none(const wpi_moves_column *column, const wp_run_simulation *s) {
    for (size_t i = 0; i < s->allocation_count; i++)
        if (wpi_moves_in(column, &s->allocations[i]) != 0) return false;
    return true;
}

static uint64_t all_of(const wp_run_allocation *a) {
    return wpi_moves_in(&(wpi_moves_column){.moves = (1u << WP_RUN_MOVES) - 1}, a);
}

bool wpi_moves_are_of(const wp_run_simulation *s, const wp_run_allocation *a) {
    if (wpi_simulation_column(s, "paging_far_faults") == NULL) return false;
    return strcmp(a->kind, "managed") == 0 || all_of(a) != 0;
}

size_t *wpi_moves_order(const wp_run_simulation *s, size_t *count) {
    size_t *order = wpi_calloc(s->allocation_count + 1, sizeof *order);
    WP_CHECK(order != NULL);
    *count = 0;
    for (size_t i = 0; i < s->allocation_count; i++) {
        if (!wpi_moves_are_of(s, &s->allocations[i])) continue;
        size_t at = (*count)++;
        for (; at > 0 && all_of(&s->allocations[order[at - 1]]) < all_of(&s->allocations[i]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

wp_run_move wpi_move_of_counter(const char *counter) {
    if (strncmp(counter, "paging_", 7) != 0) return WP_RUN_MOVES;
    uint32_t move = 0;
    while (move < WP_RUN_MOVES && strcmp(counter + 7, wp_run_move_name(move)) != 0)
        move++;
    return move;
}
