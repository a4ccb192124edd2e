/* SPDX-License-Identifier: Apache-2.0 */
/** Converts the tables of a traced module (base/trace_abi.h) to bytes and back. Parsed tables are
 * checked, so that the simulated GPU can rely on every number in them. */
#ifndef WP_TRACE_TABLES_H
#define WP_TRACE_TABLES_H

#include "base/text.h"
#include "base/trace_abi.h"

void wpi_tables_append(wpi_text *out, const wp_trace_tables *tables);

typedef struct wpi_tables {
    wp_trace_tables tables;
    void *memory; /* all data that `tables` points to */
} wpi_tables;

/** `where` names the place in messages. PARSE: not written by wpi_tables_append. */
WP_NODISCARD wp_status wpi_tables_parse(const void *data, size_t bytes, const char *where,
                                        wpi_tables *out, wp_error *err);
void wpi_tables_deinit(wpi_tables *tables);

/** The error in tables; NULL: none. */
const char *wpi_tables_find_fault(const wp_trace_tables *tables);

#endif
