/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where the next level begins to miss.
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

#define WPI_STEP_CYCLES 1.5  /* a rise of less is no level */
#define WPI_FAINT_CYCLES 3.0 /* a level that costs less is seen too late to be read */

typedef struct wpi_step {
    uint64_t stride_bytes; /* S */
    uint64_t quiet_loads;  /* at S: about as many are without misses, at least three quarters */
    /* At twice S the distance grew because this level's entries are fewer, not because the levels
     * before hit, or memory ended. */
    bool has_own_end;
    bool is_hidden;     /* S is bounded by levels before: they hit what would show this one */
    bool is_memory_end; /* S is bounded by memory */
} wpi_step;

/** Loads from which on all levels that are known miss all loads, at this stride. */
uint64_t wpi_steps_busy_loads(const wpi_search *search, uint64_t stride_bytes);
/** Cycles that all known levels' misses add up to. */
double wpi_steps_known_cycles(const wpi_search *search);
/** The smallest stride that shows a level behind the known ones. */
uint64_t wpi_steps_stride_first(const wpi_search *search);

/** *found: there is a level behind the known ones within memory. */
WP_NODISCARD wp_status wpi_steps_find(wpi_search *search, wpi_step *step, bool *found,
                                      wp_error *err);

#endif
