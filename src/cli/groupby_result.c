/* SPDX-License-Identifier: Apache-2.0 */
/* Groups as CSV or JSON. Where a key is text, groups are put in order here: by the places of texts
 * among all texts, which are sorted once. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/groupby.h"
#include "table_io/number.h"
#include "table_io/output.h"

typedef struct ordering {
    const wpi_groupby_result *result;
    uint32_t **ranks; /* [key_count]; NULL where a key is no text */
} ordering;

typedef struct place { /* qsort has no other way to know the ordering */
    uint64_t row;
    const ordering *ordering;
} place;

bool wpi_groupby_sorts_itself(const wpi_groupby_key *keys, uint32_t key_count) {
    for (uint32_t i = 0; i < key_count; i++)
        if (keys[i].is_text) return false;
    return true;
}

/* ---- order ------------------------------------------------------------------------------------
 */

static bool is_null(const wp_column *column, uint64_t row) {
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

static int compare_key(const ordering *o, uint32_t key, uint64_t a, uint64_t b) {
    const wp_column *column = wp_groups_key(o->result->groups, key);
    if (o->ranks[key] != NULL) {
        const uint32_t *codes = column->values;
        const uint32_t left = o->ranks[key][codes[a]], right = o->ranks[key][codes[b]];
        return (left > right) - (left < right);
    }
    const int left_null = is_null(column, a), right_null = is_null(column, b);
    return left_null || right_null ? left_null - right_null : compare_values(column, a, b);
}

static int compare(const void *left, const void *right) {
    const place *a = left, *b = right;
    int order = 0;
    for (uint32_t key = 0; key < a->ordering->result->key_count && order == 0; key++)
        order = compare_key(a->ordering, key, a->row, b->row);
    return order;
}

static wp_status sort_places(ordering *o, place *places, uint64_t count, wp_error *err) {
    const wpi_groupby_result *result = o->result;
    o->ranks = wp_calloc(result->key_count, sizeof *o->ranks);
    if (o->ranks == NULL) return WP_FAIL(err, NOMEM, "the order of groups");
    for (uint32_t key = 0; key < result->key_count; key++)
        if (result->keys[key].is_text)
            WP_TRY(wpi_dictionary_rank(wpi_table_dictionary(result->table, result->keys[key].place),
                                       &o->ranks[key], err));
    qsort(places, count, sizeof *places, compare);
    return WP_STATUS_OK;
}

/* The groups in order; NULL where they are so by themselves. */
static wp_status order_groups(const wpi_groupby_result *result, place **places, wp_error *err) {
    const uint64_t count = wp_groups_count(result->groups);
    ordering o = {.result = result};
    *places = NULL;
    if (!result->is_sorted || count == 0 ||
        wpi_groupby_sorts_itself(result->keys, result->key_count))
        return WP_STATUS_OK;
    *places = wp_malloc(count * sizeof **places);
    if (*places == NULL)
        return WP_FAIL(err, NOMEM, "the order of %llu groups", (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++)
        (*places)[i] = (place){i, &o};
    const wp_status status = sort_places(&o, *places, count, err);
    for (uint32_t key = 0; o.ranks != NULL && key < result->key_count; key++)
        wp_free(o.ranks[key]);
    wp_free(o.ranks);
    return status;
}

/* ---- text -------------------------------------------------------------------------------------
 */

static void write_number(wpi_output *output, const wp_column *column, uint64_t row, bool is_json) {
    char text[WPI_NUMBER_CHARACTERS];
    if (is_null(column, row)) {
        if (is_json) wpi_output_text(output, "null");
        return;
    }
    wpi_output_write(output, text, wpi_number_format(column, row, is_json, text));
}

static void write_key(wpi_output *output, const wpi_groupby_result *result, uint32_t key,
                      uint64_t row) {
    const wp_column *column = wp_groups_key(result->groups, key);
    if (!result->keys[key].is_text) {
        write_number(output, column, row, result->is_json);
        return;
    }
    const uint32_t code = ((const uint32_t *)column->values)[row];
    if (code == 0) {
        if (result->is_json) wpi_output_text(output, "null");
        return;
    }
    const wpi_slice *text =
        &wpi_table_dictionary(result->table, result->keys[key].place)->strings[code - 1];
    if (result->is_json)
        wpi_output_json(output, text->text, text->length);
    else
        wpi_output_csv(output, text->text, text->length, ',');
}

static const char *column_name(const wpi_groupby_result *result, uint32_t column) {
    return column < result->key_count ? result->keys[column].name
                                      : result->aggregate_names[column - result->key_count];
}

static void write_value(wpi_output *output, const wpi_groupby_result *result, uint32_t column,
                        uint64_t row) {
    if (column < result->key_count)
        write_key(output, result, column, row);
    else
        write_number(output, wp_groups_aggregate(result->groups, column - result->key_count), row,
                     result->is_json);
}

static void write_csv_row(wpi_output *output, const wpi_groupby_result *result, uint64_t row) {
    for (uint32_t i = 0; i < result->key_count + result->aggregate_count; i++) {
        if (i > 0) wpi_output_write(output, ",", 1);
        write_value(output, result, i, row);
    }
    wpi_output_write(output, "\n", 1);
}

static void write_json_row(wpi_output *output, const wpi_groupby_result *result, uint64_t row) {
    for (uint32_t i = 0; i < result->key_count + result->aggregate_count; i++) {
        const char *name = column_name(result, i);
        wpi_output_text(output, i == 0 ? "{" : ", ");
        wpi_output_json(output, name, strlen(name));
        wpi_output_text(output, ": ");
        write_value(output, result, i, row);
    }
    wpi_output_text(output, "}");
}

static void write_csv_head(wpi_output *output, const wpi_groupby_result *result) {
    for (uint32_t i = 0; i < result->key_count + result->aggregate_count; i++) {
        const char *name = column_name(result, i);
        if (i > 0) wpi_output_write(output, ",", 1);
        wpi_output_csv(output, name, strlen(name), ',');
    }
    wpi_output_write(output, "\n", 1);
}

static void write_all(wpi_output *output, const wpi_groupby_result *result, const place *places) {
    const uint64_t count = wp_groups_count(result->groups);
    if (result->is_json)
        wpi_output_text(output, "{\"schema\": \"warpage.groupby/1\", \"rows\": [");
    else
        write_csv_head(output, result);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t row = places != NULL ? places[i].row : i;
        if (!result->is_json) {
            write_csv_row(output, result, row);
            continue;
        }
        wpi_output_text(output, i == 0 ? "\n" : ",\n");
        write_json_row(output, result, row);
    }
    if (result->is_json) wpi_output_text(output, "\n]}\n");
}

wp_status wpi_groupby_write(const wpi_groupby_result *result, const char *path, wp_error *err) {
    wpi_output *output = NULL;
    place *places;
    wp_status status = order_groups(result, &places, err);
    if (status == WP_STATUS_OK) status = wpi_output_open(path, &output, err);
    if (status == WP_STATUS_OK) {
        write_all(output, result, places);
        status = wpi_output_finish(output, err);
    }
    wpi_output_close(output);
    wp_free(places);
    return status;
}
