/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups in open addressing with linear probing. The groups themselves are the slots: a slot
 * without rows is free, so no key is special. More places follow the slots:
 *
 *     slots … | the group of NULL | discarded places
 *
 * find_only puts rows without a group into discarded places, several in turn, so that a row need
 * not wait for the store of the row before. A group's first slot is its hash's low bits.
 */
#ifndef WP_OPS_CPU_TABLE_H
#define WP_OPS_CPU_TABLE_H

#include "ops/groupby_cpu/cpu_partition.h"

typedef struct wpi_cpu_table {
    const wpi_cpu_layout *layout;
    uint64_t *groups; /* [mask + 2 + NOWHERE][stride] */
    uint32_t mask;
    uint32_t count, limit; /* without NULL's */
} wpi_cpu_table;

/** At most a block of rows. */
typedef struct wpi_cpu_rows {
    uint32_t count;
    const void *hashes;
    const uint8_t *nulls; /* NULL: no NULLs */
} wpi_cpu_rows;

#define WPI_CPU_NOWHERE 8u

/** The most groups that a table of so many slots should have. */
uint32_t wpi_cpu_table_limit(uint32_t slots, uint32_t stride);

/** `slots` is a power of two. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_table_init(wpi_cpu_table *table, const wpi_cpu_layout *layout,
                                          uint32_t slots, wp_error *err);
void wpi_cpu_table_deinit(wpi_cpu_table *table); /* `{0}` is fine */

/**
 * Finds or makes the groups of rows from `first` on, and counts the rows. `places`: words from
 * `groups`. `addends`, from row `first` on, NULL allowed: values to add, for groups with one sum of
 * one word. False: there may be no room for all of them; nothing was changed.
 */
bool wpi_cpu_table_find(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                        const uint64_t *addends, uint32_t *places);
/**
 * As find, but makes no groups, and tries a group's first slot only. Rows without a group get a
 * place whose contents are discarded, and their numbers go into `others`; returns how many those
 * are.
 */
uint32_t wpi_cpu_table_find_only(wpi_cpu_table *table, const wpi_cpu_rows *rows, uint32_t first,
                                 const uint64_t *addends, uint32_t *places, uint32_t *others);
/** Whether it must grow before the next rows. */
static inline bool wpi_cpu_table_is_full(const wpi_cpu_table *table) {
    return table->count > table->limit;
}

/** Adds a group, which may be the table's already. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_table_merge(wpi_cpu_table *table, const uint64_t *group,
                                           wp_error *err);
/** The same groups with this number of slots, which must be enough. NOMEM: nothing has changed. */
WP_NODISCARD wp_status wpi_cpu_table_resize(wpi_cpu_table *table, uint32_t slots, wp_error *err);
/** Twice the slots, or more. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_table_grow(wpi_cpu_table *table, wp_error *err);
/** The layout has changed and was `from`. NOMEM: the table is lost. */
WP_NODISCARD wp_status wpi_cpu_table_convert(wpi_cpu_table *table, const wpi_cpu_layout *from,
                                             wp_error *err);

static inline uint64_t *wpi_cpu_table_slot(const wpi_cpu_table *table, uint64_t slot) {
    return &table->groups[slot * table->layout->stride];
}
static inline uint64_t *wpi_cpu_table_null(const wpi_cpu_table *table) {
    return wpi_cpu_table_slot(table, (uint64_t)table->mask + 1);
}
#endif
