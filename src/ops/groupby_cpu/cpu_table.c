/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_table.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"
#include "base/cpu_vectors.h"

#define SLOTS_MAX ((uint32_t)1 << 30)
#define SMALL_SLOTS ((uint32_t)1 << 12) /* grow faster */

/* Sparse while that is cheap: collisions cause mispredicted branches. */
#define SPARSE_BYTES ((uint64_t)64 << 10) /* a quarter full */
#define HALF_BYTES ((uint64_t)512 << 10)

uint32_t wpi_cpu_table_limit(uint32_t slots, uint32_t stride) {
    const uint64_t bytes = (uint64_t)slots * stride * sizeof(uint64_t);
    if (bytes <= SPARSE_BYTES) return slots / 4;
    return bytes <= HALF_BYTES ? slots / 2 : slots / 8 * 5;
}

static void put_initial(const wpi_cpu_table *table, uint64_t slot) {
    memcpy(wpi_cpu_table_slot(table, slot), table->layout->initial,
           table->layout->stride * sizeof *table->groups);
}

wp_status wpi_cpu_table_init(wpi_cpu_table *table, const wpi_cpu_layout *layout, uint32_t slots,
                             wp_error *err) {
    *table = (wpi_cpu_table){
        .layout = layout, .mask = slots - 1, .limit = wpi_cpu_table_limit(slots, layout->stride)};
    /* Places have 32 bits. */
    const size_t places = slots + (size_t)1 + WPI_CPU_NOWHERE;
    const size_t bytes = places * layout->stride * sizeof *table->groups;
    if (slots <= SLOTS_MAX && bytes / sizeof *table->groups <= UINT32_MAX)
        table->groups = wpi_cpu_memory_alloc(bytes);
    if (table->groups == NULL) return WP_FAIL(err, NOMEM, "a table of %u groups", slots);
    memset(table->groups, 0, bytes);
    for (size_t i = 0; i < slots; i++)
        wpi_cpu_table_slot(table, i)[0] =
            i ^ slots / 2; /* while free: a hash that begins far off */
    for (size_t i = slots; i < places; i++)
        put_initial(table, i);
    return WP_STATUS_OK;
}

void wpi_cpu_table_deinit(wpi_cpu_table *table) {
    wpi_free(table->groups);
    *table = (wpi_cpu_table){0};
}

/* ---- finding ----------------------------------------------------------------------------------
 * All rows of a block are first looked up in their first slot, then the remaining ones in the next
 * slots: without branches on a row, and without waiting for stores of the row before. Only rows
 * that are not found there are probed.
 */

#define STEPS 4u /* slots */
#define FEW 4u   /* a lookup that finds less than this part is the last: groups are new */

static inline uint64_t hash_at(const void *hashes, bool is_narrow, uint32_t row) {
    return is_narrow ? ((const uint32_t *)hashes)[row] : ((const uint64_t *)hashes)[row];
}

/* Places of rows whose group is in its first slot; else a place whose contents are discarded. */
#define FIND_FIRST(bits)                                                                           \
    WPI_CPU_VECTORS static void find_first_##bits(                                                 \
        const uint64_t *restrict groups, uint64_t stride, uint64_t mask,                           \
        const uint##bits##_t *restrict hashes, uint32_t count, uint32_t *restrict places) {        \
        const uint64_t nowhere = (mask + 2) * stride;                                              \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            const uint64_t home = (hashes[i] & mask) * stride;                                     \
            const uint64_t lost = nowhere + i % WPI_CPU_NOWHERE * stride;                          \
            places[i] = (uint32_t)((uint##bits##_t)groups[home] == hashes[i] ? home : lost);       \
        }                                                                                          \
    }
FIND_FIRST(32)
FIND_FIRST(64)

/* Lists rows without a place, from `first` on. */
static uint32_t list_lost(const uint32_t *restrict places, uint32_t first, uint32_t outer,
                          uint32_t nowhere, uint32_t *restrict lost) {
    uint32_t count = 0;
    for (uint32_t row = first; row < outer; row++) {
        lost[count] = row;
        count += places[row] >= nowhere;
    }
    return count;
}

/* The same for rows without a place, `step` slots further; returns how many are left. */
#define FIND_NEXT(bits)                                                                            \
    static uint32_t find_next_##bits(const uint64_t *restrict groups, uint64_t stride,             \
                                     uint64_t mask, const uint##bits##_t *restrict hashes,         \
                                     uint64_t step, uint32_t *restrict lost, uint32_t count,       \
                                     uint32_t *restrict places) {                                  \
        uint32_t left = 0;                                                                         \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            const uint32_t row = lost[i];                                                          \
            const uint64_t place = ((hashes[row] + step) & mask) * stride;                         \
            const bool is_lost = (uint##bits##_t)groups[place] != hashes[row];                     \
            places[row] = (uint32_t)place;                                                         \
            lost[left] = row;                                                                      \
            left += is_lost;                                                                       \
        }                                                                                          \
        return left;                                                                               \
    }
FIND_NEXT(32)
FIND_NEXT(64)

/* Looks up rows in up to `steps` slots; returns how many were not found, and their numbers. */
static uint32_t find_places(const wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                            uint32_t steps, uint32_t *places, uint32_t *lost) {
    const uint32_t stride = table->layout->stride, mask = table->mask, outer = rows->count;
    const bool is_narrow = wpi_cpu_layout_is_narrow(table->layout);
    if (is_narrow)
        find_first_32(table->groups, stride, mask, (const uint32_t *)rows->hashes + first,
                      outer - first, places + first);
    else
        find_first_64(table->groups, stride, mask, (const uint64_t *)rows->hashes + first,
                      outer - first, places + first);
    for (uint32_t row = first; rows->nulls != NULL && row < outer; row++)
        if (rows->nulls[row]) places[row] = (mask + 1) * stride;
    uint32_t count = list_lost(places, first, outer, (mask + 2) * stride, lost);
    uint32_t before = outer - first;
    for (uint32_t step = 1; step < steps && count <= before / FEW * (FEW - 1); step++) {
        before = count;
        count = is_narrow ? find_next_32(table->groups, stride, mask, rows->hashes, step, lost,
                                         count, places)
                          : find_next_64(table->groups, stride, mask, rows->hashes, step, lost,
                                         count, places);
    }
    for (uint32_t i = 0; i < count; i++)
        places[lost[i]] = (mask + 2 + i % WPI_CPU_NOWHERE) * stride;
    return count;
}

/* Counts rows at their places, and adds the addends. */
static inline __attribute__((always_inline)) void count_rows(uint64_t *restrict kept,
                                                             const uint32_t *restrict places,
                                                             const uint64_t *restrict addends,
                                                             uint32_t count, uint64_t one) {
    for (uint32_t i = 0; i < count; i++) {
        kept[places[i]] += one;
        if (addends != NULL) kept[places[i] + 1] += addends[i];
    }
}

static void count_all(wpi_cpu_table *table, const uint32_t *places, const uint64_t *addends,
                      uint32_t count) {
    const wpi_cpu_layout *layout = table->layout;
    uint64_t *kept = table->groups + layout->rows_at;
    if (addends != NULL)
        count_rows(kept, places, addends, count, wpi_cpu_layout_row(layout));
    else
        count_rows(kept, places, NULL, count, wpi_cpu_layout_row(layout));
}

uint32_t wpi_cpu_table_find_only(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                                 const uint64_t *addends, uint32_t *places, uint32_t *others) {
    const uint32_t count = find_places(table, rows, first, 1, places, others);
    count_all(table, places + first, addends, rows->count - first);
    return count;
}

/* The slot of a hash, which may be free. */
static inline uint32_t slot_of(const uint64_t *groups, uint32_t stride, uint32_t mask,
                               uint64_t hash, bool is_narrow) {
    for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
        const uint64_t *group = &groups[(size_t)at * stride];
        const uint64_t found = is_narrow ? (uint32_t)group[0] : group[0];
        const uint64_t rows = is_narrow ? group[0] >> 32 : group[1];
        if (found == hash || rows == 0) return at;
    }
}

static void insert(wpi_cpu_table *table, uint64_t *group, uint64_t hash) {
    table->count++;
    memcpy(group, table->layout->initial, table->layout->stride * sizeof *group);
    group[0] = hash;
}

/* Rows whose groups are in other slots, or new. */
static inline __attribute__((always_inline)) void
probe(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first, const uint32_t *others,
      uint32_t count, const uint64_t *addends, uint32_t *places, bool is_narrow) {
    const uint32_t stride = table->layout->stride, mask = table->mask;
    const uint32_t rows_at = is_narrow ? 0 : 1;
    const uint64_t one = is_narrow ? UINT64_C(1) << 32 : 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = others[i];
        const uint64_t hash = hash_at(rows->hashes, is_narrow, row);
        const uint32_t place = slot_of(table->groups, stride, mask, hash, is_narrow) * stride;
        uint64_t *group = &table->groups[place];
        if (group[rows_at] < one) insert(table, group, hash);
        group[rows_at] += one;
        if (addends != NULL) group[rows_at + 1] += addends[row - first];
        places[row] = place;
    }
}

bool wpi_cpu_table_find(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                        const uint64_t *addends, uint32_t *places) {
    uint32_t others[WPI_CPU_BLOCK];
    const uint32_t count = find_places(table, rows, first, STEPS, places, others);
    if (table->count + count > (table->mask + 1) / 8 * 7) return false;
    count_all(table, places + first, addends, rows->count - first);
    if (wpi_cpu_layout_is_narrow(table->layout))
        probe(table, rows, first, others, count, addends, places, true);
    else
        probe(table, rows, first, others, count, addends, places, false);
    return true;
}

/* ---- changing ---- */

static uint64_t *group_of(wpi_cpu_table *table, uint64_t hash) {
    const wpi_cpu_layout *layout = table->layout;
    return wpi_cpu_table_slot(table, slot_of(table->groups, layout->stride, table->mask, hash,
                                             wpi_cpu_layout_is_narrow(layout)));
}

static bool is_free(const wpi_cpu_layout *layout, const uint64_t *group) {
    return wpi_cpu_layout_rows(layout, group) == 0;
}

wp_status wpi_cpu_table_merge(wpi_cpu_table *table, const uint64_t *group, wp_error *err) {
    const wpi_cpu_layout *layout = table->layout;
    const uint64_t hash = wpi_cpu_layout_hash(layout, group);
    uint64_t *into = group_of(table, hash);
    if (is_free(layout, into) && table->count >= table->limit) {
        WP_TRY(wpi_cpu_table_grow(table, err));
        into = group_of(table, hash);
    }
    if (is_free(layout, into)) {
        memcpy(into, group, layout->stride * sizeof *into);
        table->count++;
    } else {
        wpi_cpu_layout_merge(layout, into, group);
    }
    return WP_STATUS_OK;
}

wp_status wpi_cpu_table_resize(wpi_cpu_table *table, uint32_t slots, wp_error *err) {
    wpi_cpu_table resized;
    const wpi_cpu_layout *layout = table->layout;
    const size_t bytes = layout->stride * sizeof *table->groups;
    WP_TRY(wpi_cpu_table_init(&resized, layout, slots, err));
    for (uint64_t slot = 0; slot <= table->mask; slot++) {
        const uint64_t *group = wpi_cpu_table_slot(table, slot);
        if (!is_free(layout, group))
            memcpy(group_of(&resized, wpi_cpu_layout_hash(layout, group)), group, bytes);
    }
    memcpy(wpi_cpu_table_null(&resized), wpi_cpu_table_null(table), bytes);
    resized.count = table->count;
    wpi_cpu_table_deinit(table);
    *table = resized;
    return WP_STATUS_OK;
}

wp_status wpi_cpu_table_grow(wpi_cpu_table *table, wp_error *err) {
    const uint32_t slots = table->mask + 1;
    return wpi_cpu_table_resize(table, slots < SMALL_SLOTS ? 4 * slots : 2 * slots, err);
}

wp_status wpi_cpu_table_convert(wpi_cpu_table *table, const wpi_cpu_layout *from, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    const wpi_cpu_table old = *table;
    WP_TRY_GOTO(wpi_cpu_table_init(table, old.layout, old.mask + 1, err), done);
    for (uint64_t slot = 0; slot <= (uint64_t)old.mask + 1; slot++) { /* including NULL's */
        const uint64_t *group = &old.groups[slot * from->stride];
        if (!is_free(from, group))
            wpi_cpu_layout_convert(from, group, table->layout, wpi_cpu_table_slot(table, slot));
    }
    table->count = old.count;
done:
    wpi_free(old.groups);
    return status;
}
