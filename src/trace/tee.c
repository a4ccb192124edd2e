/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/tee.h"

#include <string.h>

#include "base/alloc.h"
#include "trace/part.h"
#include "trace/warp_code.h"

typedef struct tee_warp {
    wpi_warp_code code;
    uint32_t exited; /* lanes whose return is written */
    wpi_text section;
} tee_warp;

/* A running CTA, by the inner source's number. */
typedef struct slot {
    uint64_t part; /* the current part */
    size_t bytes;  /* of its sections */
    wpi_windows windows;
    tee_warp *warps; /* kept from CTA to CTA */
} slot;

struct wpi_tee {
    wpi_warp_source source; /* first */
    wpi_warp_source *inner;
    wpi_trace_writer *writer;
    uint64_t number;
    wpi_trace_launch launch;
    slot *slots;
    uint32_t slot_count;
    wpi_text part; /* buffer */
    uint64_t addresses[WP_TRACE_BLOCK_WORDS_MAX * WPI_LANES];
    uint8_t entry[WPI_WARP_ENTRY_BYTES_MAX];
};

/* ---- parts ---------------------------------------------------------------------------------- */

static void write_part(wpi_tee *tee, slot *s, uint64_t next_part) {
    const uint32_t warps = tee->source.warps_per_cta;
    wpi_text_clear(&tee->part);
    wpi_part_append_head(&tee->part, next_part, warps);
    for (uint32_t w = 0; w < warps; w++)
        wpi_varint_append(&tee->part, s->warps[w].section.length);
    for (uint32_t w = 0; w < warps; w++) {
        wpi_text *section = &s->warps[w].section;
        wpi_text_append_n(&tee->part, section->data, section->length);
        wpi_text_clear(section);
    }
    tee->launch.bytes += tee->part.length;
    wpi_trace_writer_part(tee->writer, s->part, tee->part.data, tee->part.length);
    s->part = next_part;
    s->bytes = 0;
}

static void append_entry(wpi_tee *tee, slot *s, uint32_t warp, const uint8_t *outer) {
    const size_t bytes = (size_t)(outer - tee->entry);
    wpi_text_append_n(&s->warps[warp].section, tee->entry, bytes);
    s->bytes += bytes;
    if (s->bytes >= WPI_PART_BYTES) write_part(tee, s, wpi_trace_writer_reserve(tee->writer, 1));
}

/* ---- addresses ------------------------------------------------------------------------------ */

static uint64_t in_trace(const wp_trace_site *site, const wpi_windows *windows, uint64_t address) {
    if (site->space == WP_TRACE_GLOBAL || site->space == WP_TRACE_CONST) return address;
    const uint64_t in_shared = address - windows->shared, in_local = address - windows->local;
    if (site->space == WP_TRACE_SHARED || in_shared < windows->shared_bytes)
        return WPI_TRACE_SHARED_BASE + in_shared;
    return in_local < windows->local_bytes ? WPI_TRACE_LOCAL_BASE + in_local : address;
}

/* The block with addresses in the trace's form; valid until the next call. */
static wpi_warp_block translate(wpi_tee *tee, const wpi_windows *windows,
                                const wpi_warp_block *block) {
    const wp_trace_tables *tables = tee->source.tables;
    const wp_trace_block *b = &tables->blocks[block->block];
    const uint64_t *from = block->addresses;
    uint64_t *to = tee->addresses;
    for (uint32_t i = 0; i < b->step_count; i++) {
        const wp_trace_step *step = &tables->steps[b->first_step + i];
        if (step->op != WP_TRACE_ACCESS) continue;
        for (uint32_t left = block->mask; left != 0; left &= left - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(left);
            to[lane] = in_trace(&tables->sites[step->value], windows, from[lane]);
        }
        from += WPI_LANES;
        to += WPI_LANES;
    }
    memcpy(to, from, (size_t)(block->addresses + b->access_count * WPI_LANES - from) * sizeof *to);
    wpi_warp_block translated = *block;
    translated.addresses = tee->addresses;
    return translated;
}

/* ---- the source ----------------------------------------------------------------------------- */

static bool grow(wpi_tee *tee, uint32_t number) {
    if (number >= tee->slot_count) {
        const uint32_t count = number + 16;
        slot *slots = wpi_realloc(tee->slots, count * sizeof *slots);
        if (slots == NULL) return false;
        memset(slots + tee->slot_count, 0, (count - tee->slot_count) * sizeof *slots);
        tee->slots = slots;
        tee->slot_count = count;
    }
    slot *s = &tee->slots[number];
    if (s->warps == NULL) s->warps = wpi_calloc(tee->source.warps_per_cta, sizeof *s->warps);
    return s->warps != NULL;
}

static wp_status start(wpi_warp_source *source, uint64_t cta, uint32_t sm, uint32_t *number,
                       wpi_windows *windows, wp_error *err) {
    wpi_tee *tee = (wpi_tee *)(void *)source;
    WP_TRY(tee->inner->ops->start(tee->inner, cta, sm, number, windows, err));
    if (!grow(tee, *number)) return WP_FAIL(err, NOMEM, "recording a CTA");
    slot *s = &tee->slots[*number];
    s->part = tee->launch.first_part + cta;
    s->bytes = 0;
    s->windows = *windows;
    for (uint32_t w = 0; w < source->warps_per_cta; w++) {
        s->warps[w].code = (wpi_warp_code){0};
        s->warps[w].exited = 0;
        wpi_text_clear(&s->warps[w].section);
    }
    tee->launch.ctas++;
    return WP_STATUS_OK;
}

static void note_exits(wpi_tee *tee, slot *s, uint32_t warp, uint32_t exited) {
    const uint32_t lanes = exited & ~s->warps[warp].exited;
    if (lanes == 0) return;
    s->warps[warp].exited |= lanes;
    append_entry(tee, s, warp, wpi_warp_encode_exit(lanes, tee->entry));
}

static void note_block(wpi_tee *tee, slot *s, uint32_t warp, const wpi_warp_block *block) {
    const wpi_warp_block written = translate(tee, &s->windows, block);
    append_entry(
        tee, s, warp,
        wpi_warp_encode_block(&s->warps[warp].code, tee->source.tables, &written, tee->entry));
    tee->launch.blocks++;
    tee->launch.accesses += tee->source.tables->blocks[block->block].access_count;
}

static wpi_source_answer next(wpi_warp_source *source, uint32_t number, uint32_t warp,
                              uint32_t blocked, wpi_warp_block *out) {
    wpi_tee *tee = (wpi_tee *)(void *)source;
    slot *s = &tee->slots[number];
    const wpi_source_answer answer = tee->inner->ops->next(tee->inner, number, warp, blocked, out);
    source->run_count = tee->inner->run_count;
    if (answer != WPI_SOURCE_FAILED) note_exits(tee, s, warp, out->exited);
    if (answer == WPI_SOURCE_BLOCK) note_block(tee, s, warp, out);
    return answer;
}

static bool reach(wpi_warp_source *source, uint32_t number, uint32_t warp, uint32_t lanes,
                  uint64_t cycles, uint64_t time_ns) {
    wpi_tee *tee = (wpi_tee *)(void *)source;
    return tee->inner->ops->reach(tee->inner, number, warp, lanes, cycles, time_ns);
}

static void finish(wpi_warp_source *source, uint32_t number) {
    wpi_tee *tee = (wpi_tee *)(void *)source;
    write_part(tee, &tee->slots[number], WPI_PART_NONE);
    tee->inner->ops->finish(tee->inner, number);
}

static const wpi_warp_source_ops ops = {start, next, reach, finish};

/* ---- life ----------------------------------------------------------------------------------- */

wp_status wpi_tee_create(wpi_trace_writer *writer, uint64_t number, const wpi_trace_launch *launch,
                         wpi_warp_source *inner, wpi_tee **out, wp_error *err) {
    *out = NULL;
    wpi_tee *tee = wpi_calloc(1, sizeof *tee);
    if (tee == NULL) return WP_FAIL(err, NOMEM, "recording a launch");
    tee->source = *inner;
    tee->source.ops = &ops;
    tee->inner = inner;
    tee->writer = writer;
    tee->number = number;
    tee->launch = *launch;
    tee->launch.first_part = wpi_trace_writer_reserve(writer, inner->cta_count);
    *out = tee;
    return WP_STATUS_OK;
}

wpi_warp_source *wpi_tee_source(wpi_tee *tee) {
    return &tee->source;
}

void wpi_tee_finish(wpi_tee *tee) {
    wpi_trace_writer_launch(tee->writer, tee->number, &tee->launch);
    wpi_tee_abandon(tee);
}

void wpi_tee_abandon(wpi_tee *tee) {
    if (tee == NULL) return;
    for (uint32_t i = 0; i < tee->slot_count; i++) {
        for (uint32_t w = 0; tee->slots[i].warps != NULL && w < tee->source.warps_per_cta; w++)
            wpi_text_deinit(&tee->slots[i].warps[w].section);
        wpi_free(tee->slots[i].warps);
    }
    wpi_free(tee->slots);
    wpi_text_deinit(&tee->part);
    wpi_free(tee);
}
