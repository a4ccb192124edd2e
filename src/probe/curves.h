/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Curves measured elsewhere, as cuda-gpu-tlb writes them:
 *
 *     #comment                                  TLBsharing-STRIDE_KB-PAGES.txt:
 *     #,64,128,256,      strides in KB          #   000 001 002
 *     1,241,242,240,     distance in MB,        000 284 276 275      cycles of the timed SM (row)
 *     1.0625,241,,,      cycles; empty: not     001 279 287 279      after the other one (column)
 *                        measured               #… what follows a second such line is not read
 *
 * Columns of curves may also be separated by tabs or semicolons, as in the header, and have blanks
 * and quotes around them; the text may begin with a byte order mark.
 */
#ifndef WP_PROBE_CURVES_H
#define WP_PROBE_CURVES_H

#include "probe/infer/hierarchy.h"

typedef struct wpi_curve_point {
    uint64_t bytes;
    double cycles;
} wpi_curve_point;

typedef struct wpi_curve {
    uint64_t stride_bytes;
    wpi_curve_point *points; /* in the order of the files; ascending once they are clean */
    size_t count, capacity;
    size_t blur_points;  /* by which smoothing may have moved a rise's beginning or end */
    double noise_cycles; /* standard deviation that cleaning leaves; 0: none to speak of */
} wpi_curve;

typedef struct wpi_matrix {
    uint64_t stride_bytes, pages;
    uint32_t sm_count;
    double *cycles; /* [sm_count * sm_count] */
} wpi_matrix;

struct wpi_curves {
    wpi_curve *curves; /* ascending strides */
    size_t curve_count;
    wpi_matrix *matrices;
    size_t matrix_count;
};

/** Reads one text; `path` determines its kind, and names it in messages. PARSE, NOMEM. */
WP_NODISCARD wp_status wpi_curves_parse(wpi_curves *curves, const char *path, const char *text,
                                        wp_error *err);

#endif
