/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A recorded launch as a warp source. A warp whose next block has lanes at a barrier waits, as
 * running threads would; no other timing is recorded, because the SMs simulate it.
 *
 * Thread rule: one thread, which is that of the trace it reads from.
 */
#ifndef WP_TRACE_SOURCE_H
#define WP_TRACE_SOURCE_H

#include "sim/sm/warp_source.h"
#include "trace/trace_reader.h"

typedef struct wpi_trace_source wpi_trace_source;

/** Called with an error in the trace, before `next` returns FAILED. */
typedef void (*wpi_source_fail_fn)(void *object, const wp_error *error);

/** `trace` must outlive it. UNSUPPORTED: the launch was not recorded, because it runs in step. */
WP_NODISCARD wp_status wpi_trace_source_create(wpi_trace *trace, uint64_t launch,
                                               wpi_source_fail_fn fail, void *object,
                                               wpi_trace_source **out, wp_error *err);
wpi_warp_source *wpi_trace_source_base(wpi_trace_source *source);
void wpi_trace_source_destroy(wpi_trace_source *source); /* NULL allowed */

#endif
