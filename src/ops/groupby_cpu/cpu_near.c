/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_near.h"

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_batch.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"

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

static uint32_t part_groups(const wpi_cpu_near *near) {
    return UINT32_C(1) << near->part_bits;
}

static uint8_t *alloc_parts(const wpi_cpu_near *near, wp_error *err) {
    const size_t bytes = wpi_cpu_array_bytes(near->layout, part_groups(near));
    uint8_t *memory = wpi_cpu_memory_alloc(bytes * near->part_count);
    if (memory == NULL) (void)WP_FAIL(err, NOMEM, "arrays for %u parts", near->part_count);
    return memory;
}

static uint8_t *memory_of(const wpi_cpu_near *near, uint8_t *memory, uint32_t part) {
    return memory + part * wpi_cpu_array_bytes(near->layout, part_groups(near));
}

wp_status wpi_cpu_near_init(wpi_cpu_near *near, const wpi_cpu_span *span,
                            const wpi_cpu_layout *layout, wp_error *err) {
    *near = (wpi_cpu_near){.layout = layout};
    const uint32_t part_bits = part_bits_of(layout, span->bits);
    const uint32_t count = (UINT32_C(1) << (span->bits - part_bits)) + 1;
    near->parts = wpi_calloc(count, sizeof *near->parts);
    if (near->parts == NULL) return WP_FAIL(err, NOMEM, "%u parts", count);
    near->span = *span;
    near->is_local = bytes_of(layout, span->bits) <= LOCAL_BYTES;
    near->part_bits = part_bits;
    near->part_count = count;
    near->memory = alloc_parts(near, err);
    return near->memory != NULL ? WP_STATUS_OK : WP_STATUS_NOMEM;
}

void wpi_cpu_near_deinit(wpi_cpu_near *near) {
    wpi_free(near->parts);
    wpi_free(near->memory);
    wpi_cpu_exchange_deinit(&near->exchange);
    *near = (wpi_cpu_near){0};
}

static bool is_of_null(const wpi_cpu_near *near, uint32_t part) {
    return part + 1 == near->part_count;
}

wpi_cpu_array *wpi_cpu_near_part(wpi_cpu_near *near, uint32_t part) {
    wpi_cpu_array *array = &near->parts[part];
    const uint32_t count = is_of_null(near, part) ? 1 : part_groups(near);
    if (array->groups == NULL)
        wpi_cpu_array_init(array, near->layout, count, memory_of(near, near->memory, part));
    return array;
}

void wpi_cpu_near_absorb(wpi_cpu_near *near, const wpi_cpu_array *all) {
    const uint32_t places = wpi_cpu_span_null(&near->span) + 1;
    for (uint32_t i = 0; i < all->count; i++) {
        const uint64_t *group = wpi_cpu_array_slot(all, i);
        if (group[near->layout->rows_at] == 0) continue;
        const uint32_t offset = i % places;
        wpi_cpu_array *part = wpi_cpu_near_part(near, offset >> near->part_bits);
        wpi_cpu_layout_merge(near->layout,
                             wpi_cpu_array_slot(part, offset & (part_groups(near) - 1)), group);
    }
}

wp_status wpi_cpu_near_convert(wpi_cpu_near *near, const wpi_cpu_layout *from, wp_error *err) {
    if (near->span.bits == 0) return WP_STATUS_OK;
    wpi_cpu_exchange_deinit(&near->exchange); /* its columns are others now */
    uint8_t *memory = alloc_parts(near, err);
    if (memory == NULL) return WP_STATUS_NOMEM;
    for (uint32_t i = 0; i < near->part_count; i++)
        if (near->parts[i].groups != NULL)
            wpi_cpu_array_convert(&near->parts[i], from, memory_of(near, memory, i));
    wpi_free(near->memory);
    near->memory = memory;
    return WP_STATUS_OK;
}

uint64_t wpi_cpu_near_bytes(const wpi_cpu_near *near) {
    return near->span.bits != 0 ? bytes_of(near->layout, near->span.bits) : 0;
}

static void fill_all(wpi_cpu_batch *batch, const wpi_cpu_near *near, uint32_t part) {
    const wpi_cpu_array *array = &near->parts[part];
    if (is_of_null(near, part)) {
        const uint64_t *group = wpi_cpu_array_slot(array, 0);
        if (group[near->layout->rows_at] != 0) wpi_cpu_batch_fill_null(batch, group);
        return;
    }
    const uint32_t first = part << near->part_bits;
    for (uint32_t i = 0; i < array->count; i++) {
        const uint64_t *group = wpi_cpu_array_slot(array, i);
        if (group[near->layout->rows_at] != 0)
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
