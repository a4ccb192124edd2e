/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/cpu_table.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/cpu_memory.h"

#define SLOTS_MAX ((uint32_t)1 << 30)
#define SMALL_SLOTS ((uint32_t)1 << 12) /* grow faster */

/* Tables above this are worth a prefetch: they exceed an L1 cache. */
#define NEAR_BYTES ((uint64_t)64 << 10)

/* Few collisions while that is cheap: they are what branches are mispredicted for. */
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
    /* A place is 32 bits. */
    const size_t places = slots + (size_t)1 + WPI_CPU_NOWHERE;
    const size_t bytes = places * layout->stride * sizeof *table->groups;
    if (slots <= SLOTS_MAX && bytes / sizeof *table->groups <= UINT32_MAX)
        table->groups = wpi_cpu_memory_alloc(bytes);
    if (table->groups == NULL) return WP_FAIL(err, NOMEM, "a table of %u groups", slots);
    memset(table->groups, 0, bytes);
    for (size_t i = slots; i < places; i++)
        put_initial(table, i);
    return WP_STATUS_OK;
}

void wpi_cpu_table_deinit(wpi_cpu_table *table) {
    wp_free(table->groups);
    *table = (wpi_cpu_table){0};
}

/* ---- finding ----------------------------------------------------------------------------------
 */

/* What a group's rows are found by, at compile time or not: two kinds of heads. */
static inline uint64_t hash_at(const void *hashes, bool is_narrow, uint32_t row) {
    return is_narrow ? ((const uint32_t *)hashes)[row] : ((const uint64_t *)hashes)[row];
}

/* The slot of a hash, which may be free. */
static inline uint32_t slot_of(const uint64_t *groups, uint32_t stride, uint32_t mask,
                               uint64_t hash, bool is_narrow) {
    for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
        const uint64_t *group = &groups[(size_t)at * stride];
        const uint64_t found = is_narrow ? (uint32_t)group[0] : group[0];
        const uint64_t rows = group[is_narrow ? 0 : 1]; /* of a free slot all bits are 0 */
        if (found == hash || rows == 0) return at;
    }
}

/* Out of line, so that the loop around it keeps what it needs in registers. */
static __attribute__((noinline)) bool insert(wpi_cpu_table *table, uint64_t *group, uint64_t hash) {
    if (table->count == table->limit) return false;
    table->count++;
    memcpy(group, table->layout->initial, table->layout->stride * sizeof *group);
    group[0] = hash;
    return true;
}

/* One loop, compiled for each of its uses. */
static inline __attribute__((always_inline)) uint32_t
find(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first, uint32_t *restrict places,
     const uint64_t *restrict addends, bool is_narrow, bool is_far, bool has_nulls) {
    const uint32_t rows_at = is_narrow ? 0 : 1;
    const uint32_t stride = addends != NULL ? rows_at + 2 : table->layout->stride;
    const uint32_t mask = table->mask, null = (mask + 1) * stride, count = rows->count;
    const uint64_t one = is_narrow ? UINT64_C(1) << 32 : 1;
    uint64_t *groups = table->groups;
    uint32_t row = first;
    for (; row < count; row++) {
        if (has_nulls && rows->nulls[row]) {
            places[row] = null;
            groups[null + rows_at] += one;
            continue;
        }
        if (is_far) {
            const uint64_t ahead = hash_at(rows->hashes, is_narrow, row + WPI_CPU_AHEAD);
            __builtin_prefetch(&groups[(size_t)((uint32_t)ahead & mask) * stride], 1);
        }
        const uint64_t hash = hash_at(rows->hashes, is_narrow, row);
        const uint32_t place = slot_of(groups, stride, mask, hash, is_narrow) * stride;
        if (groups[place + rows_at] < one && !insert(table, &groups[place], hash)) break;
        groups[place + rows_at] += one;
        if (addends != NULL)
            groups[place + rows_at + 1] += addends[row - first];
        else
            places[row] = place;
    }
    return row;
}

/* Whether a look-up may miss the first cache. */
static bool is_far(const wpi_cpu_table *table) {
    return (uint64_t)table->mask * table->layout->stride * 8 > NEAR_BYTES;
}

uint32_t wpi_cpu_table_find(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                            uint32_t *places) {
    const bool is_narrow = wpi_cpu_layout_is_narrow(table->layout);
    if (rows->nulls != NULL)
        return is_narrow ? find(table, rows, first, places, NULL, true, true, true)
                         : find(table, rows, first, places, NULL, false, true, true);
    if (is_narrow)
        return is_far(table) ? find(table, rows, first, places, NULL, true, true, false)
                             : find(table, rows, first, places, NULL, true, false, false);
    return is_far(table) ? find(table, rows, first, places, NULL, false, true, false)
                         : find(table, rows, first, places, NULL, false, false, false);
}

uint32_t wpi_cpu_table_add(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                           const uint64_t *addends) {
    if (wpi_cpu_layout_is_narrow(table->layout))
        return is_far(table) ? find(table, rows, first, NULL, addends, true, true, false)
                             : find(table, rows, first, NULL, addends, true, false, false);
    return is_far(table) ? find(table, rows, first, NULL, addends, false, true, false)
                         : find(table, rows, first, NULL, addends, false, false, false);
}

static inline __attribute__((always_inline)) uint32_t
find_only(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first, uint32_t *restrict places,
          uint32_t *restrict others, bool is_narrow) {
    const uint32_t stride = table->layout->stride, mask = table->mask;
    const uint32_t null = (mask + 1) * stride, nowhere = (mask + 2) * stride;
    const uint64_t one = is_narrow ? UINT64_C(1) << 32 : 1;
    uint64_t *groups = table->groups;
    uint32_t count = 0;
    for (uint32_t row = first; row < rows->count; row++) {
        const uint64_t hash = hash_at(rows->hashes, is_narrow, row);
        const uint32_t home = ((uint32_t)hash & mask) * stride;
        const uint64_t *group = &groups[home];
        const uint64_t wrong = is_narrow ? (uint32_t)(group[0] ^ hash) | (group[0] < one)
                                         : (group[0] ^ hash) | (group[1] == 0);
        /* All bits where it is right: compilers would make a branch of a choice. */
        const uint32_t is_right = (uint32_t)((wrong | (0 - wrong)) >> 63) - 1;
        const uint32_t lost = nowhere + row % WPI_CPU_NOWHERE * stride;
        uint32_t place = lost + ((home - lost) & is_right);
        if (rows->nulls != NULL && rows->nulls[row]) place = null;
        others[count] = row;
        count += place == lost;
        groups[place + (is_narrow ? 0 : 1)] += one;
        places[row] = place;
    }
    return count;
}

uint32_t wpi_cpu_table_find_only(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                                 uint32_t *places, uint32_t *others) {
    return wpi_cpu_layout_is_narrow(table->layout)
               ? find_only(table, rows, first, places, others, true)
               : find_only(table, rows, first, places, others, false);
}

/* ---- changing ---------------------------------------------------------------------------------
 */

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
    if (is_free(layout, into) && table->count == table->limit) {
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
    for (uint64_t slot = 0; slot <= (uint64_t)old.mask + 1; slot++) { /* that of NULL too */
        const uint64_t *group = &old.groups[slot * from->stride];
        if (!is_free(from, group))
            wpi_cpu_layout_convert(from, group, table->layout, wpi_cpu_table_slot(table, slot));
    }
    table->count = old.count;
done:
    wp_free(old.groups);
    return status;
}
