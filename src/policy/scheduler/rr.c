/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "policy/scheduler.h"

static wpi_ready **pick(wpi_ready **oldest, const wpi_ready *last) {
    wpi_ready **place = oldest;
    while (*place != NULL && last != NULL && (*place)->age <= last->age)
        place = &(*place)->next;
    return *place != NULL ? place : oldest;
}

static const wpi_scheduler_ops ops = {pick};

const wpi_policy wpi_policy_scheduler_rr = {
    .kind = "scheduler",
    .name = "rr",
    .keys = "",
    .doc = "round robin: the next younger ready warp after the one that issued last",
    .source = "",
    .ops = &ops};
