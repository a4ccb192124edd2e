/* SPDX-License-Identifier: Apache-2.0 */
/** Which of a scheduler's ready warps has the turn. */
#ifndef WP_POLICY_SCHEDULER_H
#define WP_POLICY_SCHEDULER_H

#include <stdint.h>

#include "policy/policy.h"

/** A warp that could issue now. */
typedef struct wpi_ready {
    struct wpi_ready *next; /* the next younger one */
    uint64_t age;           /* smaller: came to the SM earlier */
} wpi_ready;

typedef struct wpi_scheduler_ops {
    /* The place, in the list from `*oldest` on, which is not empty, of the warp that has the turn.
     * `last` issued before; it may be anywhere, or NULL. Thread rule: the simulation's thread. */
    wpi_ready **(*pick)(wpi_ready **oldest, const wpi_ready *last);
} wpi_scheduler_ops;

#endif
