/* SPDX-License-Identifier: Apache-2.0 */
/** From the cycles of timed rounds to a timing, and the order in which a chain goes. */
#ifndef WP_PROBE_ROUNDS_H
#define WP_PROBE_ROUNDS_H

#include "probe/measure/sampler.h"

/** Cycles a load. `cycles` is sorted; at least one round and one load. `overhead_cycles`, what
 * reading the clock twice takes, is taken off each round. The spread is 1.4826 times the median
 * distance from the median: the standard deviation of what is normally distributed, and not moved
 * by the few rounds in which something else happened. */
void wpi_rounds_sum_up(double *cycles, uint32_t rounds, uint64_t loads, double overhead_cycles,
                       wpi_timing *out);

/** Sorts the values; at least one. */
double wpi_rounds_median(double *values, uint32_t count);

/** A permutation of 0 … count - 1 that depends on the seed only (Fisher and Yates). */
void wpi_rounds_shuffle(uint32_t *order, uint32_t count, uint64_t seed);

/** Makes an order of (count + 1) / 2 pairs one of `count` places: the pairs' first ones, then, in
 * the same order, their second ones. */
void wpi_rounds_halve(uint32_t *order, uint32_t count);

#endif
