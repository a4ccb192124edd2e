/* SPDX-License-Identifier: Apache-2.0 */
/** Demangled names of the kernels of a trace, as the program's C++ runtime made them.
 */
#ifndef WP_TRACE_NAMES_H
#define WP_TRACE_NAMES_H

#include "trace/trace_reader.h"

typedef struct wpi_name {
    uint32_t tables, kernel;
    char *text;
} wpi_name;

typedef struct wpi_names {
    wpi_name *items;
    size_t count;
} wpi_names;

/** Reads all names; deinit also after failure. PARSE: a name of a kernel that does not exist. */
WP_NODISCARD wp_status wpi_names_read(wpi_names *names, wpi_trace *trace, wp_error *err);
void wpi_names_deinit(wpi_names *names);
/** The demangled name of the launch's kernel, or else the mangled one. */
const char *wpi_names_find(const wpi_names *names, const wpi_trace *trace,
                           const wpi_trace_launch *launch);
/** The demangled name of the first kernel with the mangled name `name`; NULL: none. */
const char *wpi_names_find_code(const wpi_names *names, const wpi_trace *trace, const char *name);

#endif
