/* SPDX-License-Identifier: Apache-2.0 */
/** How the kernels of a trace are called: names for people, as the program's C++ runtime made them.
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

/** Reads them all; deinit also after failure. PARSE: a kernel that is not there has a name. */
WP_NODISCARD wp_status wpi_names_read(wpi_names *names, wpi_trace *trace, wp_error *err);
void wpi_names_deinit(wpi_names *names);
/** The launch's kernel's name; the one in the code if it has no other. */
const char *wpi_names_find(const wpi_names *names, const wpi_trace *trace,
                           const wpi_trace_launch *launch);
/** The name of the first kernel that is called `name` in the code; NULL: it has none. */
const char *wpi_names_find_code(const wpi_names *names, const wpi_trace *trace, const char *name);

#endif
