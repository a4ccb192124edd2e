/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts groups. Keys of text are compared by their ranks among all texts, which are sorted once. */
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/groupby.h"

typedef struct ordering {
    const wpi_groupby_result *result;
    uint32_t **ranks; /* [key_count]; NULL where a key is no text */
} ordering;

typedef struct place { /* for qsort's comparison, which gets no context */
    uint64_t row;
    const ordering *ordering;
} place;

bool wpi_groupby_sorts_itself(const wpi_groupby_key *keys, uint32_t key_count) {
    for (uint32_t i = 0; i < key_count; i++)
        if (keys[i].is_text) return false;
    return true;
}

bool wpi_groupby_is_null(const wp_column *column, uint64_t row) {
    const uint64_t bit = column->valid_offset + row;
    return column->valid != NULL && (column->valid[bit / 8] >> (bit % 8) & 1) == 0;
}

static int64_t signed_at(const wp_column *column, uint64_t row) {
    switch (column->type) {
    case WP_TYPE_INT8: return ((const int8_t *)column->values)[row];
    case WP_TYPE_INT16: return ((const int16_t *)column->values)[row];
    case WP_TYPE_INT32: return ((const int32_t *)column->values)[row];
    case WP_TYPE_UINT8: return ((const uint8_t *)column->values)[row];
    case WP_TYPE_UINT16: return ((const uint16_t *)column->values)[row];
    case WP_TYPE_UINT32: return ((const uint32_t *)column->values)[row];
    default: return ((const int64_t *)column->values)[row];
    }
}

static double float_at(const wp_column *column, uint64_t row) {
    return column->type == WP_TYPE_FLOAT32 ? (double)((const float *)column->values)[row]
                                           : ((const double *)column->values)[row];
}

static int compare_values(const wp_column *column, uint64_t a, uint64_t b) {
    if (column->type == WP_TYPE_FLOAT32 || column->type == WP_TYPE_FLOAT64) {
        const double left = float_at(column, a), right = float_at(column, b);
        const int left_nan = left != left, right_nan = right != right; /* NaN is the largest */
        return left_nan || right_nan ? left_nan - right_nan : (left > right) - (left < right);
    }
    if (column->type == WP_TYPE_UINT64) {
        const uint64_t left = ((const uint64_t *)column->values)[a],
                       right = ((const uint64_t *)column->values)[b];
        return (left > right) - (left < right);
    }
    const int64_t left = signed_at(column, a), right = signed_at(column, b);
    return (left > right) - (left < right);
}

/* NULL is last in both directions. */
static int compare_column(const ordering *o, uint32_t number, bool is_descending, uint64_t a,
                          uint64_t b) {
    const wp_column *column = wpi_groupby_column(o->result, number);
    const uint32_t *ranks = number < o->result->key_count ? o->ranks[number] : NULL;
    const uint32_t *codes = column->values;
    const int left_null = ranks != NULL ? codes[a] == 0 : wpi_groupby_is_null(column, a);
    const int right_null = ranks != NULL ? codes[b] == 0 : wpi_groupby_is_null(column, b);
    int order;
    if (left_null || right_null) return left_null - right_null;
    if (ranks != NULL)
        order = (ranks[codes[a]] > ranks[codes[b]]) - (ranks[codes[a]] < ranks[codes[b]]);
    else
        order = compare_values(column, a, b);
    return is_descending ? -order : order;
}

static int compare(const void *left, const void *right) {
    const place *a = left, *b = right;
    const ordering *o = a->ordering;
    int order = 0;
    for (uint32_t i = 0; i < o->result->order_count && order == 0; i++)
        order = compare_column(o, o->result->orders[i].column, o->result->orders[i].is_descending,
                               a->row, b->row);
    for (uint32_t key = 0; key < o->result->key_count && order == 0; key++)
        order = compare_column(o, key, false, a->row, b->row);
    return order;
}

static wp_status make_ranks(ordering *o, wp_error *err) {
    const wpi_groupby_result *result = o->result;
    o->ranks = wpi_calloc(result->key_count, sizeof *o->ranks);
    if (o->ranks == NULL) return WP_FAIL(err, NOMEM, "the order of groups");
    for (uint32_t key = 0; key < result->key_count; key++)
        if (result->keys[key].is_text)
            WP_TRY(wpi_dictionary_rank(
                wpi_column_table_dictionary(result->table, result->keys[key].place), &o->ranks[key],
                err));
    return WP_STATUS_OK;
}

static wp_status sort_rows(const wpi_groupby_result *result, place *places, uint64_t *rows,
                           uint64_t count, wp_error *err) {
    ordering o = {.result = result};
    const wp_status status = make_ranks(&o, err);
    for (uint64_t i = 0; i < count; i++)
        places[i] = (place){i, &o};
    if (status == WP_STATUS_OK) qsort(places, count, sizeof *places, compare);
    for (uint64_t i = 0; i < count; i++)
        rows[i] = places[i].row;
    for (uint32_t key = 0; o.ranks != NULL && key < result->key_count; key++)
        wpi_free(o.ranks[key]);
    wpi_free(o.ranks);
    return status;
}

wp_status wpi_groupby_sort(const wpi_groupby_result *result, uint64_t **rows, wp_error *err) {
    const uint64_t count = wp_groups_count(result->groups);
    wp_status status = WP_STATUS_OK;
    *rows = NULL;
    if (!result->is_sorted || count == 0 ||
        (result->order_count == 0 && wpi_groupby_sorts_itself(result->keys, result->key_count)))
        return WP_STATUS_OK;
    place *places = wpi_malloc(count * sizeof *places);
    *rows = wpi_malloc(count * sizeof **rows);
    if (places == NULL || *rows == NULL)
        status = WP_FAIL(err, NOMEM, "the order of %llu groups", (unsigned long long)count);
    if (status == WP_STATUS_OK) status = sort_rows(result, places, *rows, count, err);
    wpi_free(places);
    if (status != WP_STATUS_OK) {
        wpi_free(*rows);
        *rows = NULL;
    }
    return status;
}
