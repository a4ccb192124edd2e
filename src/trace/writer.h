/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes a trace. Memory stays small: what is complete goes to the file as soon as it fills a
 * block.
 *
 *     ops ──────► packer ─┐
 *     launches ─► packer ─┼─► blocks (block_file.h), and where each item is (places.h)
 *     parts ────► packer ─┘
 *
 * A part is what some warps of one CTA did for a while: a CTA that does much has a chain of them.
 * The first failure is kept, everything after it ignored, and told by wpi_trace_writer_finish.
 *
 * Thread rule: any thread; the writer has a lock.
 */
#ifndef WP_TRACE_WRITER_H
#define WP_TRACE_WRITER_H

#include "base/trace_abi.h"
#include "trace/content.h"
#include "trace/op.h"

typedef struct wpi_trace_writer wpi_trace_writer;

WP_NODISCARD wp_status wpi_trace_writer_create(const char *path, wpi_trace_writer **out,
                                               wp_error *err);
void wpi_trace_writer_op(wpi_trace_writer *writer, wpi_op_kind kind, const uint64_t *fields,
                         const char *text);
/** The number of these tables in the trace, written when they are new. They are known again by
 * their address. */
uint32_t wpi_trace_writer_tables(wpi_trace_writer *writer, const wp_trace_tables *tables);
/** Room for the first parts of `count` CTAs; the number of the first. */
uint64_t wpi_trace_writer_reserve(wpi_trace_writer *writer, uint64_t count);
/** Part `number`, which was reserved. */
void wpi_trace_writer_part(wpi_trace_writer *writer, uint64_t number, const void *data,
                           size_t bytes);
/** Launch `number`, counted from 0, when all its parts are written; any order. */
void wpi_trace_writer_launch(wpi_trace_writer *writer, uint64_t number,
                             const wpi_trace_launch *launch);
/** The trace appears. The origin is only read. What comes in later is ignored. */
WP_NODISCARD wp_status wpi_trace_writer_finish(wpi_trace_writer *writer, const wpi_origin *origin,
                                               wp_error *err);
/** No trace appears. What comes in later is ignored. */
void wpi_trace_writer_abandon(wpi_trace_writer *writer);
/** Abandons what was not finished; NULL allowed. */
void wpi_trace_writer_destroy(wpi_trace_writer *writer);

#endif
