/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deadlock detection. A thread that waits for another one's store runs a spin loop (a YIELD in
 * every round, pass `lockstep`). A round is idle if it took the same path through the code as the
 * one before, with the same addresses, and the values there have not changed. When all warps only
 * run idle rounds, no thread of the GPU can end the wait: only the host could.
 *
 * Everything else is progress: another path, a changed value, a store or reduction, a CTA that
 * starts or ends, a read of the clock (a loop may wait for time), and long work without a spin
 * loop.
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
    /* Called after each store to host memory by a kernel that runs in step; NULL: not needed. */
    void (*stored)(void *object);
    void *object;
} wpi_activity;

static inline void wpi_activity_seen(wpi_activity *activity) {
    activity->quiet = 0;
    activity->progress++;
}

/* Accesses of a round whose values are compared; later ones are ignored. */
#define WPI_ROUND_VALUES 4u

/** A thread's actions since its last round. */
typedef struct wpi_spin_round {
    uint64_t way, way_before; /* hashes */
    const void *places[WPI_ROUND_VALUES];
    uint8_t bytes[WPI_ROUND_VALUES];
    uint8_t count;
} wpi_spin_round;

/** A warp executes a block: `addresses` are [access][lane], not simulated ones. True: it stores, so
 * other threads may continue. */
bool wpi_spin_round_add(wpi_spin_round *lanes, uint32_t mask, const wp_trace_tables *tables,
                        uint32_t block, uint32_t address_count, const uint64_t *addresses);
/** Lanes have ended a round. True: it was idle for all of them. */
bool wpi_spin_round_end(wpi_spin_round *lanes, uint32_t mask);

#endif
