/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Placement of the SMs in TPCs, and of these in GPCs. It determines which SMs share a TLB, also for
 * chips on which disabled SMs make groups irregular.
 *
 *     physical SM   0 1 | 2 3 | 4 5 | 6 7 | 8 9 | …      2 SMs a TPC
 *     TPC            0  |  1  |  2  |  3  |  4  | …
 *     GPC            0  |  1  |  2  |  0  |  1  | …      dealt round robin, or in a row
 *
 * Programs see the numbers of enabled SMs, without gaps. One thread.
 */
#ifndef WP_SIM_FLOORPLAN_H
#define WP_SIM_FLOORPLAN_H

#include "sim/profile/profile.h"

typedef struct wpi_floorplan {
    uint32_t sm_count; /* enabled */
    uint32_t physical[WPI_SMS_MAX];
    uint32_t tpc[WPI_SMS_MAX]; /* physical numbers */
    uint32_t gpc[WPI_SMS_MAX];
} wpi_floorplan;

/** The fields of the profile's floorplan must be in range. */
void wpi_floorplan_init(wpi_floorplan *plan, const wpi_profile *profile);

/** Numbers the groups of SMs that share: group_of[sm], dense, in order of their first SM. `groups`
 * is the list for WPI_SHARING_GROUPS. Returns their number. PARSE, INVALID (an SM twice, missing,
 * unknown). */
WP_NODISCARD wp_status wpi_floorplan_groups(const wpi_floorplan *plan, wpi_sharing sharing,
                                            const char *groups, uint32_t group_of[WPI_SMS_MAX],
                                            uint32_t *group_count, wp_error *err);

/** Reads "3,7,10" with numbers below `outer`, none twice; returns how many. PARSE, INVALID. */
WP_NODISCARD wp_status wpi_floorplan_list(const char *text, uint32_t outer,
                                          uint32_t out[WPI_SMS_MAX], uint32_t *count,
                                          wp_error *err);

#endif
