/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/infer/curve_clean.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define QUIET_CYCLES                                                                               \
    0.8                  /* standard deviation that needs no smoothing: whole cycles are rounded   \
                          */
#define SPIKE_CYCLES 3.0 /* at least this far from the points beside it */
#define SPIKE_NOISE 4.0  /* and so many standard deviations */
#define SPIKE_REACH 2u   /* points at each side */
#define HALF_MAX 6u      /* of a smoothing window */
#define WINDOWS_MIN 16u  /* half windows in a curve: narrower parts of it stay */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static int by_point(const void *a, const void *b) {
    const wpi_curve_point *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return (x->cycles > y->cycles) - (x->cycles < y->cycles);
}

/* Sorts; points at one distance, which are in order of cycles, become the one in their middle. */
static void merge_repetitions(wpi_curve *c) {
    size_t kept = 0;
    qsort(c->points, c->count, sizeof *c->points, by_point);
    for (size_t i = 0, outer; i < c->count; i = outer) {
        for (outer = i + 1; outer < c->count && c->points[outer].bytes == c->points[i].bytes;)
            outer++;
        const double low = c->points[i + (outer - i - 1) / 2].cycles;
        const double high = c->points[i + (outer - i) / 2].cycles;
        c->points[kept++] = (wpi_curve_point){c->points[i].bytes, (low + high) / 2};
    }
    c->count = kept;
}

/* Standard deviation of the points: second differences are 0 on plateaus and ramps, and their
 * median is not affected by the few that lie on steps or outliers. */
static double noise_of(const wpi_curve *c, double *scratch) {
    size_t count = 0;
    for (size_t i = 1; i + 1 < c->count; i++)
        scratch[count++] =
            fabs(c->points[i - 1].cycles - 2 * c->points[i].cycles + c->points[i + 1].cycles);
    return count < 8 ? 0 : 1.4826 * median(scratch, count) / sqrt(6);
}

/* The median of the points from `half` before to `half` behind; fewer at the curve's ends, as many
 * at both sides. */
static double around(const wpi_curve_point *points, size_t count, size_t i, size_t half) {
    double window[2 * HALF_MAX + 1];
    size_t n = 0;
    if (half > i) half = i;
    if (half > count - 1 - i) half = count - 1 - i;
    for (size_t k = i - half; k <= i + half; k++)
        window[n++] = points[k].cycles;
    return median(window, n);
}

/* The first and the last point have points at one side only. */
static double beside_end(const wpi_curve_point *points, size_t beside, size_t next, double cycles,
                         double least) {
    const double a = points[beside].cycles, b = points[next].cycles;
    return fabs(a - b) < least && fabs(cycles - b) > least ? a : cycles;
}

/* Drops points that are further than `least` from the median of those around them: what they would
 * have been is not known, so that the curve has a gap there. */
static void drop_spikes(wpi_curve *c, wpi_curve_point *copy, double least) {
    const size_t count = c->count;
    if (count < 3) return;
    memcpy(copy, c->points, count * sizeof *copy);
    c->count = 0;
    for (size_t i = 0; i < count; i++) {
        const double cycles = copy[i].cycles;
        const double middle = i == 0           ? beside_end(copy, 1, 2, cycles, least)
                              : i + 1 == count ? beside_end(copy, i - 1, i - 2, cycles, least)
                                               : around(copy, count, i, SPIKE_REACH);
        if (fabs(middle - cycles) <= least) c->points[c->count++] = copy[i];
    }
}

static void smooth(wpi_curve *c, wpi_curve_point *copy, size_t half) {
    memcpy(copy, c->points, c->count * sizeof *copy);
    for (size_t i = 0; i < c->count; i++)
        c->points[i].cycles = around(copy, c->count, i, half);
}

wp_status wpi_curve_clean(const wpi_curve *raw, wpi_curve *out, wp_error *err) {
    *out = (wpi_curve){.stride_bytes = raw->stride_bytes, .count = raw->count};
    wpi_curve_point *copy = wpi_malloc((raw->count + 1) * sizeof *copy);
    double *scratch = wpi_malloc((raw->count + 1) * sizeof *scratch);
    out->points = wpi_malloc((raw->count + 1) * sizeof *out->points);
    wp_status status = WP_STATUS_OK;
    if (copy == NULL || scratch == NULL || out->points == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "curves"), done);
    if (raw->count != 0) memcpy(out->points, raw->points, raw->count * sizeof *out->points);
    merge_repetitions(out);
    const double noise = noise_of(out, scratch);
    drop_spikes(out, copy, fmax(SPIKE_CYCLES, SPIKE_NOISE * noise));
    if (noise <= QUIET_CYCLES) goto done;
    double half = ceil(noise * noise / (2 * QUIET_CYCLES * QUIET_CYCLES));
    half = fmin(fmin(half, HALF_MAX), (double)(out->count / WINDOWS_MIN));
    smooth(out, copy, (size_t)half);
    out->blur_points = (size_t)half;
    out->noise_cycles = noise * (half > 0 ? 1.2533 / sqrt(2 * half + 1) : 1);
done:
    wpi_free(copy);
    wpi_free(scratch);
    return status;
}
