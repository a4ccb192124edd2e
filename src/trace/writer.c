/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/writer.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "trace/trace_tables.h"

/* An item in a block under construction, whose place is not known yet. */
typedef struct pending {
    uint64_t number;
    size_t in_block;
} pending;

typedef struct packer {
    wpi_block_kind kind;
    wpi_text block;
    pending *items;
    size_t item_count, item_capacity;
    wpi_places_writer places;
} packer;

/* Tables already in the trace. */
typedef struct module {
    const wp_trace_tables *tables;
    uint64_t offset, bytes;
} module;

struct wpi_trace_writer {
    pthread_mutex_t lock;
    wpi_block_writer *file;
    packer ops, launches, parts;
    module *modules;
    uint32_t module_count;
    uint64_t op_count, accesses, warp_bytes;
    wp_status status; /* the first failure */
    wp_error error;
};

wp_status wpi_trace_writer_create(const char *path, wpi_trace_writer **out, wp_error *err) {
    *out = NULL;
    wpi_trace_writer *w = wpi_calloc(1, sizeof *w);
    if (w == NULL) return WP_FAIL(err, NOMEM, "trace");
    const wp_status status = wpi_block_writer_create(path, &w->file, err);
    if (status != WP_STATUS_OK) {
        wpi_free(w);
        return status;
    }
    pthread_mutex_init(&w->lock, NULL);
    w->ops.kind = WPI_BLOCK_OPS;
    w->launches.kind = WPI_BLOCK_LAUNCHES;
    w->parts.kind = WPI_BLOCK_WARPS;
    *out = w;
    return WP_STATUS_OK;
}

/* ---- packers -------------------------------------------------------------------------------- */

static wp_status flush(wpi_trace_writer *w, packer *p, wp_error *err) {
    uint64_t offset;
    if (p->block.length == 0) return WP_STATUS_OK;
    WP_TRY(wpi_block_writer_add(w->file, p->kind, p->block.data, p->block.length, &offset, err));
    for (size_t i = 0; i < p->item_count; i++) {
        const pending *item = &p->items[i];
        WP_TRY(wpi_places_set(&p->places, item->number, wpi_place(offset, item->in_block), err));
    }
    p->item_count = 0;
    wpi_text_clear(&p->block);
    return WP_STATUS_OK;
}

/* Begins an item at the block's present end. */
static wp_status begin_item(packer *p, uint64_t number, wp_error *err) {
    if (p->item_count == p->item_capacity) {
        const size_t capacity = p->item_capacity != 0 ? 2 * p->item_capacity : 64;
        pending *items = wpi_realloc(p->items, capacity * sizeof *items);
        if (items == NULL) return WP_FAIL(err, NOMEM, "trace");
        p->items = items;
        p->item_capacity = capacity;
    }
    p->items[p->item_count++] = (pending){number, p->block.length};
    return WP_STATUS_OK;
}

static wp_status pack(wpi_trace_writer *w, packer *p, uint64_t number, const void *data,
                      size_t bytes, wp_error *err) {
    if (p->block.length + bytes > WPI_BLOCK_BYTES_MAX) WP_TRY(flush(w, p, err));
    WP_TRY(begin_item(p, number, err));
    wpi_text_append_n(&p->block, data, bytes);
    return p->block.length >= WPI_BLOCK_BYTES ? flush(w, p, err) : WP_STATUS_OK;
}

static void deinit_packer(packer *p) {
    wpi_text_deinit(&p->block);
    wpi_free(p->items);
    wpi_places_writer_deinit(&p->places);
}

/* ---- what comes in -------------------------------------------------------------------------- */

/* With the lock held. */
static void note(wpi_trace_writer *w, wp_status status, const wp_error *error) {
    if (status == WP_STATUS_OK || w->status != WP_STATUS_OK) return;
    w->status = status;
    w->error = *error;
}

static void pack_item(wpi_trace_writer *w, packer *p, uint64_t number, const void *data,
                      size_t bytes) {
    wp_error error = {0};
    if (w->status == WP_STATUS_OK) note(w, pack(w, p, number, data, bytes, &error), &error);
}

/* Operations are read sequentially, so only their blocks have places. */
void wpi_trace_writer_op(wpi_trace_writer *w, wpi_op_kind kind, const uint64_t *fields,
                         const char *text) {
    pthread_mutex_lock(&w->lock);
    wp_error error = {0};
    wp_status status = w->status;
    if (status == WP_STATUS_OK && w->ops.block.length == 0)
        status = begin_item(&w->ops, wpi_places_reserve(&w->ops.places, 1), &error);
    if (status == WP_STATUS_OK) {
        wpi_op_append(&w->ops.block, kind, fields, text);
        w->op_count++;
        if (w->ops.block.length >= WPI_BLOCK_BYTES) status = flush(w, &w->ops, &error);
    }
    note(w, status, &error);
    pthread_mutex_unlock(&w->lock);
}

static wp_status add_module(wpi_trace_writer *w, const wp_trace_tables *tables, wp_error *err) {
    module *modules = wpi_realloc(w->modules, (w->module_count + (size_t)1) * sizeof *modules);
    if (modules == NULL) return WP_FAIL(err, NOMEM, "trace");
    w->modules = modules;
    wpi_text bytes = {0};
    wpi_tables_append(&bytes, tables);
    module *m = &modules[w->module_count++];
    *m = (module){.tables = tables, .bytes = bytes.length};
    const wp_status status = wpi_block_writer_add_long(w->file, WPI_BLOCK_TABLES, bytes.data,
                                                       bytes.length, &m->offset, err);
    wpi_text_deinit(&bytes);
    return status;
}

uint32_t wpi_trace_writer_tables(wpi_trace_writer *w, const wp_trace_tables *tables) {
    pthread_mutex_lock(&w->lock);
    uint32_t number = 0;
    while (number < w->module_count && w->modules[number].tables != tables)
        number++;
    if (number == w->module_count && w->status == WP_STATUS_OK) {
        wp_error error = {0};
        note(w, add_module(w, tables, &error), &error);
    }
    pthread_mutex_unlock(&w->lock);
    return number;
}

uint64_t wpi_trace_writer_reserve(wpi_trace_writer *w, uint64_t count) {
    pthread_mutex_lock(&w->lock);
    const uint64_t first = wpi_places_reserve(&w->parts.places, count);
    pthread_mutex_unlock(&w->lock);
    return first;
}

void wpi_trace_writer_part(wpi_trace_writer *w, uint64_t number, const void *data, size_t bytes) {
    pthread_mutex_lock(&w->lock);
    w->warp_bytes += bytes;
    pack_item(w, &w->parts, number, data, bytes);
    pthread_mutex_unlock(&w->lock);
}

void wpi_trace_writer_launch(wpi_trace_writer *w, uint64_t number, const wpi_trace_launch *launch) {
    wpi_text bytes = {0};
    wpi_trace_launch_append(&bytes, launch);
    pthread_mutex_lock(&w->lock);
    wpi_places_writer *places = &w->launches.places;
    if (number >= places->count) (void)wpi_places_reserve(places, number + 1 - places->count);
    w->accesses += launch->accesses;
    pack_item(w, &w->launches, number, bytes.data, bytes.length);
    pthread_mutex_unlock(&w->lock);
    wpi_text_deinit(&bytes);
}

/* ---- the end -------------------------------------------------------------------------------- */

static wp_status finish_packer(wpi_trace_writer *w, packer *p, wpi_places_root *root,
                               wp_error *err) {
    WP_TRY(flush(w, p, err));
    return wpi_places_write(&p->places, w->file, root, err);
}

static wp_status list_tables(const wpi_trace_writer *w, wpi_trace_root *root, wp_error *err) {
    root->tables = wpi_calloc(w->module_count + (size_t)1, sizeof *root->tables);
    if (root->tables == NULL) return WP_FAIL(err, NOMEM, "trace");
    root->tables_count = w->module_count;
    for (uint32_t i = 0; i < w->module_count; i++) {
        root->tables[i].offset = w->modules[i].offset;
        root->tables[i].bytes = w->modules[i].bytes;
    }
    return WP_STATUS_OK;
}

static wp_status write_root(wpi_trace_writer *w, wpi_trace_root *root, wp_error *err) {
    WP_TRY(finish_packer(w, &w->ops, &root->ops, err));
    WP_TRY(finish_packer(w, &w->launches, &root->launches, err));
    WP_TRY(finish_packer(w, &w->parts, &root->parts, err));
    WP_TRY(list_tables(w, root, err));
    wpi_text bytes = {0};
    wpi_trace_root_append(&bytes, root);
    wpi_block_writer *file = w->file;
    w->file = NULL;
    const wp_status status = wpi_block_writer_finish(file, bytes.data, bytes.length, err);
    wpi_text_deinit(&bytes);
    return status;
}

/* Called with the lock held. Later calls write nothing. */
static void close_file(wpi_trace_writer *w) {
    wpi_block_writer_abandon(w->file);
    w->file = NULL;
    if (w->status == WP_STATUS_OK) w->status = WP_FAIL(&w->error, NOT_READY, "trace: closed");
}

wp_status wpi_trace_writer_finish(wpi_trace_writer *w, const wpi_origin *origin, wp_error *err) {
    pthread_mutex_lock(&w->lock);
    wpi_trace_root root = {.origin = *origin,
                           .op_count = w->op_count,
                           .accesses = w->accesses,
                           .warp_bytes = w->warp_bytes};
    wp_status status = w->status;
    if (status == WP_STATUS_OK) {
        status = write_root(w, &root, err);
    } else if (err != NULL) {
        *err = w->error;
    }
    wpi_free(root.tables);
    close_file(w);
    pthread_mutex_unlock(&w->lock);
    return status;
}

void wpi_trace_writer_abandon(wpi_trace_writer *w) {
    pthread_mutex_lock(&w->lock);
    close_file(w);
    pthread_mutex_unlock(&w->lock);
}

void wpi_trace_writer_destroy(wpi_trace_writer *w) {
    if (w == NULL) return;
    wpi_block_writer_abandon(w->file);
    deinit_packer(&w->ops);
    deinit_packer(&w->launches);
    deinit_packer(&w->parts);
    wpi_free(w->modules);
    pthread_mutex_destroy(&w->lock);
    wpi_free(w);
}
