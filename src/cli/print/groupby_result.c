/* SPDX-License-Identifier: Apache-2.0 */
/* Groups as CSV, JSON, text, or Parquet; groupby_page.c has the page. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/groupby.h"
#include "cli/print/listing.h"
#include "table_io/output.h"
#include "table_io/parquet.h"
#include "table_io/parse_number.h"

#define TEXT_DIGITS 15 /* of a double in text: those that survive a round trip */

const wp_column *wpi_groupby_column(const wpi_groupby_result *result, uint32_t column) {
    return column < result->key_count
               ? wp_groups_key(result->groups, column)
               : wp_groups_aggregate(result->groups, column - result->key_count);
}

const char *wpi_groupby_column_name(const wpi_groupby_result *result, uint32_t column) {
    return column < result->key_count ? result->keys[column].name
                                      : result->aggregate_names[column - result->key_count];
}

static uint32_t width_of(const wpi_groupby_result *result) {
    return result->key_count + result->aggregate_count;
}

static bool is_text(const wpi_groupby_result *result, uint32_t column) {
    return column < result->key_count && result->keys[column].is_text;
}

/* ---- values ---- */

/* A key's text; NULL: it is NULL. */
static const wpi_slice *text_at(const wpi_groupby_result *result, uint32_t key, uint64_t row) {
    const uint32_t code = ((const uint32_t *)wp_groups_key(result->groups, key)->values)[row];
    if (code == 0) return NULL;
    return &wpi_column_table_dictionary(result->table, result->keys[key].place)->strings[code - 1];
}

static bool is_for_people(wpi_groupby_form form) {
    return form == WPI_GROUPBY_TEXT || form == WPI_GROUPBY_HTML;
}

static size_t format_number(const wpi_groupby_result *result, const wp_column *column, uint64_t row,
                            char out[WPI_NUMBER_CHARACTERS]) {
    const bool is_short =
        result->digits == 0 && is_for_people(result->form) && column->type == WP_TYPE_FLOAT64;
    return wpi_number_format_digits(column, row, result->form == WPI_GROUPBY_JSON,
                                    is_short ? TEXT_DIGITS : result->digits, out);
}

static void write_value(wpi_output *output, const wpi_groupby_result *result, uint32_t column,
                        uint64_t row) {
    const bool is_json = result->form == WPI_GROUPBY_JSON;
    if (is_text(result, column)) {
        const wpi_slice *text = text_at(result, column, row);
        if (text == NULL)
            wpi_output_text(output, is_json ? "null" : "");
        else if (is_json)
            wpi_output_json(output, text->text, text->length);
        else
            wpi_output_csv(output, text->text, text->length, ',');
        return;
    }
    const wp_column *values = wpi_groupby_column(result, column);
    char text[WPI_NUMBER_CHARACTERS];
    if (wpi_groupby_is_null(values, row))
        wpi_output_text(output, is_json ? "null" : "");
    else
        wpi_output_write(output, text, format_number(result, values, row, text));
}

/* ---- forms ---- */

static void write_csv_row(wpi_output *output, const wpi_groupby_result *result, uint64_t row) {
    for (uint32_t i = 0; i < width_of(result); i++) {
        if (i > 0) wpi_output_write(output, ",", 1);
        write_value(output, result, i, row);
    }
    wpi_output_write(output, "\n", 1);
}

static void write_json_row(wpi_output *output, const wpi_groupby_result *result, uint64_t row) {
    for (uint32_t i = 0; i < width_of(result); i++) {
        const char *name = wpi_groupby_column_name(result, i);
        wpi_output_text(output, i == 0 ? "{" : ", ");
        wpi_output_json(output, name, strlen(name));
        wpi_output_text(output, ": ");
        write_value(output, result, i, row);
    }
    wpi_output_text(output, "}");
}

static void write_csv_head(wpi_output *output, const wpi_groupby_result *result) {
    for (uint32_t i = 0; i < width_of(result); i++) {
        const char *name = wpi_groupby_column_name(result, i);
        if (i > 0) wpi_output_write(output, ",", 1);
        wpi_output_csv(output, name, strlen(name), ',');
    }
    wpi_output_write(output, "\n", 1);
}

/* The selected rows, in order. */
typedef struct selection {
    const uint64_t *rows; /* NULL: as they are */
    uint64_t count;
} selection;

static uint64_t row_at(const selection *s, uint64_t i) {
    return s->rows != NULL ? s->rows[i] : i;
}

static void write_csv(wpi_output *output, const wpi_groupby_result *result, const selection *s) {
    for (uint64_t i = 0; i < s->count; i++)
        write_csv_row(output, result, row_at(s, i));
}

static void write_json(wpi_output *output, const wpi_groupby_result *result, const selection *s) {
    wpi_output_text(output, "{\"schema\": \"warpage.groupby/1\", \"rows\": [");
    for (uint64_t i = 0; i < s->count; i++) {
        wpi_output_text(output, i == 0 ? "\n" : ",\n");
        write_json_row(output, result, row_at(s, i));
    }
    wpi_output_text(output, "\n]}\n");
}

char *wpi_groupby_cell(const wpi_groupby_result *result, uint32_t column, uint64_t row) {
    char number[WPI_NUMBER_CHARACTERS];
    const wpi_slice *text = is_text(result, column) ? text_at(result, column, row) : NULL;
    const wp_column *values = wpi_groupby_column(result, column);
    wpi_text cell = {0};
    if (is_text(result, column) ? text == NULL : wpi_groupby_is_null(values, row))
        wpi_text_append(&cell, "NULL");
    else if (text != NULL)
        wpi_text_append_n(&cell, text->text, text->length);
    else
        wpi_text_append_n(&cell, number, format_number(result, values, row, number));
    return wpi_text_take(&cell);
}

static wp_status write_text(wpi_output *output, const wpi_groupby_result *result,
                            const selection *s, size_t width, wp_error *err) {
    const uint32_t column_count = width_of(result);
    const char **columns = (const char **)wpi_calloc(column_count + (size_t)1, sizeof *columns);
    wpi_column_kind *kinds = wpi_calloc(column_count, sizeof *kinds);
    wpi_listing table = {.columns = columns, .kinds = kinds};
    wpi_text text = {0};
    const bool has_memory = columns != NULL && kinds != NULL;
    for (uint32_t i = 0; has_memory && i < column_count; i++) {
        columns[i] = wpi_groupby_column_name(result, i);
        kinds[i] = is_text(result, i) ? WP_COLUMN_TEXT : WP_COLUMN_NUMBER;
    }
    for (uint64_t i = 0; has_memory && i < s->count; i++)
        for (uint32_t c = 0; c < column_count; c++)
            wpi_strings_add_take(&table.cells, wpi_groupby_cell(result, c, row_at(s, i)));
    if (has_memory) wpi_listing_to_text(&table, width, &text);
    wpi_output_write(output, wpi_text_string(&text), text.length);
    wpi_listing_deinit(&table);
    wpi_text_deinit(&text);
    wpi_free((void *)columns);
    wpi_free(kinds);
    return has_memory ? WP_STATUS_OK : WP_FAIL(err, NOMEM, "the table of groups");
}

static void write_page(wpi_output *output, const wpi_groupby_result *result, const selection *s) {
    wpi_text page = {0};
    wpi_groupby_page(result, s->rows, s->count, &page);
    wpi_output_write(output, wpi_text_string(&page), page.length);
    wpi_text_deinit(&page);
}

static wp_status write_form(const wpi_groupby_result *result, const selection *s, const char *path,
                            wp_error *err) {
    wpi_output *output = NULL;
    wp_status status = wpi_output_open(path, &output, err);
    if (status == WP_STATUS_OK) {
        if (result->form == WPI_GROUPBY_TEXT) {
            status = write_text(output, result, s, path == NULL ? wpi_terminal_width() : 0, err);
        } else if (result->form == WPI_GROUPBY_JSON) {
            write_json(output, result, s);
        } else if (result->form == WPI_GROUPBY_HTML) {
            write_page(output, result, s);
        } else {
            if (result->form == WPI_GROUPBY_CSV) write_csv_head(output, result);
            write_csv(output, result, s);
        }
    }
    if (status == WP_STATUS_OK) status = wpi_output_finish(output, err);
    wpi_output_close(output);
    return status;
}

/* By way of CSV. */
static wp_status write_parquet(const wpi_groupby_result *result, const selection *s,
                               const char *path, wp_error *err) {
    const uint32_t width = width_of(result);
    wpi_parquet_field *fields = wpi_calloc(width, sizeof *fields);
    char *folder = NULL;
    if (fields == NULL) return WP_FAIL(err, NOMEM, "columns of the result");
    for (uint32_t i = 0; i < width; i++)
        fields[i] = (wpi_parquet_field){
            is_text(result, i) ? "text" : wp_type_name(wpi_groupby_column(result, i)->type),
            wpi_groupby_column_name(result, i)};
    wp_status status = wpi_temp_dir_create(&folder, err);
    if (status == WP_STATUS_OK) {
        char *csv = wpi_path_join(folder, "result.csv");
        status = write_form(result, s, csv, err);
        if (status == WP_STATUS_OK)
            status = wpi_parquet_write(csv, fields, width, folder, path, err);
        wpi_free(csv);
    }
    wpi_temp_dir_remove(folder);
    wpi_free(folder);
    wpi_free(fields);
    return status;
}

wp_status wpi_groupby_write(const wpi_groupby_result *result, const char *path, wp_error *err) {
    uint64_t *rows;
    WP_TRY(wpi_groupby_sort(result, &rows, err));
    const uint64_t count = wp_groups_count(result->groups);
    const selection s = {rows, count < result->limit ? count : result->limit};
    const wp_status status = result->form == WPI_GROUPBY_PARQUET
                                 ? write_parquet(result, &s, path, err)
                                 : write_form(result, &s, path, err);
    wpi_free(rows);
    return status;
}
