/* SPDX-License-Identifier: Apache-2.0 */
/* A few thousand marks are made at a time, so that they and their text are still in the cache when
 * rows are made of them. A row is `width` marks of which only the last is a newline; only selected
 * fields are parsed. */
#include "table_io/csv_block.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "table_io/csv_marks.h"
#include "table_io/parse_number.h"

#define SHOWN 40 /* characters of a bad field that a message shows */

typedef struct parser {
    wpi_csv_block *block;
    const wpi_csv_shape *shape;
    size_t start;  /* of the row */
    size_t bad_at; /* a place in the line that is wrong */
    wp_error *err;
} parser;

/* Few enough that counts fit in bytes, whose sums make the shortest vectors. */
#define LINES_STEP 192

uint64_t wpi_csv_lines(const char *text, size_t size) {
    uint64_t lines = 0;
    size_t i = 0;
    for (; size - i >= LINES_STEP; i += LINES_STEP) {
        uint8_t some = 0;
        for (size_t k = 0; k < LINES_STEP; k++)
            some = (uint8_t)(some + (text[i + k] == '\n'));
        lines += some;
    }
    for (; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

/* ---- memory ---- */

wp_status wpi_csv_block_reserve(wpi_csv_block *block, size_t size, wp_error *err) {
    if (size <= block->capacity) return WP_STATUS_OK;
    char *text = wpi_realloc(block->text, size + WPI_CSV_PADDING);
    if (text == NULL) return WP_FAIL(err, NOMEM, "a block of %zu bytes of CSV", size);
    block->text = text;
    block->capacity = size;
    return WP_STATUS_OK;
}

static wp_type type_of(const wpi_csv_shape *shape, uint32_t place) {
    const wpi_selected *selected = &shape->selected[place];
    return selected->use == WPI_USE_NULLS ? WP_TYPE_UINT8 : shape->fields[selected->column].type;
}

static wp_status grow_column(wpi_csv_column *column, wp_type type, uint64_t old_rows, uint64_t rows,
                             wp_error *err) {
    const uint64_t old_bytes = old_rows / 8, bytes = rows / 8; /* multiples of 64 rows */
    void *values = wpi_realloc(column->values, rows * wp_type_bytes(type));
    if (values != NULL) column->values = values;
    uint8_t *valid = wpi_realloc(column->valid, bytes);
    if (valid != NULL) column->valid = valid;
    if (values == NULL || valid == NULL)
        return WP_FAIL(err, NOMEM, "%llu rows", (unsigned long long)rows);
    memset(valid + old_bytes, 0xff, bytes - old_bytes);
    return WP_STATUS_OK;
}

static wp_status grow_rows(const parser *p, uint64_t wanted) {
    wpi_csv_block *block = p->block;
    uint64_t rows = block->row_capacity == 0 ? 1024 : block->row_capacity;
    while (rows < wanted)
        rows *= 2;
    for (uint32_t i = 0; i < p->shape->selected_count; i++)
        WP_TRY(grow_column(&block->columns[i], type_of(p->shape, i), block->row_capacity, rows,
                           p->err));
    block->row_capacity = rows;
    return WP_STATUS_OK;
}

static wp_status prepare(const parser *p) {
    wpi_csv_block *block = p->block;
    const wpi_csv_shape *shape = p->shape;
    block->row_count = 0;
    if (block->marks == NULL)
        block->marks =
            wpi_malloc((WPI_CSV_MARKS_STEP + (size_t)shape->width) * sizeof *block->marks);
    if (block->starts == NULL)
        block->starts = wpi_malloc((WPI_CSV_MARKS_STEP / shape->width + 1) * sizeof *block->starts);
    if (block->columns == NULL)
        block->columns = wpi_calloc(shape->selected_count + 1, sizeof *block->columns);
    if (block->marks == NULL || block->starts == NULL || block->columns == NULL)
        return WP_FAIL(p->err, NOMEM, "columns of CSV");
    for (uint32_t i = 0; i < shape->selected_count; i++) {
        wpi_csv_column *column = &block->columns[i];
        if (column->has_null) memset(column->valid, 0xff, block->row_capacity / 8);
        column->has_null = false;
        wpi_dictionary_clear(&column->texts);
    }
    return WP_STATUS_OK;
}

void wpi_csv_block_deinit(wpi_csv_block *block, uint32_t selected_count) {
    for (uint32_t i = 0; block->columns != NULL && i < selected_count; i++) {
        wpi_free(block->columns[i].values);
        wpi_free(block->columns[i].valid);
        wpi_dictionary_deinit(&block->columns[i].texts);
    }
    wpi_free(block->columns);
    wpi_free(block->marks);
    wpi_free(block->starts);
    wpi_free(block->text);
    *block = (wpi_csv_block){0};
}

/* ---- fields ---- */

bool wpi_csv_field(char *text, size_t *first, size_t *outer, bool *is_quoted) {
    *is_quoted = *first < *outer && text[*first] == WPI_CSV_QUOTE;
    if (!*is_quoted) return true;
    const size_t begin = *first + 1, closing = wpi_csv_closing_quote(text, begin, *outer);
    if (closing + 1 != *outer) return false;
    size_t to = begin;
    for (size_t from = begin; from < closing; from++) {
        text[to++] = text[from];
        if (text[from] == WPI_CSV_QUOTE) from++;
    }
    memset(text + to, WPI_CSV_QUOTE, closing - to); /* no newline more than before */
    *first = begin;
    *outer = to;
    return true;
}

static wp_status fail_field(parser *p, uint32_t column, size_t first, size_t outer,
                            const char *what) {
    const wpi_field *field = &p->shape->fields[column];
    const char *text = p->block->text + first, *more = outer - first > SHOWN ? "…" : "";
    int length = outer - first < SHOWN ? (int)(outer - first) : SHOWN;
    while (*more != '\0' && length > 0 && (text[length] & 0xc0) == 0x80)
        length--; /* no part of a character */
    p->bad_at = first;
    return WP_FAIL(p->err, PARSE, "column '%s': '%.*s%s' %s", field->name, length, text, more,
                   what);
}

static wp_status fail_number(parser *p, uint32_t column, size_t first, size_t outer,
                             wpi_parsed parsed) {
    const wpi_field *field = &p->shape->fields[column];
    double number;
    char what[256];
    if (parsed == WPI_PARSED_OUT_OF_RANGE)
        (void)snprintf(what, sizeof what, "is out of range for %s; give --types %s:%s",
                       wp_type_name(field->type), field->name,
                       field->type == WP_TYPE_FLOAT64                                  ? "text"
                       : field->type == WP_TYPE_INT64 || field->type == WP_TYPE_UINT64 ? "float64"
                                                                                       : "int64");
    else if (wpi_float_parse(p->block->text + first, outer - first, &number) == WPI_PARSED_OK)
        (void)snprintf(what, sizeof what, "is not a valid %s; give --types %s:float64",
                       wp_type_name(field->type), field->name);
    else
        (void)snprintf(what, sizeof what,
                       "is not a valid %s; give --types %s:text, or --null TEXT if it means NULL",
                       wp_type_name(field->type), field->name);
    return fail_field(p, column, first, outer, what);
}

static void put_null(wpi_csv_column *column, wp_type type, uint64_t row) {
    const uint32_t bytes = wp_type_bytes(type);
    memset((char *)column->values + row * bytes, 0, bytes);
    column->valid[row / 8] &= (uint8_t)~(1u << (row % 8));
    column->has_null = true;
}

static wpi_parsed put_number(wpi_csv_column *column, wp_type type, uint64_t row, const char *text,
                             size_t length) {
    uint64_t word = 0;
    double number = 0;
    wpi_parsed parsed;
    switch (type) {
    case WP_TYPE_INT64:
        parsed = wpi_integer_parse(text, length, true, &word);
        ((uint64_t *)column->values)[row] = word;
        return parsed;
    case WP_TYPE_FLOAT64: return wpi_float_parse(text, length, &((double *)column->values)[row]);
    case WP_TYPE_FLOAT32:
        parsed = wpi_float_parse(text, length, &number);
        ((float *)column->values)[row] = (float)number;
        return parsed;
    default:
        parsed = wpi_integer_parse(text, length, type < WP_TYPE_UINT8, &word);
        if (parsed == WPI_PARSED_OK && !wpi_integer_fits(type, word))
            return WPI_PARSED_OUT_OF_RANGE;
        memcpy((char *)column->values + row * wp_type_bytes(type), &word, wp_type_bytes(type));
        return parsed;
    }
}

static bool is_null(const wpi_csv_shape *shape, const char *text, size_t length, bool is_quoted) {
    if (is_quoted) return false;
    if (length == 0) return true;
    return shape->null_text != NULL && length == shape->null_length &&
           memcmp(text, shape->null_text, length) == 0;
}

/* Stores whether there is a value. Leaves the text unchanged: a key may be the same column. */
static void put_presence(parser *p, uint32_t place, uint64_t row, size_t first, size_t outer) {
    const wpi_csv_shape *shape = p->shape;
    const wpi_field *field = &shape->fields[shape->selected[place].column];
    wpi_csv_column *column = &p->block->columns[place];
    const char *text = p->block->text + first;
    const bool is_quoted = outer > first && *text == WPI_CSV_QUOTE;
    const bool is_empty_number = is_quoted && outer - first == 2 && !field->is_text;
    ((uint8_t *)column->values)[row] = 0;
    if (is_empty_number || is_null(shape, text, outer - first, is_quoted))
        put_null(column, WP_TYPE_UINT8, row);
}

static wp_status put_field(parser *p, uint32_t place, uint64_t row, size_t first, size_t outer) {
    const wpi_csv_shape *shape = p->shape;
    const wpi_selected *selected = &shape->selected[place];
    const wpi_field *field = &shape->fields[selected->column];
    wpi_csv_column *column = &p->block->columns[place];
    char *text = p->block->text;
    bool is_quoted = false;
    if (outer > first && text[outer - 1] == '\r' && selected->column + 1 == shape->width) outer--;
    if (selected->use == WPI_USE_NULLS) {
        put_presence(p, place, row, first, outer);
        return WP_STATUS_OK;
    }
    if (text[first] == WPI_CSV_QUOTE && !wpi_csv_field(text, &first, &outer, &is_quoted))
        return fail_field(p, selected->column, first, outer, "has text after its closing quote");
    const bool is_no_value = is_null(shape, text + first, outer - first,
                                     is_quoted && (field->is_text || outer != first));
    if (is_no_value && !field->is_text) {
        put_null(column, field->type, row);
        return WP_STATUS_OK;
    }
    if (field->is_text) {
        uint32_t *code = &((uint32_t *)column->values)[row];
        *code = 0;
        if (is_no_value) return WP_STATUS_OK;
        return wpi_dictionary_code(&column->texts, text + first, (uint32_t)(outer - first), code,
                                   p->err);
    }
    const wpi_parsed parsed = put_number(column, field->type, row, text + first, outer - first);
    if (parsed != WPI_PARSED_OK) return fail_number(p, selected->column, first, outer, parsed);
    return WP_STATUS_OK;
}

/* ---- rows ---- */

/* An empty line; in a table of one column it is a row. */
static bool is_blank(const parser *p, size_t start, uint32_t mark) {
    const size_t length = (mark & ~WPI_CSV_NEWLINE) - start;
    return length <= 1 && (mark & WPI_CSV_NEWLINE) != 0 && p->shape->width > 1 &&
           (length == 0 || p->block->text[start] == '\r');
}

static bool is_whole(const uint32_t *marks, uint32_t width) {
    uint32_t newlines = 0;
    for (uint32_t i = 0; i + 1 < width; i++)
        newlines |= marks[i];
    return (newlines & WPI_CSV_NEWLINE) == 0 && (marks[width - 1] & WPI_CSV_NEWLINE) != 0;
}

static wp_status fail_ragged(parser *p, const uint32_t *marks, size_t count) {
    size_t fields = 0;
    while (fields < count && (marks[fields] & WPI_CSV_NEWLINE) == 0)
        fields++;
    p->bad_at = p->start;
    if (fields == count)
        return WP_FAIL(p->err, PARSE, "this row has more fields than the first row, which has %u",
                       p->shape->width);
    return WP_FAIL(p->err, PARSE, "this row has %zu field%s, the first row has %u", fields + 1,
                   fields == 0 ? "" : "s", p->shape->width);
}

/* A text without conversion: no quotes, not NULL, no end of line. */
static bool is_plain_text(const parser *p, const char *text, size_t length) {
    return length != 0 && *text != WPI_CSV_QUOTE && text[length - 1] != '\r' &&
           p->shape->null_text == NULL;
}

/* Rows whose marks are available, one after the other. */
typedef struct row_marks {
    const uint32_t *marks;  /* [count][width] */
    const uint32_t *starts; /* [count]: where each begins */
    uint32_t width;
    size_t count;
} row_marks;

typedef struct span {
    size_t first, length;
} span;

static inline span field_of(const row_marks *rows, uint32_t column, size_t row) {
    const uint32_t *marks = rows->marks + row * rows->width + column;
    const size_t first = column == 0 ? rows->starts[row] : (size_t)marks[-1] + 1;
    return (span){first, (*marks & ~WPI_CSV_NEWLINE) - first};
}

/* Adds fields of one column for the next rows of the block; on failure `*row` is the wrong one.
 * Plain and short fields are handled here, others by put_field. */
typedef wp_status put_column(parser *p, uint32_t place, const row_marks *rows, size_t *row);

static wp_status put_rest(parser *p, uint32_t place, const row_marks *rows, size_t row) {
    const span field = field_of(rows, p->shape->selected[place].column, row);
    return put_field(p, place, p->block->row_count + row, field.first, field.first + field.length);
}

static wp_status put_fields(parser *p, uint32_t place, const row_marks *rows, size_t *row) {
    for (*row = 0; *row < rows->count; ++*row)
        WP_TRY(put_rest(p, place, rows, *row));
    return WP_STATUS_OK;
}

#define WORDS 128 /* that are converted together */

static wp_status put_integers(parser *p, uint32_t place, const row_marks *rows, size_t *row) {
    const uint32_t column = p->shape->selected[place].column;
    const char *text = p->block->text;
    uint64_t *integers = (uint64_t *)p->block->columns[place].values + p->block->row_count;
    uint64_t words[WORDS];
    for (size_t first = 0; first < rows->count; first += WORDS) {
        const size_t count = rows->count - first < WORDS ? rows->count - first : WORDS;
        for (size_t i = 0; i < count; i++) {
            const span field = field_of(rows, column, first + i);
            words[i] = wpi_digits_word(text + field.first, field.length);
        }
        if (wpi_digits_values(words, count, integers + first)) continue;
        for (size_t i = 0; i < count; i++) {
            if (wpi_is_digits(words[i])) continue;
            *row = first + i;
            WP_TRY(put_rest(p, place, rows, *row));
        }
    }
    return WP_STATUS_OK;
}

static wp_status put_floats(parser *p, uint32_t place, const row_marks *rows, size_t *row) {
    const uint32_t column = p->shape->selected[place].column;
    const char *text = p->block->text;
    double *floats = (double *)p->block->columns[place].values + p->block->row_count;
    for (*row = 0; *row < rows->count; ++*row) {
        const span field = field_of(rows, column, *row);
        if (!wpi_short_decimal(text + field.first, field.length, &floats[*row]))
            WP_TRY(put_rest(p, place, rows, *row));
    }
    return WP_STATUS_OK;
}

static wp_status put_texts(parser *p, uint32_t place, const row_marks *rows, size_t *row) {
    const uint32_t column = p->shape->selected[place].column;
    const char *text = p->block->text;
    uint32_t *codes = (uint32_t *)p->block->columns[place].values + p->block->row_count;
    wpi_dictionary *texts = &p->block->columns[place].texts;
    for (*row = 0; *row < rows->count; ++*row) {
        const span field = field_of(rows, column, *row);
        if (is_plain_text(p, text + field.first, field.length))
            WP_TRY(wpi_dictionary_code(texts, text + field.first, (uint32_t)field.length,
                                       &codes[*row], p->err));
        else
            WP_TRY(put_rest(p, place, rows, *row));
    }
    return WP_STATUS_OK;
}

static put_column *putter(const wpi_csv_shape *shape, uint32_t place) {
    const wpi_selected *selected = &shape->selected[place];
    const wpi_field *field = &shape->fields[selected->column];
    if (selected->use == WPI_USE_NULLS) return put_fields;
    if (field->is_text) return put_texts;
    return field->type == WP_TYPE_INT64     ? put_integers
           : field->type == WP_TYPE_FLOAT64 ? put_floats
                                            : put_fields;
}

/* Compacts the marks of whole rows, without those of blank lines; returns the number of marks
 * examined. Ends before an incomplete row. */
static size_t find_rows(parser *p, uint32_t *marks, size_t count, row_marks *rows) {
    const uint32_t width = p->shape->width;
    uint32_t *starts = p->block->starts, *to = marks;
    size_t at = 0, start = p->start;
    while (at < count) {
        if (is_blank(p, start, marks[at])) {
            start = (marks[at++] & ~WPI_CSV_NEWLINE) + (size_t)1;
            continue;
        }
        if (count - at < width || !is_whole(marks + at, width)) break;
        if (to != marks + at) memmove(to, marks + at, width * sizeof *to);
        *starts++ = (uint32_t)start;
        to += width;
        at += width;
        start = (to[-1] & ~WPI_CSV_NEWLINE) + (size_t)1;
    }
    p->start = start;
    *rows = (row_marks){marks, p->block->starts, width, (size_t)(starts - p->block->starts)};
    return at;
}

/* Makes rows of the marks; `*left`: the marks of an incomplete row at the end. The first error of
 * the first wrong row is reported: after an error, only earlier rows are parsed. */
static wp_status take_rows(parser *p, uint32_t *marks, size_t count, size_t *left) {
    wp_status status = WP_STATUS_OK;
    row_marks rows;
    const size_t at = find_rows(p, marks, count, &rows);
    *left = count - at;
    if (*left >= p->shape->width) status = fail_ragged(p, marks + at, *left);
    if (p->block->row_count + rows.count > p->block->row_capacity)
        WP_TRY(grow_rows(p, p->block->row_count + rows.count));
    for (uint32_t place = 0; place < p->shape->selected_count; place++) {
        size_t row = 0;
        const wp_status found = putter(p->shape, place)(p, place, &rows, &row);
        if (found == WP_STATUS_OK) continue;
        status = found;
        rows.count = row;
    }
    p->block->row_count += rows.count;
    return status;
}

static wp_status parse(parser *p) {
    wpi_csv_block *block = p->block;
    wpi_csv_marker marker = {
        .text = block->text, .size = block->size, .delimiter = p->shape->delimiter};
    size_t left = 0, more;
    WP_TRY(prepare(p));
    while ((more = wpi_csv_marks(&marker, block->marks + left)) != 0) {
        const size_t count = left + more;
        WP_TRY(take_rows(p, block->marks, count, &left));
        memmove(block->marks, block->marks + count - left, left * sizeof *block->marks);
    }
    return left == 0 ? WP_STATUS_OK : fail_ragged(p, block->marks, left);
}

wp_status wpi_csv_block_parse(wpi_csv_block *block, const wpi_csv_shape *shape, uint64_t *bad_line,
                              wp_error *err) {
    parser p = {.block = block, .shape = shape, .err = err};
    memset(block->text + block->size, 0, WPI_CSV_PADDING);
    const wp_status status = parse(&p);
    block->line_count = wpi_csv_lines(block->text, block->size);
    *bad_line = status == WP_STATUS_OK ? 0 : wpi_csv_lines(block->text, p.bad_at);
    for (uint32_t i = 0; status == WP_STATUS_OK && i < shape->selected_count; i++) {
        wpi_csv_column *column = &block->columns[i];
        column->column = (wp_column){.type = type_of(shape, i),
                                     .values = column->values,
                                     .valid = column->has_null ? column->valid : NULL};
    }
    return status;
}
