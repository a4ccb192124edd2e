/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/code_tables.h"

#include <stddef.h>

#include "base/abi.h"

const wp_trace_step *wpi_block_last_step(const wp_trace_tables *tables, uint32_t number) {
    const wp_trace_block *block = &tables->blocks[number];
    return block->step_count != 0 ? &tables->steps[block->first_step + block->step_count - 1]
                                  : NULL;
}

static bool ends_with(const wp_trace_tables *tables, uint32_t number, wp_trace_op op) {
    const wp_trace_step *last = wpi_block_last_step(tables, number);
    return last != NULL && last->op == op;
}

bool wpi_block_reads_clock(const wp_trace_tables *tables, uint32_t number) {
    return ends_with(tables, number, WP_TRACE_CLOCK);
}

bool wpi_block_is_held(const wp_trace_tables *tables, uint32_t number) {
    return wpi_block_reads_clock(tables, number) ||
           (tables->is_in_step && ends_with(tables, number, WP_TRACE_ACCESS));
}

bool wpi_block_ends_round(const wp_trace_tables *tables, uint32_t number) {
    return ends_with(tables, number, WP_TRACE_STOP) &&
           WP_STOP_KIND(wpi_block_last_step(tables, number)->value) == WP_STOP_YIELD;
}

bool wpi_block_waits_for_host(const wp_trace_tables *tables, uint32_t number) {
    return wpi_block_ends_round(tables, number) &&
           (wpi_block_last_step(tables, number)->value & WP_STOP_FLAG_HOST) != 0;
}

uint32_t wpi_block_address_count(const wp_trace_tables *tables, uint32_t number) {
    const uint32_t words = tables->blocks[number].access_count;
    if (words == 0 || !ends_with(tables, number, WP_TRACE_STOP)) return words;
    const wp_trace_step *stop = wpi_block_last_step(tables, number);
    const bool has_barrier_word =
        stop->chain == WP_TRACE_NONE && WP_STOP_KIND(stop->value) <= WP_STOP_BARRIER_ARRIVE;
    return words - has_barrier_word;
}
