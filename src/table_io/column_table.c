/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the reader of a file by its name. */
#include "table_io/column_table.h"

#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "table_io/table_reader.h"

struct wpi_column_table {
    wpi_reader *reader;
    char *name; /* for messages */
};

static bool ends_with(const char *path, const char *ending) {
    const size_t length = strlen(path), ending_length = strlen(ending);
    return length >= ending_length && strcmp(path + length - ending_length, ending) == 0;
}

static bool is_one_of(const char *path, const char *const *endings) {
    for (; *endings != NULL; endings++)
        if (ends_with(path, *endings)) return true;
    return false;
}

/* "user.bin:int32" */
static bool is_raw(const char *path) {
    const char *colon = strrchr(path, ':');
    wp_type type;
    bool is_text;
    return colon != NULL && colon != path &&
           wpi_type_parse(colon + 1, strlen(colon + 1), &type, &is_text);
}

/* Messages quote contents of files: keeps them on one line. */
static wp_status tell(wp_status status, wp_error *err) {
    for (char *at = err != NULL && status != WP_STATUS_OK ? err->message : NULL;
         at != NULL && *at != '\0'; at++)
        if ((unsigned char)*at < ' ') *at = ' ';
    return status;
}

static wp_status open_csv(const char *path, const wpi_column_options *options, wpi_reader **out,
                          wp_error *err) {
    static const char *const tabbed[] = {".tsv",     ".tab",     ".tsv.gz",   ".tab.gz",
                                         ".tsv.zst", ".tab.zst", ".tsv.zstd", NULL};
    wpi_column_options effective = *options;
    wpi_bytes *bytes;
    if (effective.delimiter == '\0') effective.delimiter = is_one_of(path, tabbed) ? '\t' : ',';
    WP_TRY(wpi_bytes_open(path, &bytes, err));
    return wpi_csv_open(bytes, strcmp(path, "-") == 0 ? "stdin" : path, &effective, out, err);
}

static wp_status open_reader(const char *const *paths, size_t path_count,
                             const wpi_column_options *options, wpi_reader **out, wp_error *err) {
    static const char *const arrow[] = {".parquet", ".arrow", ".arrows", ".feather", ".ipc", NULL};
    size_t columns = 0;
    for (size_t i = 0; i < path_count; i++)
        columns += ends_with(paths[i], ".npy") || is_raw(paths[i]);
    if (columns == path_count) return wpi_column_files_open(paths, path_count, out, err);
    if (path_count > 1)
        return WP_FAIL(
            err, INVALID,
            "%s: give one table; only .npy files and FILE:TYPE can be combined as columns",
            paths[columns == 0 ? 1 : 0]);
    if (is_one_of(paths[0], arrow)) return wpi_arrow_file_open(paths[0], options, out, err);
    return open_csv(paths[0], options, out, err);
}

wp_status wpi_column_table_open(const char *const *paths, size_t path_count,
                                const wpi_column_options *options, wpi_column_table **out,
                                wp_error *err) {
    *out = NULL;
    if (path_count == 0) return WP_FAIL(err, INVALID, "no table is given");
    wpi_column_table *table = wpi_calloc(1, sizeof *table);
    if (table == NULL) return WP_FAIL(err, NOMEM, "reading %s", paths[0]);
    wp_status status = tell(open_reader(paths, path_count, options, &table->reader, err), err);
    if (status == WP_STATUS_OK) {
        table->name = wpi_strdup(path_count > 1               ? "the table"
                                 : strcmp(paths[0], "-") == 0 ? "stdin"
                                                              : paths[0]);
        if (table->name == NULL) status = WP_FAIL(err, NOMEM, "reading %s", paths[0]);
    }
    if (status == WP_STATUS_OK)
        *out = table;
    else
        wpi_column_table_close(table);
    return status;
}

void wpi_column_table_close(wpi_column_table *table) {
    if (table == NULL) return;
    if (table->reader != NULL) table->reader->ops->close(table->reader);
    wpi_free(table->name);
    wpi_free(table);
}

uint32_t wpi_column_table_width(const wpi_column_table *table) {
    return table->reader->width;
}

const wpi_field *wpi_column_table_field(const wpi_column_table *table, uint32_t column) {
    return &table->reader->fields[column];
}

const wpi_field *wpi_column_table_numbers(wpi_column_table *table, uint32_t column) {
    wpi_field *field = &table->reader->fields[column];
    if (field->is_unseen) {
        field->is_unseen = field->is_text = false;
        field->type = WP_TYPE_INT64;
    }
    return field;
}

uint64_t wpi_column_table_expected_rows(const wpi_column_table *table) {
    return table->reader->expected_rows;
}

/* Names the first column; if it is the only one and has a delimiter in its name, also the options
 * that may be wrong. */
static wp_status fail_unknown(const wpi_column_table *table, const char *name, wp_error *err) {
    const char *first = table->reader->fields[0].name;
    if (table->reader->width == 1 && first[strcspn(first, ";|\t,")] != '\0')
        return WP_FAIL(err, NOT_FOUND,
                       "%s has no column '%s'; its only column is '%s': give --delimiter if fields "
                       "are separated otherwise, --no-header if the first line is data",
                       table->name, name, first);
    return WP_FAIL(err, NOT_FOUND, "%s has no column '%s'; its first column is '%s'", table->name,
                   name, first);
}

wp_status wpi_column_table_find(const wpi_column_table *table, const char *name, uint32_t *column,
                                wp_error *err) {
    wpi_nearest nearest = {.wanted = name};
    uint32_t found = 0;
    for (uint32_t i = 0; i < table->reader->width; i++) {
        const char *known = table->reader->fields[i].name;
        wpi_nearest_offer(&nearest, known);
        if (strcmp(known, name) != 0) continue;
        *column = i;
        found++;
    }
    if (found == 1) return WP_STATUS_OK;
    if (found > 1)
        return WP_FAIL(err, INVALID, "%s has %u columns named '%s'", table->name, found, name);
    const char *meant = wpi_nearest_result(&nearest);
    if (meant != NULL)
        return WP_FAIL(err, NOT_FOUND, "%s has no column '%s'; did you mean '%s'?", table->name,
                       name, meant);
    return fail_unknown(table, name, err);
}

wp_status wpi_column_table_select(wpi_column_table *table, const wpi_selected *selected,
                                  uint32_t count, wp_error *err) {
    return tell(table->reader->ops->select(table->reader, selected, count, err), err);
}

wp_status wpi_column_table_map(wpi_column_table *table, uint32_t column, uint64_t read_count,
                               wp_column *out, uint64_t *row_count, wp_error *err) {
    *row_count = 0;
    if (table->reader->ops->map == NULL) return WP_STATUS_OK;
    return tell(table->reader->ops->map(table->reader, column, read_count, out, row_count, err),
                err);
}

wp_status wpi_column_table_next(wpi_column_table *table, wpi_column_chunk *out, wp_error *err) {
    return tell(table->reader->ops->next(table->reader, out, err), err);
}

const wpi_dictionary *wpi_column_table_dictionary(const wpi_column_table *table, uint32_t place) {
    return table->reader->ops->dictionary(table->reader, place);
}

void wpi_column_table_progress(const wpi_column_table *table, uint64_t *done_bytes,
                               uint64_t *total_bytes) {
    table->reader->ops->progress(table->reader, done_bytes, total_bytes);
}
