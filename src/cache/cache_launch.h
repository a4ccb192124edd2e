/* SPDX-License-Identifier: Apache-2.0 */
/** What a launch of a kernel with a cached form becomes (docs/rooms/cache.md). */
#ifndef WP_CACHE_CACHE_LAUNCH_H
#define WP_CACHE_CACHE_LAUNCH_H

#include "cache/cache_code.h"

/** How many lines a thread gets, and why the plain kernel runs if it does. `blocks`: of the grid;
 * 0: as many as the device takes. `row_threads`: blockDim.x. Changes nothing. */
void wpi_cache_plan_make(const wpi_cache_code *code, uint64_t blocks, uint32_t block_threads,
                         uint32_t row_threads, uint32_t shared_dynamic_bytes, wpi_cache_plan *out);
/** Tells a recorder what of the device a plan follows from, so that a trace is not replayed where
 * the plan would be another. */
void wpi_cache_plan_note(const wpi_cache_code *code, uint32_t block_threads,
                         uint32_t shared_dynamic_bytes);
/** Queues a launch of code->plain as the plan for it says. */
WP_NODISCARD wp_status wpi_cache_launch_queue(wpi_cache_code *code, wp_queue *queue,
                                              const wp_launch *launch, wp_error *err);
/** Blocks per SM of what would run: wp_kernel_occupancy_blocks for the plan. */
uint32_t wpi_cache_occupancy_blocks(const wpi_cache_code *code, uint32_t block_threads,
                                    uint32_t shared_dynamic_bytes);

#endif
