/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/spin_rounds.h"

#include <string.h>

static uint64_t fold(uint64_t hash, uint64_t word) {
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

static void remember(wpi_spin_round *lane, uint64_t address, uint8_t bytes) {
    if (lane->count == WPI_ROUND_VALUES || bytes == 0 || bytes > sizeof(uint64_t)) return;
    lane->places[lane->count] = (const void *)(uintptr_t)address;
    lane->bytes[lane->count++] = bytes;
}

/* Gets the sizes of a block's accesses, in order; 0: of constants. True: one of them stores. */
static bool look_at(const wp_trace_tables *tables, const wp_trace_block *block, uint8_t *sizes) {
    bool stores = false;
    for (uint32_t s = 0; s < block->step_count; s++) {
        const wp_trace_step *step = &tables->steps[block->first_step + s];
        if (step->op != WP_TRACE_ACCESS) continue;
        const wp_trace_site *site = &tables->sites[step->value];
        *sizes++ = site->space == WP_TRACE_CONST ? 0 : site->size_bytes;
        stores = stores || site->access == WP_TRACE_STORE || site->access == WP_TRACE_REDUCE;
    }
    return stores;
}

bool wpi_spin_round_add(wpi_spin_round *lanes, uint32_t mask, const wp_trace_tables *tables,
                        uint32_t block, uint32_t address_count, const uint64_t *addresses) {
    uint8_t sizes[WP_TRACE_BLOCK_WORDS_MAX];
    const bool stores = address_count != 0 && look_at(tables, &tables->blocks[block], sizes);
    for (; mask != 0; mask &= mask - 1) {
        const uint32_t n = (uint32_t)__builtin_ctz(mask);
        wpi_spin_round *lane = &lanes[n];
        lane->way = fold(lane->way, block);
        for (uint32_t i = 0; i < address_count; i++) {
            const uint64_t address = addresses[(size_t)i * 32 + n];
            lane->way = fold(lane->way, address);
            remember(lane, address, sizes[i]);
        }
    }
    return stores;
}

/* Ends a lane's round, whose accesses are done: reads their values. True: the round was idle. */
static bool end_lane(wpi_spin_round *lane) {
    for (uint32_t i = 0; i < lane->count; i++) {
        uint64_t value = 0;
        memcpy(&value, lane->places[i], lane->bytes[i]);
        lane->way = fold(lane->way, value);
    }
    const bool is_idle = lane->way == lane->way_before;
    lane->way_before = lane->way;
    lane->way = 0;
    lane->count = 0;
    return is_idle;
}

bool wpi_spin_round_end(wpi_spin_round *lanes, uint32_t mask) {
    bool is_idle = true;
    for (; mask != 0; mask &= mask - 1)
        is_idle = end_lane(&lanes[__builtin_ctz(mask)]) && is_idle;
    return is_idle;
}
