/* SPDX-License-Identifier: Apache-2.0 */
/** The tables of a traced module (base/trace_abi.h) as bytes, and back: what comes back has been
 * checked, so that the simulated GPU can rely on every number in it. */
#ifndef WP_TRACE_TABLES_H
#define WP_TRACE_TABLES_H

#include "base/text.h"
#include "base/trace_abi.h"

void wpi_tables_append(wpi_text *out, const wp_trace_tables *tables);

typedef struct wpi_tables {
    wp_trace_tables tables;
    void *memory; /* everything that `tables` points to */
} wpi_tables;

/** `where` names the place in messages. PARSE: not what wpi_tables_append wrote. */
WP_NODISCARD wp_status wpi_tables_parse(const void *data, size_t bytes, const char *where,
                                        wpi_tables *out, wp_error *err);
void wpi_tables_deinit(wpi_tables *tables);

/** What is wrong with tables; NULL: nothing. */
const char *wpi_tables_find_fault(const wp_trace_tables *tables);

#endif
