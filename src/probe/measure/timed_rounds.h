/* SPDX-License-Identifier: Apache-2.0 */
/** Computes a timing from cycles of rounds, and the order of a chain. */
#ifndef WP_PROBE_ROUNDS_H
#define WP_PROBE_ROUNDS_H

#include "probe/measure/sampler.h"

/** Cycles per load. Sorts `cycles`; at least one round and one load. `overhead_cycles`, the time of
 * reading the clock twice, is subtracted from each round. The spread is 1.4826 times the median
 * distance from the median: the standard deviation of normal data, robust to a few disturbed
 * rounds. */
void wpi_rounds_sum_up(double *cycles, uint32_t rounds, uint64_t loads, double overhead_cycles,
                       wpi_timing *out);

/** Sorts the values; at least one. */
double wpi_rounds_median(double *values, uint32_t count);

/** A permutation of 0 … count - 1 that depends on the seed only (Fisher and Yates). */
void wpi_rounds_shuffle(uint32_t *order, uint32_t count, uint64_t seed);

/** Turns an order of (count + 1) / 2 pairs into one of `count` places: the pairs' first places,
 * then, in the same order, their second ones. */
void wpi_rounds_halve(uint32_t *order, uint32_t count);

/** The order of WPI_ORDER_REUSE: places of `count` loads, second visits marked by WPI_CHAIN_SECOND.
 */
void wpi_rounds_reuse(uint32_t *order, uint32_t count, uint32_t hot);

#endif
