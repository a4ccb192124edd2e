/* SPDX-License-Identifier: Apache-2.0 */
/** Columns of groups, sorted by their keys. */
#ifndef WP_OPS_ORDER_H
#define WP_OPS_ORDER_H

#include "base/fail.h"
#include "warpage/ops.h"

/** A column of the result. Owns `values` and `valid`; `valid` has a byte for each value. */
typedef struct wpi_group_column {
    wp_column column;
    void *values;
    uint8_t *valid;
} wpi_group_column;

/** Puts all columns in order of the first `key_count`, the first key first, NULL last; the value of
 * NULL is 0. NOMEM. */
WP_NODISCARD wp_status wpi_order_columns(wpi_group_column *columns, uint32_t key_count,
                                         uint32_t column_count, uint64_t count, wp_error *err);

/** Puts row i of all columns at places[i], a permutation. NOMEM. */
WP_NODISCARD wp_status wpi_order_place(wpi_group_column *columns, uint32_t column_count,
                                       uint64_t count, const uint32_t *places, wp_error *err);

#endif
