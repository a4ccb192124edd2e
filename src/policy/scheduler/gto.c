/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "policy/scheduler.h"

static wpi_ready **pick(wpi_ready **oldest, const wpi_ready *last) {
    wpi_ready **place = oldest;
    while (*place != NULL && *place != last)
        place = &(*place)->next;
    return *place != NULL ? place : oldest;
}

static const wpi_scheduler_ops ops = {pick};

const wpi_policy wpi_policy_scheduler_gto = {
    .kind = "scheduler",
    .name = "gto",
    .keys = "",
    .doc = "greedy then oldest: the warp that issued last while it is ready, else the oldest "
           "ready warp",
    .source = "Rogers, O'Connor, Aamodt: Cache-conscious wavefront scheduling, MICRO 2012",
    .ops = &ops};
