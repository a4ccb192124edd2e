/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which SMs a chip lacks. Chips are made with groups of one size; where some are smaller, SMs were
 * disabled, and the others are numbered without them. Put back where they make the order of groups
 * regular again:
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
    uint32_t swapped[2]; /* numbers on the whole chip of two units' first SMs that changed places */
    bool is_swapped;
    bool is_ambiguous; /* other SMs would do, too; these have the highest numbers */
} wpi_missing;

/** `unit_sms` SMs in a row go together (a TPC), 1 if they do not. False: no regular order is found;
 * then only the count is known: largest group * groups - SMs. */
bool wpi_floorplan_missing(const wpi_sharing_groups *sharing, uint32_t unit_sms, wpi_missing *out);

/** How many SMs in a row share the first level; 1 if they do not all alike. */
uint32_t wpi_floorplan_unit(const wpi_hierarchy *hierarchy);
/** The level with the fewest groups that are more than one: GPCs. NULL: there is none. */
const wpi_sharing_groups *wpi_floorplan_groups_of(const wpi_hierarchy *hierarchy);
/** Fills missing of a hierarchy from its levels' groups. */
void wpi_floorplan_fill(wpi_hierarchy *hierarchy);

#endif
