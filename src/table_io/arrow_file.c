/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet and Arrow files are read by pyarrow: a program of the Python package prints a line for
 * each column ("int64 user"), and writes selected columns as CSV without a header, which is read as
 * any other. CSV loses nothing: floats are written with all their digits, and an empty text has
 * quotes, NULL has none. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strings.h"
#include "table_io/python.h"
#include "table_io/table_reader.h"

typedef struct arrow_file {
    wpi_reader base;
    char *path;
    uint32_t thread_count;
    wpi_reader *csv; /* once columns are selected */
} arrow_file;

static wp_status add_field(arrow_file *a, const char *line, size_t length, wp_error *err) {
    const size_t type_length = strcspn(line, " ");
    wpi_field *fields = wpi_realloc(a->base.fields, (a->base.width + (size_t)1) * sizeof *fields);
    if (fields == NULL) return WP_FAIL(err, NOMEM, "columns of %s", a->path);
    a->base.fields = fields;
    wpi_field *field = &fields[a->base.width];
    *field = (wpi_field){.is_nullable = true};
    if (type_length >= length || !wpi_type_parse(line, type_length, &field->type, &field->is_text))
        return WP_FAIL(err, PARSE, "%s: the list of its columns could not be parsed", a->path);
    field->name = wpi_strndup(line + type_length + 1, length - type_length - 1);
    if (field->name == NULL) return WP_FAIL(err, NOMEM, "columns of %s", a->path);
    a->base.width++;
    return WP_STATUS_OK;
}

static wp_status read_fields(arrow_file *a, wp_error *err) {
    wpi_strings argv = {0};
    wpi_text text = {0};
    const wpi_subprocess_options options = {.stdout_text = &text};
    wp_status status = wpi_python_argv("arrow_file.py", &argv, err);
    wpi_strings_add(&argv, a->path);
    if (status == WP_STATUS_OK) status = wpi_python_run(&argv, &options, err);
    wpi_strings_deinit(&argv);
    const char *line = wpi_text_string(&text);
    while (status == WP_STATUS_OK && *line != '\0') {
        const size_t length = strcspn(line, "\n");
        status = add_field(a, line, length, err);
        line += length + (line[length] == '\n');
    }
    if (status == WP_STATUS_OK && a->base.width == 0)
        status = WP_FAIL(err, PARSE, "%s has no columns", a->path);
    wpi_text_deinit(&text);
    return status;
}

/* ---- reading ---- */

static wp_status select_columns(wpi_reader *reader, const wpi_selected *selected, uint32_t count,
                                wp_error *err) {
    arrow_file *a = (arrow_file *)reader;
    wpi_strings argv = {0};
    wpi_text types = {0};
    wpi_bytes *bytes = NULL;
    wpi_selected *moved = wpi_calloc(count + (size_t)1, sizeof *moved);
    if (moved == NULL) return WP_FAIL(err, NOMEM, "columns of %s", a->path);
    wp_status status = wpi_python_argv("arrow_file.py", &argv, err);
    wpi_strings_add(&argv, a->path);
    for (uint32_t i = 0; i < count; i++) {
        const wpi_field *field = &a->base.fields[selected[i].column];
        wpi_strings_addf(&argv, "%u", selected[i].column);
        wpi_text_appendf(&types, "%sc%u:%s", i > 0 ? "," : "", i + 1,
                         field->is_text ? "text" : wp_type_name(field->type));
        moved[i] = (wpi_selected){.column = i, .use = selected[i].use};
    }
    const wpi_column_options options = {.types = wpi_text_string(&types),
                                        .delimiter = ',',
                                        .has_no_header = true,
                                        .thread_count = a->thread_count};
    if (status == WP_STATUS_OK)
        status = wpi_bytes_spawn(wpi_strings_argv(&argv), a->path, &bytes, err);
    if (status == WP_STATUS_OK) status = wpi_csv_open(bytes, a->path, &options, &a->csv, err);
    if (status == WP_STATUS_OK) status = a->csv->ops->select(a->csv, moved, count, err);
    wpi_strings_deinit(&argv);
    wpi_text_deinit(&types);
    wpi_free(moved);
    return status;
}

static wp_status next(wpi_reader *reader, wpi_column_chunk *out, wp_error *err) {
    arrow_file *a = (arrow_file *)reader;
    return a->csv->ops->next(a->csv, out, err);
}

static const wpi_dictionary *dictionary(const wpi_reader *reader, uint32_t place) {
    const arrow_file *a = (const arrow_file *)reader;
    return a->csv->ops->dictionary(a->csv, place);
}

static void progress(const wpi_reader *reader, uint64_t *done_bytes, uint64_t *total_bytes) {
    const arrow_file *a = (const arrow_file *)reader;
    *done_bytes = *total_bytes = 0; /* of CSV, not of the file */
    if (a->csv != NULL) a->csv->ops->progress(a->csv, done_bytes, total_bytes);
}

static void close_reader(wpi_reader *reader) {
    arrow_file *a = (arrow_file *)reader;
    if (a->csv != NULL) a->csv->ops->close(a->csv);
    wpi_fields_free(a->base.fields, a->base.width);
    wpi_free(a->path);
    wpi_free(a);
}

static const wpi_reader_ops arrow_file_ops = {.select = select_columns,
                                              .next = next,
                                              .dictionary = dictionary,
                                              .progress = progress,
                                              .close = close_reader};

wp_status wpi_arrow_file_open(const char *path, const wpi_column_options *options, wpi_reader **out,
                              wp_error *err) {
    wp_status status = WP_STATUS_OK;
    *out = NULL;
    if (!wpi_file_exists(path))
        return WP_FAIL(err, NOT_FOUND, "cannot read %s: no such file", path);
    arrow_file *a = wpi_calloc(1, sizeof *a);
    if (a == NULL) return WP_FAIL(err, NOMEM, "reading %s", path);
    a->base.ops = &arrow_file_ops;
    a->thread_count = options->thread_count;
    a->path = wpi_strdup(path);
    if (a->path == NULL) status = WP_FAIL(err, NOMEM, "reading %s", path);
    if (status == WP_STATUS_OK) status = read_fields(a, err);
    if (status == WP_STATUS_OK)
        *out = &a->base;
    else
        close_reader(&a->base);
    return status;
}
