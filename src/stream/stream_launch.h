/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Streamed launches.
 *
 *     queue of the launch:  launch structure, zeros ─► kernel ─► words that end the actors ─► ended
 */
#ifndef WP_STREAM_STREAM_LAUNCH_H
#define WP_STREAM_STREAM_LAUNCH_H

#include "stream/stream_code.h"
#include "warpage/stream.h"

/** The parameters of a launch whose values are addresses of reservations; bit i: parameter i. */
uint64_t wpi_stream_mask(const wp_kernel_info *kernel, void *const *args);
/** The mask of the form with address threads, for a program that asks for it and a kernel that has
 * windows only as they are faster; else 0. */
uint64_t wpi_stream_mask_ahead(const wpi_stream_code *code);
/** The mask of the form whose reads through one parameter see what the thread wrote through
 * another, for a launch that needs it; else 0. */
uint64_t wpi_stream_mask_of_aliases(const wp_launch *launch, const wpi_stream_code *code);
/** The mask of the form with windows, for a launch whose blocks leave no room for address threads;
 * else 0. */
uint64_t wpi_stream_mask_of_large_blocks(wp_device *device, const wp_launch *launch,
                                         const wpi_stream_code *code);
/** Queues the streamed form of `launch`, whose kernel is not used. INVALID, UNSUPPORTED,
 * DEVICE_NOMEM, NOMEM. */
WP_NODISCARD wp_status wpi_stream_launch_queue(wp_queue *queue, const wp_launch *launch,
                                               const wpi_stream_code *code, wp_error *err);
void wpi_stream_set_options(const streamingOptions *options);

#endif
