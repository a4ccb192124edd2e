/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Does anything still happen? A thread that waits for another one's store goes round a loop (a
 * YIELD in every round, pass `lockstep`). A round is idle if it took the same way through the code
 * as the one before, by the same addresses, and what is there has not changed. When all that warps
 * do is go round idly, nobody on the GPU can end their waiting: only the host could.
 *
 * Anything else is progress: another way, a changed value, a store or reduction, a CTA that starts
 * or ends, a look at the clock (time itself may be waited for), and long work without such a loop.
 *
 *     quiet     rounds of all warps since the last progress
 *     progress  how often there was any
 */
#ifndef WP_DEVICE_SIM_SPIN_ROUNDS_H
#define WP_DEVICE_SIM_SPIN_ROUNDS_H

#include <stdbool.h>

#include "base/trace_abi.h"

/** Of all launches on a device. */
typedef struct wpi_activity {
    uint64_t quiet, progress;
    uint64_t warps; /* resident */
    /* Called after each store to host memory of a kernel that runs in step; NULL: not needed. */
    void (*stored)(void *object);
    void *object;
} wpi_activity;

static inline void wpi_activity_seen(wpi_activity *activity) {
    activity->quiet = 0;
    activity->progress++;
}

/* Places whose values decide, of one round; others are not looked at. */
#define WPI_ROUND_VALUES 4u

/** What a thread did since it came round last. */
typedef struct wpi_spin_round {
    uint64_t way, way_before; /* hashes */
    const void *places[WPI_ROUND_VALUES];
    uint8_t bytes[WPI_ROUND_VALUES];
    uint8_t count;
} wpi_spin_round;

/** A warp executes a block: `addresses` are [access][lane], the threads' own. True: it stores,
 * which others may wait for. */
bool wpi_spin_round_add(wpi_spin_round *lanes, uint32_t mask, const wp_trace_tables *tables,
                        uint32_t block, uint32_t address_count, const uint64_t *addresses);
/** Lanes have come round. True: idly, all of them. */
bool wpi_spin_round_end(wpi_spin_round *lanes, uint32_t mask);

#endif
