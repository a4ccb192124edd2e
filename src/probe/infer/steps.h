/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The step at which the next level begins to miss.
 *
 *     last loads without misses         ┊ S: the largest stride that still has the smallest
 *     times stride                      ┊    distance
 *        │ ●                            ┊
 *        │    ●                ●        strides above S skip entries: the distance grows
 *        │       ●  ●  ●  ●  ●          strides below S see the same reach
 *        └────────────────────S──── stride
 *          heights below the border
 */
#ifndef WP_PROBE_STEPS_H
#define WP_PROBE_STEPS_H

#include "probe/measure/search.h"

#define WPI_STEP_CYCLES 1.5  /* a smaller rise is no level */
#define WPI_FAINT_CYCLES 3.0 /* a level that costs less is detected too late to be read */

typedef struct wpi_step {
    uint64_t stride_bytes; /* S */
    uint64_t quiet_loads;  /* at S: approximate loads without misses, at least three quarters */
    /* At twice S the distance grew because this level's entries are fewer, not because the levels
     * before hit, or memory ended. */
    bool has_own_end;
    bool is_hidden;     /* S is bounded by levels before, which hide this one by their hits */
    bool is_memory_end; /* S is bounded by memory */
} wpi_step;

/** The number of loads at this stride from which on all loads miss in all known levels. */
uint64_t wpi_steps_busy_loads(const wpi_search *search, uint64_t stride_bytes);
/** The sum of all known levels' miss cycles. */
double wpi_steps_known_cycles(const wpi_search *search);
/** The smallest stride that shows a level behind the known ones. */
uint64_t wpi_steps_stride_first(const wpi_search *search);

/** *found: there is a level behind the known ones within memory. */
WP_NODISCARD wp_status wpi_steps_find(wpi_search *search, wpi_step *step, bool *found,
                                      wp_error *err);

#endif
