/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/cpu_near.h"

#include "base/alloc.h"
#include "ops/cpu_batch.h"

/* Each thread's own array: an L2 cache. */
#define LOCAL_BYTES ((uint64_t)2 << 20)
/* A part's array: half of one. */
#define PART_BYTES ((uint64_t)1 << 20)
#define PART_BITS_MAX 16u  /* an offset within a part has that many */
#define PARTS_BITS_MIN 6u  /* work for many threads */
#define PARTS_BITS_MAX 11u /* few enough for runs of rows to be long */

static uint64_t bytes_of(const wpi_cpu_layout *layout, uint32_t bits) {
    return (sizeof(uint64_t) * wpi_cpu_array_stride(layout)) << bits;
}

static uint32_t part_bits_of(const wpi_cpu_layout *layout, uint32_t span_bits) {
    uint32_t bits = PART_BITS_MAX;
    if (span_bits <= PARTS_BITS_MIN) return span_bits;
    if (bits > span_bits - PARTS_BITS_MIN) bits = span_bits - PARTS_BITS_MIN;
    while (bytes_of(layout, bits) > PART_BYTES && span_bits - bits < PARTS_BITS_MAX)
        bits--;
    return bits;
}

wp_status wpi_cpu_near_init(wpi_cpu_near *near, const wpi_cpu_span *span,
                            const wpi_cpu_layout *layout, wp_error *err) {
    *near = (wpi_cpu_near){.layout = layout};
    const uint32_t part_bits = part_bits_of(layout, span->bits);
    const uint32_t count = (UINT32_C(1) << (span->bits - part_bits)) + 1;
    near->parts = wp_calloc(count, sizeof *near->parts);
    if (near->parts == NULL) return WP_FAIL(err, NOMEM, "%u parts", count);
    near->span = *span;
    near->is_local = bytes_of(layout, span->bits) <= LOCAL_BYTES;
    near->part_bits = part_bits;
    near->part_count = count;
    return WP_STATUS_OK;
}

void wpi_cpu_near_deinit(wpi_cpu_near *near) {
    for (uint32_t i = 0; i < near->part_count; i++)
        wpi_cpu_array_deinit(&near->parts[i]);
    wp_free(near->parts);
    wpi_cpu_exchange_deinit(&near->exchange);
    *near = (wpi_cpu_near){0};
}

static bool is_of_null(const wpi_cpu_near *near, uint32_t part) {
    return part + 1 == near->part_count;
}

wp_status wpi_cpu_near_part(wpi_cpu_near *near, uint32_t part, wpi_cpu_array **out, wp_error *err) {
    const uint32_t count = is_of_null(near, part) ? 1 : UINT32_C(1) << near->part_bits;
    *out = &near->parts[part];
    return (*out)->groups != NULL ? WP_STATUS_OK
                                  : wpi_cpu_array_init(*out, near->layout, count, err);
}

wp_status wpi_cpu_near_absorb(wpi_cpu_near *near, const wpi_cpu_array *all, wp_error *err) {
    const uint32_t places = wpi_cpu_span_null(&near->span) + 1;
    for (uint32_t i = 0; i < all->count; i++) {
        const uint64_t *group = wpi_cpu_array_slot(all, i);
        if (group[WPI_CPU_ROWS] == 0) continue;
        wpi_cpu_array *part = NULL;
        const uint32_t offset = i % places;
        WP_TRY(wpi_cpu_near_part(near, offset >> near->part_bits, &part, err));
        const uint32_t number = offset & ((UINT32_C(1) << near->part_bits) - 1);
        wpi_cpu_layout_merge(near->layout, wpi_cpu_array_slot(part, number), group);
    }
    return WP_STATUS_OK;
}

wp_status wpi_cpu_near_convert(wpi_cpu_near *near, const wpi_cpu_layout *from, wp_error *err) {
    wpi_cpu_exchange_deinit(&near->exchange); /* its columns are others now */
    for (uint32_t i = 0; i < near->part_count; i++)
        if (near->parts[i].groups != NULL)
            WP_TRY(wpi_cpu_array_convert(&near->parts[i], from, err));
    return WP_STATUS_OK;
}

uint64_t wpi_cpu_near_bytes(const wpi_cpu_near *near) {
    return near->span.bits != 0 ? bytes_of(near->layout, near->span.bits) : 0;
}

static void fill_all(wpi_cpu_batch *batch, const wpi_cpu_near *near, uint32_t part) {
    const wpi_cpu_array *array = &near->parts[part];
    if (is_of_null(near, part)) {
        const uint64_t *group = wpi_cpu_array_slot(array, 0);
        if (group[WPI_CPU_ROWS] != 0) wpi_cpu_batch_fill_null(batch, group);
        return;
    }
    const uint32_t first = part << near->part_bits;
    for (uint32_t i = 0; i < array->count; i++) {
        const uint64_t *group = wpi_cpu_array_slot(array, i);
        if (group[WPI_CPU_ROWS] != 0)
            wpi_cpu_batch_fill(batch, wpi_cpu_span_key(&near->span, first + i), group);
    }
}

wp_status wpi_cpu_near_emit(const wpi_cpu_near *near, uint32_t part, uint64_t first,
                            wpi_group_sink sink, void *object, wp_error *err) {
    wpi_cpu_batch batch;
    if (near->parts[part].groups == NULL) return WP_STATUS_OK;
    const wp_status status = wpi_cpu_batch_begin(&batch, near->layout, first, sink, object, err);
    if (status == WP_STATUS_OK) fill_all(&batch, near, part);
    wpi_cpu_batch_end(&batch);
    return status;
}
