/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_tables.h"

#include <string.h>

#include "base/alloc.h"
#include "trace/varint.h"

/* ---- out ------------------------------------------------------------------------------------ */

/* 0: NULL; otherwise the length plus one, and the bytes. */
static void append_string(wpi_text *out, const char *string) {
    const size_t length = string != NULL ? strlen(string) : 0;
    wpi_varint_append(out, string != NULL ? length + 1 : 0);
    wpi_text_append_n(out, string, length);
}

static void append_block(wpi_text *out, const wp_trace_block *b) {
    wpi_varint_append(out, b->function);
    wpi_varint_append(out, b->join);
    wpi_varint_append(out, b->first_step);
    wpi_varint_append(out, b->step_count);
    wpi_varint_append(out, b->access_count);
    wpi_varint_append(out, b->line);
    wpi_varint_append(out, b->first_share);
    wpi_varint_append(out, b->share_count);
}

static void append_step(wpi_text *out, const wp_trace_step *s) {
    wpi_varint_append(out, s->op);
    wpi_varint_append(out, s->class);
    wpi_varint_append(out, s->count);
    wpi_varint_append(out, s->chain);
    wpi_varint_append(out, s->value);
}

static void append_site(wpi_text *out, const wp_trace_site *s) {
    append_string(out, s->file);
    append_string(out, s->name);
    wpi_varint_append(out, s->line);
    wpi_varint_append(out, s->block);
    wpi_varint_append(out, (uint32_t)s->parameter);
    wpi_varint_append(out, s->access);
    wpi_varint_append(out, s->space);
    wpi_varint_append(out, s->cache);
    wpi_varint_append(out, s->size_bytes);
    wpi_varint_append(out, s->place);
}

void wpi_tables_append(wpi_text *out, const wp_trace_tables *t) {
    wpi_varint_append(out, t->version);
    wpi_varint_append(out, t->is_in_step);
    wpi_varint_append(out, t->block_count);
    wpi_varint_append(out, t->step_count);
    wpi_varint_append(out, t->site_count);
    wpi_varint_append(out, t->kernel_count);
    wpi_varint_append(out, t->function_count);
    wpi_varint_append(out, t->share_count);
    wpi_varint_append(out, t->place_count);
    for (uint32_t i = 0; i < t->block_count; i++)
        append_block(out, &t->blocks[i]);
    for (uint32_t i = 0; i < t->step_count; i++)
        append_step(out, &t->steps[i]);
    for (uint32_t i = 0; i < t->site_count; i++)
        append_site(out, &t->sites[i]);
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        append_string(out, t->kernels[i].name);
        wpi_varint_append(out, t->kernels[i].entry);
        wpi_varint_append(out, t->kernels[i].flags);
    }
    for (uint32_t i = 0; i < t->function_count; i++)
        append_string(out, t->functions[i]);
    for (uint32_t i = 0; i < t->share_count; i++) {
        wpi_varint_append(out, t->shares[i].place);
        wpi_varint_append(out, t->shares[i].count);
    }
    for (uint32_t i = 0; i < t->place_count; i++) {
        append_string(out, t->places[i].file);
        append_string(out, t->places[i].calls);
        wpi_varint_append(out, t->places[i].line);
    }
}

/* ---- faults --------------------------------------------------------------------------------- */

static bool is_step_good(const wp_trace_tables *t, const wp_trace_step *s) {
    switch (s->op) {
    case WP_TRACE_ISSUE:
        return s->class < WP_TRACE_CLASS_COUNT && s->chain <= s->count && s->value <= s->count + 1u;
    case WP_TRACE_ACCESS:
    case WP_TRACE_WAIT: return s->value < t->site_count;
    default: return s->op < WP_TRACE_OP_COUNT;
    }
}

static bool is_place_good(const wp_trace_tables *t, uint32_t place) {
    return place == WP_TRACE_NONE || place < t->place_count;
}

static bool is_site_good(const wp_trace_tables *t, const wp_trace_site *s) {
    return is_place_good(t, s->place) && s->access < WP_TRACE_ACCESS_COUNT &&
           s->space < WP_TRACE_SPACE_COUNT && s->cache <= WP_TRACE_CACHE_TEXTURE &&
           s->size_bytes >= 1 && s->size_bytes <= 16;
}

static bool is_block_good(const wp_trace_tables *t, const wp_trace_block *b) {
    if (b->first_step > t->step_count || b->step_count > t->step_count - b->first_step)
        return false;
    if (b->first_share > t->share_count || b->share_count > t->share_count - b->first_share)
        return false;
    if (b->join != WP_TRACE_NONE && b->join >= t->block_count) return false;
    uint32_t accesses = 0;
    for (uint32_t i = 0; i < b->step_count; i++)
        accesses += t->steps[b->first_step + i].op == WP_TRACE_ACCESS;
    /* Besides addresses, at most one more word, for the block's end. */
    return accesses <= b->access_count && b->access_count - accesses <= 1 &&
           b->access_count < WP_TRACE_BLOCK_WORDS_MAX;
}

const char *wpi_tables_find_fault(const wp_trace_tables *t) {
    if (t->version != WP_TRACE_VERSION) return "they have a different version";
    for (uint32_t i = 0; i < t->step_count; i++) {
        if (!is_step_good(t, &t->steps[i])) return "a step is invalid";
    }
    for (uint32_t i = 0; i < t->site_count; i++) {
        if (!is_site_good(t, &t->sites[i])) return "an access is invalid";
    }
    for (uint32_t i = 0; i < t->block_count; i++) {
        if (!is_block_good(t, &t->blocks[i])) return "a block does not match its steps";
    }
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        if (t->kernels[i].name == NULL) return "a kernel has no name";
    }
    for (uint32_t i = 0; i < t->share_count; i++) {
        if (!is_place_good(t, t->shares[i].place)) return "a share of a block has no line";
    }
    for (uint32_t i = 0; i < t->place_count; i++) {
        if (t->places[i].file == NULL) return "a line has no file";
    }
    return NULL;
}

/* ---- in ------------------------------------------------------------------------------------- */

/* The input, and the memory for the result: one allocation for all of it. */
typedef struct reader {
    wpi_cursor in;
    char *at;
} reader;

static const char *read_string(reader *r) {
    const uint64_t coded = wpi_cursor_varint(&r->in);
    if (coded == 0) return NULL;
    const uint8_t *bytes = wpi_cursor_bytes(&r->in, coded - 1);
    if (bytes == NULL) return NULL;
    char *string = r->at;
    memcpy(string, bytes, (size_t)coded - 1);
    string[coded - 1] = '\0';
    r->at += coded;
    return string;
}

static wp_trace_block read_block(reader *r) {
    wp_trace_block b;
    b.function = wpi_cursor_u32(&r->in);
    b.join = wpi_cursor_u32(&r->in);
    b.first_step = wpi_cursor_u32(&r->in);
    b.step_count = wpi_cursor_u32(&r->in);
    b.access_count = wpi_cursor_u32(&r->in);
    b.line = wpi_cursor_u32(&r->in);
    b.first_share = wpi_cursor_u32(&r->in);
    b.share_count = wpi_cursor_u32(&r->in);
    return b;
}

static wp_trace_step read_step(reader *r) {
    wp_trace_step s;
    s.op = (uint16_t)wpi_cursor_u32(&r->in);
    s.class = (uint16_t)wpi_cursor_u32(&r->in);
    s.count = wpi_cursor_u32(&r->in);
    s.chain = wpi_cursor_u32(&r->in);
    s.value = wpi_cursor_u32(&r->in);
    return s;
}

static wp_trace_site read_site(reader *r) {
    wp_trace_site s;
    s.file = read_string(r);
    s.name = read_string(r);
    s.line = wpi_cursor_u32(&r->in);
    s.block = wpi_cursor_u32(&r->in);
    s.parameter = (int32_t)wpi_cursor_u32(&r->in);
    s.access = (uint8_t)wpi_cursor_u32(&r->in);
    s.space = (uint8_t)wpi_cursor_u32(&r->in);
    s.cache = (uint8_t)wpi_cursor_u32(&r->in);
    s.size_bytes = (uint8_t)wpi_cursor_u32(&r->in);
    s.place = wpi_cursor_u32(&r->in);
    return s;
}

static wp_trace_kernel read_kernel(reader *r) {
    wp_trace_kernel k;
    k.name = read_string(r);
    k.entry = wpi_cursor_u32(&r->in);
    k.flags = wpi_cursor_u32(&r->in);
    return k;
}

static wp_trace_share read_share(reader *r) {
    wp_trace_share s;
    s.place = wpi_cursor_u32(&r->in);
    s.count = wpi_cursor_u32(&r->in);
    return s;
}

static wp_trace_place read_place(reader *r) {
    wp_trace_place p;
    p.file = read_string(r);
    p.calls = read_string(r);
    p.line = wpi_cursor_u32(&r->in);
    return p;
}

/* Allocates `count` items before the strings; each took at least one byte of the input. */
static void *take(reader *r, uint64_t count, size_t item_bytes) {
    char *items = r->at;
    r->at += count * item_bytes;
    return items;
}

/* Reads the counts, and computes the memory for the arrays; false: more than the input can have. */
static bool read_counts(reader *r, wp_trace_tables *t, size_t input_bytes, size_t *memory_bytes) {
    t->version = wpi_cursor_u32(&r->in);
    t->is_in_step = wpi_cursor_u32(&r->in);
    t->block_count = wpi_cursor_u32(&r->in);
    t->step_count = wpi_cursor_u32(&r->in);
    t->site_count = wpi_cursor_u32(&r->in);
    t->kernel_count = wpi_cursor_u32(&r->in);
    t->function_count = wpi_cursor_u32(&r->in);
    t->share_count = wpi_cursor_u32(&r->in);
    t->place_count = wpi_cursor_u32(&r->in);
    const uint64_t items = (uint64_t)t->block_count + t->step_count + t->site_count +
                           t->kernel_count + t->function_count + t->share_count + t->place_count;
    if (r->in.is_bad || items > input_bytes) return false;
    *memory_bytes = t->block_count * sizeof *t->blocks + t->step_count * sizeof *t->steps +
                    t->site_count * sizeof *t->sites + t->kernel_count * sizeof *t->kernels +
                    t->function_count * sizeof *t->functions + t->share_count * sizeof *t->shares +
                    t->place_count * sizeof *t->places + input_bytes;
    return true;
}

static void read_arrays(reader *r, wp_trace_tables *t) {
    /* Those with pointers first: each array's size is a multiple of the alignment of the next. */
    wp_trace_site *sites = take(r, t->site_count, sizeof *sites);
    wp_trace_kernel *kernels = take(r, t->kernel_count, sizeof *kernels);
    const char **functions = take(r, t->function_count, sizeof *functions);
    wp_trace_place *places = take(r, t->place_count, sizeof *places);
    wp_trace_block *blocks = take(r, t->block_count, sizeof *blocks);
    wp_trace_step *steps = take(r, t->step_count, sizeof *steps);
    wp_trace_share *shares = take(r, t->share_count, sizeof *shares);
    for (uint32_t i = 0; i < t->block_count; i++)
        blocks[i] = read_block(r);
    for (uint32_t i = 0; i < t->step_count; i++)
        steps[i] = read_step(r);
    for (uint32_t i = 0; i < t->site_count; i++)
        sites[i] = read_site(r);
    for (uint32_t i = 0; i < t->kernel_count; i++)
        kernels[i] = read_kernel(r);
    for (uint32_t i = 0; i < t->function_count; i++)
        functions[i] = read_string(r);
    for (uint32_t i = 0; i < t->share_count; i++)
        shares[i] = read_share(r);
    for (uint32_t i = 0; i < t->place_count; i++)
        places[i] = read_place(r);
    t->blocks = blocks;
    t->steps = steps;
    t->sites = sites;
    t->kernels = kernels;
    t->functions = functions;
    t->shares = shares;
    t->places = places;
}

wp_status wpi_tables_parse(const void *data, size_t bytes, const char *where, wpi_tables *out,
                           wp_error *err) {
    *out = (wpi_tables){0};
    const uint8_t *first = data;
    reader r = {.in = {.at = first, .outer = first + bytes}};
    wp_trace_tables tables = {0};
    size_t memory_bytes;
    if (!read_counts(&r, &tables, bytes, &memory_bytes))
        return WP_FAIL(err, PARSE, "%s: the tables of kernels are damaged", where);
    char *memory = wpi_malloc(memory_bytes + 1);
    if (memory == NULL) return WP_FAIL(err, NOMEM, "tables of a trace");
    r.at = memory;
    read_arrays(&r, &tables);
    const char *fault = wpi_cursor_is_at_end(&r.in) ? wpi_tables_find_fault(&tables)
                                                    : "they are too short or too long";
    if (fault != NULL) {
        wpi_free(memory);
        return WP_FAIL(err, PARSE, "%s: the tables of kernels are damaged: %s", where, fault);
    }
    out->tables = tables;
    out->memory = memory;
    return WP_STATUS_OK;
}

void wpi_tables_deinit(wpi_tables *tables) {
    wpi_free(tables->memory);
    *tables = (wpi_tables){0};
}
