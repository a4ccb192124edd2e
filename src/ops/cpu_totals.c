/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/cpu_totals.h"

#include "base/alloc.h"
#include "ops/cpu_block.h"
#include "ops/hash.h"

/* Groups of a batch: their words stay in the second cache until the sink has read them. */
#define BATCH 2048u

static wp_status make(wpi_cpu_totals *totals, uint32_t bits, uint32_t slots, wp_error *err) {
    const uint32_t count = UINT32_C(1) << bits;
    totals->tables = wp_calloc(count, sizeof *totals->tables);
    if (totals->tables == NULL) return WP_FAIL(err, NOMEM, "%u partitions", count);
    totals->bits = bits;
    for (uint32_t i = 0; i < count; i++)
        WP_TRY(wpi_cpu_table_init(&totals->tables[i], totals->layout, slots, true, err));
    return WP_STATUS_OK;
}

wp_status wpi_cpu_totals_make(wpi_cpu_totals *totals, uint32_t bits, uint32_t slots,
                              wp_error *err) {
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(&totals->lock);
    if (totals->tables == NULL) status = make(totals, bits, slots, err);
    if (status != WP_STATUS_OK) wpi_cpu_totals_deinit(totals);
    pthread_mutex_unlock(&totals->lock);
    return status;
}

void wpi_cpu_totals_deinit(wpi_cpu_totals *totals) {
    for (uint32_t i = 0; totals->tables != NULL && i < UINT32_C(1) << totals->bits; i++)
        wpi_cpu_table_deinit(&totals->tables[i]);
    wp_free(totals->tables);
    totals->tables = NULL;
    totals->bits = 0;
}

static wp_status absorb(wpi_cpu_totals *totals, const wpi_cpu_table *table, uint64_t rows_outer,
                        wp_error *err) {
    for (uint64_t slot = 0; slot <= table->mask; slot++) {
        const uint64_t *group = wpi_cpu_table_slot(table, slot);
        if (group[WPI_CPU_ROWS] == 0 || group[WPI_CPU_ROWS] >= rows_outer) continue;
        const uint64_t hash = wpi_hash_word(group[WPI_CPU_KEY]);
        const uint32_t partition = wpi_cpu_partition(hash, totals->bits);
        WP_TRY(wpi_cpu_table_merge(&totals->tables[partition], group, err));
    }
    wpi_cpu_layout_merge(totals->layout, wpi_cpu_table_null(&totals->tables[0]),
                         wpi_cpu_table_null(table));
    return WP_STATUS_OK;
}

wp_status wpi_cpu_totals_absorb(wpi_cpu_totals *totals, const wpi_cpu_table *table,
                                uint64_t rows_outer, wp_error *err) {
    pthread_mutex_lock(&totals->lock);
    const wp_status status = absorb(totals, table, rows_outer, err);
    pthread_mutex_unlock(&totals->lock);
    return status;
}

wp_status wpi_cpu_totals_convert(wpi_cpu_totals *totals, const wpi_cpu_layout *from,
                                 wp_error *err) {
    for (uint32_t i = 0; totals->tables != NULL && i < UINT32_C(1) << totals->bits; i++)
        WP_TRY(wpi_cpu_table_convert(&totals->tables[i], from, err));
    return WP_STATUS_OK;
}

/* ---- out --------------------------------------------------------------------------------------
 */

static bool has_null(const wpi_cpu_totals *totals) {
    return totals->tables != NULL && wpi_cpu_table_null(&totals->tables[0])[WPI_CPU_ROWS] != 0;
}

uint64_t wpi_cpu_totals_bytes(const wpi_cpu_totals *totals) {
    uint64_t slots = 0;
    for (uint32_t i = 0; totals->tables != NULL && i < UINT32_C(1) << totals->bits; i++)
        slots += totals->tables[i].mask + 1;
    return slots * totals->layout->stride * sizeof(uint64_t);
}

uint64_t wpi_cpu_totals_count(const wpi_cpu_totals *totals, uint64_t *firsts) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < UINT32_C(1) << totals->bits; i++) {
        firsts[i] = sum;
        sum += totals->tables[i].count + (i == 0 && has_null(totals));
    }
    firsts[UINT32_C(1) << totals->bits] = sum;
    return sum;
}

/* A batch being filled. */
typedef struct filling {
    const wpi_cpu_layout *layout;
    wpi_group_batch batch;
    uint64_t *keys, *rows;   /* [BATCH] */
    uint64_t **words;        /* [field_count] of [BATCH], or twice that */
    const uint64_t **groups; /* [BATCH]: the table's */
    uint64_t *memory;
    wpi_group_sink sink;
    void *object;
} filling;

static wp_status init_filling(filling *f, const wpi_cpu_layout *layout, uint64_t first,
                              wpi_group_sink sink, void *object, wp_error *err) {
    *f = (filling){.layout = layout, .sink = sink, .object = object};
    f->memory = wp_malloc((2 + 2 * (size_t)layout->field_count) * BATCH * sizeof *f->memory);
    f->words = wp_calloc(layout->field_count + 1, sizeof *f->words);
    f->groups = wp_malloc(BATCH * sizeof *f->groups);
    if (f->memory == NULL || f->words == NULL || f->groups == NULL)
        return WP_FAIL(err, NOMEM, "a batch of groups");
    f->keys = f->memory;
    f->rows = f->keys + BATCH;
    for (uint32_t i = 0; i < layout->field_count; i++)
        f->words[i] = f->rows + BATCH + 2 * (size_t)i * BATCH;
    f->batch = (wpi_group_batch){.first = first,
                                 .keys = f->keys,
                                 .null_group = UINT32_MAX,
                                 .rows = f->rows,
                                 .words = (const uint64_t *const *)f->words};
    return WP_STATUS_OK;
}

static void flush(filling *f) {
    wpi_group_batch *batch = &f->batch;
    if (batch->count == 0) return;
    for (uint32_t i = 0; i < batch->count; i++) {
        f->keys[i] = f->groups[i][WPI_CPU_KEY];
        f->rows[i] = f->groups[i][WPI_CPU_ROWS];
    }
    for (uint32_t i = 0; i < f->layout->field_count; i++)
        wpi_cpu_layout_values(f->layout, i, f->groups, batch->count, f->words[i]);
    if (batch->null_group == UINT32_MAX) batch->null_group = batch->count;
    f->sink(f->object, batch);
    batch->first += batch->count;
    batch->count = 0;
    batch->null_group = UINT32_MAX;
}

static void fill(filling *f, const uint64_t *group) {
    f->groups[f->batch.count++] = group;
    if (f->batch.count == BATCH) flush(f);
}

static void fill_all(filling *f, const wpi_cpu_table *table, bool is_with_null) {
    if (is_with_null) {
        f->batch.null_group = 0;
        fill(f, wpi_cpu_table_null(table));
    }
    for (uint64_t slot = 0; slot <= table->mask; slot++) {
        const uint64_t *group = wpi_cpu_table_slot(table, slot);
        if (group[WPI_CPU_ROWS] != 0) fill(f, group);
    }
    flush(f);
}

wp_status wpi_cpu_totals_emit(const wpi_cpu_totals *totals, uint32_t partition, uint64_t first,
                              wpi_group_sink sink, void *object, wp_error *err) {
    filling f;
    const wp_status status = init_filling(&f, totals->layout, first, sink, object, err);
    if (status == WP_STATUS_OK)
        fill_all(&f, &totals->tables[partition], partition == 0 && has_null(totals));
    wp_free(f.memory);
    wp_free(f.words);
    wp_free(f.groups);
    return status;
}
