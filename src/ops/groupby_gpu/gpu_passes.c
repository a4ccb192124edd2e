/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_gpu/gpu_passes.h"

#include <string.h>

#define ALL_SCOPES WPI_GPU_NONE

/* A part of a chunk. */
typedef struct piece {
    const char *chunk;
    uint32_t first, count;
    bool is_on_device;
} piece;

wp_status wpi_gpu_passes_init(wpi_gpu_passes *passes, wpi_gpu *gpu, const wpi_gpu_format *format,
                              wpi_gpu_groups *groups, wp_error *err) {
    const uint64_t list_bytes = (uint64_t)format->capacity * sizeof(uint32_t);
    *passes = (wpi_gpu_passes){
        .gpu = gpu, .format = format, .groups = groups, .strategy = WP_STRATEGY_DIRECT};
    WP_TRY(wpi_gpu_alloc(gpu, WP_MEMORY_PINNED, list_bytes, &passes->overflowed, err));
    return wpi_gpu_alloc(gpu, WP_MEMORY_PINNED, list_bytes, &passes->again, err);
}

void wpi_gpu_passes_deinit(wpi_gpu_passes *passes) {
    if (passes->gpu == NULL) return;
    void *const all[] = {passes->copy, passes->parted, passes->counts, passes->overflowed,
                         passes->again};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wpi_gpu_free(passes->gpu, all[i]);
    wpi_gpu_postponed_deinit(&passes->postponed, passes->gpu);
    *passes = (wpi_gpu_passes){0};
}

/* ---- one launch ---- */

static wp_status insert(wpi_gpu_passes *passes, wpi_gpu_rows rows, uint32_t scope,
                        uint64_t expected_rows, wp_error *err) {
    wpi_gpu_table table = passes->groups->table;
    wpi_gpu_layout layout = passes->format->device;
    wpi_gpu_notes notes = {passes->groups->device_state, passes->overflowed};
    void *narrow[] = {&rows, &table, &scope, &notes};
    void *wide[] = {&rows, &table, &layout, &scope, &notes};
    const bool is_narrow = table.bucket_words == 0;
    wpi_gpu_kernel kernel = is_narrow ? WPI_GPU_COUNT : WPI_GPU_ACCUMULATE;
    if (passes->is_combining)
        kernel = is_narrow ? WPI_GPU_COUNT_COMBINED : WPI_GPU_ACCUMULATE_COMBINED;
    passes->launches++;
    return wpi_gpu_launch_over(passes->gpu, kernel, expected_rows, is_narrow ? narrow : wide, err);
}

static wpi_gpu_rows rows_of(const piece *p) {
    return (wpi_gpu_rows){.chunk = p->chunk, .first = p->first, .count = p->count};
}

/* ---- strategies ---- */

/* `p` becomes the piece to which noted rows refer. */
typedef wp_status run_strategy(wpi_gpu_passes *passes, piece *p, wp_error *err);

static wp_status run_direct(wpi_gpu_passes *passes, piece *p, wp_error *err) {
    return insert(passes, rows_of(p), ALL_SCOPES, p->count, err);
}

static wp_status run_scoped(wpi_gpu_passes *passes, piece *p, wp_error *err) {
    const uint32_t scopes = (uint32_t)passes->groups->table.scope_count;
    for (uint32_t scope = 0; scope < scopes; scope++)
        WP_TRY(insert(passes, rows_of(p), scope, p->count, err));
    return WP_STATUS_OK;
}

/* False: there is no device memory for it; then each pass reads the rows through the link. */
static wp_status make_chunk(wpi_gpu_passes *passes, char **chunk, bool *is_there, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    if (*chunk == NULL)
        status =
            wpi_gpu_alloc(passes->gpu, WP_MEMORY_DEVICE, passes->format->chunk_bytes, chunk, err);
    *is_there = status == WP_STATUS_OK;
    return status == WP_STATUS_DEVICE_NOMEM ? WP_STATUS_OK : status;
}

/* The first pass stores a copy on the device, which later passes read. */
static wp_status run_copy(wpi_gpu_passes *passes, piece *p, wp_error *err) {
    const uint32_t scopes = (uint32_t)passes->groups->table.scope_count;
    bool is_there = false;
    if (p->is_on_device || scopes == 1) return run_scoped(passes, p, err);
    WP_TRY(make_chunk(passes, &passes->copy, &is_there, err));
    if (!is_there) return run_scoped(passes, p, err);
    wpi_gpu_rows rows = rows_of(p);
    rows.copy = passes->copy;
    WP_TRY(insert(passes, rows, 0, p->count, err));
    rows.chunk = passes->copy;
    rows.copy = NULL;
    for (uint32_t scope = 1; scope < scopes; scope++)
        WP_TRY(insert(passes, rows, scope, p->count, err));
    return WP_STATUS_OK;
}

static wp_status reserve_counts(wpi_gpu_passes *passes, uint64_t bytes, bool *is_there,
                                wp_error *err) {
    *is_there = true;
    if (bytes <= passes->counts_bytes) return WP_STATUS_OK;
    wpi_gpu_free(passes->gpu, passes->counts);
    passes->counts = NULL;
    passes->counts_bytes = 0;
    const wp_status status =
        wpi_gpu_alloc(passes->gpu, WP_MEMORY_DEVICE, bytes, &passes->counts, err);
    *is_there = status == WP_STATUS_OK;
    if (*is_there) passes->counts_bytes = bytes;
    return status == WP_STATUS_DEVICE_NOMEM ? WP_STATUS_OK : status;
}

/* Sorts the piece's rows by scopes, into `parted`. */
static wp_status sort_into_scopes(wpi_gpu_passes *passes, const piece *p,
                                  wpi_gpu_partition partition, wp_error *err) {
    wpi_gpu *gpu = passes->gpu;
    wpi_gpu_table table = passes->groups->table;
    wpi_gpu_layout layout = passes->format->device;
    wpi_gpu_rows rows = rows_of(p);
    const uint32_t blocks = partition.block_count;
    const uint32_t shared_bytes = (uint32_t)table.scope_count * (uint32_t)sizeof(uint32_t);
    uint32_t count = (uint32_t)table.scope_count * blocks;
    if (!p->is_on_device) rows.copy = passes->copy;
    void *histogram[] = {&rows, &table, &layout, &partition};
    WP_TRY(wpi_gpu_launch(gpu, WPI_GPU_HISTOGRAM, blocks, shared_bytes, histogram, err));
    void *prefix[] = {&partition.counts, &count};
    WP_TRY(wpi_gpu_launch(gpu, WPI_GPU_PREFIX, 1, 0, prefix, err));
    if (rows.copy != NULL) rows.chunk = rows.copy;
    rows.copy = NULL;
    void *scatter[] = {&rows, &passes->parted, &table, &layout, &partition};
    passes->launches += 3;
    return wpi_gpu_launch(gpu, WPI_GPU_SCATTER, blocks, shared_bytes, scatter, err);
}

static wp_status run_partition(wpi_gpu_passes *passes, piece *p, wp_error *err) {
    const uint32_t scopes = (uint32_t)passes->groups->table.scope_count;
    const uint32_t blocks = wpi_gpu_blocks(passes->gpu, WPI_GPU_SCATTER, p->count, scopes * 4);
    bool has_parted = false, has_copy = true, has_counts = false;
    if (scopes == 1) return run_direct(passes, p, err);
    WP_TRY(make_chunk(passes, &passes->parted, &has_parted, err));
    if (!p->is_on_device) WP_TRY(make_chunk(passes, &passes->copy, &has_copy, err));
    WP_TRY(reserve_counts(passes, ((uint64_t)scopes * blocks + 1) * 4, &has_counts, err));
    if (!has_parted || !has_copy || !has_counts) return run_copy(passes, p, err);
    const wpi_gpu_partition partition = {passes->counts, blocks, (p->count + blocks - 1) / blocks};
    WP_TRY(sort_into_scopes(passes, p, partition, err));
    for (uint32_t scope = 0; scope < scopes; scope++) {
        const wpi_gpu_rows rows = {.chunk = passes->parted,
                                   .bounds = passes->counts + (uint64_t)scope * blocks,
                                   .bound_step = blocks};
        WP_TRY(
            insert(passes, rows, ALL_SCOPES, p->count / scopes + p->count / scopes / 4 + 1, err));
    }
    *p = (piece){.chunk = passes->parted, .count = p->count, .is_on_device = true};
    return WP_STATUS_OK;
}

/* ---- pieces ---- */

/* Keeps the table, whose groups take further rows; rows of other groups are postponed. Without host
 * memory for them the table is spilled after all. */
static wp_status postpone(wpi_gpu_passes *passes, const piece *p, uint32_t count, bool *is_done,
                          wp_error *err) {
    *is_done = false;
    if (!passes->is_postponing) {
        if (!passes->postpones(passes->object)) return WP_STATUS_OK;
        passes->is_postponing = true;
        wpi_gpu_groups_limit_probes(passes->groups);
    }
    const wp_status status = wpi_gpu_postponed_add(&passes->postponed, passes->gpu, passes->format,
                                                   p->chunk, passes->again, count, err);
    if (status == WP_STATUS_NOMEM) return WP_STATUS_OK;
    passes->postponed_rows += count;
    *is_done = true;
    return status;
}

/* Retries rows that found no place, until all did or are postponed. */
static wp_status place_rest(wpi_gpu_passes *passes, const piece *p, wp_error *err) {
    wpi_gpu_groups *groups = passes->groups;
    while (groups->state.overflowed != 0) {
        const uint32_t count = groups->state.overflowed;
        bool is_done = false;
        memcpy(passes->again, passes->overflowed, count * sizeof *passes->again);
        if (!passes->is_postponing) WP_TRY(wpi_gpu_groups_make_room(groups, &is_done, err));
        if (!is_done) {
            WP_TRY(postpone(passes, p, count, &is_done, err));
            if (is_done) return WP_STATUS_OK;
            WP_TRY(wpi_gpu_groups_spill(groups, err));
            passes->is_postponing = false;
        }
        WP_TRY(wpi_gpu_groups_begin(groups, count, err));
        const wpi_gpu_rows rows = {.chunk = p->chunk, .list = passes->again, .count = count};
        WP_TRY(insert(passes, rows, ALL_SCOPES, count, err));
        WP_TRY(wpi_gpu_groups_look(groups, err));
    }
    return WP_STATUS_OK;
}

static wp_status run_piece(wpi_gpu_passes *passes, piece p, wp_error *err) {
    static run_strategy *const strategies[WP_STRATEGY_COUNT] = {[WP_STRATEGY_DIRECT] = run_direct,
                                                                [WP_STRATEGY_SEPO] = run_direct,
                                                                [WP_STRATEGY_SCOPED] = run_scoped,
                                                                [WP_STRATEGY_COPY] = run_copy,
                                                                [WP_STRATEGY_PARTITION] =
                                                                    run_partition};
    WP_TRY(wpi_gpu_groups_begin(passes->groups, p.count, err));
    WP_TRY(strategies[passes->strategy](passes, &p, err));
    WP_TRY(wpi_gpu_groups_look(passes->groups, err));
    const bool was_enough = passes->groups->state.overflowed == 0;
    WP_TRY(place_rest(passes, &p, err));
    if (passes->is_postponing) return WP_STATUS_OK; /* the table cannot grow */
    if (!was_enough) passes->piece_rows = 0;
    if (was_enough && passes->piece_rows <= UINT32_MAX / 4) passes->piece_rows *= 4;
    return wpi_gpu_groups_grow_if_full(passes->groups, err);
}

/* Until the table has proved large enough, a piece is small beside it: if all rows were new groups,
 * it would overflow with most of a chunk before it grows. */
static uint32_t piece_rows(wpi_gpu_passes *passes) {
    const uint64_t likely = 2 * wpi_gpu_bucket_count(passes->groups);
    if (passes->piece_rows < likely)
        passes->piece_rows = likely < UINT32_MAX ? (uint32_t)likely : UINT32_MAX;
    return passes->piece_rows;
}

wp_status wpi_gpu_passes_run(wpi_gpu_passes *passes, const char *chunk, uint32_t first,
                             uint32_t rows, bool is_on_device, wp_error *err) {
    uint32_t now = 0;
    for (uint32_t done = 0; done < rows; done += now) {
        now = piece_rows(passes);
        if (now > rows - done) now = rows - done;
        const piece p = {
            .chunk = chunk, .first = first + done, .count = now, .is_on_device = is_on_device};
        WP_TRY(run_piece(passes, p, err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_gpu_passes_finish(wpi_gpu_passes *passes, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    while (status == WP_STATUS_OK && passes->postponed.rows != 0) {
        wpi_gpu_postponed now = passes->postponed;
        passes->postponed = (wpi_gpu_postponed){0};
        passes->postponed_passes++;
        passes->is_postponing = false;
        status = wpi_gpu_groups_spill(passes->groups, err);
        for (uint32_t i = 0; i < now.chunk_count && status == WP_STATUS_OK; i++)
            status =
                wpi_gpu_passes_run(passes, now.chunks[i], 0,
                                   wpi_gpu_postponed_rows(&now, passes->format, i), false, err);
        wpi_gpu_postponed_deinit(&now, passes->gpu);
    }
    return status;
}
