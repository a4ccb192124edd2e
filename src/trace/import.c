/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts Accel-Sim's traces. Each kernel's file is read twice: for its code (sass_code.c), then
 * for its warps. The second reading is a warp source that a tee records, as if it ran.
 *
 * Local memory is laid out as on GPUs: the same word of all threads is contiguous.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "trace/part.h"
#include "trace/sass_code.h"
#include "trace/tee.h"
#include "trace/trace_tables.h"
#include "warpage/report.h"
#include "warpage/trace.h"
#include "warpage/version.h"

/* A kernel's file as a warp source: the reader of the file sets the warp's next block. */
typedef struct text_source {
    wpi_warp_source base; /* first */
    uint32_t live;        /* lanes of the warp */
    uint32_t exited;
    wpi_warp_block block;
    bool has_block;
    uint32_t accesses; /* of the block, stored in `addresses` */
    uint64_t addresses[WP_TRACE_BLOCK_WORDS_MAX * WPI_LANES];
} text_source;

typedef struct import {
    wpi_trace_writer *to;
    wpi_origin origin;
    wp_trace_tables *
        *tables; /* [tables_count], kept to the end: the writer identifies them by address */
    uint32_t tables_count;
    uint64_t launches;
    uint64_t *streams; /* [stream_count]: stream i is queue i; the first one is 0 */
    uint64_t stream_count;
} import;

/* The second reading of a kernel's file. */
typedef struct recording {
    wpi_accelsim in;
    wpi_sass_code code;
    text_source source;
    wpi_tee *tee;
    uint32_t slot;
    bool is_in_cta, is_in_warp;
    uint32_t warps_seen; /* of the CTA, as bits */
    uint8_t *ctas_seen;  /* bits */
    uint64_t threads;    /* of the launch */
} recording;

/* ---- the source ----------------------------------------------------------------------------- */

static wp_status start(wpi_warp_source *base, uint64_t cta, uint32_t sm, uint32_t *slot,
                       wpi_windows *windows, wp_error *err) {
    (void)base, (void)cta, (void)sm, (void)err;
    *slot = 0;
    *windows = (wpi_windows){.shared = 0, .shared_bytes = WPI_TRACE_SHARED_BYTES};
    return WP_STATUS_OK;
}

static wpi_source_answer next(wpi_warp_source *base, uint32_t slot, uint32_t warp, uint32_t blocked,
                              wpi_warp_block *out) {
    text_source *source = (text_source *)(void *)base;
    (void)slot, (void)warp, (void)blocked;
    *out = source->block;
    out->addresses = source->addresses;
    out->exited = source->exited;
    return source->has_block ? WPI_SOURCE_BLOCK : WPI_SOURCE_EXIT;
}

static bool reach(wpi_warp_source *base, uint32_t slot, uint32_t warp, uint32_t lanes,
                  uint64_t cycles, uint64_t time_ns) {
    (void)base, (void)slot, (void)warp, (void)lanes, (void)cycles, (void)time_ns;
    return true;
}

static void finish(wpi_warp_source *base, uint32_t slot) {
    (void)base, (void)slot;
}

static const wpi_warp_source_ops ops = {start, next, reach, finish};

static void hand_over(recording *r, uint32_t warp) {
    wpi_warp_source *tee = wpi_tee_source(r->tee);
    wpi_warp_block block;
    (void)tee->ops->next(tee, r->slot, warp, 0, &block);
    r->source.has_block = false;
    r->source.accesses = 0;
}

/* ---- warps ---------------------------------------------------------------------------------- */

static uint32_t lanes_of(const recording *r, uint32_t warp) {
    const uint32_t threads = r->source.base.threads_per_cta - warp * WPI_LANES;
    return threads >= WPI_LANES ? ~0u : (1u << threads) - 1;
}

static void begin_warp(recording *r, uint32_t warp) {
    r->source.live = lanes_of(r, warp);
    r->source.exited = 0;
    r->warps_seen |= 1u << warp;
    r->is_in_warp = true;
}

static void end_warp(recording *r, uint32_t warp) {
    if (!r->is_in_warp) return;
    r->source.exited = lanes_of(r, warp);
    hand_over(r, warp);
    r->is_in_warp = false;
}

/* Address of a local word: words of all threads of the launch are interleaved. */
static uint64_t interleave(const recording *r, uint32_t lane, uint64_t address) {
    const uint64_t base = r->in.kernel.local_base, in_thread = address - base;
    const uint64_t thread =
        r->in.cta * r->source.base.threads_per_cta + r->in.warp * (uint64_t)WPI_LANES + lane;
    return base + (in_thread / 4 * r->threads + thread) * 4 + in_thread % 4;
}

static void take_addresses(recording *r, const wpi_sass_instruction *code) {
    const wpi_accelsim_instruction *i = &r->in.instruction;
    const uint64_t shared = r->in.kernel.shared_base;
    uint64_t *to = r->source.addresses + (size_t)r->source.accesses++ * WPI_LANES;
    for (uint32_t left = i->mask; left != 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t address = i->addresses[lane];
        to[lane] = code->memory == WPI_SASS_LOCAL ? interleave(r, lane, address)
                   : code->memory == WPI_SASS_SHARED && address >= shared ? address - shared
                                                                          : address;
    }
}

/* Adds an instruction to the block; the last one completes it. */
static wp_status take_instruction(recording *r, wp_error *err) {
    const wpi_accelsim_instruction *i = &r->in.instruction;
    const wpi_sass_instruction *code = wpi_sass_find(&r->code, i->pc);
    if (code == NULL || (r->source.has_block && r->source.block.block != code->block))
        return WP_FAIL(err, IO, "%s changed while it was read", r->in.path);
    r->source.block.block = code->block;
    r->source.block.mask = i->mask;
    r->source.has_block = true;
    if (code->kind == WPI_SASS_ACCESS) take_addresses(r, code);
    if (wpi_sass_goes_on(&r->code, code)) return WP_STATUS_OK;
    hand_over(r, r->in.warp);
    if (code->kind == WPI_SASS_EXIT) r->source.exited |= i->mask;
    return WP_STATUS_OK;
}

/* ---- CTAs ----------------------------------------------------------------------------------- */

static bool is_seen(const recording *r, uint64_t cta) {
    const uint32_t bits = r->ctas_seen[cta / 8];
    return (bits >> cta % 8 & 1u) != 0;
}

static wp_status begin_cta(recording *r, wp_error *err) {
    wpi_warp_source *tee = wpi_tee_source(r->tee);
    wpi_windows windows;
    if (is_seen(r, r->in.cta))
        return WP_FAIL(err, PARSE, "%s:%" PRIu64 ": this thread block occurred before", r->in.path,
                       r->in.line_number);
    r->ctas_seen[r->in.cta / 8] |= (uint8_t)(1u << r->in.cta % 8);
    r->is_in_cta = true;
    r->warps_seen = 0;
    return tee->ops->start(tee, r->in.cta, 0, &r->slot, &windows, err);
}

/* Ends a CTA. Warps that are not in the file executed nothing. */
static void end_cta(recording *r) {
    wpi_warp_source *tee = wpi_tee_source(r->tee);
    end_warp(r, r->in.warp);
    for (uint32_t w = 0; w < r->source.base.warps_per_cta; w++) {
        if ((r->warps_seen >> w & 1u) != 0) continue;
        begin_warp(r, w);
        end_warp(r, w);
    }
    tee->ops->finish(tee, r->slot);
    r->is_in_cta = false;
}

static wp_status add_missing_ctas(recording *r, wp_error *err) {
    for (r->in.cta = 0; r->in.cta < r->source.base.cta_count; r->in.cta++) {
        if (is_seen(r, r->in.cta)) continue;
        WP_TRY(begin_cta(r, err));
        end_cta(r);
    }
    return WP_STATUS_OK;
}

static wp_status fail_order(const recording *r, const char *what, wp_error *err) {
    return WP_FAIL(err, PARSE, "%s:%" PRIu64 ": %s", r->in.path, r->in.line_number, what);
}

static wp_status take_item(recording *r, wpi_accelsim_item item, uint32_t last_warp,
                           wp_error *err) {
    switch (item) {
    case WPI_ACCELSIM_CTA:
        if (r->is_in_cta) return fail_order(r, "the previous thread block has not ended", err);
        return begin_cta(r, err);
    case WPI_ACCELSIM_WARP:
        if (!r->is_in_cta) return fail_order(r, "a warp outside of a thread block", err);
        end_warp(r, last_warp);
        if ((r->warps_seen >> r->in.warp & 1u) != 0)
            return fail_order(r, "this warp occurred before", err);
        begin_warp(r, r->in.warp);
        return WP_STATUS_OK;
    case WPI_ACCELSIM_INSTRUCTION:
        if (!r->is_in_warp) return fail_order(r, "an instruction outside of a warp", err);
        return r->in.instruction.mask != 0 ? take_instruction(r, err) : WP_STATUS_OK;
    case WPI_ACCELSIM_END_CTA:
        if (!r->is_in_cta) return fail_order(r, "no thread block was begun", err);
        end_cta(r);
        return WP_STATUS_OK;
    default:
        if (r->is_in_cta) return fail_order(r, "the file ends inside a thread block", err);
        return add_missing_ctas(r, err);
    }
}

static wp_status read_warps(recording *r, wp_error *err) {
    wpi_accelsim_item item;
    do {
        const uint32_t last_warp = r->in.warp;
        WP_TRY(wpi_accelsim_next(&r->in, &item, err));
        WP_TRY(take_item(r, item, last_warp, err));
    } while (item != WPI_ACCELSIM_END);
    return WP_STATUS_OK;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* The first reading. */
static wp_status read_code(wpi_sass_code *code, const char *path, wp_error *err) {
    wpi_accelsim in;
    wpi_accelsim_item item = WPI_ACCELSIM_CTA;
    wp_status status = wpi_accelsim_open(&in, path, err);
    wpi_sass_begin_warp(code);
    while (status == WP_STATUS_OK && item != WPI_ACCELSIM_END) {
        status = wpi_accelsim_next(&in, &item, err);
        if (status != WP_STATUS_OK) break;
        if (item != WPI_ACCELSIM_INSTRUCTION) {
            wpi_sass_begin_warp(code);
        } else if (in.instruction.mask != 0) {
            const char *fault = wpi_sass_see(code, &in.instruction);
            if (fault != NULL)
                status = WP_FAIL(err, PARSE, "%s:%" PRIu64 ": %s", path, in.line_number, fault);
        }
    }
    wpi_accelsim_close(&in);
    return status;
}

/* Most launches of a kernel have equal tables, of which one is kept. `*tables` becomes the kept
 * one. */
static bool has_tables(const import *m, wp_trace_tables **tables) {
    bool is_found = false;
    wpi_text own = {0}, other = {0};
    wpi_tables_append(&own, *tables);
    for (uint32_t i = m->tables_count; i-- != 0 && !is_found;) {
        wpi_text_clear(&other);
        wpi_tables_append(&other, m->tables[i]);
        is_found = own.length == other.length && memcmp(own.data, other.data, own.length) == 0;
        if (!is_found) continue;
        wpi_sass_free_tables(*tables);
        *tables = m->tables[i];
    }
    wpi_text_deinit(&own);
    wpi_text_deinit(&other);
    return is_found;
}

static wp_status keep_tables(import *m, wp_trace_tables *tables, wp_error *err) {
    wp_trace_tables **list =
        wpi_realloc(m->tables, (m->tables_count + (size_t)1) * sizeof(wp_trace_tables *));
    if (list == NULL) {
        wpi_sass_free_tables(tables);
        return WP_FAIL(err, NOMEM, "tables of a trace");
    }
    m->tables = list;
    list[m->tables_count++] = tables;
    return WP_STATUS_OK;
}

static wpi_trace_launch launch_of(const wpi_accelsim_kernel *k, uint32_t tables) {
    return (wpi_trace_launch){
        .tables = tables,
        .grid = {k->grid[0], k->grid[1], k->grid[2]},
        .block = {k->block[0], k->block[1], k->block[2]},
        .shared_static_bytes = k->shared_bytes,
        .registers = k->registers,
    };
}

static wp_status record_kernel(import *m, recording *r, wp_trace_tables *tables, wp_error *err) {
    const wpi_accelsim_kernel *k = &r->in.kernel;
    const wpi_trace_launch launch = launch_of(k, wpi_trace_writer_tables(m->to, tables));
    r->source.base = (wpi_warp_source){
        .ops = &ops,
        .tables = tables,
        .cta_count = wpi_trace_launch_cta_count(&launch),
        .threads_per_cta = wpi_trace_launch_threads(&launch),
        .warps_per_cta = r->in.warp_count,
        .shared_bytes_per_cta = k->shared_bytes,
        .registers_per_thread = k->registers,
    };
    r->threads = r->source.base.cta_count * r->source.base.threads_per_cta;
    r->ctas_seen = wpi_calloc((size_t)(r->source.base.cta_count / 8 + 1), 1);
    if (r->ctas_seen == NULL) return WP_FAIL(err, NOMEM, "thread blocks of a trace");
    WP_TRY(wpi_tee_create(m->to, m->launches, &launch, &r->source.base, &r->tee, err));
    WP_TRY(read_warps(r, err));
    wpi_tee_finish(r->tee);
    r->tee = NULL;
    return WP_STATUS_OK;
}

static wp_status import_kernel_file(import *m, recording *r, const char *path, wp_error *err) {
    wp_trace_tables *tables;
    WP_TRY(read_code(&r->code, path, err));
    WP_TRY(wpi_accelsim_open(&r->in, path, err));
    WP_TRY(wpi_sass_build(&r->code, r->in.kernel.name, &tables, err));
    if (!has_tables(m, &tables)) WP_TRY(keep_tables(m, tables, err));
    return record_kernel(m, r, tables, err);
}

/* The queue of a stream; the default one always exists. */
static wp_status queue_of(import *m, uint64_t stream, uint64_t *queue, wp_error *err) {
    for (*queue = 0; *queue < m->stream_count; ++*queue) {
        if (m->streams[*queue] == stream) return WP_STATUS_OK;
    }
    uint64_t *streams = wpi_realloc(m->streams, ((size_t)m->stream_count + 1) * sizeof *streams);
    if (streams == NULL) return WP_FAIL(err, NOMEM, "streams of a trace");
    m->streams = streams;
    streams[m->stream_count++] = stream;
    const uint64_t fields[] = {*queue, true};
    if (*queue != 0) wpi_trace_writer_op(m->to, WPI_OP_QUEUE_CREATE, fields, NULL);
    return WP_STATUS_OK;
}

static wp_status import_kernel(import *m, const char *path, wp_error *err) {
    recording *r = wpi_calloc(1, sizeof *r);
    if (r == NULL) return WP_FAIL(err, NOMEM, "kernel of a trace");
    wpi_sass_init(&r->code);
    wp_status status = import_kernel_file(m, r, path, err);
    uint64_t queue;
    if (status == WP_STATUS_OK) status = queue_of(m, r->in.kernel.stream, &queue, err);
    if (status == WP_STATUS_OK) {
        const uint64_t fields[] = {queue, m->launches++};
        wpi_trace_writer_op(m->to, WPI_OP_LAUNCH, fields, NULL);
    }
    wpi_tee_abandon(r->tee);
    wpi_accelsim_close(&r->in);
    wpi_sass_deinit(&r->code);
    wpi_free(r->ctas_seen);
    wpi_free(r);
    return status;
}

/* ---- the list ------------------------------------------------------------------------------- */

/* Imports "MemcpyHtoD,0x7f…,4096", for which the host waits. */
static wp_status import_copy(import *m, const char *list_path, const char *line, wp_error *err) {
    char address[32];
    uint64_t bytes;
    if (sscanf(line, "MemcpyHtoD,%31[^,],%" SCNu64, address, &bytes) != 2)
        return WP_FAIL(err, PARSE, "%s: '%s': expected a copy such as MemcpyHtoD,0x7f00,4096",
                       list_path, line);
    const uint64_t fields[] = {0, WP_COPY_H2D, bytes, strtoull(address, NULL, 16), 0};
    if (bytes != 0) wpi_trace_writer_op(m->to, WPI_OP_COPY, fields, NULL);
    wpi_trace_writer_op(m->to, WPI_OP_QUEUE_WAIT, fields, NULL);
    return WP_STATUS_OK;
}

static wp_status import_line(import *m, const char *list_path, const char *line, wp_error *err) {
    if (strncmp(line, "MemcpyHtoD", 10) == 0) return import_copy(m, list_path, line, err);
    if (strncmp(line, "Memcpy", 6) == 0) return WP_STATUS_OK; /* Accel-Sim ignores others too */
    if (strncmp(line, "kernel", 6) != 0)
        return WP_FAIL(err, PARSE, "%s: '%.80s': neither a copy nor the file of a kernel",
                       list_path, line);
    if (strlen(line) > 3 && strcmp(line + strlen(line) - 3, ".xz") == 0)
        return WP_FAIL(err, UNSUPPORTED,
                       "%s: %s is compressed: decompress it (xz -d) and name it "
                       "without .xz in the list",
                       list_path, line);
    char *folder = wpi_path_dir(list_path), *path = wpi_path_join(folder, line);
    const wp_status status = import_kernel(m, path, err);
    wpi_free(folder);
    wpi_free(path);
    return status;
}

static wp_status import_list(import *m, const char *list_path, wp_error *err) {
    char *list = NULL, *rest, *line;
    size_t bytes;
    uint64_t queue;
    WP_TRY(wpi_file_read(list_path, &list, &bytes, err));
    wp_status status = queue_of(m, 0, &queue, err);
    for (line = strtok_r(list, "\r\n", &rest); line != NULL && status == WP_STATUS_OK;
         line = strtok_r(NULL, "\r\n", &rest))
        status = import_line(m, list_path, line, err);
    if (status == WP_STATUS_OK && m->launches == 0)
        status = WP_FAIL(err, PARSE, "%s: the list contains no kernel", list_path);
    wpi_trace_writer_op(m->to, WPI_OP_DEVICE_WAIT, NULL, NULL);
    wpi_free(list);
    return status;
}

wp_status wp_trace_import(const char *list_path, const char *out_path, wp_error *err) {
import m = {.origin = {.version = wpi_strdup(WP_VERSION_STRING), .device = wpi_strdup("") } };
    wpi_strings_add(&m.origin.program, list_path);
    wp_status status = wpi_trace_writer_create(out_path, &m.to, err);
    if (status == WP_STATUS_OK) {
        status = import_list(&m, list_path, err);
        if (status == WP_STATUS_OK) status = wpi_trace_writer_finish(m.to, &m.origin, err);
        wpi_trace_writer_destroy(m.to);
    }
    for (uint32_t i = 0; i < m.tables_count; i++)
        wpi_sass_free_tables(m.tables[i]);
    wpi_free(m.tables);
    wpi_free(m.streams);
    wpi_origin_deinit(&m.origin);
    return status;
}
