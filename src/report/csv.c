/* SPDX-License-Identifier: Apache-2.0 */
/* The record as one CSV table: a row for each kernel, then one for each kind of copy. */
#include <inttypes.h>
#include <string.h>

#include "report/run_record.h"

/* Quotes as RFC 4180 asks, where needed. */
static void append_field(wp_text *out, const char *value) {
    if (strpbrk(value, ",\"\r\n") == NULL) {
        wp_text_append(out, value);
        return;
    }
    wp_text_append(out, "\"");
    for (const char *c = value; *c != '\0'; c++)
        wp_text_append_n(out, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    wp_text_append(out, "\"");
}

void wpi_run_record_csv(const wp_run_record *record, wp_text *out) {
    wp_text_append(out, "row,name,count,threads,bytes,time_ns,time_min_ns,time_max_ns\r\n");
    for (size_t i = 0; i < record->kernel_count; i++) {
        const wp_run_kernel *k = &record->kernels[i];
        wp_text_append(out, "kernel,");
        append_field(out, k->display_name);
        wp_text_appendf(out, ",%" PRIu64 ",%" PRIu64 ",,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\r\n",
                        k->launches, k->threads, k->time_ns, k->time_min_ns, k->time_max_ns);
    }
    for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
        const wp_run_copies *c = &record->copies[kind];
        if (c->count == 0) continue;
        wp_text_appendf(out, "copy,%s,%" PRIu64 ",,%" PRIu64 ",%" PRIu64 ",,\r\n",
                        wp_copy_kind_name((wp_copy_kind)kind), c->count, c->bytes, c->time_ns);
    }
}
