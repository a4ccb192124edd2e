/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Running threads as a warp source: each CTA's threads run on fibers of the CPU device, ahead of
 * simulated time by as many words as their buffers hold; merge.h makes warps of their words.
 *
 *     next(warp) ─► merge ── no words ─► lanes with room run on ─► merge …
 *
 * Threads of a kernel of the variant `instep` stop at every access until the model reaches it. In
 * the variant `trace`, a CTA that runs many rounds of spin loops is held back: its threads stop at
 * every block until the previous one has been executed.
 *
 * Thread rule: everything on the thread that called wpi_threads_create.
 */
#ifndef WP_DEVICE_SIM_THREADS_H
#define WP_DEVICE_SIM_THREADS_H

#include "device/cpu/cpu.h"
#include "device/sim/addresses.h"
#include "device/sim/spin_rounds.h"
#include "sim/sm/warp_source.h"

typedef struct wpi_threads wpi_threads;

/** A source for `launch`, whose kernel has trace tables; these say whether it runs in step.
 * `worker` is a slot of its device's pool; it, the launch, `addresses` and `activity` (of the
 * device) must outlive the source. */
WP_NODISCARD wp_status wpi_threads_create(wpi_worker *worker, wpi_launch *launch,
                                          wpi_addresses *addresses, wpi_activity *activity,
                                          wpi_threads **out, wp_error *err);
/** The place of thread `thread` of a traced block: ", SM 3, warp 1, at file.cu:12". */
void wpi_threads_place(const wpi_block *block, uint32_t thread, char *out, size_t out_bytes);
void wpi_threads_destroy(wpi_threads *threads); /* NULL allowed; all slots must be finished */
wpi_warp_source *wpi_threads_source(wpi_threads *threads);

#endif
