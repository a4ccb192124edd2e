/* SPDX-License-Identifier: Apache-2.0 */
/** A chip's floorplan in the terms of a profile, if the sharing groups match one. */
#ifndef WP_PROBE_PLAN_H
#define WP_PROBE_PLAN_H

#include "probe/infer/hierarchy.h"

typedef struct wpi_plan {
    uint32_t gpcs, tpcs, sms;                                /* of the chip, of a GPC, of a TPC */
    bool is_row;                                             /* consecutive TPCs lie in one GPC */
    uint32_t tpc[WPI_PROBE_SMS_MAX], gpc[WPI_PROBE_SMS_MAX]; /* of SMs that work */
} wpi_plan;

/** The plan of the hierarchy's groups and missing SMs; one GPC with TPCs of an SM if there is none.
 */
void wpi_plan_init(wpi_plan *plan, const wpi_hierarchy *hierarchy);
/** "sm", "tpc", "gpc" or "gpu"; NULL: the groups are none of these. */
const char *wpi_plan_sharing(const wpi_plan *plan, const wpi_sharing_groups *groups);

#endif
