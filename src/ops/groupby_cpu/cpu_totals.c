/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_totals.h"

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_batch.h"

static wp_status make(wpi_cpu_totals *totals, uint32_t bits, uint32_t slots, wp_error *err) {
    const uint32_t count = UINT32_C(1) << bits;
    totals->tables = wpi_calloc(count, sizeof *totals->tables);
    if (totals->tables == NULL) return WP_FAIL(err, NOMEM, "%u partitions", count);
    totals->bits = bits;
    for (uint32_t i = 0; i < count; i++)
        WP_TRY(wpi_cpu_table_init(&totals->tables[i], totals->layout, slots, err));
    return WP_STATUS_OK;
}

wp_status wpi_cpu_totals_make(wpi_cpu_totals *totals, uint32_t bits, uint32_t slots,
                              uint32_t slots_expected, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(&totals->lock);
    if (totals->tables == NULL) {
        totals->slots_expected = slots_expected;
        status = make(totals, bits, slots, err);
    }
    if (status != WP_STATUS_OK) wpi_cpu_totals_deinit(totals);
    pthread_mutex_unlock(&totals->lock);
    return status;
}

void wpi_cpu_totals_deinit(wpi_cpu_totals *totals) {
    for (uint32_t i = 0; totals->tables != NULL && i < UINT32_C(1) << totals->bits; i++)
        wpi_cpu_table_deinit(&totals->tables[i]);
    wpi_free(totals->tables);
    totals->tables = NULL;
    totals->bits = 0;
}

static wp_status absorb(wpi_cpu_totals *totals, const wpi_cpu_table *table, uint64_t rows_outer,
                        wp_error *err) {
    for (uint64_t slot = 0; slot <= table->mask; slot++) {
        const uint64_t *group = wpi_cpu_table_slot(table, slot);
        const uint64_t rows = wpi_cpu_layout_rows(totals->layout, group);
        if (rows == 0 || rows >= rows_outer) continue;
        const uint64_t hash = wpi_cpu_layout_hash(totals->layout, group);
        const uint32_t partition = wpi_cpu_partition(totals, hash);
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

/* ---- results ---- */

static bool has_null(const wpi_cpu_totals *totals) {
    return totals->tables != NULL &&
           wpi_cpu_table_null(&totals->tables[0])[totals->layout->rows_at] != 0;
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

wp_status wpi_cpu_totals_emit(const wpi_cpu_totals *totals, uint32_t partition, uint64_t first,
                              wpi_group_sink sink, void *object, wp_error *err) {
    wpi_cpu_batch batch;
    const wp_status status = wpi_cpu_batch_begin(&batch, totals->layout, first, sink, object, err);
    if (status == WP_STATUS_OK) {
        const wpi_cpu_table *table = &totals->tables[partition];
        if (partition == 0 && has_null(totals))
            wpi_cpu_batch_fill_null(&batch, wpi_cpu_table_null(table));
        wpi_cpu_batch_fill_slots(&batch, table->groups, (uint64_t)table->mask + 1);
    }
    wpi_cpu_batch_end(&batch);
    return status;
}
