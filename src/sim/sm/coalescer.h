/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reduces a warp's lane addresses to the distinct 32-byte sectors they touch, grouped by 128-byte
 * line, and to the distinct pages of these lines, in order of the first lane that touches each.
 *
 *     lanes   0x100 0x104 … 0x17c        one line, sectors 1111
 *     lanes   0x100 0x900 0x1100 …       a line for each, one sector
 */
#ifndef WP_SIM_COALESCER_H
#define WP_SIM_COALESCER_H

#include "sim/memory/memory_system.h"

#define WPI_FOOTPRINT_MAX (2 * WPI_LANES) /* a lane that is not aligned may touch two lines */

typedef struct wpi_footprint_line {
    uint64_t line;   /* address / WPI_LINE_BYTES */
    uint32_t page;   /* in `pages` */
    uint16_t turns;  /* of an atomic: lanes on the same address of a sector take turns */
    uint8_t sectors; /* mask of 4 */
} wpi_footprint_line;

typedef struct wpi_footprint {
    uint32_t line_count, page_count;
    wpi_footprint_line lines[WPI_FOOTPRINT_MAX];
    uint64_t pages[WPI_FOOTPRINT_MAX]; /* address >> page_bits */
} wpi_footprint;

void wpi_coalesce(const wpi_access *access, uint32_t page_bits, wpi_footprint *out);

#endif
