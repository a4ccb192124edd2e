/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hints: advice on managed memory that the program did not give, applied to a trace. Host
 * operations are added or replaced, so that the replay sees a program that gives the advice itself.
 *
 *     operations of the trace ─► hints ─► operations that are replayed
 *
 * "2=host,read-mostly" is for the second managed allocation, in order of allocation, "all=…" for
 * those without their own hint; several are separated by semicolons.
 *
 * | word          | is as                                                                     |
 * | `host`        | cudaMemAdvise: the preferred location is the host, the device has access  |
 * | `device`      | cudaMemAdvise: the preferred location is the device                       |
 * | `accessed-by` | cudaMemAdviseSetAccessedBy, the device                                    |
 * | `read-mostly` | cudaMemAdviseSetReadMostly                                                |
 * | `prefetch`    | cudaMemPrefetchAsync to the device before each launch, in its stream      |
 * | `copy`        | cudaMalloc; all is copied before the first launch that follows, what the  |
 * |               | host touches behind a launch comes back, and goes over before the next    |
 */
#ifndef WP_TRACE_HINTS_H
#define WP_TRACE_HINTS_H

#include "trace/trace_reader.h"

/** As wpi_trace_visit_ops, with `hints` (NULL: none) applied. INVALID: malformed, or for an
 * allocation that the trace lacks. */
WP_NODISCARD wp_status wpi_hints_visit_ops(wpi_trace *trace, const char *hints, wpi_op_visit visit,
                                           void *object, wp_error *err);

/** The same for operations one by one. `_destroy` accepts NULL and frees all that `_create` and
 * visits allocated. */
typedef struct wpi_hints wpi_hints;
WP_NODISCARD wp_status wpi_hints_create(const char *text, wpi_op_visit visit, void *object,
                                        wpi_hints **out, wp_error *err);
WP_NODISCARD wp_status wpi_hints_op(void *hints, const wpi_op *op, wp_error *err);
/** Call after the last operation. INVALID: as above. */
WP_NODISCARD wp_status wpi_hints_check(const wpi_hints *hints, wp_error *err);
void wpi_hints_destroy(wpi_hints *hints);

#endif
