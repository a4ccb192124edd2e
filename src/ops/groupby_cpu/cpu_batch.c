/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_batch.h"

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_hash.h"

/* Groups of a batch: their words stay in the second cache until the sink has read them. */
#define BATCH 2048u

wp_status wpi_cpu_batch_begin(wpi_cpu_batch *b, const wpi_cpu_layout *layout, uint64_t first,
                              wpi_group_sink sink, void *object, wp_error *err) {
    *b = (wpi_cpu_batch){.layout = layout, .sink = sink, .object = object};
    b->memory = wpi_malloc((2 + 2 * (size_t)layout->field_count) * BATCH * sizeof *b->memory);
    b->words = wpi_calloc(layout->field_count + 1, sizeof *b->words);
    b->groups = wpi_malloc(BATCH * sizeof *b->groups);
    if (b->memory == NULL || b->words == NULL || b->groups == NULL)
        return WP_FAIL(err, NOMEM, "a batch of groups");
    b->keys = b->memory;
    b->rows = b->keys + BATCH;
    for (uint32_t i = 0; i < layout->field_count; i++)
        b->words[i] = b->rows + BATCH + 2 * (size_t)i * BATCH;
    b->batch = (wpi_group_batch){.first = first,
                                 .keys = b->keys,
                                 .null_group = UINT32_MAX,
                                 .rows = b->rows,
                                 .words = (const uint64_t *const *)b->words};
    return WP_STATUS_OK;
}

static void flush(wpi_cpu_batch *b) {
    wpi_group_batch *batch = &b->batch;
    if (batch->count == 0) return;
    for (uint32_t i = 0; i < batch->count; i++)
        b->rows[i] = wpi_cpu_layout_rows(b->layout, b->groups[i]);
    for (uint32_t i = 0; i < b->layout->field_count; i++)
        wpi_cpu_layout_values(b->layout, i, b->groups, batch->count, b->words[i]);
    if (batch->null_group == UINT32_MAX) batch->null_group = batch->count;
    b->sink(b->object, batch);
    batch->first += batch->count;
    batch->count = 0;
    batch->null_group = UINT32_MAX;
}

void wpi_cpu_batch_fill(wpi_cpu_batch *b, uint64_t key, const uint64_t *group) {
    b->keys[b->batch.count] = key;
    b->groups[b->batch.count++] = group;
    if (b->batch.count == BATCH) flush(b);
}

/* Branches on free slots are mispredicted, so a slot is always written and counted if it is
 * used. */
void wpi_cpu_batch_fill_slots(wpi_cpu_batch *b, const uint64_t *slots, uint64_t count) {
    const wpi_cpu_layout *layout = b->layout;
    for (uint64_t slot = 0; slot < count;) {
        uint32_t used = b->batch.count;
        for (; slot < count && used < BATCH; slot++) {
            const uint64_t *group = &slots[slot * layout->stride];
            b->keys[used] = wpi_cpu_layout_hash(layout, group);
            b->groups[used] = group;
            used += wpi_cpu_layout_rows(layout, group) != 0;
        }
        wpi_cpu_unhash(layout, b->keys + b->batch.count, used - b->batch.count);
        b->batch.count = used;
        if (used == BATCH) flush(b);
    }
}

void wpi_cpu_batch_fill_null(wpi_cpu_batch *b, const uint64_t *group) {
    b->batch.null_group = b->batch.count;
    wpi_cpu_batch_fill(b, 0, group);
}

void wpi_cpu_batch_end(wpi_cpu_batch *b) {
    flush(b);
    wpi_free(b->memory);
    wpi_free(b->words);
    wpi_free(b->groups);
}
