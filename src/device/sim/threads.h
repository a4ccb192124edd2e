/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Running threads as a warp source: each CTA's threads run on fibers of the CPU device, ahead of
 * simulated time by as many words as their buffers hold; their words become warps (merge.h).
 *
 *     next(warp) ─► merge ── no words ─► lanes with room run on ─► merge …
 *
 * Thread rule: everything on the thread that called wpi_threads_create.
 */
#ifndef WP_DEVICE_SIM_THREADS_H
#define WP_DEVICE_SIM_THREADS_H

#include "device/cpu/cpu.h"
#include "sim/warp_source.h"

typedef struct wpi_threads wpi_threads;

/** A source for `launch`, whose kernel has trace tables. `worker` is a slot of its device's pool;
 * it and the launch must outlive the source. */
WP_NODISCARD wp_status wpi_threads_create(wpi_worker *worker, wpi_launch *launch, bool is_in_step,
                                          wpi_threads **out, wp_error *err);
void wpi_threads_destroy(wpi_threads *threads); /* NULL allowed; all slots are finished */
wpi_warp_source *wpi_threads_source(wpi_threads *threads);

#endif
