/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/infer/plateaus.h"

#include <math.h>

#define POINTS_MIN 4u
#define POINTS_SHARE 100u /* of a longer curve: a hundredth of it, */
#define POINTS_MOST 16u   /* but so many are enough */
#define RANGE_CYCLES 3.0  /* of a plateau, at least */
#define RANGE_NOISE 5.0   /* standard deviations of the noise */
#define SLOPE_SHARE                                                                                \
    0.2 /* of the range, between the means of its halves: else it is part of a ramp */
#define TAIL_SHARE 0.1  /* of the rise before: a rise of less is not one by itself */
#define LATE_SHARE 0.04 /* of less, or this much further, and the ramp before ends without it */

typedef struct plateau {
    size_t first, outer;
    double cycles;
} plateau;

static double mean(const wpi_curve *c, size_t first, size_t outer) {
    double sum = 0;
    for (size_t i = first; i < outer; i++)
        sum += c->points[i].cycles;
    return sum / (double)(outer - first);
}

/* Points that a plateau has at least: in a long curve, a few of a ramp may be level by chance. */
static size_t points_min(const wpi_curve *c) {
    const size_t least = c->noise_cycles > 0 ? 2 * POINTS_MIN : POINTS_MIN;
    const size_t share =
        c->count / POINTS_SHARE < POINTS_MOST ? c->count / POINTS_SHARE : POINTS_MOST;
    return share * (c->noise_cycles > 0 ? 2 : 1) > least ? share * (c->noise_cycles > 0 ? 2 : 1)
                                                         : least;
}

/* What a plateau's points may differ by. */
static double range_of(const wpi_curve *c) {
    return fmax(RANGE_CYCLES, RANGE_NOISE * c->noise_cycles);
}

/* The longest run from `first` on within the range; few points of a ramp are within it, too. */
static bool find_plateau(const wpi_curve *c, size_t first, plateau *out) {
    double least = c->points[first].cycles, most = least;
    const double range = range_of(c);
    size_t outer = first + 1;
    for (; outer < c->count; outer++) {
        const double cycles = c->points[outer].cycles;
        least = fmin(least, cycles);
        most = fmax(most, cycles);
        if (most - least > range) break;
    }
    *out = (plateau){.first = first, .outer = outer};
    if (outer - first < points_min(c)) return false;
    const size_t middle = first + (outer - first) / 2;
    out->cycles = mean(c, first, outer);
    return fabs(mean(c, first, middle) - mean(c, middle, outer)) <= SLOPE_SHARE * range ||
           outer - first >= 8 * points_min(c);
}

static void add_rise(wpi_rise *rises, uint32_t *count, const wpi_curve *c, const plateau *low,
                     const plateau *high) {
    const double cycles = high->cycles - low->cycles;
    wpi_rise *before = *count > 0 ? &rises[*count - 1] : NULL;
    if (before != NULL && cycles < TAIL_SHARE * before->cycles) {
        before->cycles += cycles;
        const double far = (double)c->points[before->full].bytes * (1 + LATE_SHARE);
        if (cycles < LATE_SHARE * before->cycles || (double)c->points[high->first].bytes > far)
            return;
        before->full = high->first;
        before->ramp_cycles = before->cycles;
        return;
    }
    if (cycles < range_of(c) || *count == WPI_RISES_MAX) return;
    rises[(*count)++] = (wpi_rise){.stride_bytes = c->stride_bytes,
                                   .quiet = low->outer - 1,
                                   .full = high->first,
                                   .cycles = cycles,
                                   .ramp_cycles = cycles,
                                   .low_cycles = low->cycles};
}

uint32_t wpi_plateaus_rises(const wpi_curve *c, wpi_rise rises[WPI_RISES_MAX],
                            double *first_cycles) {
    uint32_t count = 0;
    plateau low = {0}, next;
    bool has_low = false;
    for (size_t at = 0; at < c->count;) {
        if (!find_plateau(c, at, &next)) {
            at++;
            continue;
        }
        if (!has_low) *first_cycles = next.cycles;
        if (has_low) add_rise(rises, &count, c, &low, &next);
        low = next;
        has_low = true;
        at = next.outer;
    }
    return count;
}
