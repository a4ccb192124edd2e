/* SPDX-License-Identifier: Apache-2.0 */
/** Order of groups whose keys and row number fit one word of 64 bits. */
#ifndef WP_OPS_ORDER_WORDS_H
#define WP_OPS_ORDER_WORDS_H

#include "ops/order.h"

/** As wpi_order_columns, if keys, each as its distance from the least, and row numbers have at most
 * 64 bits together. Else *is_done is false, and the columns are as before. NOMEM. */
WP_NODISCARD wp_status wpi_order_by_words(wpi_group_column *columns, uint32_t key_count,
                                          uint32_t column_count, uint64_t count, bool *is_done,
                                          wp_error *err);

/** Puts row rows[i * step] of a column at place i, for all i below count. NOMEM. */
WP_NODISCARD wp_status wpi_order_gather(wpi_group_column *column, uint64_t count,
                                        const uint64_t *rows, uint32_t step, wp_error *err);

#endif
