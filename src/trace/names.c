/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/names.h"

#include <string.h>

#include "base/alloc.h"

typedef struct reading {
    wpi_names *names;
    const wpi_trace *trace;
} reading;

static wp_status read_name(void *object, const wpi_op *op, wp_error *err) {
    const reading *r = object;
    if (op->kind != WPI_OP_KERNEL_NAME) return WP_STATUS_OK;
    const uint64_t t = op->fields[0], k = op->fields[1];
    if (t >= wpi_trace_root_of(r->trace)->tables_count ||
        k >= wpi_trace_tables_of(r->trace, (uint32_t)t)->kernel_count)
        return WP_FAIL(err, PARSE, "%s: a name belongs to a kernel that does not exist",
                       wpi_trace_path(r->trace));
    wpi_names *names = r->names;
    wpi_name *items = wpi_realloc(names->items, (names->count + 1) * sizeof *items);
    char *text = wpi_strdup(op->text);
    if (items != NULL) names->items = items;
    if (items == NULL || text == NULL) {
        wpi_free(text);
        return WP_FAIL(err, NOMEM, "names of kernels");
    }
    items[names->count++] = (wpi_name){(uint32_t)t, (uint32_t)k, text};
    return WP_STATUS_OK;
}

wp_status wpi_names_read(wpi_names *names, wpi_trace *trace, wp_error *err) {
    reading r = {names, trace};
    *names = (wpi_names){0};
    return wpi_trace_visit_ops(trace, read_name, &r, err);
}

void wpi_names_deinit(wpi_names *names) {
    for (size_t i = 0; i < names->count; i++)
        wpi_free(names->items[i].text);
    wpi_free(names->items);
    *names = (wpi_names){0};
}

const char *wpi_names_find(const wpi_names *names, const wpi_trace *trace,
                           const wpi_trace_launch *launch) {
    for (size_t i = 0; i < names->count; i++) {
        const wpi_name *n = &names->items[i];
        if (n->tables == launch->tables && n->kernel == launch->kernel) return n->text;
    }
    return wpi_trace_kernel_of(trace, launch)->name;
}

const char *wpi_names_find_code(const wpi_names *names, const wpi_trace *trace, const char *name) {
    for (size_t i = 0; i < names->count; i++) {
        const wpi_name *n = &names->items[i];
        const wp_trace_tables *tables = wpi_trace_tables_of(trace, n->tables);
        if (strcmp(tables->kernels[n->kernel].name, name) == 0) return n->text;
    }
    return NULL;
}
