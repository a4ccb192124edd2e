/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a trace, for warpage/trace.h. */
#include "base/alloc.h"
#include "trace/names.h"
#include "trace/trace_reader.h"
#include "warpage/device.h"
#include "warpage/trace.h"

static void visit_root(const wpi_trace *trace, void (*visit)(void *, const wp_trace_info *),
                       void *object) {
    const wpi_trace_root *root = wpi_trace_root_of(trace);
    wp_trace_info info = {
        .version = root->origin.version,
        .device = root->origin.device,
        .program = wpi_strings_argv(&root->origin.program),
        .program_count = root->origin.program.count,
        .file_bytes = wpi_trace_file_bytes(trace),
        .launches = root->launches.count,
        .operations = root->op_count,
        .accesses = root->accesses,
    };
    info.has_exit_status = wpi_trace_exit_status(trace, &info.exit_status);
    visit(object, &info);
}

static wp_status visit_launches(wpi_trace *trace, const wpi_names *names,
                                void (*visit)(void *, const wp_trace_launch_info *), void *object,
                                wp_error *err) {
    const uint64_t count = wpi_trace_root_of(trace)->launches.count;
    for (uint64_t i = 0; i < count; i++) {
        wpi_trace_launch l;
        WP_TRY(wpi_trace_launch_at(trace, i, &l, err));
        const wp_trace_launch_info info = {
            .number = i + 1,
            .kernel = wpi_names_find(names, trace, &l),
            .grid = {l.grid[0], l.grid[1], l.grid[2]},
            .block = {l.block[0], l.block[1], l.block[2]},
            .shared_bytes = l.shared_static_bytes + l.shared_dynamic_bytes,
            .registers = l.registers,
            .is_in_step = (l.flags & WPI_LAUNCH_IN_STEP) != 0,
            .blocks = l.blocks,
            .accesses = l.accesses,
            .bytes = l.bytes,
        };
        visit(object, &info);
    }
    return WP_STATUS_OK;
}

wp_status wp_trace_read_info(const char *path,
                             void (*visit)(void *object, const wp_trace_info *info),
                             void (*launch)(void *object, const wp_trace_launch_info *info),
                             void *object, wp_error *err) {
    wpi_trace *trace;
    wpi_names names = {0};
    WP_TRY(wpi_trace_open(path, &trace, err));
    wp_status status = wpi_names_read(&names, trace, err);
    if (status == WP_STATUS_OK && visit != NULL) visit_root(trace, visit, object);
    if (status == WP_STATUS_OK && launch != NULL)
        status = visit_launches(trace, &names, launch, object, err);
    wpi_names_deinit(&names);
    wpi_trace_close(trace);
    return status;
}

typedef struct managed_visit {
    void (*visit)(void *object, const wp_trace_allocation *allocation);
    void *object;
    uint64_t count;
} managed_visit;

static wp_status visit_if_managed(void *object, const wpi_op *op, wp_error *err) {
    managed_visit *v = object;
    (void)err;
    if (op->kind != WPI_OP_ALLOC || op->fields[0] != WP_MEMORY_MANAGED) return WP_STATUS_OK;
    const wp_trace_allocation allocation = {
        .number = ++v->count, .bytes = op->fields[1], .address = op->fields[2], .site = op->text};
    v->visit(v->object, &allocation);
    return WP_STATUS_OK;
}

wp_status wp_trace_read_managed(const char *path,
                                void (*visit)(void *object, const wp_trace_allocation *allocation),
                                void *object, wp_error *err) {
    wpi_trace *trace;
    managed_visit v = {visit, object, 0};
    WP_TRY(wpi_trace_open(path, &trace, err));
    const wp_status status = wpi_trace_visit_ops(trace, visit_if_managed, &v, err);
    wpi_trace_close(trace);
    return status;
}
