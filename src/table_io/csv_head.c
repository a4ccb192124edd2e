/* SPDX-License-Identifier: Apache-2.0 */
#include "table_io/csv_head.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "table_io/csv_block.h"
#include "table_io/csv_marks.h"
#include "table_io/parse_number.h"
#include "table_io/table_reader.h"

#define ROWS_LOOKED_AT 10000

/* Marks of the text, one by one. */
typedef struct walk {
    wpi_csv_marker marker;
    uint32_t *marks; /* [WPI_CSV_MARKS_STEP] */
    size_t at, count;
} walk;

static bool next_mark(walk *w, uint32_t *mark) {
    if (w->at == w->count) {
        w->count = wpi_csv_marks(&w->marker, w->marks);
        w->at = 0;
    }
    if (w->at == w->count) return false;
    *mark = w->marks[w->at++];
    return true;
}

static wp_status start_walk(walk *w, const char *text, size_t size, char delimiter, wp_error *err) {
    *w = (walk){.marker = {.text = text, .size = size, .delimiter = delimiter}};
    w->marks = wpi_malloc(WPI_CSV_MARKS_STEP * sizeof *w->marks);
    return w->marks != NULL ? WP_STATUS_OK : WP_FAIL(err, NOMEM, "columns of CSV");
}

void wpi_fields_free(wpi_field *fields, uint32_t count) {
    for (uint32_t i = 0; fields != NULL && i < count; i++)
        wpi_free(fields[i].name);
    wpi_free(fields);
}

/* ---- names ---- */

static wp_status add_field(wpi_csv_head *head, const char *name, size_t length, wp_error *err) {
    const uint32_t width = head->width;
    if ((width & (width - 1)) == 0) { /* room is doubled */
        wpi_field *fields =
            wpi_realloc(head->fields, (width == 0 ? 1 : 2 * (size_t)width) * sizeof *fields);
        if (fields == NULL) return WP_FAIL(err, NOMEM, "names of columns");
        head->fields = fields;
    }
    head->fields[width] = (wpi_field){.type = WP_TYPE_INT64, .is_nullable = true};
    head->fields[width].name =
        length != 0 ? wpi_strndup(name, length) : wpi_format("c%u", width + 1);
    if (head->fields[width].name == NULL) return WP_FAIL(err, NOMEM, "names of columns");
    head->width++;
    return WP_STATUS_OK;
}

static wp_status read_names(char *text, size_t size, bool has_no_header, char delimiter,
                            wpi_csv_head *head, wp_error *err) {
    wp_status status;
    walk w;
    uint32_t mark = 0;
    size_t start = 0;
    WP_TRY(start_walk(&w, text, size, delimiter, err));
    while ((mark & WPI_CSV_NEWLINE) == 0 && next_mark(&w, &mark)) {
        size_t first = start, outer = mark & ~WPI_CSV_NEWLINE;
        bool is_quoted;
        start = outer + 1;
        if ((mark & WPI_CSV_NEWLINE) != 0 && outer > first && text[outer - 1] == '\r') outer--;
        if (has_no_header)
            outer = first;
        else
            (void)wpi_csv_field(text, &first, &outer, &is_quoted); /* malformed: kept as it is */
        WP_TRY_GOTO(add_field(head, text + first, outer - first, err), done);
    }
    status = WP_STATUS_OK;
    if (!has_no_header) {
        head->size = start;
        head->line_count = wpi_csv_lines(text, start);
    }
done:
    wpi_free(w.marks);
    return status;
}

/* ---- types ---- */

typedef struct look {
    bool is_seen, is_no_integer, is_no_int64, is_no_uint64, is_no_float;
} look;

static void look_at(look *l, const char *text, size_t length) {
    uint64_t word;
    double number;
    l->is_seen = true;
    const wpi_parsed as_int64 = wpi_integer_parse(text, length, true, &word);
    if (as_int64 == WPI_PARSED_OK) {
        l->is_no_uint64 = l->is_no_uint64 || (int64_t)word < 0;
        return;
    }
    l->is_no_int64 = true;
    if (as_int64 == WPI_PARSED_NO_NUMBER) {
        l->is_no_integer = true;
        l->is_no_float = l->is_no_float || wpi_float_parse(text, length, &number) != WPI_PARSED_OK;
    } else {
        l->is_no_uint64 =
            l->is_no_uint64 || wpi_integer_parse(text, length, false, &word) != WPI_PARSED_OK;
    }
}

static void conclude(const look *l, wpi_field *field) {
    const bool is_large = l->is_no_int64 && l->is_no_uint64;
    field->is_unseen = !l->is_seen;
    field->is_text = field->is_unseen || (l->is_no_integer ? l->is_no_float : is_large);
    if (field->is_text)
        field->type = WP_TYPE_UINT32;
    else if (l->is_no_integer)
        field->type = WP_TYPE_FLOAT64;
    else
        field->type = l->is_no_int64 ? WP_TYPE_UINT64 : WP_TYPE_INT64;
}

static void look_at_field(look *l, const char *text, size_t first, size_t outer,
                          const char *null_text) {
    if (outer > first && text[outer - 1] == '\r') outer--;
    if (outer > first + 1 && text[first] == WPI_CSV_QUOTE) {
        first++;
        outer--;
    }
    const size_t length = outer - first;
    if (length == 0) return;
    if (null_text != NULL && strlen(null_text) == length &&
        memcmp(null_text, text + first, length) == 0)
        return;
    look_at(l, text + first, length);
}

static wp_status infer(const char *text, size_t size, const wpi_column_options *options,
                       char delimiter, wpi_csv_head *head, wp_error *err) {
    walk w;
    uint32_t mark = 0, column = 0, row = 0;
    size_t first = 0;
    WP_TRY(start_walk(&w, text, size, delimiter, err));
    look *looks = wpi_calloc(head->width, sizeof *looks);
    if (looks == NULL) {
        wpi_free(w.marks);
        return WP_FAIL(err, NOMEM, "types of columns");
    }
    while (row < ROWS_LOOKED_AT && next_mark(&w, &mark)) {
        const size_t outer = mark & ~WPI_CSV_NEWLINE;
        if (column < head->width)
            look_at_field(&looks[column], text, first, outer, options->null_text);
        column++;
        first = outer + 1;
        if ((mark & WPI_CSV_NEWLINE) != 0) {
            column = 0;
            row++;
        }
    }
    for (uint32_t i = 0; i < head->width; i++)
        conclude(&looks[i], &head->fields[i]);
    if (row != 0) head->row_bytes = (double)first / row;
    wpi_free(looks);
    wpi_free(w.marks);
    return WP_STATUS_OK;
}

/* ---- types from options ---- */

bool wpi_type_parse(const char *name, size_t length, wp_type *type, bool *is_text) {
    *is_text = length == 4 && strncmp(name, "text", 4) == 0;
    *type = WP_TYPE_UINT32;
    if (*is_text) return true;
    for (int i = 0; i < WP_TYPE_COUNT; i++) {
        const char *known = wp_type_name((wp_type)i);
        if (strlen(known) != length || strncmp(known, name, length) != 0) continue;
        *type = (wp_type)i;
        return true;
    }
    return false;
}

static wp_status say_type(const char *item, size_t length, const char *name, wpi_csv_head *head,
                          wp_error *err) {
    size_t colon = length;
    while (colon > 0 && item[colon - 1] != ':')
        colon--;
    if (colon == 0)
        return WP_FAIL(err, INVALID,
                       "--types %.*s: the type is missing; write, for example, %.*s:int64",
                       (int)length, item, (int)length, item);
    wp_type type;
    bool is_text, is_found = false;
    char wanted[WP_NEAREST_NAME_MAX + 1];
    (void)snprintf(wanted, sizeof wanted, "%.*s", (int)(colon - 1), item);
    wpi_nearest nearest = {.wanted = wanted};
    if (!wpi_type_parse(item + colon, length - colon, &type, &is_text))
        return WP_FAIL(err, INVALID, "--types %.*s: unknown type; the types are " WPI_TYPE_NAMES,
                       (int)length, item);
    for (uint32_t i = 0; i < head->width; i++) {
        wpi_field *field = &head->fields[i];
        wpi_nearest_offer(&nearest, field->name);
        if (strlen(field->name) != colon - 1 || strncmp(field->name, item, colon - 1) != 0)
            continue;
        field->type = type;
        field->is_text = is_text;
        field->is_unseen = false;
        is_found = true;
    }
    if (is_found) return WP_STATUS_OK;
    const char *meant = wpi_nearest_result(&nearest);
    return WP_FAIL(err, INVALID, "--types: %s has no column '%s'%s%s%s", name, wanted,
                   meant != NULL ? "; did you mean '" : "", meant != NULL ? meant : "",
                   meant != NULL ? "'?" : "");
}

static wp_status say_types(const char *types, const char *name, wpi_csv_head *head, wp_error *err) {
    while (types != NULL && *types != '\0') {
        const size_t length = strcspn(types, ",");
        WP_TRY(say_type(types, length, name, head, err));
        types += length + (types[length] == ',');
    }
    return WP_STATUS_OK;
}

wp_status wpi_csv_head_read(char *text, size_t size, const char *name,
                            const wpi_column_options *options, char delimiter, wpi_csv_head *out,
                            wp_error *err) {
    wp_status status = WP_STATUS_OK;
    *out = (wpi_csv_head){0};
    if (size == 0) return WP_FAIL(err, PARSE, "%s is empty and has no header line", name);
    WP_TRY_GOTO(read_names(text, size, options->has_no_header, delimiter, out, err), done);
    WP_TRY_GOTO(infer(text + out->size, size - out->size, options, delimiter, out, err), done);
    WP_TRY_GOTO(say_types(options->types, name, out, err), done);
    return WP_STATUS_OK;
done:
    wpi_fields_free(out->fields, out->width);
    *out = (wpi_csv_head){0};
    return status;
}
