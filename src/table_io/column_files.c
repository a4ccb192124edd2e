/* SPDX-License-Identifier: Apache-2.0 */
/* Files of columns, side by side: a chunk's rows are read from each. If a row is one value, the
 * bytes read are the column; otherwise values are gathered from rows. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "table_io/npy.h"
#include "table_io/table_reader.h"

#define CHUNK_BYTES ((uint64_t)4 << 20) /* of the widest file's rows */
#define UNKNOWN UINT64_MAX

typedef struct column_file {
    const char *name;
    wpi_bytes *bytes;
    wpi_npy_head head; /* a raw file's is made up; its row count is UNKNOWN until it ends */
    unsigned char *rows;
    uint64_t rows_read;
} column_file;

typedef struct place { /* of a selected column */
    uint32_t file, field;
    wpi_use use;
    unsigned char *values; /* gathered; NULL: the file's rows themselves */
} place;

typedef struct column_files {
    wpi_reader base;
    char **names;
    column_file *files;
    uint32_t file_count;
    uint64_t chunk_rows;
    place *places;
    wp_column *columns;
    uint32_t selected_count;
} column_files;

/* ---- rows ---- */

static wp_status fail_short(const column_file *file, uint64_t rows, wp_error *err) {
    return WP_FAIL(err, PARSE, "%s is truncated: it has %llu of %llu rows", file->name,
                   (unsigned long long)rows, (unsigned long long)file->head.row_count);
}

static wp_status fail_within(const column_file *file, wp_error *err) {
    return WP_FAIL(err, PARSE, "%s is truncated: it ends within a value of %u bytes", file->name,
                   file->head.row_bytes);
}

static wp_status read_rows(column_file *file, uint64_t wanted, uint64_t *got_rows, wp_error *err) {
    size_t got;
    const uint32_t row_bytes = file->head.row_bytes;
    if (file->head.row_count != UNKNOWN && file->head.row_count - file->rows_read < wanted)
        wanted = file->head.row_count - file->rows_read;
    WP_TRY(wpi_bytes_read(file->bytes, file->rows, wanted * row_bytes, &got, err));
    *got_rows = got / row_bytes;
    if (file->head.row_count != UNKNOWN && *got_rows < wanted)
        return fail_short(file, file->rows_read + *got_rows, err);
    if (got % row_bytes != 0) return fail_within(file, err);
    file->rows_read += *got_rows;
    return WP_STATUS_OK;
}

static void pick(const column_file *file, const place *p, uint64_t row_count) {
    const wpi_npy_field *field = &file->head.fields[p->field];
    const uint32_t bytes = wp_type_bytes(field->type), row_bytes = file->head.row_bytes;
    const unsigned char *from = file->rows + field->offset_bytes;
    for (uint64_t row = 0; row < row_count; row++)
        memcpy(p->values + row * bytes, from + row * row_bytes, bytes);
}

static wp_status next(wpi_reader *reader, wpi_column_chunk *out, wp_error *err) {
    column_files *c = (column_files *)reader;
    uint64_t row_count = 0;
    for (uint32_t i = 0; i < c->file_count; i++) {
        column_file *file = &c->files[i];
        uint64_t got;
        WP_TRY(read_rows(file, c->chunk_rows, &got, err));
        if (i > 0 && got != row_count)
            return WP_FAIL(err, PARSE, "%s has %s rows than %s", file->name,
                           got < row_count ? "fewer" : "more", c->files[0].name);
        row_count = got;
    }
    for (uint32_t i = 0; i < c->selected_count; i++)
        if (c->places[i].values != NULL && c->places[i].use == WPI_USE_VALUES)
            pick(&c->files[c->places[i].file], &c->places[i], row_count);
    *out = (wpi_column_chunk){row_count, c->columns};
    return WP_STATUS_OK;
}

/* ---- columns ---- */

static place place_of(const column_files *c, uint32_t column) {
    place p = {.field = column};
    while (p.field >= c->files[p.file].head.field_count)
        p.field -= c->files[p.file++].head.field_count;
    return p;
}

static wp_status select_columns(wpi_reader *reader, const wpi_selected *selected, uint32_t count,
                                wp_error *err) {
    column_files *c = (column_files *)reader;
    c->selected_count = count;
    c->places = wpi_calloc(count + (size_t)1, sizeof *c->places);
    c->columns = wpi_calloc(count + (size_t)1, sizeof *c->columns);
    if (c->places == NULL || c->columns == NULL) return WP_FAIL(err, NOMEM, "columns");
    for (uint32_t i = 0; i < count; i++) {
        place *p = &c->places[i];
        *p = place_of(c, selected[i].column);
        p->use = selected[i].use;
        const column_file *file = &c->files[p->file];
        const wp_type type =
            p->use == WPI_USE_NULLS ? WP_TYPE_UINT8 : file->head.fields[p->field].type;
        const bool is_as_read = p->use == WPI_USE_VALUES && file->head.field_count == 1;
        if (!is_as_read && (p->values = wpi_calloc(c->chunk_rows, wp_type_bytes(type))) == NULL)
            return WP_FAIL(err, NOMEM, "columns");
        c->columns[i] = (wp_column){.type = type, .values = is_as_read ? file->rows : p->values};
    }
    return WP_STATUS_OK;
}

/* ---- a mapped column ---- */

#define READ_AROUND_BYTES                                                                          \
    ((uint64_t)128 << 10) /* by the system, where it is not told otherwise                         \
                           */

/* One column alone: beside others their numbers of rows would have to be compared. */
static wp_status map_column(wpi_reader *reader, uint32_t column, uint64_t read_count,
                            wp_column *out, uint64_t *row_count, wp_error *err) {
    column_files *c = (column_files *)reader;
    column_file *file = &c->files[0];
    const uint32_t row_bytes = file->head.row_bytes;
    const bool is_random = read_count < wpi_bytes_total(file->bytes) / READ_AROUND_BYTES;
    const void *values;
    size_t size;
    *row_count = 0;
    if (c->base.width != 1 || !wpi_bytes_map(file->bytes, is_random, &values, &size))
        return WP_STATUS_OK;
    const bool is_told = file->head.row_count != UNKNOWN;
    if (is_told && size / row_bytes < file->head.row_count)
        return fail_short(file, size / row_bytes, err);
    if (!is_told && size % row_bytes != 0) return fail_within(file, err);
    if ((uintptr_t)values % row_bytes != 0) return WP_STATUS_OK;
    *out = (wp_column){.type = c->base.fields[column].type, .values = values};
    *row_count = is_told ? file->head.row_count : size / row_bytes;
    return WP_STATUS_OK;
}

static const wpi_dictionary *dictionary(const wpi_reader *reader, uint32_t number) {
    (void)reader;
    (void)number;
    return NULL;
}

static void progress(const wpi_reader *reader, uint64_t *done_bytes, uint64_t *total_bytes) {
    const column_files *c = (const column_files *)reader;
    *done_bytes = *total_bytes = 0;
    for (uint32_t i = 0; i < c->file_count; i++) {
        *done_bytes += wpi_bytes_done(c->files[i].bytes);
        *total_bytes += wpi_bytes_total(c->files[i].bytes);
    }
}

static void close_reader(wpi_reader *reader) {
    column_files *c = (column_files *)reader;
    for (uint32_t i = 0; c->files != NULL && i < c->file_count; i++) {
        wpi_bytes_close(c->files[i].bytes);
        wpi_npy_head_deinit(&c->files[i].head);
        wpi_free(c->files[i].rows);
        if (c->names != NULL) wpi_free(c->names[i]);
    }
    for (uint32_t i = 0; c->places != NULL && i < c->selected_count; i++)
        wpi_free(c->places[i].values);
    wpi_fields_free(c->base.fields, c->base.width);
    wpi_free(c->files);
    wpi_free(c->names);
    wpi_free(c->places);
    wpi_free(c->columns);
    wpi_free(c);
}

static const wpi_reader_ops column_file_ops = {.select = select_columns,
                                               .next = next,
                                               .map = map_column,
                                               .dictionary = dictionary,
                                               .progress = progress,
                                               .close = close_reader};

/* ---- open ---- */

static wp_status make_raw_head(const char *path, char *name, wpi_npy_head *head, wp_error *err) {
    char *colon = strrchr(name, ':');
    wp_type type;
    bool is_text;
    if (colon == NULL || !wpi_type_parse(colon + 1, strlen(colon + 1), &type, &is_text) || is_text)
        return WP_FAIL(err, INVALID,
                       "%s: a column is a .npy file or FILE:TYPE, such as user.bin:int32", path);
    *colon = '\0';
    head->fields = wpi_calloc(1, sizeof *head->fields);
    if (head->fields == NULL) return WP_FAIL(err, NOMEM, "reading %s", name);
    head->fields[0].type = type;
    head->field_count = 1;
    head->row_bytes = wp_type_bytes(type);
    head->row_count = UNKNOWN;
    return WP_STATUS_OK;
}

/* Of the first file; the others have as many. A head may state more rows than the file has. */
static uint64_t expected_rows(const column_file *file) {
    const uint64_t fit = wpi_bytes_total(file->bytes) / file->head.row_bytes;
    return file->head.row_count < fit ? file->head.row_count : fit;
}

static bool is_npy(const char *path) {
    const size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

static wp_status open_file(column_files *c, uint32_t number, const char *path, wp_error *err) {
    column_file *file = &c->files[number];
    char *name = c->names[number] = wpi_strdup(path);
    if (name == NULL) return WP_FAIL(err, NOMEM, "reading %s", path);
    file->name = name;
    if (!is_npy(path)) WP_TRY(make_raw_head(path, name, &file->head, err));
    WP_TRY(wpi_bytes_open(name, &file->bytes, err));
    if (is_npy(path)) WP_TRY(wpi_npy_head_read(file->bytes, name, &file->head, err));
    return WP_STATUS_OK;
}

/* A column without a name gets its file's name, or c1, c2, … if the file has several. */
static char *field_name(const column_file *file, uint32_t field) {
    if (file->head.fields[field].name != NULL) return wpi_strdup(file->head.fields[field].name);
    return file->head.field_count == 1 ? wpi_path_stem(file->name) : wpi_format("c%u", field + 1);
}

static wp_status make_fields(column_files *c, wp_error *err) {
    uint32_t width = 0, row_bytes = 1;
    for (uint32_t i = 0; i < c->file_count; i++) {
        width += c->files[i].head.field_count;
        if (c->files[i].head.row_bytes > row_bytes) row_bytes = c->files[i].head.row_bytes;
    }
    c->chunk_rows = CHUNK_BYTES / row_bytes + 1;
    c->base.fields = wpi_calloc(width, sizeof *c->base.fields);
    if (c->base.fields == NULL) return WP_FAIL(err, NOMEM, "names of columns");
    for (uint32_t i = 0; i < c->file_count; i++) {
        column_file *file = &c->files[i];
        file->rows = wpi_malloc(c->chunk_rows * file->head.row_bytes);
        if (file->rows == NULL) return WP_FAIL(err, NOMEM, "reading %s", file->name);
        for (uint32_t field = 0; field < file->head.field_count; field++) {
            wpi_field *f = &c->base.fields[c->base.width];
            *f =
                (wpi_field){.name = field_name(file, field), .type = file->head.fields[field].type};
            if (f->name == NULL) return WP_FAIL(err, NOMEM, "names of columns");
            c->base.width++;
        }
    }
    return WP_STATUS_OK;
}

wp_status wpi_column_files_open(const char *const *paths, size_t path_count, wpi_reader **out,
                                wp_error *err) {
    wp_status status = WP_STATUS_OK;
    *out = NULL;
    column_files *c = wpi_calloc(1, sizeof *c);
    if (c == NULL) return WP_FAIL(err, NOMEM, "reading %s", paths[0]);
    c->base.ops = &column_file_ops;
    c->file_count = (uint32_t)path_count;
    c->files = wpi_calloc(path_count, sizeof *c->files);
    c->names = wpi_calloc(path_count, sizeof *c->names);
    if (c->files == NULL || c->names == NULL) status = WP_FAIL(err, NOMEM, "reading %s", paths[0]);
    for (uint32_t i = 0; status == WP_STATUS_OK && i < c->file_count; i++)
        status = open_file(c, i, paths[i], err);
    if (status == WP_STATUS_OK) status = make_fields(c, err);
    if (status == WP_STATUS_OK) c->base.expected_rows = expected_rows(&c->files[0]);
    if (status == WP_STATUS_OK)
        *out = &c->base;
    else
        close_reader(&c->base);
    return status;
}
