/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace of selected launches: copies all operations except other launches, and the parts
 * of the selected ones unchanged. */
#include <regex.h>
#include <string.h>

#include "base/alloc.h"
#include "trace/names.h"
#include "trace/part.h"
#include "trace/writer.h"
#include "warpage/trace.h"

typedef struct cut {
    wpi_trace *from;
    wpi_trace_writer *to;
    wpi_names names;
    const wp_trace_selection *selection;
    regex_t kernels;
    bool has_kernels;
    uint64_t kept; /* launches */
    wpi_text part; /* buffer */
} cut;

static bool is_selected(const cut *c, uint64_t number, const wpi_trace_launch *launch) {
    if (number < c->selection->first_launch || number >= c->selection->outer_launch) return false;
    return !c->has_kernels ||
           regexec(&c->kernels, wpi_names_find(&c->names, c->from, launch), 0, NULL, 0) == 0;
}

/* Copies part `old` as part `number`, and the parts that follow it. */
static wp_status copy_parts(cut *c, uint32_t warps, uint64_t old, uint64_t number, wp_error *err) {
    while (old != WPI_PART_NONE) {
        wpi_cursor from, section;
        uint64_t offset, next;
        WP_TRY(wpi_trace_part(c->from, old, &from, &offset, err));
        if (!wpi_part_find(from, old, warps - 1, warps, &next, &section)) {
            return WP_FAIL(err, PARSE, "%s: offset %llu: the instructions of a CTA are damaged",
                           wpi_trace_path(c->from), (unsigned long long)offset);
        }
        const uint64_t next_number =
            next != WPI_PART_NONE ? wpi_trace_writer_reserve(c->to, 1) : WPI_PART_NONE;
        (void)wpi_cursor_varint(&from); /* skips the next part's number; the rest is copied */
        wpi_text_clear(&c->part);
        wpi_varint_append(&c->part, next_number + 1);
        wpi_text_append_n(&c->part, from.at, (size_t)(section.outer - from.at));
        wpi_trace_writer_part(c->to, number, c->part.data, c->part.length);
        old = next;
        number = next_number;
    }
    return WP_STATUS_OK;
}

static wp_status copy_launch(cut *c, const wpi_op *op, wp_error *err) {
    wpi_trace_launch launch;
    WP_TRY(wpi_trace_launch_at(c->from, op->fields[1], &launch, err));
    if (!is_selected(c, op->fields[1], &launch)) return WP_STATUS_OK;
    const uint64_t old = launch.first_part;
    const uint32_t warps = (wpi_trace_launch_threads(&launch) + 31) / 32;
    const uint64_t ctas =
        (launch.flags & WPI_LAUNCH_IN_STEP) != 0 ? 0 : wpi_trace_launch_cta_count(&launch);
    launch.first_part = wpi_trace_writer_reserve(c->to, ctas);
    for (uint64_t i = 0; i < ctas; i++)
        WP_TRY(copy_parts(c, warps, old + i, launch.first_part + i, err));
    wpi_trace_writer_launch(c->to, c->kept, &launch);
    const uint64_t fields[] = {op->fields[0], c->kept++};
    wpi_trace_writer_op(c->to, WPI_OP_LAUNCH, fields, NULL);
    return WP_STATUS_OK;
}

static wp_status copy_op(void *object, const wpi_op *op, wp_error *err) {
    cut *c = object;
    if (op->kind == WPI_OP_LAUNCH) return copy_launch(c, op, err);
    wpi_trace_writer_op(c->to, op->kind, op->fields, op->text);
    return WP_STATUS_OK;
}

static wp_status compile_kernels(cut *c, wp_error *err) {
    char why[128];
    if (c->selection->kernels == NULL) return WP_STATUS_OK;
    const int failed = regcomp(&c->kernels, c->selection->kernels, REG_EXTENDED | REG_NOSUB);
    if (failed != 0) {
        (void)regerror(failed, &c->kernels, why, sizeof why);
        return WP_FAIL(err, INVALID, "'%s' is not a valid regular expression: %s",
                       c->selection->kernels, why);
    }
    c->has_kernels = true;
    return WP_STATUS_OK;
}

static wp_status copy_all(cut *c, wp_error *err) {
    const wpi_trace_root *root = wpi_trace_root_of(c->from);
    for (uint32_t i = 0; i < root->tables_count; i++) /* the same numbers as in the original */
        (void)wpi_trace_writer_tables(c->to, wpi_trace_tables_of(c->from, i));
    WP_TRY(wpi_trace_visit_ops(c->from, copy_op, c, err));
    if (c->kept != 0) return WP_STATUS_OK;
    return WP_FAIL(err, NOT_FOUND,
                   "%s: no launch matches; `warpage trace info --launches` lists them",
                   wpi_trace_path(c->from));
}

static wp_status write_cut(cut *c, const char *out_path, wp_error *err) {
    int exit_status;
    WP_TRY(wpi_trace_writer_create(out_path, &c->to, err));
    wp_status status = copy_all(c, err);
    if (status == WP_STATUS_OK)
        status = wpi_trace_writer_finish(c->to, &wpi_trace_root_of(c->from)->origin, err);
    wpi_trace_writer_destroy(c->to);
    WP_TRY(status);
    if (!wpi_trace_exit_status(c->from, &exit_status)) return WP_STATUS_OK;
    return wpi_trace_set_exit_status(out_path, exit_status, err);
}

wp_status wp_trace_cut(const char *path, const wp_trace_selection *selection, const char *out_path,
                       wp_error *err) {
    cut c = {.selection = selection};
    wp_status status;
    WP_TRY_GOTO(wpi_trace_open(path, &c.from, err), done);
    WP_TRY_GOTO(compile_kernels(&c, err), done);
    WP_TRY_GOTO(wpi_names_read(&c.names, c.from, err), done);
    status = write_cut(&c, out_path, err);
done:
    if (c.has_kernels) regfree(&c.kernels);
    wpi_names_deinit(&c.names);
    wpi_text_deinit(&c.part);
    wpi_trace_close(c.from);
    return status;
}
