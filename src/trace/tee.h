/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A warp source that passes on what another one hands out, and writes it down: recording. Who takes
 * warps from it sees no difference.
 *
 *     threads (device/sim) ──► tee ──► SMs
 *                               └──► writer
 *
 * Thread rule: one thread for each tee; several tees may write to one trace.
 */
#ifndef WP_TRACE_TEE_H
#define WP_TRACE_TEE_H

#include "sim/sm/warp_source.h"
#include "trace/writer.h"

typedef struct wpi_tee wpi_tee;

/** `launch` says what it is; parts and totals are filled in. `inner` must outlive the tee. */
WP_NODISCARD wp_status wpi_tee_create(wpi_trace_writer *writer, uint64_t number,
                                      const wpi_trace_launch *launch, wpi_warp_source *inner,
                                      wpi_tee **out, wp_error *err);
wpi_warp_source *wpi_tee_source(wpi_tee *tee);
/** The launch has ended, all its slots are finished; it is written, and the tee gone. */
void wpi_tee_finish(wpi_tee *tee);
void wpi_tee_abandon(wpi_tee *tee); /* NULL allowed */

#endif
