/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Recording: a warp source that forwards another source's blocks, and writes them to a trace. Its
 * user sees no difference.
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

/** `launch` describes it; the tee fills in parts and totals. `inner` must outlive the tee. */
WP_NODISCARD wp_status wpi_tee_create(wpi_trace_writer *writer, uint64_t number,
                                      const wpi_trace_launch *launch, wpi_warp_source *inner,
                                      wpi_tee **out, wp_error *err);
wpi_warp_source *wpi_tee_source(wpi_tee *tee);
/** The launch has ended, with all its slots finished: writes it, and frees the tee. */
void wpi_tee_finish(wpi_tee *tee);
void wpi_tee_abandon(wpi_tee *tee); /* NULL allowed */

#endif
