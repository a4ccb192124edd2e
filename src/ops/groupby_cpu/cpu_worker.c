/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_worker.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_block.h"
#include "ops/groupby_cpu/cpu_hash.h"
#include "base/cpu_vectors.h"

#define FIRST_SLOTS 2048u

/* The estimate of groups is limited to this multiple of the groups seen. */
#define GROUPS_EXPECTED_MAX 16.0
#define PARTITION_SLOTS_MAX ((uint32_t)1 << 17) /* to begin with */

/* A front pays if it takes this share of the rows: a look-up costs about half a partitioning. */
#define FRONT_SHARE 4
/* Frequent groups have this multiple of the average rows. */
#define FRONT_RATIO 4
/* Slots per group: if they fit, and at least. */
#define FRONT_SPARSE 8
#define FRONT_DENSE 4

struct wpi_cpu_worker {
    wpi_cpu_shared *shared;
    wpi_cpu_mode mode;
    wpi_cpu_table table;
    uint64_t rows_taken;    /* since its table was empty */
    void *hashes;           /* [MORSEL] of rows, of the layout's type */
    uint8_t *nulls;         /* [MORSEL] */
    uint8_t *value_nulls;   /* [value_count][MORSEL] */
    uint64_t *lot;          /* [value_count][BLOCK]: values of a partition's rows */
    wpi_cpu_values *values; /* [value_count] of the current block or morsel */
    wpi_cpu_routes *routes;
    wpi_cpu_near_rows near;
    uint32_t block_count;            /* rows of the current block */
    uint64_t block[WPI_CPU_BLOCK];   /* its keys, unless they lie in memory as words, */
    uint32_t offsets[WPI_CPU_BLOCK]; /* and their offsets in the span, where there is one */
    uint64_t scratch[WPI_CPU_BLOCK];
    uint32_t places[WPI_CPU_BLOCK];
};

wp_status wpi_cpu_worker_create(wpi_cpu_shared *shared, wpi_cpu_worker **out, wp_error *err) {
    const size_t value_count = shared->shape->value_count;
    wpi_cpu_worker *w = wpi_calloc(1, sizeof *w);
    *out = w;
    if (w == NULL) return WP_FAIL(err, NOMEM, "a thread's tables");
    w->shared = shared;
    w->hashes = wpi_calloc(WPI_CPU_MORSEL, sizeof(uint64_t));
    w->nulls = wpi_malloc(WPI_CPU_MORSEL);
    w->value_nulls = wpi_malloc(value_count * WPI_CPU_MORSEL);
    w->lot = wpi_malloc((value_count * WPI_CPU_BLOCK + 1) * sizeof *w->lot);
    w->values = wpi_calloc(value_count + 1, sizeof *w->values);
    w->routes = wpi_malloc(sizeof *w->routes);
    if (w->hashes == NULL || w->nulls == NULL || w->value_nulls == NULL || w->lot == NULL ||
        w->values == NULL || w->routes == NULL)
        return WP_FAIL(err, NOMEM, "a thread's tables");
    return wpi_cpu_table_init(&w->table, &shared->layout, FIRST_SLOTS, err);
}

void wpi_cpu_worker_destroy(wpi_cpu_worker *w) {
    if (w == NULL) return;
    wpi_cpu_table_deinit(&w->table);
    wpi_cpu_near_rows_deinit(&w->near);
    wpi_free(w->hashes);
    wpi_free(w->nulls);
    wpi_free(w->value_nulls);
    wpi_free(w->lot);
    wpi_free(w->values);
    wpi_free(w->routes);
    wpi_free(w);
}

wp_status wpi_cpu_worker_expect_near(wpi_cpu_worker *w, wp_error *err) {
    return wpi_cpu_near_rows_init(&w->near, &w->shared->near, err);
}

wpi_cpu_mode wpi_cpu_worker_mode(const wpi_cpu_worker *w) {
    return w->mode;
}

/* ---- modes ---- */

/* Slots of a table for this number of groups and some more. */
static uint32_t slots_for(double groups, uint32_t stride) {
    uint32_t slots = WPI_CPU_PARTITION_SLOTS_MIN;
    while (slots < PARTITION_SLOTS_MAX && wpi_cpu_table_limit(slots, stride) < groups * 33 / 32)
        slots *= 2;
    return slots;
}

/* Estimates the number of groups of all rows from the groups seen once and twice (Chao): right if
 * all are equally frequent, else too low. */
static double groups_expected(const wpi_cpu_table *table, uint64_t rows_left) {
    uint64_t counts[3] = {0};
    for (uint64_t slot = 0; slot <= table->mask; slot++) {
        const uint64_t rows = wpi_cpu_layout_rows(table->layout, wpi_cpu_table_slot(table, slot));
        counts[rows < 3 ? rows : 0]++;
    }
    const double once = (double)counts[1];
    const double unseen = once * once / 2 / (double)(counts[2] + 1);
    return table->count + (unseen < (double)rows_left ? unseen : (double)rows_left);
}

/* Makes the totals, sized by the groups of this thread's table and the estimate. */
static wp_status make_totals(wpi_cpu_worker *w, wp_error *err) {
    wpi_cpu_shared *shared = w->shared;
    const uint32_t partitions = UINT32_C(1) << shared->partition_bits;
    const uint32_t stride = shared->layout.stride;
    const double groups = w->table.count, most = GROUPS_EXPECTED_MAX * groups;
    const uint64_t rows = w->rows_taken, all_rows = shared->expected_rows;
    const double all = groups_expected(&w->table, all_rows > rows ? all_rows - rows : 0);
    const uint32_t slots = slots_for(groups / partitions, stride);
    const uint32_t expected = slots_for((all < most ? all : most) / partitions, stride);
    const uint32_t asked = shared->partition_slots;
    return wpi_cpu_totals_make(&shared->totals, shared->partition_bits, slots,
                               expected > asked ? expected : asked, err);
}

static wp_status empty_table(wpi_cpu_worker *w, uint32_t slots, wp_error *err) {
    wpi_cpu_table_deinit(&w->table);
    return wpi_cpu_table_init(&w->table, &w->shared->layout, slots, err);
}

wp_status wpi_cpu_worker_flush(wpi_cpu_worker *w, wp_error *err) {
    WP_TRY(make_totals(w, err));
    WP_TRY(wpi_cpu_totals_absorb(&w->shared->totals, &w->table, UINT64_MAX, err));
    return empty_table(w, FIRST_SLOTS, err);
}

wp_status wpi_cpu_worker_give(wpi_cpu_worker *w, wp_error *err) {
    wpi_cpu_totals *totals = &w->shared->totals;
    WP_TRY(wpi_cpu_totals_make(totals, 0, WPI_CPU_PARTITION_SLOTS_MIN, 0, err));
    const wpi_cpu_table own = w->table;
    w->table = totals->tables[0];
    totals->tables[0] = own;
    return WP_STATUS_OK;
}

void wpi_cpu_worker_flush_near(wpi_cpu_worker *w) {
    wpi_cpu_near_rows_flush(&w->near);
}

wp_status wpi_cpu_worker_convert(wpi_cpu_worker *w, const wpi_cpu_layout *from, wp_error *err) {
    WP_TRY(wpi_cpu_near_rows_convert(&w->near, from, err));
    return wpi_cpu_table_convert(&w->table, from, err);
}

/* The rows of groups with at least `rows_min` rows, and the number of those groups. */
static uint64_t rows_of_frequent(const wpi_cpu_table *table, uint64_t rows_min, uint32_t *groups) {
    uint64_t rows = 0;
    *groups = 0;
    for (uint64_t slot = 0; slot <= table->mask; slot++) {
        const uint64_t here = wpi_cpu_layout_rows(table->layout, wpi_cpu_table_slot(table, slot));
        if (here < rows_min) continue;
        rows += here;
        ++*groups;
    }
    return rows;
}

/* Sparse, so that nearly all groups are in their first slot. */
static uint32_t front_slots(uint32_t groups, uint32_t slots_max) {
    uint32_t slots = FIRST_SLOTS;
    while (slots < FRONT_SPARSE * groups && slots < slots_max)
        slots *= 2;
    return slots;
}

/* Keeps only the frequent groups, in a table of their own. */
static wp_status keep_frequent(wpi_cpu_worker *w, uint64_t rows_min, uint32_t groups,
                               wp_error *err) {
    wp_status status = WP_STATUS_OK;
    wpi_cpu_table all = w->table;
    w->table = (wpi_cpu_table){0};
    WP_TRY_GOTO(wpi_cpu_totals_absorb(&w->shared->totals, &all, rows_min, err), done);
    WP_TRY_GOTO(empty_table(w, front_slots(groups, w->shared->front_slots), err), done);
    for (uint64_t slot = 0; slot <= all.mask; slot++) {
        const uint64_t *group = wpi_cpu_table_slot(&all, slot);
        if (wpi_cpu_layout_rows(all.layout, group) >= rows_min)
            WP_TRY_GOTO(wpi_cpu_table_merge(&w->table, group, err), done);
    }
done:
    wpi_cpu_table_deinit(&all);
    return status;
}

/* The table is full: grows it, or changes the mode if it would exceed the cache. */
static wp_status make_room(wpi_cpu_worker *w, wp_error *err) {
    if (w->table.mask + 1 < w->shared->local_slots) return wpi_cpu_table_grow(&w->table, err);
    WP_TRY(make_totals(w, err));
    uint64_t rows_min = FRONT_RATIO * (w->rows_taken / w->table.count + 1);
    uint32_t groups = 0;
    uint64_t rows = rows_of_frequent(&w->table, rows_min, &groups);
    while (groups > w->shared->front_slots / FRONT_DENSE)
        rows = rows_of_frequent(&w->table, rows_min *= 2, &groups);
    if (rows < w->rows_taken / FRONT_SHARE) {
        w->mode = WPI_CPU_THROUGH;
        return wpi_cpu_worker_flush(w, err);
    }
    w->mode = WPI_CPU_FRONT;
    return keep_frequent(w, rows_min, groups, err);
}

/* ---- rows ---- */

static void set_values(wpi_cpu_worker *w, const wp_column *values, uint64_t first, uint32_t count,
                       uint32_t at) {
    for (uint32_t i = 0; i < w->shared->shape->value_count; i++) {
        const wp_column *column = &values[i];
        uint8_t *nulls = w->value_nulls + (size_t)i * WPI_CPU_MORSEL + at;
        w->values[i] = (wpi_cpu_values){.type = column->type,
                                        .values = (const uint8_t *)column->values +
                                                  first * wp_type_bytes(column->type)};
        if (!w->shared->traits.has_nulls[i]) continue;
        wpi_cpu_nulls(column, first, count, nulls);
        w->values[i].nulls = nulls;
    }
}

static void accumulate(wpi_cpu_worker *w, wpi_cpu_table *table, uint32_t first, uint32_t outer) {
    wpi_cpu_accumulate(table->layout, table->groups, w->places, w->values, first, outer,
                       w->scratch);
}

/* The values for the groups' only sum; NULL: groups have other accumulators. */
static const uint64_t *addends_of(wpi_cpu_worker *w, uint32_t first, uint32_t outer) {
    const wpi_cpu_values *only = wpi_cpu_only_sum(&w->shared->layout, w->values);
    return only != NULL ? wpi_cpu_words(only, first, outer - first, w->scratch) : NULL;
}

/* Takes rows of the block from `first` on into a table, unless there may be no room. */
static bool take_into(wpi_cpu_worker *w, wpi_cpu_table *table, const wpi_cpu_rows *rows,
                      uint32_t first) {
    const uint64_t *addends = addends_of(w, first, rows->count);
    if (!wpi_cpu_table_find(table, rows, first, addends, w->places)) return false;
    if (addends == NULL) accumulate(w, table, first, rows->count);
    return true;
}

/* Partitions of a block's rows. */
#define SPLIT(bits)                                                                                \
    WPI_CPU_VECTORS static void split_##bits(const uint##bits##_t *restrict hashes,                \
                                             uint32_t count, uint32_t shift,                       \
                                             uint16_t *restrict partitions) {                      \
        for (uint32_t i = 0; i < count; i++)                                                       \
            partitions[i] = (uint16_t)(hashes[i] >> shift);                                        \
    }
SPLIT(32)
SPLIT(64)

static void split(const wpi_cpu_totals *totals, const void *hashes, uint32_t count,
                  uint16_t *partitions) {
    const uint32_t shift = totals->layout->hash_bits - totals->bits;
    if (wpi_cpu_layout_is_narrow(totals->layout))
        split_32(hashes, count, shift, partitions);
    else
        split_64(hashes, count, shift, partitions);
}

/* Rows from `first` on: those of groups in its own table go there, the others get routes. */
static void take_through(wpi_cpu_worker *w, const wpi_cpu_rows *rows, uint32_t first, uint32_t at) {
    wpi_cpu_routes *routes = w->routes;
    if (routes->is_all) {
        split(&w->shared->totals, rows->hashes, rows->count, &routes->partitions[routes->count]);
        routes->count += rows->count;
        return;
    }
    uint32_t others[WPI_CPU_BLOCK];
    uint16_t partitions[WPI_CPU_BLOCK];
    const uint64_t *addends = addends_of(w, first, rows->count);
    const uint32_t count =
        wpi_cpu_table_find_only(&w->table, rows, first, addends, w->places, others);
    if (addends == NULL) accumulate(w, &w->table, first, rows->count);
    split(&w->shared->totals, rows->hashes, rows->count, partitions);
    for (uint32_t i = 0; i < count; i++) {
        routes->partitions[routes->count] = partitions[others[i]];
        routes->rows[routes->count++] = at + others[i];
    }
}

/* Rows from `first` on by their hashes. */
static wp_status take_hashed(wpi_cpu_worker *w, const wpi_cpu_rows *rows, uint32_t first,
                             uint32_t at, wp_error *err) {
    while (w->mode == WPI_CPU_LOCAL) {
        if (take_into(w, &w->table, rows, first)) {
            w->rows_taken += rows->count - first;
            return wpi_cpu_table_is_full(&w->table) ? make_room(w, err) : WP_STATUS_OK;
        }
        WP_TRY(make_room(w, err));
    }
    take_through(w, rows, first, at);
    return WP_STATUS_OK;
}

/* The block's rows, which begin at `at` of the morsel. */
static wpi_cpu_rows hash_block(wpi_cpu_worker *w, const uint64_t *keys, const uint8_t *nulls,
                               uint32_t at) {
    const wpi_cpu_layout *layout = &w->shared->layout;
    uint8_t *hashes = (uint8_t *)w->hashes + at * wp_type_bytes(wpi_cpu_hash_type(layout));
    wpi_cpu_hash(layout, keys, w->block_count, hashes);
    return (wpi_cpu_rows){.count = w->block_count, .hashes = hashes, .nulls = nulls};
}

/* Rows of a block some of which are outside of the span: by runs of rows inside and outside. */
static wp_status take_mixed(wpi_cpu_worker *w, const uint64_t *words, uint32_t at, wp_error *err) {
    uint32_t outer;
    wpi_cpu_rows rows = hash_block(w, words, NULL, at);
    for (uint32_t first = 0; first < w->block_count; first = outer) {
        const bool is_far = w->offsets[first] == WPI_CPU_FAR;
        outer = first + 1;
        while (outer < w->block_count && (w->offsets[outer] == WPI_CPU_FAR) == is_far)
            outer++;
        rows.count = outer;
        if (is_far)
            WP_TRY(take_hashed(w, &rows, first, at, err));
        else
            wpi_cpu_near_rows_take(&w->near, w->offsets, first, outer, at, w->values);
    }
    return WP_STATUS_OK;
}

/* Rows of a block if there is a span: their keys are not needed unless some are outside. */
static wp_status take_near(wpi_cpu_worker *w, const wp_column *keys, uint64_t first, uint32_t at,
                           wp_error *err) {
    uint8_t *nulls = w->shared->has_null_keys ? w->nulls + at : NULL;
    const uint64_t *words = NULL;
    const uint32_t count = w->block_count;
    WP_TRY(wpi_keys_words(w->shared->keys, keys, first, count, w->block, nulls, &words, err));
    if (wpi_cpu_span_offsets(&w->shared->near.span, words, nulls, count, w->offsets)) {
        wpi_cpu_near_rows_take(&w->near, w->offsets, 0, count, at, w->values);
        return WP_STATUS_OK;
    }
    return take_mixed(w, words, at, err);
}

static wp_status take_block(wpi_cpu_worker *w, const wp_column *keys, const wp_column *values,
                            uint64_t first, uint32_t count, uint32_t at, wp_error *err) {
    const uint64_t *words = NULL;
    uint8_t *nulls = w->shared->has_null_keys ? w->nulls + at : NULL;
    w->block_count = count;
    set_values(w, values, first, count, at);
    if (w->shared->near.span.bits != 0) return take_near(w, keys, first, at, err);
    WP_TRY(wpi_keys_words(w->shared->keys, keys, first, count, w->block, nulls, &words, err));
    if (nulls != NULL && memchr(nulls, 1, count) == NULL) nulls = NULL;
    const wpi_cpu_rows rows = hash_block(w, words, nulls, at);
    return take_hashed(w, &rows, 0, at, err);
}

static wp_status make_exchange(wpi_cpu_shared *shared, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(&shared->totals.lock);
    if (shared->exchange.starts == NULL)
        status = wpi_cpu_exchange_init(&shared->exchange, wpi_cpu_hash_type(&shared->layout),
                                       UINT32_C(1) << shared->totals.bits, shared->round_morsels,
                                       shared->used_morsels, shared->shape, &shared->traits, err);
    pthread_mutex_unlock(&shared->totals.lock);
    return status;
}

bool wpi_cpu_worker_can_take(const wpi_cpu_worker *w, const wp_column *values, uint64_t first,
                             uint32_t count) {
    for (uint32_t i = 0; i < w->shared->shape->value_count; i++)
        if (!w->shared->traits.is_wide[i] && !wpi_cpu_is_narrow(&values[i], first, count))
            return false;
    return true;
}

wp_status wpi_cpu_worker_take(wpi_cpu_worker *w, const wp_column *keys, const wp_column *values,
                              uint64_t first, uint32_t count, uint32_t morsel, wp_error *err) {
    w->routes->count = 0;
    w->routes->is_all =
        w->mode == WPI_CPU_THROUGH && !w->shared->has_null_keys && w->shared->near.span.bits == 0;
    wpi_cpu_near_rows_begin(&w->near);
    for (uint32_t at = 0; at < count; at += WPI_CPU_BLOCK) {
        const uint32_t here = count - at < WPI_CPU_BLOCK ? count - at : WPI_CPU_BLOCK;
        WP_TRY(take_block(w, keys, values, first + at, here, at, err));
    }
    set_values(w, values, first, 0, 0);
    wpi_cpu_near_rows_put(&w->near, morsel, w->values);
    if (w->routes->count == 0) return WP_STATUS_OK;
    WP_TRY(make_exchange(w->shared, err));
    wpi_cpu_exchange_put(&w->shared->exchange, morsel, w->routes, w->hashes, w->values);
    return WP_STATUS_OK;
}

/* ---- partitions ---- */

/* Sets the buffers of a lot's values: a partition's rows from several runs. */
static void begin_lot(wpi_cpu_worker *w) {
    const wpi_cpu_exchange *exchange = &w->shared->exchange;
    for (uint32_t i = 0; i < exchange->value_count; i++) {
        const bool has_nulls = exchange->nulls[i].items != NULL;
        uint8_t *nulls = w->value_nulls + (size_t)i * WPI_CPU_MORSEL;
        w->values[i] = (wpi_cpu_values){.type = exchange->values[i].type,
                                        .values = w->lot + (size_t)i * WPI_CPU_BLOCK,
                                        .nulls = has_nulls ? nulls : NULL};
    }
}

static void add_to_lot(wpi_cpu_worker *w, uint64_t first, uint32_t count, uint32_t at) {
    const wpi_cpu_exchange *exchange = &w->shared->exchange;
    wpi_cpu_stream_copy(&exchange->keys, first, count, w->hashes, at);
    for (uint32_t i = 0; i < exchange->value_count; i++) {
        uint64_t *values = w->lot + (size_t)i * WPI_CPU_BLOCK;
        uint8_t *nulls = w->value_nulls + (size_t)i * WPI_CPU_MORSEL;
        wpi_cpu_stream_copy(&exchange->values[i], first, count, values, at);
        if (exchange->nulls[i].items != NULL)
            wpi_cpu_stream_copy(&exchange->nulls[i], first, count, nulls, at);
    }
}

/* Grows a partition's table to its expected size, or nearly. */
static wp_status grow_total(wpi_cpu_table *table, wp_error *err) {
    const uint32_t slots = table->mask + 1;
    if (slots >= PARTITION_SLOTS_MAX / 2) return wpi_cpu_table_grow(table, err);
    const uint32_t expected = slots_for(groups_expected(table, UINT64_MAX), table->layout->stride);
    return wpi_cpu_table_resize(table, expected > 2 * slots ? 4 * slots : 2 * slots, err);
}

static wp_status take_lot(wpi_cpu_worker *w, wpi_cpu_table *table, uint32_t count, wp_error *err) {
    const wpi_cpu_rows rows = {.count = count, .hashes = w->hashes};
    while (!take_into(w, table, &rows, 0))
        WP_TRY(grow_total(table, err));
    return wpi_cpu_table_is_full(table) ? grow_total(table, err) : WP_STATUS_OK;
}

/* Runs are short, so several are taken as a lot, whose slots can be prefetched. */
wp_status wpi_cpu_worker_gather(wpi_cpu_worker *w, uint32_t partition, wp_error *err) {
    const wpi_cpu_exchange *exchange = &w->shared->exchange;
    const wpi_cpu_totals *totals = &w->shared->totals;
    wpi_cpu_table *table = &totals->tables[partition];
    uint32_t lot = 0;
    if (table->mask + 1 < totals->slots_expected)
        WP_TRY(wpi_cpu_table_resize(table, totals->slots_expected, err));
    begin_lot(w);
    for (uint32_t morsel = 0; morsel < exchange->used_count; morsel++) {
        const wpi_cpu_run run = wpi_cpu_exchange_run(exchange, morsel, partition);
        wpi_cpu_exchange_prefetch(exchange, morsel + 2, partition);
        for (uint32_t at = 0; at < run.count;) {
            const uint32_t left = run.count - at, room = WPI_CPU_BLOCK - lot;
            const uint32_t count = left < room ? left : room;
            add_to_lot(w, run.first + at, count, lot);
            at += count;
            lot += count;
            if (lot < WPI_CPU_BLOCK) continue;
            WP_TRY(take_lot(w, table, lot, err));
            lot = 0;
        }
    }
    return take_lot(w, table, lot, err);
}

void wpi_cpu_worker_gather_near(wpi_cpu_worker *w, uint32_t part) {
    wpi_cpu_near_rows_gather(&w->near, part, w->values);
}
