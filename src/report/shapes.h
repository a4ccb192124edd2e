/* SPDX-License-Identifier: Apache-2.0 */
/** Launches of a kernel by grid and block: programs with many launches repeat few shapes. */
#ifndef WP_REPORT_SHAPES_H
#define WP_REPORT_SHAPES_H

#include "report/json/json_parts.h"
#include "warpage/report.h"

/** Adds a launch to its shape. A kernel's first WP_RUN_SHAPES shapes have rows of their own, all
 *  others one together. Without memory for a row, the launch is left out. */
void wpi_shapes_add(wp_run_kernel *kernel, const uint32_t grid[3], const uint32_t block[3],
                    uint64_t time_ns);
/** Longest time first, ties by grid and block: equal runs give equal reports. */
void wpi_shapes_sort(wp_run_kernel *kernel);
bool wpi_shape_is_rest(const wp_run_shape *shape);
/** "64 x 2", "256"; "1": a grid of one block. Returns `out`. */
const char *wpi_shape_dim(const uint32_t dim[3], char out[40]);

json_t *wpi_shapes_to_json(const wp_run_kernel *kernel);
/** `array` may be NULL: a record of an earlier version. */
void wpi_shapes_from_json(wpi_json_reader *reader, const json_t *array, wp_run_kernel *out);

#endif
