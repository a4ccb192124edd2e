/* SPDX-License-Identifier: Apache-2.0 */
/** `warpage groupby`: what is asked for, in terms of a table; and how groups are shown. */
#ifndef WP_CLI_GROUPBY_H
#define WP_CLI_GROUPBY_H

#include "table_io/table.h"
#include "warpage/ops.h"

typedef struct wpi_groupby_key {
    const char *name;
    uint32_t place; /* in the selection */
    bool is_text;
} wpi_groupby_key;

typedef struct wpi_groupby_result {
    const wp_groups *groups;
    const wpi_table *table; /* texts of keys */
    const wpi_groupby_key *keys;
    const char *const *aggregate_names;
    uint32_t key_count, aggregate_count;
    bool is_sorted; /* by keys, NULL last */
    bool is_json;
} wpi_groupby_result;

/** Whether groups come in order from the group-by itself: codes of texts are not in the order of
 * texts. */
bool wpi_groupby_sorts_itself(const wpi_groupby_key *keys, uint32_t key_count);

/** To `path`, or stdout (NULL). IO: not all could be written; NOMEM. */
WP_NODISCARD wp_status wpi_groupby_write(const wpi_groupby_result *result, const char *path,
                                         wp_error *err);

#endif
