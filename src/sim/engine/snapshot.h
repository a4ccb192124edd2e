/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All counters at a point in time, as an array of numbers in the order in which they are visited.
 * The counters of a launch are the difference of two snapshots.
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
/** Stores all counters in `values`, which has room for them. */
void wpi_snapshot_take(const wpi_gpu *gpu, const wpi_memory *memory, uint64_t *values);
/** Stores a launch's counters in the first places of `values`. */
void wpi_snapshot_take_launch(const wpi_launch_numbers *numbers, uint64_t *values);

#endif
