/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Records a program's calls of a simulated device, and its launches, in a trace (src/trace).
 * Replaces the device's tables of operations by ones that record each call and forward it.
 *
 * The trace file appears when the program exits or the device is closed; not if a kernel failed, or
 * launches are in progress.
 */
#ifndef WP_DEVICE_SIM_RECORD_H
#define WP_DEVICE_SIM_RECORD_H

#include "device/sim/sim_device.h"
#include "trace/tee.h"

typedef struct wpi_recorder wpi_recorder;

/** Begins the trace that the parameter `trace` asks for; `*out` is NULL if none is. The device gets
 *  a table of operations of the recorder's own, which wraps the one that it had; on failure it
 * keeps that, and no trace is begun. One recording a process. NOMEM, and what keeps a file from
 * being written. */
WP_NODISCARD wp_status wpi_recorder_create(wpi_sim_device *device, wpi_recorder **out,
                                           wp_error *err);
/** The device is closed: completes the trace. NULL allowed. */
void wpi_recorder_finish(wpi_recorder *recorder);
/** Whether launches take no simulated time. */
bool wpi_recorder_is_functional(const wpi_recorder *recorder);

/** Executor's thread: the host has touched pages of the chunk. NULL allowed. */
void wpi_recorder_host_touched(wpi_recorder *recorder, uint64_t chunk, const wpi_pages *pages);
/** Executor's thread: creates a recording source to use in place of `source`. A launch that runs in
 *  step is written without its warps, and `*out` is NULL. */
WP_NODISCARD wp_status wpi_recorder_launch(wpi_recorder *recorder, const wpi_launch *launch,
                                           wpi_warp_source *source, wpi_tee **out, wp_error *err);
/** The launch has ended. Frees `tee`. */
void wpi_recorder_launch_ended(wpi_recorder *recorder, wpi_tee *tee);

#endif
