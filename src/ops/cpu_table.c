/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/cpu_table.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/cpu_memory.h"
#include "ops/hash.h"

#define SLOTS_MAX ((uint32_t)1 << 30)
#define SMALL_SLOTS ((uint32_t)1 << 12) /* grow faster */

/* Tables above this are worth a prefetch: half an L2 cache. */
#define NEAR_BYTES ((uint64_t)1 << 20)

/* Few collisions while that is cheap: they are what branches are mispredicted for. */
#define SPARSE_BYTES ((uint64_t)512 << 10)

static uint32_t limit_of(uint32_t slots, uint32_t stride) {
    return (uint64_t)slots * stride * 8 <= SPARSE_BYTES ? slots / 4 : slots / 8 * 5;
}

static void put_initial(const wpi_cpu_table *table, uint64_t slot) {
    memcpy(wpi_cpu_table_slot(table, slot), table->layout->initial,
           table->layout->stride * sizeof *table->groups);
}

wp_status wpi_cpu_table_init(wpi_cpu_table *table, const wpi_cpu_layout *layout, uint32_t slots,
                             bool is_hashed, wp_error *err) {
    *table = (wpi_cpu_table){.layout = layout,
                             .mask = slots - 1,
                             .limit = limit_of(slots, layout->stride),
                             .is_hashed = is_hashed};
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

/* The slot of a key, which may be free; adds the steps it took. */
static inline uint32_t slot_of(const uint64_t *groups, uint32_t stride, uint32_t mask, uint64_t key,
                               uint32_t at, uint32_t *probed) {
    for (;;) {
        const uint64_t *group = &groups[(size_t)at * stride];
        if (group[WPI_CPU_KEY] == key || group[WPI_CPU_ROWS] == 0) return at;
        at = (at + 1) & mask;
        ++*probed;
    }
}

/* Out of line, so that the loop around it keeps what it needs in registers. */
static __attribute__((noinline)) bool insert(wpi_cpu_table *table, uint64_t *group, uint64_t key) {
    if (table->count == table->limit) return false;
    table->count++;
    memcpy(group, table->layout->initial, table->layout->stride * sizeof *group);
    group[WPI_CPU_KEY] = key;
    return true;
}

/* One loop, compiled for each of its uses. */
static inline __attribute__((always_inline)) uint32_t
find(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first, uint32_t *restrict places,
     bool is_hashed, bool is_far, bool has_nulls) {
    const uint32_t stride = table->layout->stride, mask = table->mask, count = rows->count;
    const uint32_t null = (mask + 1) * stride;
    const uint64_t *restrict keys = rows->keys, *restrict hashes = rows->hashes;
    uint64_t *groups = table->groups;
    uint32_t probed = 0, row = first;
    for (; row < count; row++) {
        if (has_nulls && rows->nulls[row]) {
            places[row] = null;
            groups[null + WPI_CPU_ROWS]++;
            continue;
        }
        if (is_far) {
            const uint32_t ahead = (uint32_t)hashes[row + WPI_CPU_AHEAD] & mask;
            __builtin_prefetch(&groups[(size_t)ahead * stride], 1);
        }
        const uint64_t key = keys[row];
        const uint32_t at = (uint32_t)(is_hashed ? hashes[row] : key) & mask;
        const uint32_t place = slot_of(groups, stride, mask, key, at, &probed) * stride;
        if (groups[place + WPI_CPU_ROWS] == 0 && !insert(table, &groups[place], key)) break;
        groups[place + WPI_CPU_ROWS]++;
        places[row] = place;
    }
    table->probed += probed;
    return row;
}

uint32_t wpi_cpu_table_find(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                            uint32_t *places) {
    const bool is_far = (uint64_t)table->mask * table->layout->stride * 8 > NEAR_BYTES;
    if (rows->nulls != NULL)
        return table->is_hashed ? find(table, rows, first, places, true, false, true)
                                : find(table, rows, first, places, false, false, true);
    if (!table->is_hashed) return find(table, rows, first, places, false, false, false);
    return is_far ? find(table, rows, first, places, true, true, false)
                  : find(table, rows, first, places, true, false, false);
}

uint32_t wpi_cpu_table_find_only(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                                 uint32_t *restrict places, uint32_t *restrict others) {
    const uint32_t stride = table->layout->stride, mask = table->mask;
    const uint32_t null = (mask + 1) * stride, nowhere = (mask + 2) * stride;
    uint64_t *groups = table->groups;
    uint32_t count = 0;
    for (uint32_t row = first; row < rows->count; row++) {
        const uint32_t home = ((uint32_t)rows->hashes[row] & mask) * stride;
        const uint64_t *group = &groups[home];
        const uint64_t wrong = (group[WPI_CPU_KEY] ^ rows->keys[row]) | (group[WPI_CPU_ROWS] == 0);
        /* All bits where it is right: compilers would make a branch of a choice. */
        const uint32_t is_right = (uint32_t)((wrong | (0 - wrong)) >> 63) - 1;
        const uint32_t lost = nowhere + row % WPI_CPU_NOWHERE * stride;
        uint32_t place = lost + ((home - lost) & is_right);
        if (rows->nulls != NULL && rows->nulls[row]) place = null;
        others[count] = row;
        count += place == lost;
        groups[place + WPI_CPU_ROWS]++;
        places[row] = place;
    }
    return count;
}

/* ---- changing ---------------------------------------------------------------------------------
 */

static uint64_t *group_of(wpi_cpu_table *table, uint64_t key) {
    const uint64_t hash = table->is_hashed ? wpi_hash_word(key) : key;
    uint32_t probed = 0;
    return wpi_cpu_table_slot(table, slot_of(table->groups, table->layout->stride, table->mask, key,
                                             (uint32_t)hash & table->mask, &probed));
}

wp_status wpi_cpu_table_merge(wpi_cpu_table *table, const uint64_t *group, wp_error *err) {
    uint64_t *into = group_of(table, group[WPI_CPU_KEY]);
    if (into[WPI_CPU_ROWS] == 0 && table->count == table->limit) {
        WP_TRY(wpi_cpu_table_grow(table, err));
        into = group_of(table, group[WPI_CPU_KEY]);
    }
    if (into[WPI_CPU_ROWS] == 0) {
        memcpy(into, group, table->layout->stride * sizeof *into);
        table->count++;
    } else {
        wpi_cpu_layout_merge(table->layout, into, group);
    }
    return WP_STATUS_OK;
}

wp_status wpi_cpu_table_resize(wpi_cpu_table *table, uint32_t slots, bool is_hashed,
                               wp_error *err) {
    wpi_cpu_table resized;
    const size_t bytes = table->layout->stride * sizeof *table->groups;
    WP_TRY(wpi_cpu_table_init(&resized, table->layout, slots, is_hashed, err));
    for (uint64_t slot = 0; slot <= table->mask; slot++) {
        const uint64_t *group = wpi_cpu_table_slot(table, slot);
        if (group[WPI_CPU_ROWS] != 0) memcpy(group_of(&resized, group[WPI_CPU_KEY]), group, bytes);
    }
    memcpy(wpi_cpu_table_null(&resized), wpi_cpu_table_null(table), bytes);
    resized.count = table->count;
    wpi_cpu_table_deinit(table);
    *table = resized;
    return WP_STATUS_OK;
}

wp_status wpi_cpu_table_grow(wpi_cpu_table *table, wp_error *err) {
    const uint32_t slots = table->mask + 1;
    return wpi_cpu_table_resize(table, slots < SMALL_SLOTS ? 4 * slots : 2 * slots,
                                table->is_hashed, err);
}

wp_status wpi_cpu_table_convert(wpi_cpu_table *table, const wpi_cpu_layout *from, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    const wpi_cpu_table old = *table;
    WP_TRY_GOTO(wpi_cpu_table_init(table, old.layout, old.mask + 1, old.is_hashed, err), done);
    for (uint64_t slot = 0; slot <= (uint64_t)old.mask + 1; slot++) { /* that of NULL too */
        const uint64_t *group = &old.groups[slot * from->stride];
        if (group[WPI_CPU_ROWS] != 0)
            wpi_cpu_layout_convert(from, group, table->layout, wpi_cpu_table_slot(table, slot));
    }
    table->count = old.count;
done:
    wp_free(old.groups);
    return status;
}

wp_status wpi_cpu_table_settle(wpi_cpu_table *table, uint32_t row_count, wp_error *err) {
    const bool is_bad = !table->is_hashed && table->probed > row_count / 4;
    table->probed = 0;
    return is_bad ? wpi_cpu_table_resize(table, table->mask + 1, true, err) : WP_STATUS_OK;
}
