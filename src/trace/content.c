/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/content.h"

#include <string.h>

#include "base/alloc.h"

void wpi_origin_deinit(wpi_origin *origin) {
    wpi_free(origin->version);
    wpi_free(origin->device);
    wpi_strings_deinit(&origin->program);
    *origin = (wpi_origin){0};
}

/* ---- strings -------------------------------------------------------------------------------- */

static void append_string(wpi_text *out, const char *string) {
    const size_t length = string != NULL ? strlen(string) : 0;
    wpi_varint_append(out, length);
    wpi_text_append_n(out, string, length);
}

/* NULL: damaged, or out of memory. */
static char *read_string(wpi_cursor *from) {
    const uint64_t length = wpi_cursor_varint(from);
    const uint8_t *bytes = wpi_cursor_bytes(from, length);
    if (bytes == NULL) return NULL;
    char *string = wpi_malloc((size_t)length + 1);
    if (string == NULL) return NULL;
    memcpy(string, bytes, (size_t)length);
    string[length] = '\0';
    return string;
}

/* ---- launches ------------------------------------------------------------------------------- */

void wpi_trace_launch_append(wpi_text *out, const wpi_trace_launch *l) {
    wpi_varint_append(out, l->tables);
    wpi_varint_append(out, l->kernel);
    wpi_varint_append(out, l->flags);
    for (int i = 0; i < 3; i++)
        wpi_varint_append(out, l->grid[i]);
    for (int i = 0; i < 3; i++)
        wpi_varint_append(out, l->block[i]);
    wpi_varint_append(out, l->shared_static_bytes);
    wpi_varint_append(out, l->shared_dynamic_bytes);
    wpi_varint_append(out, l->registers);
    wpi_varint_append(out, l->first_part);
    wpi_varint_append(out, l->ctas);
    wpi_varint_append(out, l->blocks);
    wpi_varint_append(out, l->accesses);
    wpi_varint_append(out, l->bytes);
}

/* Whether the numbers of a launch are possible on a device. */
static bool is_launch_good(const wpi_trace_launch *l) {
    for (int i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->grid[i] > 0x7fffffffu || l->block[i] == 0 || l->block[i] > 1024)
            return false;
    }
    return l->grid[1] <= 65535 && l->grid[2] <= 65535 &&
           (uint64_t)l->block[0] * l->block[1] * l->block[2] <= 1024 &&
           (uint64_t)l->shared_static_bytes + l->shared_dynamic_bytes <= UINT32_MAX;
}

bool wpi_trace_launch_read(wpi_cursor *from, wpi_trace_launch *l) {
    l->tables = wpi_cursor_u32(from);
    l->kernel = wpi_cursor_u32(from);
    l->flags = wpi_cursor_u32(from);
    for (int i = 0; i < 3; i++)
        l->grid[i] = wpi_cursor_u32(from);
    for (int i = 0; i < 3; i++)
        l->block[i] = wpi_cursor_u32(from);
    l->shared_static_bytes = wpi_cursor_u32(from);
    l->shared_dynamic_bytes = wpi_cursor_u32(from);
    l->registers = wpi_cursor_u32(from);
    l->first_part = wpi_cursor_varint(from);
    l->ctas = wpi_cursor_varint(from);
    l->blocks = wpi_cursor_varint(from);
    l->accesses = wpi_cursor_varint(from);
    l->bytes = wpi_cursor_varint(from);
    return !from->is_bad && is_launch_good(l);
}

/* ---- the root ------------------------------------------------------------------------------- */

static void append_places(wpi_text *out, const wpi_places_root *places) {
    wpi_varint_append(out, places->count);
    wpi_varint_append(out, places->offset);
}

void wpi_trace_root_append(wpi_text *out, const wpi_trace_root *r) {
    append_string(out, r->origin.version);
    append_string(out, r->origin.device);
    wpi_varint_append(out, r->origin.program.count);
    for (size_t i = 0; i < r->origin.program.count; i++)
        append_string(out, r->origin.program.items[i]);
    for (uint32_t i = 0; i < WPI_INFO_COUNT; i++)
        wpi_varint_append(out, r->origin.info[i]);
    append_places(out, &r->ops);
    append_places(out, &r->launches);
    append_places(out, &r->parts);
    wpi_varint_append(out, r->op_count);
    wpi_varint_append(out, r->accesses);
    wpi_varint_append(out, r->warp_bytes);
    wpi_varint_append(out, r->tables_count);
    for (uint32_t i = 0; i < r->tables_count; i++) {
        wpi_varint_append(out, r->tables[i].offset);
        wpi_varint_append(out, r->tables[i].bytes);
    }
}

static bool read_program(wpi_cursor *from, wpi_strings *program) {
    const uint64_t count = wpi_cursor_varint(from);
    for (uint64_t i = 0; i < count; i++) {
        char *argument = read_string(from);
        if (argument == NULL) return false;
        wpi_strings_add_take(program, argument);
    }
    return true;
}

static wpi_places_root read_places(wpi_cursor *from) {
    wpi_places_root places;
    places.count = wpi_cursor_varint(from);
    places.offset = wpi_cursor_varint(from);
    /* Sizes in memory are computed from this. */
    from->is_bad = from->is_bad || places.count > (uint64_t)1 << 48;
    return places;
}

static bool read_tables(wpi_cursor *from, wpi_trace_root *r) {
    r->tables_count = wpi_cursor_u32(from);
    if (r->tables_count > (uint64_t)(from->outer - from->at)) return false;
    r->tables = wpi_calloc(r->tables_count + (size_t)1, sizeof *r->tables);
    if (r->tables == NULL) return false;
    for (uint32_t i = 0; i < r->tables_count; i++) {
        r->tables[i].offset = wpi_cursor_varint(from);
        r->tables[i].bytes = wpi_cursor_varint(from);
    }
    return true;
}

bool wpi_trace_root_read(wpi_cursor *from, wpi_trace_root *r) {
    *r = (wpi_trace_root){0};
    r->origin.version = read_string(from);
    r->origin.device = read_string(from);
    if (r->origin.version == NULL || r->origin.device == NULL) return false;
    if (!read_program(from, &r->origin.program)) return false;
    for (uint32_t i = 0; i < WPI_INFO_COUNT; i++)
        r->origin.info[i] = wpi_cursor_varint(from);
    r->ops = read_places(from);
    r->launches = read_places(from);
    r->parts = read_places(from);
    r->op_count = wpi_cursor_varint(from);
    r->accesses = wpi_cursor_varint(from);
    r->warp_bytes = wpi_cursor_varint(from);
    return read_tables(from, r) && wpi_cursor_is_at_end(from);
}

void wpi_trace_root_deinit(wpi_trace_root *r) {
    wpi_origin_deinit(&r->origin);
    wpi_free(r->tables);
    *r = (wpi_trace_root){0};
}
