/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_source.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "trace/part.h"
#include "trace/warp_code.h"

typedef struct source_warp {
    wpi_warp_code code;
    uint8_t *section; /* its remaining section of a part */
    size_t capacity;
    wpi_cursor cursor;
    uint64_t next_part;
    uint64_t offset; /* of the part's block, for messages */
    bool has_entry;  /* `entry` was read, and not returned yet */
    wpi_warp_entry entry;
    uint32_t block, mask; /* of it */
    uint32_t exited;
    uint64_t *addresses; /* [access][lane] of the entry */
} source_warp;

typedef struct slot {
    bool is_used;
    source_warp *warps; /* kept from CTA to CTA */
} slot;

struct wpi_trace_source {
    wpi_warp_source base; /* first */
    wpi_trace *trace;
    wpi_trace_launch launch;
    uint32_t access_max;
    slot *slots;
    uint32_t slot_count;
    wpi_source_fail_fn fail;
    void *fail_object;
};

/* ---- entries -------------------------------------------------------------------------------- */

static wp_status fail_damaged(const wpi_trace_source *source, uint64_t offset, wp_error *err) {
    return WP_FAIL(err, PARSE, "%s: offset %" PRIu64 ": the instructions of a warp are damaged",
                   wpi_trace_path(source->trace), offset);
}

/* Copies the warp's section, as the block may be replaced before it is used. */
static wp_status load_part(wpi_trace_source *source, source_warp *warp, uint32_t number,
                           uint64_t part, wp_error *err) {
    wpi_cursor from, section;
    WP_TRY(wpi_trace_part(source->trace, part, &from, &warp->offset, err));
    if (!wpi_part_find(from, part, number, source->base.warps_per_cta, &warp->next_part, &section))
        return fail_damaged(source, warp->offset, err);
    const size_t bytes = (size_t)(section.outer - section.at);
    if (bytes > warp->capacity || warp->section == NULL) {
        uint8_t *larger = wpi_realloc(warp->section, bytes + 1);
        if (larger == NULL) return WP_FAIL(err, NOMEM, "warp of a trace");
        warp->section = larger;
        warp->capacity = bytes;
    }
    memcpy(warp->section, section.at, bytes);
    warp->cursor = (wpi_cursor){.at = warp->section, .outer = warp->section + bytes};
    return WP_STATUS_OK;
}

/* Reads the next entry; has_entry stays false at the end. */
static wp_status fetch_entry(wpi_trace_source *source, source_warp *warp, uint32_t number,
                             wp_error *err) {
    while (warp->cursor.at == warp->cursor.outer) {
        if (warp->next_part == WPI_PART_NONE) return WP_STATUS_OK;
        WP_TRY(load_part(source, warp, number, warp->next_part, err));
    }
    warp->entry = wpi_warp_decode(&warp->code, source->base.tables, &warp->cursor, &warp->block,
                                  &warp->mask, warp->addresses);
    if (warp->entry == WPI_WARP_BAD) return fail_damaged(source, warp->offset, err);
    warp->has_entry = true;
    return WP_STATUS_OK;
}

static wpi_source_answer next(wpi_warp_source *base, uint32_t number, uint32_t warp_number,
                              uint32_t blocked, wpi_warp_block *out) {
    wpi_trace_source *source = (wpi_trace_source *)(void *)base;
    source_warp *warp = &source->slots[number].warps[warp_number];
    for (;;) {
        wp_error error = {0};
        if (!warp->has_entry && fetch_entry(source, warp, warp_number, &error) != WP_STATUS_OK) {
            source->fail(source->fail_object, &error);
            return WPI_SOURCE_FAILED;
        }
        out->exited = warp->exited;
        if (!warp->has_entry) return WPI_SOURCE_EXIT;
        if ((warp->mask & blocked) != 0) return WPI_SOURCE_WAIT;
        warp->has_entry = false;
        if (warp->entry == WPI_WARP_BLOCK) break;
        warp->exited |= warp->mask;
    }
    out->block = warp->block;
    out->mask = warp->mask;
    out->addresses = warp->addresses;
    return WPI_SOURCE_BLOCK;
}

/* ---- CTAs ----------------------------------------------------------------------------------- */

static slot *find_slot(wpi_trace_source *source) {
    for (uint32_t i = 0; i < source->slot_count; i++) {
        if (!source->slots[i].is_used) return &source->slots[i];
    }
    const uint32_t count = source->slot_count == 0 ? 16 : 2 * source->slot_count;
    slot *slots = wpi_realloc(source->slots, count * sizeof *slots);
    if (slots == NULL) return NULL;
    memset(slots + source->slot_count, 0, (count - source->slot_count) * sizeof *slots);
    slot *first = &slots[source->slot_count];
    source->slots = slots;
    source->slot_count = count;
    return first;
}

static bool fill_slot(const wpi_trace_source *source, slot *s) {
    const uint32_t warps = source->base.warps_per_cta;
    const size_t addresses = ((size_t)source->access_max + 1) * WPI_LANES;
    if (s->warps != NULL) return true;
    s->warps = wpi_calloc(warps, sizeof *s->warps);
    for (uint32_t w = 0; s->warps != NULL && w < warps; w++) {
        s->warps[w].addresses = wpi_calloc(addresses, sizeof *s->warps[w].addresses);
        if (s->warps[w].addresses == NULL) return false;
    }
    return s->warps != NULL;
}

static void start_warp(source_warp *warp) {
    warp->code = (wpi_warp_code){0};
    warp->has_entry = false;
    warp->exited = 0;
}

static wp_status start(wpi_warp_source *base, uint64_t cta, uint32_t sm, uint32_t *number,
                       wpi_windows *windows, wp_error *err) {
    wpi_trace_source *source = (wpi_trace_source *)(void *)base;
    slot *s = find_slot(source);
    wp_error error = {0};
    wp_status status = WP_STATUS_OK;
    (void)sm;
    if (s == NULL || !fill_slot(source, s)) status = WP_FAIL(&error, NOMEM, "CTA of a trace");
    for (uint32_t w = 0; w < base->warps_per_cta && status == WP_STATUS_OK; w++) {
        start_warp(&s->warps[w]);
        status = load_part(source, &s->warps[w], w, source->launch.first_part + cta, &error);
    }
    if (status != WP_STATUS_OK) {
        source->fail(source->fail_object, &error);
        if (err != NULL) *err = error;
        return status;
    }
    s->is_used = true;
    *windows = (wpi_windows){.shared = WPI_TRACE_SHARED_BASE,
                             .shared_bytes = WPI_TRACE_SHARED_BYTES,
                             .local = WPI_TRACE_LOCAL_BASE,
                             .local_bytes = WPI_TRACE_LOCAL_BYTES};
    *number = (uint32_t)(s - source->slots);
    return WP_STATUS_OK;
}

/* Only launches in step reach clocks, and these are not in traces. */
static bool reach(wpi_warp_source *base, uint32_t number, uint32_t warp, uint32_t lanes,
                  uint64_t cycles, uint64_t time_ns) {
    (void)base;
    (void)number;
    (void)warp;
    (void)lanes;
    (void)cycles;
    (void)time_ns;
    return true;
}

static void finish(wpi_warp_source *base, uint32_t number) {
    ((wpi_trace_source *)(void *)base)->slots[number].is_used = false;
}

static const wpi_warp_source_ops ops = {start, next, reach, finish};

/* ---- life ----------------------------------------------------------------------------------- */

static uint32_t most_accesses(const wp_trace_tables *tables) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < tables->block_count; i++) {
        if (tables->blocks[i].access_count > most) most = tables->blocks[i].access_count;
    }
    return most;
}

static wp_status check_launch(wpi_trace *trace, const wpi_trace_launch *launch, wp_error *err) {
    if ((launch->flags & WPI_LAUNCH_IN_STEP) != 0) {
        return WP_FAIL(
            err, UNSUPPORTED,
            "kernel %s reads the clock or waits for other blocks, so its behaviour depends "
            "on time and it cannot be replayed; run the program itself",
            wpi_trace_kernel_of(trace, launch)->name);
    }
    return WP_STATUS_OK;
}

wp_status wpi_trace_source_create(wpi_trace *trace, uint64_t number, wpi_source_fail_fn fail,
                                  void *object, wpi_trace_source **out, wp_error *err) {
    wpi_trace_launch launch;
    *out = NULL;
    WP_TRY(wpi_trace_launch_at(trace, number, &launch, err));
    WP_TRY(check_launch(trace, &launch, err));
    wpi_trace_source *source = wpi_calloc(1, sizeof *source);
    if (source == NULL) return WP_FAIL(err, NOMEM, "launch of a trace");
    const uint32_t threads = wpi_trace_launch_threads(&launch);
    source->trace = trace;
    source->launch = launch;
    source->fail = fail;
    source->fail_object = object;
    source->base = (wpi_warp_source){
        .ops = &ops,
        .tables = wpi_trace_tables_of(trace, launch.tables),
        .name = wpi_trace_kernel_of(trace, &launch)->name,
        .cta_count = wpi_trace_launch_cta_count(&launch),
        .warps_per_cta = (threads + WPI_LANES - 1) / WPI_LANES,
        .threads_per_cta = threads,
        .shared_bytes_per_cta = launch.shared_static_bytes + launch.shared_dynamic_bytes,
        .registers_per_thread = launch.registers,
        .prefers_l1 = (launch.flags & WPI_LAUNCH_PREFERS_L1) != 0,
        .shared_carveout = (uint8_t)(launch.flags >> WPI_LAUNCH_CARVEOUT_SHIFT),
    };
    source->access_max = most_accesses(source->base.tables);
    *out = source;
    return WP_STATUS_OK;
}

wpi_warp_source *wpi_trace_source_base(wpi_trace_source *source) {
    return &source->base;
}

void wpi_trace_source_destroy(wpi_trace_source *source) {
    if (source == NULL) return;
    for (uint32_t i = 0; i < source->slot_count; i++) {
        for (uint32_t w = 0; source->slots[i].warps != NULL && w < source->base.warps_per_cta;
             w++) {
            wpi_free(source->slots[i].warps[w].section);
            wpi_free(source->slots[i].warps[w].addresses);
        }
        wpi_free(source->slots[i].warps);
    }
    wpi_free(source->slots);
    wpi_free(source);
}
