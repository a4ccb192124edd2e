/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrices. A Matrix Market file is a line that says what follows, comments, three sizes,
 * and an entry a line, in any order: two stable counting sorts, by column and by row, make rows. */
#include "common/sparse.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/random.h"
#include "common/report.h"
#include "common/text.h"

/* Entries as they come. */
typedef struct entries {
    uint32_t *row;
    uint32_t *column;
    double *value;
    uint64_t count;
    uint64_t capacity;
} entries;

/* What the first line of a file says. */
typedef struct form {
    bool is_pattern;
    bool is_symmetric; /* an entry also stands at its mirrored place ... */
    double mirrored;   /* ... times this */
} form;

static void reserve(entries *e, uint64_t capacity) {
    e->row = app_reallocate(e->row, capacity, sizeof *e->row, "the matrix");
    e->column = app_reallocate(e->column, capacity, sizeof *e->column, "the matrix");
    e->value = app_reallocate(e->value, capacity, sizeof *e->value, "the matrix");
    e->capacity = capacity;
}

static void append(entries *e, uint32_t row, uint32_t column, double value) {
    if (e->count == e->capacity) {
        reserve(e, e->capacity != 0 ? e->capacity + e->capacity / 2 : 4096);
    }
    e->row[e->count] = row;
    e->column[e->count] = column;
    e->value[e->count++] = value;
}

static void free_entries(entries *e) {
    free(e->row);
    free(e->column);
    free(e->value);
    *e = (entries){NULL};
}

/* Where the entries of each key begin, in an array of key_count + 1. */
static uint64_t *count_keys(const uint32_t *key, uint64_t count, uint32_t key_count) {
    uint64_t *first = app_allocate((size_t)key_count + 1, sizeof *first, "the matrix");
    memset(first, 0, ((size_t)key_count + 1) * sizeof *first);
    for (uint64_t i = 0; i < count; i++) {
        first[(size_t)key[i] + 1]++;
    }
    for (size_t k = 0; k < key_count; k++) {
        first[k + 1] += first[k];
    }
    return first;
}

/* Puts the entries in the order of `key`, one of their arrays; equal ones keep theirs. Returns
 * where each key begins. */
static uint64_t *sort_entries(entries *e, const uint32_t *key, uint32_t key_count) {
    uint64_t *first = count_keys(key, e->count, key_count);
    uint64_t *next = app_allocate((size_t)key_count + 1, sizeof *next, "the matrix");
    entries sorted = {NULL};
    memcpy(next, first, ((size_t)key_count + 1) * sizeof *next);
    reserve(&sorted, e->count);
    sorted.count = e->count;
    for (uint64_t i = 0; i < e->count; i++) {
        uint64_t at = next[key[i]]++;
        sorted.row[at] = e->row[i];
        sorted.column[at] = e->column[i];
        sorted.value[at] = e->value[i];
    }
    free(next);
    free_entries(e);
    *e = sorted;
    return first;
}

/* Takes the entries. */
static void build(app_sparse *matrix, entries *e) {
    free(sort_entries(e, e->column, matrix->column_count));
    matrix->first = sort_entries(e, e->row, matrix->row_count);
    matrix->column = e->column;
    matrix->value = e->value;
    matrix->entry_count = e->count;
    free(e->row);
    *e = (entries){NULL};
}

/* ---- files ---- */

static form read_form(app_text *text) {
    char *line;
    size_t length;
    char object[32];
    char format[32];
    char field[32];
    char symmetry[32];
    if (!app_text_line(text, &line, &length) || sscanf(line, "%%%%MatrixMarket %31s %31s %31s %31s",
                                                       object, format, field, symmetry) != 4) {
        app_fail("%s is not a Matrix Market file: it does not begin with %%%%MatrixMarket and four "
                 "words",
                 app_text_path(text));
    }
    if (strcasecmp(object, "matrix") != 0 || strcasecmp(format, "coordinate") != 0) {
        app_text_fail(text, "this is a '%s %s'; only a 'matrix coordinate' can be read", object,
                      format);
    }
    form f = {.is_pattern = strcasecmp(field, "pattern") == 0, .mirrored = 1.0};
    if (!f.is_pattern && strcasecmp(field, "real") != 0 && strcasecmp(field, "double") != 0 &&
        strcasecmp(field, "integer") != 0) {
        app_text_fail(text, "values are '%s'; only real, integer and pattern can be read", field);
    }
    bool is_skew = strcasecmp(symmetry, "skew-symmetric") == 0;
    f.is_symmetric = is_skew || strcasecmp(symmetry, "symmetric") == 0;
    f.mirrored = is_skew ? -1.0 : 1.0;
    if (!f.is_symmetric && strcasecmp(symmetry, "general") != 0) {
        app_text_fail(text,
                      "the matrix is '%s'; only general, symmetric and skew-symmetric can be read",
                      symmetry);
    }
    return f;
}

/* The next line that is no comment and not empty. */
static bool next_line(app_text *text, char **line) {
    size_t length;
    while (app_text_line(text, line, &length)) {
        *line += strspn(*line, " \t\r");
        if (**line != '%' && **line != '\0') {
            return true;
        }
    }
    return false;
}

static uint64_t read_sizes(app_sparse *matrix, app_text *text) {
    char *line = NULL;
    uint64_t rows = 0;
    uint64_t columns = 0;
    uint64_t count = 0;
    if (!next_line(text, &line) || !app_parse_number(&line, &rows) ||
        !app_parse_number(&line, &columns) || !app_parse_number(&line, &count)) {
        app_text_fail(text, "expected three sizes: rows, columns, entries");
    }
    if (rows < 1 || columns < 1 || rows >= UINT32_MAX || columns >= UINT32_MAX) {
        app_text_fail(text, "the matrix must have from 1 to 2^32 - 2 rows and columns");
    }
    matrix->row_count = (uint32_t)rows;
    matrix->column_count = (uint32_t)columns;
    return count;
}

static void read_entry(const app_sparse *matrix, form f, entries *e, app_text *text, char *line) {
    uint64_t row;
    uint64_t column;
    double value = 1.0;
    if (!app_parse_number(&line, &row) || !app_parse_number(&line, &column)) {
        app_text_fail(text, "expected a row and a column");
    }
    if (row < 1 || row > matrix->row_count || column < 1 || column > matrix->column_count) {
        app_text_fail(text, "row %s, column %s lie outside the matrix", app_count(row),
                      app_count(column));
    }
    if (!f.is_pattern) {
        char *end;
        value = strtod(line, &end);
        if (end == line || !isfinite(value)) {
            app_text_fail(text, "expected a value");
        }
    }
    append(e, (uint32_t)(row - 1), (uint32_t)(column - 1), value);
    if (f.is_symmetric && row != column) {
        append(e, (uint32_t)(column - 1), (uint32_t)(row - 1), f.mirrored * value);
    }
}

void app_sparse_read(app_sparse *matrix, const char *path) {
    entries e = {NULL};
    char *line;
    uint64_t read_count = 0;
    *matrix = (app_sparse){.first = NULL};
    app_text *text = app_text_open(path);
    form f = read_form(text);
    uint64_t count = read_sizes(matrix, text);
    if (f.is_symmetric && matrix->row_count != matrix->column_count) {
        app_text_fail(text, "a symmetric matrix must be square");
    }
    for (; next_line(text, &line); read_count++) {
        read_entry(matrix, f, &e, text, line);
    }
    app_text_close(text);
    if (read_count != count) {
        app_fail("%s says it has %s entries, but holds %s", path, app_count(count),
                 app_count(read_count));
    }
    build(matrix, &e);
    const char *slash = strrchr(path, '/');
    snprintf(matrix->title, sizeof matrix->title, "%.150s", slash != NULL ? slash + 1 : path);
}

/* ---- generators: row r depends on seed and r alone ---- */

static void allocate(app_sparse *matrix, uint32_t row_count, uint64_t most_entries) {
    *matrix = (app_sparse){.row_count = row_count, .column_count = row_count};
    matrix->first = app_allocate((size_t)row_count + 1, sizeof *matrix->first, "the matrix");
    matrix->column = app_allocate(most_entries, sizeof *matrix->column, "the matrix");
    matrix->value = app_allocate(most_entries, sizeof *matrix->value, "the matrix");
    matrix->first[0] = 0;
}

static void put(app_sparse *matrix, uint64_t column, app_random *random) {
    matrix->column[matrix->entry_count] = (uint32_t)column;
    matrix->value[matrix->entry_count++] = 2.0 * app_random_unit(random) - 1.0;
}

void app_sparse_generate_band(app_sparse *matrix, uint32_t row_count, uint32_t width,
                              uint64_t seed) {
    uint32_t half = width / 2;
    allocate(matrix, row_count, (uint64_t)row_count * width);
    for (uint32_t row = 0; row < row_count; row++) {
        app_random random = {app_random_at(seed, row), 0};
        uint64_t outer =
            (uint64_t)row + half + 1 < row_count ? (uint64_t)row + half + 1 : row_count;
        for (uint64_t column = row > half ? row - half : 0; column < outer; column++) {
            put(matrix, column, &random);
        }
        matrix->first[row + 1] = matrix->entry_count;
    }
    snprintf(matrix->title, sizeof matrix->title, "a band of %u, seed %llu", width,
             (unsigned long long)seed);
}

/* A row's entries, one at a random place of each of as many equal parts of the row: distinct, and
 * in order. */
static void put_random_row(app_sparse *matrix, uint32_t length, app_random *random) {
    for (uint64_t i = 0; i < length; i++) {
        uint64_t begin = i * matrix->column_count / length;
        uint64_t outer = (i + 1) * matrix->column_count / length;
        put(matrix, begin + app_random_below(random, (uint32_t)(outer - begin)), random);
    }
}

void app_sparse_generate_random(app_sparse *matrix, uint32_t row_count, uint32_t mean,
                                uint64_t seed) {
    uint64_t most = (uint64_t)row_count * (2 * (uint64_t)mean - 1);
    allocate(matrix, row_count, most);
    for (uint32_t row = 0; row < row_count; row++) {
        app_random random = {app_random_at(seed, row), 0};
        uint32_t length = 1 + app_random_below(&random, 2 * mean - 1);
        put_random_row(matrix, length < row_count ? length : row_count, &random);
        matrix->first[row + 1] = matrix->entry_count;
    }
    snprintf(matrix->title, sizeof matrix->title, "random places, seed %llu",
             (unsigned long long)seed);
}

void app_sparse_free(app_sparse *matrix) {
    free(matrix->first);
    free(matrix->column);
    free(matrix->value);
    *matrix = (app_sparse){.first = NULL};
}
