/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups on a device. Rows fill a chunk in pinned memory; a full one is processed:
 *
 *     zero-copy   the kernels read it where it is
 *     copied      it moves to the device in slices; one is worked on while those behind it move
 *     resident    it moves to the device and waits there until all are, or memory is full
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ops/groupby_gpu/gpu_passes.h"
#include "ops/groupby_gpu/gpu_skew.h"
#include "ops/grouper.h"
#include "ops/planner.h"

#define CHUNK_BYTES ((uint64_t)128 << 20)
#define BATCH_GROUPS 4096u
#define BUFFERS_MAX 4u /* chunks in device memory: two being copied, a copy, a partition */
#define SLICES_MAX 8u
/* A smaller slice takes longer to launch and check than to copy. */
#define SLICE_BYTES ((uint64_t)1 << 19)
#define SLICE_ROWS 64u /* a multiple of these */

typedef struct device_chunk {
    char *memory;
    uint32_t first, rows; /* not processed yet */
    bool is_combined;
} device_chunk;

typedef struct gpu_grouper {
    wpi_grouper base;
    const wpi_shape *shape;
    wp_ops_options options;
    wp_placement placement;
    wpi_gpu gpu;
    wpi_gpu_format format;
    wpi_gpu_groups groups;
    wpi_gpu_passes passes;
    wpi_planner planner;
    wpi_plan plan;     /* for the last table */
    wpi_gpu_skew skew; /* of the last chunk */
    wpi_text plan_text, skew_text, full_text, explanation;
    char *chunk; /* in pinned memory, being filled */
    uint32_t filled;
    bool is_combined;                     /* rows of one key are combined in warps */
    uint32_t chunk_count, combined_count; /* so far; of these, put together in warps */
    device_chunk *moved;                  /* [moved_capacity]: on the device, not processed yet */
    uint32_t moved_count, moved_capacity, moved_room;
    wp_event *slice_moved[SLICES_MAX];
    uint64_t rows;
} gpu_grouper;

/* ---- the plan ---- */

static uint32_t atomics_of_row(const wpi_shape *shape) {
    uint32_t atomics = 1; /* the count of rows */
    for (uint32_t i = 0; i < shape->accumulator_count; i++)
        atomics += shape->accumulators[i].how == WPI_ACCUMULATE_MOMENTS ? 3 : 1;
    return atomics;
}

static wpi_plan_task task_of(const gpu_grouper *g, uint64_t table_bytes) {
    return (wpi_plan_task){.table_bytes = table_bytes,
                           .row_bytes = g->format.row_bytes,
                           .bucket_bytes = wpi_gpu_bucket_bytes(&g->format),
                           .row_atomics = atomics_of_row(g->shape),
                           .chunk_rows = g->format.capacity,
                           .hot_share = g->skew.hot_share,
                           .hottest_share = g->skew.hottest_share,
                           .warp_share = g->skew.warp_share,
                           .placement = g->placement,
                           .strategy = g->options.strategy,
                           .scope_bytes = g->options.scope_bytes};
}

/* A table is being made: plans again, so the strategy may change. */
static uint64_t scope_bytes_of(void *object, uint64_t table_bytes) {
    gpu_grouper *g = object;
    const wpi_plan_task task = task_of(g, table_bytes);
    wpi_text_clear(&g->plan_text);
    g->plan = wpi_planner_choose(&g->planner, &task, &g->plan_text);
    g->passes.strategy = g->plan.strategy;
    return g->plan.scope_bytes;
}

_Static_assert(WPI_GPU_SKEW_ROWS <= WPI_GPU_PACK_ROWS, "a sample fits the buffer of keys");

/* A chunk is full: whether its rows are combined in warps. */
static bool combines(gpu_grouper *g) {
    g->skew = wpi_gpu_skew_of(g->chunk, g->format.key_bytes, g->filled,
                              (uint64_t)g->planner.threads, g->format.buffer);
    const wpi_plan_task task =
        task_of(g, wpi_gpu_bucket_count(&g->groups) * (uint64_t)wpi_gpu_bucket_bytes(&g->format));
    wpi_text_clear(&g->skew_text);
    const bool is_combined = wpi_planner_combines(&g->planner, &task, g->plan, &g->skew_text);
    g->chunk_count++;
    g->combined_count += is_combined;
    return is_combined;
}

/* The table is full, and there is no larger one. */
static bool postpones(void *object) {
    gpu_grouper *g = object;
    const wpi_gpu_groups *groups = &g->groups;
    const double held = (double)groups->state.created, seen = (double)groups->rows;
    const double left = (double)g->options.group_count - (double)groups->merge.count;
    const wpi_plan_task task =
        task_of(g, wpi_gpu_bucket_count(groups) * (uint64_t)wpi_gpu_bucket_bytes(&g->format));
    const wpi_full_table full = {
        .held = held,
        .groups = left > held ? left : wpi_planner_groups(held, seen),
        .rows = (double)(g->options.row_count > g->rows ? g->options.row_count : g->rows)};
    wpi_text_clear(&g->full_text);
    return wpi_planner_postpones(&g->planner, &task, g->plan, &full, &g->full_text);
}

static const char *explain(const wpi_grouper *grouper) {
    gpu_grouper *g = (gpu_grouper *)(uintptr_t)grouper;
    const wpi_gpu_table *table = &g->groups.table;
    wpi_text_clear(&g->explanation);
    wpi_text_append(&g->explanation, wpi_text_string(&g->plan_text));
    wpi_text_append(&g->explanation, wpi_text_string(&g->skew_text));
    wpi_text_append(&g->explanation, wpi_text_string(&g->full_text));
    if (g->passes.postponed_rows != 0)
        wpi_text_appendf(&g->explanation,
                         "  rows postponed %" PRIu64 " times, %" PRIu32 " further passes\n",
                         g->passes.postponed_rows, g->passes.postponed_passes);
    wpi_text_appendf(&g->explanation,
                     "  %" PRIu64 " buckets of %" PRIu32 " bytes in %" PRIu64
                     " scopes; chunks of %" PRIu32 " rows, %" PRIu32 " of %" PRIu32
                     " combined in warps; %" PRIu64 " rows, %" PRIu64 " passes; grown %" PRIu32
                     " times, spilled %" PRIu32 " times\n",
                     table->scope_count * table->scope_buckets, wpi_gpu_bucket_bytes(&g->format),
                     table->scope_count, g->format.capacity, g->combined_count, g->chunk_count,
                     g->rows, g->passes.launches, g->groups.grown, g->groups.spilled);
    return wpi_text_string(&g->explanation);
}

/* ---- opening ---- */

static uint64_t budget_of(const gpu_grouper *g) {
    uint64_t free_bytes = 0, total_bytes = 0;
    wp_memory_info(g->gpu.device, &free_bytes, &total_bytes);
    const uint64_t asked = g->options.memory_bytes;
    const uint64_t bytes = asked != 0 && asked < free_bytes ? asked : free_bytes;
    return bytes - bytes / 64; /* allocations are rounded up */
}

static uint64_t chunk_bytes_of(const gpu_grouper *g, uint64_t budget_bytes) {
    const uint64_t most = budget_bytes / 16;
    const uint64_t asked = g->options.chunk_bytes != 0 ? g->options.chunk_bytes : CHUNK_BYTES;
    return asked < most ? asked : most;
}

/* Tables get the memory that chunks leave. Resident input takes its size, if known, or half of
 * all. */
static uint64_t table_bytes_max(const gpu_grouper *g, uint64_t budget_bytes) {
    uint64_t chunks = BUFFERS_MAX * g->format.chunk_bytes;
    if (g->placement == WP_PLACEMENT_RESIDENT) {
        const uint64_t input = g->options.row_count * g->format.row_bytes;
        chunks += input == 0 || input > budget_bytes / 2 ? budget_bytes / 2 : input;
    }
    return budget_bytes > chunks ? budget_bytes - chunks : budget_bytes / 4;
}

static wp_status make_parts(gpu_grouper *g, wp_device *device, wpi_keys *keys, wp_error *err) {
    const wp_ops_options *options = &g->options;
    WP_TRY(wpi_gpu_init(&g->gpu, device, wpi_gpu_kernel_of, WPI_GPU_KERNEL_COUNT,
                        options->thread_count, err));
    WP_TRY(wpi_planner_init(&g->planner, device, options->profile, options->thread_count, err));
    const uint64_t budget_bytes = budget_of(g);
    WP_TRY(wpi_gpu_format_init(&g->format, &g->gpu, g->shape, keys, chunk_bytes_of(g, budget_bytes),
                               options->row_count, err));
    WP_TRY(wpi_gpu_alloc(&g->gpu, WP_MEMORY_PINNED, g->format.chunk_bytes, &g->chunk, err));
    for (uint32_t i = 0; i < SLICES_MAX; i++)
        WP_TRY(wp_event_create(device, &g->slice_moved[i], err));
    WP_TRY(wpi_gpu_passes_init(&g->passes, &g->gpu, &g->format, &g->groups, err));
    g->passes.postpones = postpones;
    g->passes.object = g;
    const wpi_gpu_scopes scopes = {scope_bytes_of, g};
    return wpi_gpu_groups_init(&g->groups, &g->gpu, &g->format, options->group_count, scopes,
                               table_bytes_max(g, budget_bytes), err);
}

static void close_grouper(wpi_grouper *grouper) {
    gpu_grouper *g = (gpu_grouper *)grouper;
    if (g == NULL) return;
    for (uint32_t i = 0; i < g->moved_room; i++)
        wpi_gpu_free(&g->gpu, g->moved[i].memory);
    for (uint32_t i = 0; i < SLICES_MAX; i++)
        wp_event_destroy(g->slice_moved[i]);
    wpi_gpu_passes_deinit(&g->passes);
    wpi_gpu_groups_deinit(&g->groups);
    wpi_gpu_free(&g->gpu, g->chunk);
    wpi_gpu_format_deinit(&g->format, &g->gpu);
    wpi_gpu_deinit(&g->gpu);
    wpi_text_deinit(&g->plan_text);
    wpi_text_deinit(&g->skew_text);
    wpi_text_deinit(&g->full_text);
    wpi_text_deinit(&g->explanation);
    wpi_free(g->moved);
    wpi_free(g);
}

static wp_status open_grouper(wp_device *device, const wpi_shape *shape, wpi_keys *keys,
                              const wp_ops_options *options, wpi_grouper **out, wp_error *err) {
    *out = NULL;
    gpu_grouper *g = wpi_calloc(1, sizeof *g);
    if (g == NULL) return WP_FAIL(err, NOMEM, "a group-by");
    g->base.ops = &wpi_grouper_gpu;
    g->shape = shape;
    g->options = *options;
    g->placement =
        options->placement == WP_PLACEMENT_AUTO ? WP_PLACEMENT_COPIED : options->placement;
    const wp_status status = make_parts(g, device, keys, err);
    if (status == WP_STATUS_OK)
        *out = &g->base;
    else
        close_grouper(&g->base);
    return status;
}

/* ---- chunks ---- */

/* Processes the chunk's next `rows` rows. */
static wp_status work_on(gpu_grouper *g, device_chunk *chunk, uint32_t rows, wp_error *err) {
    const uint32_t first = chunk->first;
    chunk->first += rows;
    chunk->rows -= rows;
    g->passes.is_combining = chunk->is_combined;
    return wpi_gpu_passes_run(&g->passes, chunk->memory, first, rows, true, err);
}

static wp_status work_on_moved(gpu_grouper *g, wp_error *err) {
    for (uint32_t i = 0; i < g->moved_count; i++)
        WP_TRY(work_on(g, &g->moved[i], g->moved[i].rows, err));
    g->moved_count = 0;
    return WP_STATUS_OK;
}

static wp_status list_room(gpu_grouper *g, wp_error *err) {
    if (g->moved_room < g->moved_capacity) return WP_STATUS_OK;
    const uint32_t capacity = 2 * g->moved_capacity + 2;
    device_chunk *moved = wpi_realloc(g->moved, capacity * sizeof *moved);
    if (moved == NULL) return WP_FAIL(err, NOMEM, "a list of chunks");
    g->moved = moved;
    g->moved_capacity = capacity;
    return WP_STATUS_OK;
}

/* A free chunk in device memory, after the copied ones. NULL: there is no memory. */
static wp_status find_room(gpu_grouper *g, device_chunk **out, wp_error *err) {
    *out = NULL;
    if (g->moved_count == g->moved_room) {
        char *memory = NULL;
        WP_TRY(list_room(g, err));
        const wp_status status =
            wpi_gpu_alloc(&g->gpu, WP_MEMORY_DEVICE, g->format.chunk_bytes, &memory, err);
        if (status == WP_STATUS_DEVICE_NOMEM) return WP_STATUS_OK;
        WP_TRY(status);
        g->moved[g->moved_room++] = (device_chunk){.memory = memory};
    }
    *out = &g->moved[g->moved_count];
    return WP_STATUS_OK;
}

static wp_status work_on_filled(gpu_grouper *g, wp_error *err) {
    g->passes.is_combining = g->is_combined;
    return wpi_gpu_passes_run(&g->passes, g->chunk, 0, g->filled, false, err);
}

/* Rows of a slice. With scopes, each pass needs many rows, so there is one slice. */
static uint32_t slice_rows(const gpu_grouper *g) {
    const uint64_t bytes = (uint64_t)g->filled * g->format.row_bytes;
    uint64_t slices = bytes / SLICE_BYTES;
    if (slices > SLICES_MAX) slices = SLICES_MAX;
    const bool is_direct =
        g->passes.strategy == WP_STRATEGY_DIRECT || g->passes.strategy == WP_STRATEGY_SEPO;
    if (slices <= 1 || !is_direct) return g->filled;
    return (uint32_t)((g->filled / slices / SLICE_ROWS + 1) * SLICE_ROWS);
}

static wp_status move(gpu_grouper *g, device_chunk *to, uint32_t of_slice, wp_error *err) {
    to->first = 0;
    to->rows = g->filled;
    to->is_combined = g->is_combined;
    for (uint32_t first = 0; first < g->filled; first += of_slice) {
        const uint32_t left = g->filled - first, rows = left < of_slice ? left : of_slice;
        WP_TRY(
            wpi_gpu_format_copy(&g->format, g->gpu.copies, to->memory, g->chunk, first, rows, err));
        WP_TRY(wp_event_record(g->slice_moved[first / of_slice], g->gpu.copies, err));
    }
    return WP_STATUS_OK;
}

/* Processes all slices but the last, each when it has arrived. */
static wp_status work_on_arriving(gpu_grouper *g, device_chunk *chunk, uint32_t of_slice,
                                  wp_error *err) {
    while (chunk->rows > of_slice) {
        wp_event *moved = g->slice_moved[chunk->first / of_slice];
        WP_TRY(wp_queue_wait_event(g->gpu.work, moved, err));
        WP_TRY(work_on(g, chunk, of_slice, err));
    }
    return WP_STATUS_OK;
}

/* During the copy, processes the rest of the chunk before, then slices that have arrived; the last
 * slice is processed during the next chunk's copy. Then the two swap roles. */
static wp_status run_copied(gpu_grouper *g, wp_error *err) {
    device_chunk *to = NULL;
    WP_TRY(find_room(g, &to, err));
    if (to == NULL) {
        if (g->moved_count == 0) /* no memory for one: read through the link */
            return work_on_filled(g, err);
        WP_TRY(work_on_moved(g, err));
        WP_TRY(find_room(g, &to, err));
    }
    const uint32_t of_slice = slice_rows(g);
    WP_TRY(move(g, to, of_slice, err));
    const device_chunk moving = *to;
    WP_TRY(work_on_moved(g, err));
    *to = g->moved[0];
    g->moved[0] = moving;
    g->moved_count = 1;
    WP_TRY(work_on_arriving(g, &g->moved[0], of_slice, err));
    return wp_queue_wait(g->gpu.copies, err);
}

static wp_status run_resident(gpu_grouper *g, wp_error *err) {
    device_chunk *to = NULL;
    WP_TRY(find_room(g, &to, err));
    if (to == NULL && g->moved_count != 0) {
        WP_TRY(work_on_moved(g, err));
        WP_TRY(find_room(g, &to, err));
    }
    if (to == NULL) return work_on_filled(g, err);
    WP_TRY(move(g, to, g->filled, err));
    g->moved_count++;
    return wp_queue_wait(g->gpu.copies, err);
}

static wp_status run_chunk(gpu_grouper *g, wp_error *err) {
    wp_status status;
    g->is_combined = combines(g);
    switch (g->placement) {
    case WP_PLACEMENT_ZERO_COPY: status = work_on_filled(g, err); break;
    case WP_PLACEMENT_RESIDENT: status = run_resident(g, err); break;
    default: status = run_copied(g, err); break;
    }
    g->filled = 0;
    return status;
}

static wp_status add_rows(wpi_grouper *grouper, const wp_column *keys, const wp_column *values,
                          uint64_t row_count, wp_error *err) {
    gpu_grouper *g = (gpu_grouper *)grouper;
    uint32_t now = 0;
    for (uint64_t first = 0; first < row_count; first += now) {
        const uint32_t room = g->format.capacity - g->filled;
        now = row_count - first < room ? (uint32_t)(row_count - first) : room;
        WP_TRY(wpi_gpu_format_put(&g->format, keys, values, first, now, g->chunk, g->filled, err));
        g->filled += now;
        g->rows += now;
        if (g->filled == g->format.capacity || g->rows == g->options.row_count)
            WP_TRY(run_chunk(g, err)); /* full, or all that are expected */
    }
    return WP_STATUS_OK;
}

/* ---- groups ---- */

static wp_status count_groups(wpi_grouper *grouper, uint64_t *group_count, wp_error *err) {
    gpu_grouper *g = (gpu_grouper *)grouper;
    if (g->filled != 0) WP_TRY(run_chunk(g, err));
    WP_TRY(work_on_moved(g, err));
    WP_TRY(wpi_gpu_passes_finish(&g->passes, err));
    return wpi_gpu_groups_count(&g->groups, group_count, err);
}

/* Buckets become columns of words. */
typedef struct batch {
    const gpu_grouper *g;
    wpi_group_sink sink;
    void *object;
    wpi_group_batch it;
    uint64_t *keys, *rows, **words; /* the arrays of `it`, writable */
} batch;

static void flush(batch *b) {
    if (b->it.count == 0) return;
    if (b->it.null_group == UINT32_MAX) b->it.null_group = b->it.count;
    b->sink(b->object, &b->it);
    b->it.first += b->it.count;
    b->it.count = 0;
    b->it.null_group = UINT32_MAX;
}

/* Mean and squares from sums of differences. */
static void put_moments(const uint64_t *from, uint64_t to[2]) {
    to[0] = to[1] = 0;
    if (from[WPI_GPU_MOMENT_ORIGIN] == 0) return;
    const double differences = wpi_double_of(from[WPI_GPU_MOMENT_DIFFERENCES]);
    const double mean = differences / wpi_double_of(from[WPI_GPU_MOMENT_WEIGHTS]);
    const double squares = wpi_double_of(from[WPI_GPU_MOMENT_SQUARES]) - differences * mean;
    to[0] = wpi_bits_of(wpi_double_of(~from[WPI_GPU_MOMENT_ORIGIN]) + mean);
    to[1] = wpi_bits_of(squares < 0 ? 0 : squares);
}

static wp_status put_group(void *object, const uint64_t *bucket, bool is_null, wp_error *err) {
    batch *b = object;
    const wpi_gpu_layout *layout = &b->g->format.layout;
    const uint32_t at = b->it.count++;
    (void)err;
    b->keys[at] = bucket[0];
    b->rows[at] = bucket[1];
    if (is_null) b->it.null_group = at;
    for (uint32_t i = 0; i < layout->accumulator_count; i++) {
        const wpi_gpu_accumulator *how = &layout->accumulators[i];
        const uint64_t *from = &bucket[how->word];
        if (how->how == WPI_ACCUMULATE_MOMENTS)
            put_moments(from, &b->words[i][2 * (size_t)at]);
        else if (how->how == WPI_ACCUMULATE_SUM_INTEGER)
            memcpy(&b->words[i][2 * (size_t)at], from, 2 * sizeof *from);
        else
            b->words[i][at] = how->how == WPI_ACCUMULATE_MIN ? ~*from : *from;
    }
    if (b->it.count == BATCH_GROUPS) flush(b);
    return WP_STATUS_OK;
}

static wp_status emit(wpi_grouper *grouper, wpi_group_sink sink, void *object, wp_error *err) {
    gpu_grouper *g = (gpu_grouper *)grouper;
    const uint32_t columns = g->shape->accumulator_count;
    uint64_t *memory = wpi_calloc((size_t)BATCH_GROUPS * (2 + 2 * columns), sizeof *memory);
    uint64_t **words = wpi_calloc(columns + 1, sizeof *words);
    wp_status status = WP_STATUS_NOMEM;
    if (memory == NULL || words == NULL) {
        status = WP_FAIL(err, NOMEM, "a batch of groups");
    } else {
        batch b = {.g = g, .sink = sink, .object = object, .words = words};
        b.keys = memory;
        b.rows = memory + BATCH_GROUPS;
        for (uint32_t i = 0; i < columns; i++)
            words[i] = memory + (size_t)BATCH_GROUPS * (2 + 2 * i);
        b.it = (wpi_group_batch){.keys = b.keys,
                                 .rows = b.rows,
                                 .words = (const uint64_t *const *)words,
                                 .null_group = UINT32_MAX};
        status = wpi_gpu_groups_visit(&g->groups, put_group, &b, err);
        if (status == WP_STATUS_OK) flush(&b);
    }
    wpi_free(memory);
    wpi_free(words);
    return status;
}

const wpi_grouper_ops wpi_grouper_gpu = {.name = "gpu",
                                         .open = open_grouper,
                                         .add = add_rows,
                                         .count = count_groups,
                                         .emit = emit,
                                         .explain = explain,
                                         .close = close_grouper};
