/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/coalescer.h"

#define SECTORS_PER_LINE (WPI_LINE_BYTES / WPI_SECTOR_BYTES)

static uint32_t page_of(wpi_footprint *out, uint64_t page) {
    for (uint32_t i = out->page_count; i > 0; i--)
        if (out->pages[i - 1] == page) return i - 1;
    out->pages[out->page_count] = page;
    return out->page_count++;
}

static wpi_footprint_line *line_of(wpi_footprint *out, uint64_t line, uint32_t page_bits) {
    /* Neighbouring lanes touch neighbouring lines: the last one first. */
    for (uint32_t i = out->line_count; i > 0; i--)
        if (out->lines[i - 1].line == line) return &out->lines[i - 1];
    wpi_footprint_line *added = &out->lines[out->line_count++];
    *added = (wpi_footprint_line){.line = line,
                                  .page = page_of(out, line * WPI_LINE_BYTES >> page_bits)};
    return added;
}

/* Lanes of the access on the same address as `lane`. */
static uint32_t lanes_together(const wpi_access *access, uint32_t lane) {
    uint32_t count = 0;
    for (uint32_t mask = access->mask; mask != 0; mask &= mask - 1)
        count += access->addresses[__builtin_ctz(mask)] == access->addresses[lane];
    return count;
}

static void count_turns(const wpi_access *access, wpi_footprint_line *line) {
    uint32_t most[SECTORS_PER_LINE] = {0};
    for (uint32_t mask = access->mask; mask != 0; mask &= mask - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask);
        const uint64_t sector = access->addresses[lane] / WPI_SECTOR_BYTES;
        if (sector / SECTORS_PER_LINE != line->line) continue;
        const uint32_t together = lanes_together(access, lane);
        if (together > most[sector % SECTORS_PER_LINE]) most[sector % SECTORS_PER_LINE] = together;
    }
    for (uint32_t i = 0; i < SECTORS_PER_LINE; i++)
        line->turns = (uint16_t)(line->turns + most[i]);
}

void wpi_coalesce(const wpi_access *access, uint32_t page_bits, wpi_footprint *out) {
    out->line_count = out->page_count = 0;
    for (uint32_t mask = access->mask; mask != 0; mask &= mask - 1) {
        const uint64_t address = access->addresses[__builtin_ctz(mask)];
        const uint64_t last = (address + access->size_bytes - 1) / WPI_SECTOR_BYTES;
        for (uint64_t sector = address / WPI_SECTOR_BYTES; sector <= last; sector++)
            line_of(out, sector / SECTORS_PER_LINE, page_bits)->sectors |=
                (uint8_t)(1u << (sector % SECTORS_PER_LINE));
    }
    if (access->kind != WP_TRACE_ATOMIC && access->kind != WP_TRACE_REDUCE) return;
    for (uint32_t i = 0; i < out->line_count; i++)
        count_turns(access, &out->lines[i]);
}
