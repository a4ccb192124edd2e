/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/measure/timed_rounds.h"

#include <math.h>
#include <stdlib.h>

#include "probe/measure/chain.h"

#define DEVIATIONS_PER_MEDIAN 1.4826

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double wpi_rounds_median(double *values, uint32_t count) {
    qsort(values, count, sizeof *values, by_value);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void wpi_rounds_sum_up(double *cycles, uint32_t rounds, uint64_t loads, double overhead_cycles,
                       wpi_timing *out) {
    double sum = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        cycles[r] = (cycles[r] - overhead_cycles) / (double)loads;
        sum += cycles[r];
    }
    *out = (wpi_timing){.mean_cycles = sum / rounds, .rounds = rounds};
    out->median_cycles = wpi_rounds_median(cycles, rounds);
    for (uint32_t r = 0; r < rounds; r++)
        cycles[r] = fabs(cycles[r] - out->median_cycles);
    out->spread_cycles = DEVIATIONS_PER_MEDIAN * wpi_rounds_median(cycles, rounds);
}

/* Steele, Lea and Flood's splitmix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void wpi_rounds_shuffle(uint32_t *order, uint32_t count, uint64_t seed) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t j = (uint32_t)(next_random(&seed) % (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
}

void wpi_rounds_halve(uint32_t *order, uint32_t count) {
    const uint32_t pairs = (count + 1) / 2;
    uint32_t at = pairs;
    for (uint32_t i = 0; i < pairs; i++) {
        const uint32_t first = 2 * order[i];
        if (first + 1 < count) order[at++] = first + 1;
        order[i] = first;
    }
}

void wpi_rounds_reuse(uint32_t *order, uint32_t count, uint32_t hot) {
    const uint32_t half = count / 2;
    for (uint32_t i = 0; i < half; i++) {
        order[i] = i;
        order[half + i] = i < hot ? i | WPI_CHAIN_SECOND : half - hot + i;
    }
}
