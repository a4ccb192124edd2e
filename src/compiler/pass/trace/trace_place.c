/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the source that instructions come from, each once. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/source_variable.h"
#include "compiler/pass/trace/trace_pass.h"

typedef struct trace_place {
    const char *file; /* of LLVM's; not terminated */
    size_t file_length;
    char *calls; /* NULL: not inlined */
    uint32_t line;
} trace_place;

static bool is_same(const trace_place *a, const trace_place *b) {
    return a->line == b->line && a->file_length == b->file_length &&
           memcmp(a->file, b->file, a->file_length) == 0 &&
           strcmp(a->calls ? a->calls : "", b->calls ? b->calls : "") == 0;
}

static uint64_t hash_of(const trace_place *place) {
    const uint64_t seed = wpi_hash64(&place->line, sizeof place->line, 0);
    const uint64_t file = wpi_hash64(place->file, place->file_length, seed);
    return place->calls ? wpi_hash64(place->calls, strlen(place->calls), file) : file;
}

uint32_t wpi_trace_place_of(tracer *t, LLVMValueRef instruction) {
    const wpi_source_place at = wpi_source_place_of(instruction);
    if (!at.line) return WP_TRACE_NONE;
    wpi_text calls = {0};
    wpi_source_append_calls(instruction, &calls);
    const trace_place place = {at.file, at.file_length, calls.data, at.line};
    /* Keys are hashes, odd ones; one that is taken by another place goes to the next. */
    uint64_t key = hash_of(&place) | 1;
    uint32_t number;
    while ((number = wpi_map_index(&t->place_of, (void *)(uintptr_t)key)) != UINT32_MAX) {
        if (is_same(&t->places[number], &place)) {
            wpi_text_deinit(&calls);
            return number;
        }
        key += 2;
    }
    wpi_map_set_index(&t->place_of, (void *)(uintptr_t)key, t->place_count);
    t->places = wpi_trace_grow(t->places, t->place_count, sizeof *t->places);
    t->places[t->place_count] = place; /* owns the calls' text */
    return t->place_count++;
}

LLVMValueRef *wpi_trace_place_rows(const tracer *t) {
    wpi_compile *c = t->c;
    LLVMValueRef *rows = wpi_must_calloc(t->place_count + 1, sizeof *rows);
    LLVMValueRef text = NULL; /* consecutive places mostly are of one file */
    for (uint32_t i = 0; i < t->place_count; i++) {
        const trace_place *p = &t->places[i], *before = i ? p - 1 : NULL;
        const bool is_new = !before || before->file_length != p->file_length ||
                            memcmp(before->file, p->file, p->file_length) != 0;
        if (is_new) text = wpi_source_text(c, p->file, p->file_length);
        LLVMValueRef fields[] = {text,
                                 wpi_source_text(c, p->calls, p->calls ? strlen(p->calls) : 0),
                                 wpi_const32(c, p->line)};
        rows[i] = LLVMConstStructInContext(c->context, fields, 3, 0);
    }
    return rows;
}

void wpi_trace_places_deinit(tracer *t) {
    for (uint32_t i = 0; i < t->place_count; i++)
        wpi_free(t->places[i].calls);
    wpi_free(t->places);
    wpi_map_deinit(&t->place_of);
}
