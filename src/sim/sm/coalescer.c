/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sm/coalescer.h"

#include <string.h>

#define SECTORS_PER_LINE (WPI_LINE_BYTES / WPI_SECTOR_BYTES)

/* A hash set of the lines, or pages, seen so far: open addressing, at most half full. A linear
 * search would cost a divergent access hundreds of comparisons. */
#define SEEN_BITS 7u
#define SEEN_COUNT (1u << SEEN_BITS)
#define SEEN_FREE 0xffu
_Static_assert(SEEN_COUNT >= 2 * WPI_FOOTPRINT_MAX, "at most half full");

static uint32_t home_of(uint64_t number) {
    return (uint32_t)((number * 0x9e3779b97f4a7c15u) >> (64 - SEEN_BITS));
}

static uint32_t page_of(wpi_footprint *out, uint8_t seen[SEEN_COUNT], uint64_t page) {
    /* Neighbouring lanes touch neighbouring lines: the last one first. */
    if (out->page_count != 0 && out->pages[out->page_count - 1] == page) return out->page_count - 1;
    uint32_t at = home_of(page);
    while (seen[at] != SEEN_FREE && out->pages[seen[at]] != page)
        at = (at + 1) % SEEN_COUNT;
    if (seen[at] != SEEN_FREE) return seen[at];
    seen[at] = (uint8_t)out->page_count;
    out->pages[out->page_count] = page;
    return out->page_count++;
}

static uint32_t line_of(wpi_footprint *out, uint8_t seen[SEEN_COUNT], uint64_t line) {
    if (out->line_count != 0 && out->lines[out->line_count - 1].line == line)
        return out->line_count - 1;
    uint32_t at = home_of(line);
    while (seen[at] != SEEN_FREE && out->lines[seen[at]].line != line)
        at = (at + 1) % SEEN_COUNT;
    if (seen[at] != SEEN_FREE) return seen[at];
    seen[at] = (uint8_t)out->line_count;
    out->lines[out->line_count] = (wpi_footprint_line){.line = line};
    return out->line_count++;
}

/* The lanes of `lanes` that have the same address as `lane`. */
static uint32_t lanes_together(const wpi_access *access, uint32_t lanes, uint32_t lane) {
    uint32_t count = 0;
    for (; lanes != 0; lanes &= lanes - 1)
        count += access->addresses[__builtin_ctz(lanes)] == access->addresses[lane];
    return count;
}

/* Counts an atomic's turns on a line. `lanes`: those of the line. An atomic's address is aligned,
 * so each lane is in one sector. */
static void count_turns(const wpi_access *access, uint32_t lanes, wpi_footprint_line *line) {
    uint32_t most[SECTORS_PER_LINE] = {0};
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t sector = access->addresses[lane] / WPI_SECTOR_BYTES;
        if (sector / SECTORS_PER_LINE != line->line) continue;
        const uint32_t together = lanes_together(access, lanes, lane);
        if (together > most[sector % SECTORS_PER_LINE]) most[sector % SECTORS_PER_LINE] = together;
    }
    for (uint32_t i = 0; i < SECTORS_PER_LINE; i++)
        line->turns = (uint16_t)(line->turns + most[i]);
}

void wpi_coalesce(const wpi_access *access, uint32_t page_bits, wpi_footprint *out) {
    uint8_t seen[SEEN_COUNT];
    uint32_t lanes[WPI_FOOTPRINT_MAX] = {0}; /* of each line */
    memset(seen, SEEN_FREE, sizeof seen);
    out->line_count = out->page_count = 0;
    for (uint32_t mask = access->mask; mask != 0; mask &= mask - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask);
        const uint64_t address = access->addresses[lane];
        const uint64_t last = (address + access->size_bytes - 1) / WPI_SECTOR_BYTES;
        for (uint64_t sector = address / WPI_SECTOR_BYTES; sector <= last; sector++) {
            const uint32_t line = line_of(out, seen, sector / SECTORS_PER_LINE);
            out->lines[line].sectors |= (uint8_t)(1u << (sector % SECTORS_PER_LINE));
            lanes[line] |= 1u << lane;
        }
    }
    memset(seen, SEEN_FREE, sizeof seen);
    const bool is_atomic = access->kind == WP_TRACE_ATOMIC || access->kind == WP_TRACE_REDUCE;
    for (uint32_t i = 0; i < out->line_count; i++) {
        wpi_footprint_line *line = &out->lines[i];
        line->page = page_of(out, seen, line->line * WPI_LINE_BYTES >> page_bits);
        if (is_atomic) count_turns(access, lanes[i], line);
    }
}
