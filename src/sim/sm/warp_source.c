/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sm/warp_source.h"

#include <stdio.h>

/* The file of a function: that of any of its accesses. */
static const char *file_of(const wp_trace_tables *tables, uint32_t function) {
    for (uint32_t s = 0; s < tables->site_count; s++) {
        const wp_trace_site *site = &tables->sites[s];
        if (site->file != NULL && tables->blocks[site->block].function == function)
            return site->file;
    }
    return NULL;
}

/* The line of a block, or of the last block before it in its function that has one. */
static uint32_t line_of(const wp_trace_tables *tables, uint32_t number) {
    const uint32_t function = tables->blocks[number].function;
    while (tables->blocks[number].line == 0 && number != 0 &&
           tables->blocks[number - 1].function == function)
        number--;
    return tables->blocks[number].line;
}

void wpi_describe_place(const wp_trace_tables *tables, uint32_t number, char *out,
                        size_t out_bytes) {
    out[0] = '\0';
    const uint32_t line = number < tables->block_count ? line_of(tables, number) : 0;
    if (line == 0) return;
    const char *file = file_of(tables, tables->blocks[number].function);
    snprintf(out, out_bytes, file != NULL ? " at %s:%u" : " at %sline %u", file != NULL ? file : "",
             line);
}
