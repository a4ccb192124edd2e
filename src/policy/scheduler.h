/* SPDX-License-Identifier: Apache-2.0 */
/** Warp scheduling policy: which ready warp issues next. */
#ifndef WP_POLICY_SCHEDULER_H
#define WP_POLICY_SCHEDULER_H

#include <stdint.h>

#include "policy/policy.h"

/** A warp that could issue now. */
typedef struct wpi_ready {
    struct wpi_ready *next; /* the next younger one */
    uint64_t age;           /* smaller: started on the SM earlier */
} wpi_ready;

typedef struct wpi_scheduler_ops {
    /* Returns the link to the selected warp in the list that starts at `*oldest`, which is not
     * empty. `last` issued before; it may not be in the list, or be NULL. Thread rule: the
     * simulation's thread. */
    wpi_ready **(*pick)(wpi_ready **oldest, const wpi_ready *last);
} wpi_scheduler_ops;

#endif
