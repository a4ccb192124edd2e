/* SPDX-License-Identifier: Apache-2.0 */
/** A sampler that stops in time. One thread. */
#ifndef WP_PROBE_BUDGET_H
#define WP_PROBE_BUDGET_H

#include "probe/measure/sampler.h"

typedef struct wpi_budget {
    const wpi_sampler *inner;
    uint64_t end_ns, allowed_ns;
    uint64_t samples; /* taken so far */
    bool is_spent;    /* a sample was refused */
} wpi_budget;

/** A sampler like `inner` that refuses (UNSUPPORTED) to begin a sample when `allowed_ns` from now
 * are over; 0: never. `budget` is the storage of both, and must stay. */
wpi_sampler wpi_budget_start(wpi_budget *budget, const wpi_sampler *inner, uint64_t allowed_ns);

#endif
