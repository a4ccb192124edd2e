/* SPDX-License-Identifier: Apache-2.0 */
/** `warpage groupby`: the request in terms of a table; the order and the output of groups.
 */
#ifndef WP_CLI_GROUPBY_H
#define WP_CLI_GROUPBY_H

#include "base/text.h"
#include "table_io/column_table.h"
#include "warpage/ops.h"

typedef struct wpi_groupby_key {
    const char *name;
    uint32_t place; /* in the selection */
    bool is_text;
} wpi_groupby_key;

typedef enum wpi_groupby_form {
    WPI_GROUPBY_CSV = 0,
    WPI_GROUPBY_JSON,
    WPI_GROUPBY_TEXT, /* aligned, for people */
    WPI_GROUPBY_PARQUET,
    WPI_GROUPBY_HTML
} wpi_groupby_form;

typedef struct wpi_groupby_order {
    uint32_t column; /* of the result: keys, then aggregates */
    bool is_descending;
} wpi_groupby_order;

typedef struct wpi_groupby_result {
    const wp_groups *groups;
    const wpi_column_table *table; /* texts of keys */
    const wpi_groupby_key *keys;
    const char *const *aggregate_names;
    uint32_t key_count, aggregate_count;
    const wpi_groupby_order *orders; /* groups that agree in all of them are in order of keys */
    uint32_t order_count;
    bool is_sorted; /* by orders, then keys; NULL is last */
    uint64_t limit; /* at most so many groups */
    int digits;     /* significant ones of floats; 0: as many as the form has by default */
    wpi_groupby_form form;
    char *const *command; /* of the page: its words */
    size_t command_count;
    const char *device_name, *plan; /* of the page */
} wpi_groupby_result;

/** Whether the group-by itself can sort the groups: codes of texts are not in the order of
 * texts. */
bool wpi_groupby_sorts_itself(const wpi_groupby_key *keys, uint32_t key_count);

/** Column `column` of the result: a key's or an aggregate's. */
const wp_column *wpi_groupby_column(const wpi_groupby_result *result, uint32_t column);
const char *wpi_groupby_column_name(const wpi_groupby_result *result, uint32_t column);
bool wpi_groupby_is_null(const wp_column *column, uint64_t row);

/** The value of a group as people read it, NULL as "NULL" (wpi_free). */
char *wpi_groupby_cell(const wpi_groupby_result *result, uint32_t column, uint64_t row);

/** A page with the first groups of `rows` (NULL: as they are), and the plan. */
void wpi_groupby_page(const wpi_groupby_result *result, const uint64_t *rows, uint64_t count,
                      wpi_text *out);

/** The groups' rows in the requested order (wpi_free); NULL: unchanged. NOMEM. */
WP_NODISCARD wp_status wpi_groupby_sort(const wpi_groupby_result *result, uint64_t **rows,
                                        wp_error *err);

/** To `path`, or stdout (NULL). IO: not all could be written; NOMEM. */
WP_NODISCARD wp_status wpi_groupby_write(const wpi_groupby_result *result, const char *path,
                                         wp_error *err);

#endif
