/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_near_rows.h"

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"
#include "base/cpu_vectors.h"

/* Rows of few groups depend on each other's stores: each group has several copies, used in turn. */
#define COPIES 4u
#define COPIES_BYTES ((uint64_t)64 << 10) /* of all of them */

static wp_status alloc_own(const wpi_cpu_near_rows *rows, uint32_t count, uint8_t **memory,
                           wp_error *err) {
    *memory = wpi_cpu_memory_alloc(wpi_cpu_array_bytes(rows->near->layout, count));
    return *memory != NULL ? WP_STATUS_OK : WP_FAIL(err, NOMEM, "an array of %u groups", count);
}

static wp_status init_local(wpi_cpu_near_rows *rows, wp_error *err) {
    if (COPIES * wpi_cpu_near_bytes(rows->near) <= COPIES_BYTES) rows->copies = COPIES;
    const uint32_t count = rows->copies * (wpi_cpu_span_null(&rows->near->span) + 1);
    WP_TRY(alloc_own(rows, count, &rows->memory, err));
    wpi_cpu_array_init(&rows->own, rows->near->layout, count, rows->memory);
    return WP_STATUS_OK;
}

wp_status wpi_cpu_near_rows_init(wpi_cpu_near_rows *rows, wpi_cpu_near *near, wp_error *err) {
    *rows = (wpi_cpu_near_rows){.near = near, .copies = 1};
    if (near->is_local) return init_local(rows, err);
    rows->routes = wpi_malloc(sizeof *rows->routes);
    rows->offsets = wpi_malloc(WPI_CPU_MORSEL * sizeof *rows->offsets);
    if (rows->routes == NULL || rows->offsets == NULL)
        return WP_FAIL(err, NOMEM, "a thread's routes");
    return WP_STATUS_OK;
}

void wpi_cpu_near_rows_deinit(wpi_cpu_near_rows *rows) {
    wpi_free(rows->memory);
    wpi_free(rows->routes);
    wpi_free(rows->offsets);
    *rows = (wpi_cpu_near_rows){0};
}

/* ---- into its own array ---- */

WPI_CPU_VECTORS static void place_by_copies(uint32_t *restrict places,
                                            const uint32_t *restrict offsets, uint32_t first,
                                            uint32_t outer, uint32_t copy_words, uint32_t stride) {
    for (uint32_t i = first; i < outer; i++)
        places[i] = offsets[i] * stride + i % COPIES * copy_words;
}

WPI_CPU_VECTORS static void place(uint32_t *restrict places, const uint32_t *restrict offsets,
                                  uint32_t first, uint32_t outer, uint32_t stride) {
    for (uint32_t i = first; i < outer; i++)
        places[i] = offsets[i] * stride;
}

static void take_local(wpi_cpu_near_rows *rows, const uint32_t *offsets, uint32_t first,
                       uint32_t outer, const wpi_cpu_values *values) {
    const uint32_t stride = wpi_cpu_array_stride(rows->near->layout);
    if (rows->copies == 1)
        place(rows->places, offsets, first, outer, stride);
    else
        place_by_copies(rows->places, offsets, first, outer, rows->own.count / COPIES * stride,
                        stride);
    wpi_cpu_array_add(&rows->own, rows->places, values, first, outer, rows->scratch);
}

/* ---- to the exchange ---- */

WPI_CPU_VECTORS static void split(const uint32_t *restrict offsets, uint32_t count, uint32_t bits,
                                  uint16_t *restrict parts, uint16_t *restrict within) {
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = (uint16_t)(offsets[i] >> bits);
        within[i] = (uint16_t)(offsets[i] & mask);
    }
}

static void route(wpi_cpu_near_rows *rows, const uint32_t *offsets, uint32_t at, uint32_t count) {
    wpi_cpu_routes *routes = rows->routes;
    split(offsets, count, rows->near->part_bits, &routes->partitions[routes->count],
          &rows->offsets[at]);
    routes->count += count;
}

void wpi_cpu_near_rows_begin(wpi_cpu_near_rows *rows) {
    if (rows->routes == NULL) return;
    rows->routes->count = 0;
    rows->routes->is_all = true; /* until a row is left out */
}

static void leave_out(wpi_cpu_near_rows *rows) {
    if (!rows->routes->is_all) return;
    rows->routes->is_all = false;
    for (uint32_t i = 0; i < rows->routes->count; i++)
        rows->routes->rows[i] = i;
}

void wpi_cpu_near_rows_take(wpi_cpu_near_rows *rows, const uint32_t *offsets, uint32_t first,
                            uint32_t outer, uint32_t at, const wpi_cpu_values *values) {
    if (rows->near->is_local) {
        take_local(rows, offsets, first, outer, values);
        return;
    }
    const uint32_t count = rows->routes->count;
    if (at + first != count) leave_out(rows);
    route(rows, offsets + first, at + first, outer - first);
    if (rows->routes->is_all) return;
    for (uint32_t i = first; i < outer; i++)
        rows->routes->rows[count + i - first] = at + i;
}

void wpi_cpu_near_rows_put(wpi_cpu_near_rows *rows, uint32_t morsel, const wpi_cpu_values *values) {
    if (rows->routes != NULL && rows->routes->count != 0)
        wpi_cpu_exchange_put(&rows->near->exchange, morsel, rows->routes, rows->offsets, values);
}

/* ---- from the exchange ---- */

WPI_CPU_VECTORS static void place_within(uint32_t *restrict places,
                                         const uint16_t *restrict offsets, uint32_t count,
                                         uint32_t stride) {
    for (uint32_t i = 0; i < count; i++)
        places[i] = offsets[i] * stride;
}

static void gather_block(wpi_cpu_near_rows *rows, wpi_cpu_array *array, const uint16_t *offsets,
                         uint32_t count, const wpi_cpu_values *values) {
    const uint32_t stride = wpi_cpu_array_stride(array->layout);
    place_within(rows->places, offsets, count, stride);
    wpi_cpu_array_add(array, rows->places, values, 0, count, rows->scratch);
}

void wpi_cpu_near_rows_gather(wpi_cpu_near_rows *rows, uint32_t part, wpi_cpu_values *values) {
    const wpi_cpu_exchange *exchange = &rows->near->exchange;
    for (uint32_t morsel = 0; morsel < exchange->used_count; morsel++) {
        const wpi_cpu_run run = wpi_cpu_exchange_run(exchange, morsel, part);
        wpi_cpu_exchange_prefetch(exchange, morsel + 2, part);
        for (uint32_t at = 0; at < run.count; at += WPI_CPU_BLOCK) {
            const uint32_t left = run.count - at;
            wpi_cpu_exchange_values(exchange, run.first + at, values);
            gather_block(rows, wpi_cpu_near_part(rows->near, part), (const uint16_t *)run.keys + at,
                         left < WPI_CPU_BLOCK ? left : WPI_CPU_BLOCK, values);
        }
    }
}

wp_status wpi_cpu_near_rows_convert(wpi_cpu_near_rows *rows, const wpi_cpu_layout *from,
                                    wp_error *err) {
    uint8_t *memory = NULL;
    if (rows->own.groups == NULL) return WP_STATUS_OK;
    WP_TRY(alloc_own(rows, rows->own.count, &memory, err));
    wpi_cpu_array_convert(&rows->own, from, memory);
    wpi_free(rows->memory);
    rows->memory = memory;
    return WP_STATUS_OK;
}

void wpi_cpu_near_rows_flush(wpi_cpu_near_rows *rows) {
    if (rows->own.groups == NULL) return;
    wpi_cpu_near_absorb(rows->near, &rows->own);
    wpi_cpu_near_rows_deinit(rows);
}
