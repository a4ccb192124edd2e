/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tables of numbers: points for clustering, matrices for stencils; from text, or generated.
 */
#ifndef APP_POINTS_H
#define APP_POINTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct app_points {
    float *value; /* [count * dimensions], a row per point; malloc'ed */
    uint64_t count;
    uint32_t dimensions;
    uint64_t skipped; /* rows that lacked a number in a chosen column */
    char title[160];
} app_points;

/** Reads rows of numbers separated by commas, semicolons, tabs or blanks. `columns` names columns
 *  from 1 ("1,3-5"); NULL: all that hold numbers in the first row that has any (so header lines
 *  and text columns are passed over). `max_count` rows at most, 0: all. */
void app_points_read(app_points *points, const char *path, const char *columns, uint64_t max_count);
/** Round clouds of points around `clusters` centres in [0, 100)^dimensions, seeded. */
void app_points_generate(app_points *points, uint64_t count, uint32_t dimensions, uint32_t clusters,
                         uint64_t seed);
/** Moves and scales every dimension to [0, 1]. */
void app_points_normalize(app_points *points);
void app_points_free(app_points *points);

/** The largest |a[i] - b[i]|; INFINITY where one of them is not a number. */
double app_floats_difference(const float *a, const float *b, size_t count);
double app_doubles_difference(const double *a, const double *b, size_t count);
/** All numbers of a file, whatever its lines: `*count` floats, malloc'ed. */
float *app_floats_read(const char *path, uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
