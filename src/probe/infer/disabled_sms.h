/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The disabled SMs of a chip. Chips have groups of one size; if some are smaller, SMs were
 * disabled, and the others are numbered without them. They are inserted where they make the order
 * of groups regular:
 *
 *     SMs       0 1 2 3 4  5 6 7 8 9        10 11 12
 *     groups    a b c d e  a b c d e  . .   c  d  e        missing: 10 and 11 of 15
 */
#ifndef WP_PROBE_FLOORPLAN_H
#define WP_PROBE_FLOORPLAN_H

#include "probe/infer/hierarchy.h"

typedef struct wpi_missing {
    uint32_t sms[WPI_PROBE_SMS_MAX]; /* numbers on the whole chip, ascending */
    uint32_t count;
    uint32_t swapped[2]; /* numbers on the whole chip of the first SMs of two exchanged units */
    bool is_swapped;
    bool is_ambiguous; /* other SMs are possible, too; these have the highest numbers */
} wpi_missing;

/** `unit_sms`: consecutive SMs of a unit (a TPC), or 1. False: no regular order is found; then only
 * the count is known: largest group * groups - SMs. */
bool wpi_floorplan_missing(const wpi_sharing_groups *sharing, uint32_t unit_sms, wpi_missing *out);

/** The number of consecutive SMs that share the first level; 1 if it differs. */
uint32_t wpi_floorplan_unit(const wpi_hierarchy *hierarchy);
/** The level with the fewest groups, but more than one: GPCs. NULL: none. */
const wpi_sharing_groups *wpi_floorplan_groups_of(const wpi_hierarchy *hierarchy);
/** Fills missing of a hierarchy from its levels' groups. */
void wpi_floorplan_fill(wpi_hierarchy *hierarchy);

#endif
