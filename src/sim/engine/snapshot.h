/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All counters at a moment, as one array of numbers in the order in which they are visited: what a
 * launch did is the difference of two snapshots.
 *
 *     value        1 number
 *     histogram    count, sum, 65 classes
 *     utilisation  1 number, its busy time
 *     maximum      none
 */
#ifndef WP_SIM_SNAPSHOT_H
#define WP_SIM_SNAPSHOT_H

#include "sim/sm/gpu_model.h"

#define WPI_SNAPSHOT_HISTOGRAM (2 + WPI_HISTOGRAM_CLASSES)

/** How many numbers the statistic has in a snapshot. */
size_t wpi_snapshot_size(const wpi_statistic *statistic);
/** Every counter of the model, those of launches first (wpi_launch_statistics). */
void wpi_snapshot_visit(const wpi_gpu *gpu, const wpi_memory *memory, wpi_visit visit,
                        void *object);
/** `values` has room for all of them. */
void wpi_snapshot_take(const wpi_gpu *gpu, const wpi_memory *memory, uint64_t *values);
/** What one launch did, in the first places of `values`, which are those of launches. */
void wpi_snapshot_take_launch(const wpi_launch_numbers *numbers, uint64_t *values);

#endif
