/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes a trace. Memory stays small: complete items are written as soon as they fill a block.
 *
 *     ops ──────► packer ─┐
 *     launches ─► packer ─┼─► blocks (block_file.h), and where each item is (places.h)
 *     parts ────► packer ─┘
 *
 * A part has a section of the execution of some warps of a CTA; a long CTA has a chain of parts.
 * The first failure is kept and returned by wpi_trace_writer_finish; later calls are ignored.
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
/** The number of the tables in the trace; writes them if they are new. Identified by their
 * address. */
uint32_t wpi_trace_writer_tables(wpi_trace_writer *writer, const wp_trace_tables *tables);
/** Reserves the numbers of the first parts of `count` CTAs; returns the first. */
uint64_t wpi_trace_writer_reserve(wpi_trace_writer *writer, uint64_t count);
/** Writes part `number`, which was reserved. */
void wpi_trace_writer_part(wpi_trace_writer *writer, uint64_t number, const void *data,
                           size_t bytes);
/** Writes launch `number`, counted from 0, when all its parts are written; in any order. */
void wpi_trace_writer_launch(wpi_trace_writer *writer, uint64_t number,
                             const wpi_trace_launch *launch);
/** Completes the trace, which appears. Later calls are ignored. */
WP_NODISCARD wp_status wpi_trace_writer_finish(wpi_trace_writer *writer, const wpi_origin *origin,
                                               wp_error *err);
/** No trace appears. Later calls are ignored. */
void wpi_trace_writer_abandon(wpi_trace_writer *writer);
/** Abandons an unfinished trace; NULL allowed. */
void wpi_trace_writer_destroy(wpi_trace_writer *writer);

#endif
