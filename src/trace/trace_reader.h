/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads a trace. Memory does not grow with its length: tables of kernels are loaded completely, a
 * few blocks of everything else.
 *
 * Thread rule: one thread at a time; a trace may be open several times.
 */
#ifndef WP_TRACE_READER_H
#define WP_TRACE_READER_H

#include "trace/content.h"
#include "trace/op.h"
#include "trace/trace_tables.h"

typedef struct wpi_trace wpi_trace;

/** NOT_FOUND, IO, NOMEM, PARSE (with the offset). */
WP_NODISCARD wp_status wpi_trace_open(const char *path, wpi_trace **out, wp_error *err);
void wpi_trace_close(wpi_trace *trace); /* NULL allowed */

const wpi_trace_root *wpi_trace_root_of(const wpi_trace *trace);
const char *wpi_trace_path(const wpi_trace *trace);
uint64_t wpi_trace_file_bytes(const wpi_trace *trace);
/** Exit status of the program; false: unknown. */
bool wpi_trace_exit_status(const wpi_trace *trace, int *status);
WP_NODISCARD wp_status wpi_trace_set_exit_status(const char *path, int status, wp_error *err);

/** Tables `number`, which must exist. They live as long as the trace. */
const wp_trace_tables *wpi_trace_tables_of(const wpi_trace *trace, uint32_t number);
/** Launch `number`, checked: its tables and kernel exist. */
WP_NODISCARD wp_status wpi_trace_launch_at(wpi_trace *trace, uint64_t number, wpi_trace_launch *out,
                                           wp_error *err);
const wp_trace_kernel *wpi_trace_kernel_of(const wpi_trace *trace, const wpi_trace_launch *launch);

/** Calls `visit` with every operation, in order, until it returns an error. */
typedef wp_status (*wpi_op_visit)(void *object, const wpi_op *op, wp_error *err);
WP_NODISCARD wp_status wpi_trace_visit_ops(wpi_trace *trace, wpi_op_visit visit, void *object,
                                           wp_error *err);

/** Opens part `number` for reading; valid until the next call. `*offset`: for messages. */
WP_NODISCARD wp_status wpi_trace_part(wpi_trace *trace, uint64_t number, wpi_cursor *out,
                                      uint64_t *offset, wp_error *err);

#endif
