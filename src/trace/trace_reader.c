/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

/* Cached blocks: CTAs that start together are in a few. */
#define KEPT_BLOCKS 32u

typedef struct kept_block {
    uint64_t offset; /* 0: none */
    uint64_t used;   /* last use */
    uint8_t *data;
    size_t bytes;
} kept_block;

struct wpi_trace {
    wpi_block_file *file;
    wpi_trace_root root;
    wpi_tables *tables;
    wpi_places ops, launches, parts;
    kept_block kept[KEPT_BLOCKS];
    uint64_t uses;
};

/* ---- opening -------------------------------------------------------------------------------- */

static wp_status fail_at(const wpi_trace *trace, uint64_t offset, const char *what, wp_error *err) {
    return WP_FAIL(err, PARSE, "%s: offset %" PRIu64 ": %s", wpi_trace_path(trace), offset, what);
}

static wp_status read_root(wpi_trace *trace, wp_error *err) {
    uint64_t offset;
    size_t bytes;
    uint8_t *data;
    wpi_block_file_root(trace->file, &offset, &bytes);
    WP_TRY(wpi_block_file_read_long(trace->file, WPI_BLOCK_ROOT, offset, bytes, &data, err));
    wpi_cursor from = {.at = data, .outer = data + bytes};
    const bool is_good = wpi_trace_root_read(&from, &trace->root);
    wpi_free(data);
    return is_good ? WP_STATUS_OK : fail_at(trace, offset, "the table of contents is damaged", err);
}

static wp_status read_tables(wpi_trace *trace, wp_error *err) {
    const wpi_trace_root *root = &trace->root;
    trace->tables = wpi_calloc(root->tables_count + (size_t)1, sizeof *trace->tables);
    if (trace->tables == NULL) return WP_FAIL(err, NOMEM, "trace");
    for (uint32_t i = 0; i < root->tables_count; i++) {
        uint8_t *data;
        const uint64_t offset = root->tables[i].offset;
        const size_t bytes = (size_t)root->tables[i].bytes;
        WP_TRY(wpi_block_file_read_long(trace->file, WPI_BLOCK_TABLES, offset, bytes, &data, err));
        char *where = wpi_format("%s: offset %" PRIu64, wpi_trace_path(trace), offset);
        const wp_status status = wpi_tables_parse(data, bytes, where, &trace->tables[i], err);
        wpi_free(where);
        wpi_free(data);
        WP_TRY(status);
    }
    return WP_STATUS_OK;
}

static wp_status open_parts(wpi_trace *trace, wp_error *err) {
    WP_TRY(read_root(trace, err));
    WP_TRY(read_tables(trace, err));
    WP_TRY(wpi_places_init(&trace->ops, trace->file, &trace->root.ops, err));
    WP_TRY(wpi_places_init(&trace->launches, trace->file, &trace->root.launches, err));
    return wpi_places_init(&trace->parts, trace->file, &trace->root.parts, err);
}

wp_status wpi_trace_open(const char *path, wpi_trace **out, wp_error *err) {
    *out = NULL;
    wpi_trace *trace = wpi_calloc(1, sizeof *trace);
    if (trace == NULL) return WP_FAIL(err, NOMEM, "trace");
    wp_status status = wpi_block_file_open(path, &trace->file, err);
    if (status == WP_STATUS_OK) status = open_parts(trace, err);
    if (status != WP_STATUS_OK) {
        wpi_trace_close(trace);
        return status;
    }
    *out = trace;
    return WP_STATUS_OK;
}

void wpi_trace_close(wpi_trace *trace) {
    if (trace == NULL) return;
    for (uint32_t i = 0; i < KEPT_BLOCKS; i++)
        wpi_free(trace->kept[i].data);
    for (uint32_t i = 0; trace->tables != NULL && i < trace->root.tables_count; i++)
        wpi_tables_deinit(&trace->tables[i]);
    wpi_free(trace->tables);
    wpi_places_deinit(&trace->ops);
    wpi_places_deinit(&trace->launches);
    wpi_places_deinit(&trace->parts);
    wpi_trace_root_deinit(&trace->root);
    wpi_block_file_close(trace->file);
    wpi_free(trace);
}

const wpi_trace_root *wpi_trace_root_of(const wpi_trace *trace) {
    return &trace->root;
}

const char *wpi_trace_path(const wpi_trace *trace) {
    return wpi_block_file_path(trace->file);
}

uint64_t wpi_trace_file_bytes(const wpi_trace *trace) {
    return wpi_block_file_bytes(trace->file);
}

bool wpi_trace_exit_status(const wpi_trace *trace, int *status) {
    const uint32_t note = wpi_block_file_note(trace->file);
    *status = (int)note - 1;
    return note != 0;
}

wp_status wpi_trace_set_exit_status(const char *path, int status, wp_error *err) {
    return wpi_block_file_set_note(path, (uint32_t)status + 1, err);
}

/* ---- launches ------------------------------------------------------------------------------- */

const wp_trace_tables *wpi_trace_tables_of(const wpi_trace *trace, uint32_t number) {
    return &trace->tables[number].tables;
}

const wp_trace_kernel *wpi_trace_kernel_of(const wpi_trace *trace, const wpi_trace_launch *launch) {
    return &trace->tables[launch->tables].tables.kernels[launch->kernel];
}

wp_status wpi_trace_launch_at(wpi_trace *trace, uint64_t number, wpi_trace_launch *out,
                              wp_error *err) {
    uint64_t place;
    const uint8_t *data;
    size_t bytes;
    WP_TRY(wpi_places_get(&trace->launches, number, &place, err));
    const uint64_t offset = wpi_place_block(place);
    WP_TRY(wpi_block_file_read(trace->file, WPI_BLOCK_LAUNCHES, offset, &data, &bytes, err));
    const size_t in_block = wpi_place_in_block(place) < bytes ? wpi_place_in_block(place) : bytes;
    wpi_cursor from = {.at = data + in_block, .outer = data + bytes};
    if (!wpi_trace_launch_read(&from, out) || out->tables >= trace->root.tables_count ||
        out->kernel >= trace->tables[out->tables].tables.kernel_count)
        return fail_at(trace, offset, "a launch is damaged", err);
    return WP_STATUS_OK;
}

/* ---- operations ----------------------------------------------------------------------------- */

static wp_status visit_block(wpi_trace *trace, uint64_t offset, const uint8_t *data, size_t bytes,
                             wpi_op_visit visit, void *object, wp_error *err) {
    wpi_cursor from = {.at = data, .outer = data + bytes};
    while (from.at != from.outer) {
        wpi_op op;
        if (!wpi_op_read(&from, &op))
            return fail_at(trace, offset, "an operation of the host is damaged", err);
        WP_TRY(visit(object, &op, err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_trace_visit_ops(wpi_trace *trace, wpi_op_visit visit, void *object, wp_error *err) {
    uint8_t *copy = wpi_malloc(WPI_BLOCK_BYTES_MAX); /* `visit` may read other blocks */
    wp_status status = WP_STATUS_OK;
    if (copy == NULL) return WP_FAIL(err, NOMEM, "trace");
    for (uint64_t i = 0; i < trace->ops.count && status == WP_STATUS_OK; i++) {
        uint64_t place;
        const uint8_t *data;
        size_t bytes;
        status = wpi_places_get(&trace->ops, i, &place, err);
        const uint64_t offset = wpi_place_block(place);
        if (status == WP_STATUS_OK)
            status = wpi_block_file_read(trace->file, WPI_BLOCK_OPS, offset, &data, &bytes, err);
        if (status != WP_STATUS_OK) break;
        memcpy(copy, data, bytes);
        status = visit_block(trace, offset, copy, bytes, visit, object, err);
    }
    wpi_free(copy);
    return status;
}

/* ---- parts ---------------------------------------------------------------------------------- */

static kept_block *find_kept(wpi_trace *trace, uint64_t offset) {
    kept_block *oldest = &trace->kept[0];
    for (uint32_t i = 0; i < KEPT_BLOCKS; i++) {
        kept_block *k = &trace->kept[i];
        if (k->offset == offset) return k;
        if (k->used < oldest->used) oldest = k;
    }
    return oldest;
}

static wp_status load_kept(wpi_trace *trace, kept_block *kept, uint64_t offset, wp_error *err) {
    const uint8_t *data;
    size_t bytes;
    kept->offset = 0;
    WP_TRY(wpi_block_file_read(trace->file, WPI_BLOCK_WARPS, offset, &data, &bytes, err));
    uint8_t *own = wpi_realloc(kept->data, bytes + 1);
    if (own == NULL) return WP_FAIL(err, NOMEM, "trace");
    memcpy(own, data, bytes);
    *kept = (kept_block){.offset = offset, .data = own, .bytes = bytes};
    return WP_STATUS_OK;
}

wp_status wpi_trace_part(wpi_trace *trace, uint64_t number, wpi_cursor *out, uint64_t *offset,
                         wp_error *err) {
    uint64_t place;
    WP_TRY(wpi_places_get(&trace->parts, number, &place, err));
    *offset = wpi_place_block(place);
    if (place == 0) return fail_at(trace, 0, "a CTA is missing in the trace", err);
    kept_block *kept = find_kept(trace, *offset);
    if (kept->offset != *offset) WP_TRY(load_kept(trace, kept, *offset, err));
    kept->used = ++trace->uses;
    if (wpi_place_in_block(place) >= kept->bytes)
        return fail_at(trace, *offset, "a CTA begins beyond its block", err);
    *out = (wpi_cursor){.at = kept->data + wpi_place_in_block(place),
                        .outer = kept->data + kept->bytes};
    return WP_STATUS_OK;
}
