/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk's rows have a byte each, 1 while they satisfy all comparisons so far. Numbers are
 * compared as long double, whose 64 bits of significand hold every integer and every double. A text
 * is compared once: later the result is looked up by its dictionary code. */
#include "table_io/where.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "table_io/parse_number.h"

_Static_assert(LDBL_MANT_DIG >= 64, "a long double holds every 64-bit integer");

typedef enum test {
    EQUAL,
    UNEQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    IS_NULL,
    IS_NOT_NULL
} test;

typedef struct comparison {
    test test;
    char *column;
    char *text; /* constant; NULL: it is `number` */
    size_t text_length;
    long double number;
    uint32_t place;   /* in the selection */
    bool is_text;     /* the column */
    uint8_t *answers; /* [answer_count]: of dictionary codes */
    uint32_t answer_count, answer_capacity;
} comparison;

struct wpi_where {
    comparison *comparisons;
    uint32_t count;
    uint8_t *keeps;
    uint64_t keep_capacity;
    wp_column *columns; /* the remaining rows of a chunk */
    void **values;
    uint8_t **valid;
    uint64_t *capacities; /* rows that `values` and `valid` have room for */
    uint32_t column_count;
};

/* ---- text to comparisons ---- */

typedef struct parser {
    const char *whole, *at;
    wp_error *err;
} parser;

static void skip_spaces(parser *p) {
    p->at += strspn(p->at, " \t\n");
}

static wp_status fail_expected(const parser *p, const char *expected) {
    if (*p->at == '\0')
        return WP_FAIL(p->err, INVALID, "--where \"%s\": %s is missing at the end", p->whole,
                       expected);
    return WP_FAIL(p->err, INVALID, "--where \"%s\": %s is expected at \"%s\"", p->whole, expected,
                   p->at);
}

/* 'a ''quoted'' text' or "a ""quoted"" name", after its first quote. */
static wp_status parse_quoted(parser *p, const char *what, char **out, size_t *length) {
    const char quote = *p->at;
    const char *start = ++p->at;
    char *text = wpi_malloc(strlen(start) + 1);
    if (text == NULL) return WP_FAIL(p->err, NOMEM, "the condition of --where");
    *length = 0;
    *out = text;
    for (; *p->at != '\0'; p->at++) {
        if (*p->at == quote && *++p->at != quote) {
            text[*length] = '\0';
            return WP_STATUS_OK;
        }
        text[(*length)++] = *p->at;
    }
    return WP_FAIL(p->err, INVALID, "--where \"%s\": the %s %c%s has no closing quote", p->whole,
                   what, quote, start);
}

static size_t word_length(const char *text) {
    return strcspn(text, " \t\n=<>!'\"");
}

static bool take_word(parser *p, const char *word) {
    const size_t length = word_length(p->at);
    if (length != strlen(word) || strncasecmp(p->at, word, length) != 0) return false;
    p->at += length;
    skip_spaces(p);
    return true;
}

static wp_status parse_column(parser *p, comparison *c) {
    size_t length;
    if (*p->at == '"') return parse_quoted(p, "column", &c->column, &length);
    length = word_length(p->at);
    if (length == 0) return fail_expected(p, "a column's name");
    c->column = wpi_strndup(p->at, length);
    p->at += length;
    return c->column != NULL ? WP_STATUS_OK : WP_FAIL(p->err, NOMEM, "the condition of --where");
}

static wp_status parse_test(parser *p, comparison *c) {
    static const struct {
        const char *text;
        test test;
    } tests[] = {{"==", EQUAL},         {"!=", UNEQUAL}, {"<>", UNEQUAL}, {"<=", LESS_EQUAL},
                 {">=", GREATER_EQUAL}, {"=", EQUAL},    {"<", LESS},     {">", GREATER}};
    skip_spaces(p);
    if (take_word(p, "is")) {
        c->test = take_word(p, "not") ? IS_NOT_NULL : IS_NULL;
        return take_word(p, "null") ? WP_STATUS_OK : fail_expected(p, "null");
    }
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        const size_t length = strlen(tests[i].text);
        if (strncmp(p->at, tests[i].text, length) != 0) continue;
        c->test = tests[i].test;
        p->at += length;
        skip_spaces(p);
        return WP_STATUS_OK;
    }
    return fail_expected(p, "a comparison (= != < <= > >=, is null, is not null)");
}

static bool parse_number(const char *text, size_t length, long double *out) {
    char padded[80] = ""; /* wpi_integer_parse reads 16 bytes from where it is */
    uint64_t integer;
    double value;
    if (length == 0 || length > sizeof padded - 17) return false;
    memcpy(padded, text, length);
    if (wpi_integer_parse(padded, length, true, &integer) == WPI_PARSED_OK)
        *out = (long double)(int64_t)integer;
    else if (wpi_integer_parse(padded, length, false, &integer) == WPI_PARSED_OK)
        *out = (long double)integer;
    else if (wpi_float_parse(padded, length, &value) == WPI_PARSED_OK)
        *out = (long double)value;
    else
        return false;
    return true;
}

static wp_status parse_constant(parser *p, comparison *c) {
    if (*p->at == '\'') return parse_quoted(p, "text", &c->text, &c->text_length);
    const size_t length = word_length(p->at);
    if (length == 0) return fail_expected(p, "a number or a text in single quotes");
    if (!parse_number(p->at, length, &c->number))
        return WP_FAIL(p->err, INVALID,
                       "--where \"%s\": '%.*s' is not a number; write a text in single quotes",
                       p->whole, (int)length, p->at);
    p->at += length;
    return WP_STATUS_OK;
}

static wp_status parse_comparison(parser *p, wpi_where *where) {
    comparison *more = wpi_realloc(where->comparisons, (where->count + (size_t)1) * sizeof *more);
    if (more == NULL) return WP_FAIL(p->err, NOMEM, "the condition of --where");
    where->comparisons = more;
    comparison *c = &more[where->count++];
    *c = (comparison){0};
    skip_spaces(p);
    WP_TRY(parse_column(p, c));
    WP_TRY(parse_test(p, c));
    if (c->test != IS_NULL && c->test != IS_NOT_NULL) WP_TRY(parse_constant(p, c));
    skip_spaces(p);
    return WP_STATUS_OK;
}

static wp_status parse_all(parser *p, wpi_where *where) {
    do {
        WP_TRY(parse_comparison(p, where));
    } while (take_word(p, "and"));
    if (*p->at == '\0') return WP_STATUS_OK;
    if (take_word(p, "or"))
        return WP_FAIL(p->err, INVALID, "--where \"%s\": 'or' is not supported, only 'and'",
                       p->whole);
    return fail_expected(p, "'and' or the end");
}

wp_status wpi_where_parse(const char *text, wpi_where **out, wp_error *err) {
    parser p = {.whole = text, .at = text, .err = err};
    *out = NULL;
    wpi_where *where = wpi_calloc(1, sizeof *where);
    if (where == NULL) return WP_FAIL(err, NOMEM, "the condition of --where");
    const wp_status status = parse_all(&p, where);
    if (status == WP_STATUS_OK)
        *out = where;
    else
        wpi_where_close(where);
    return status;
}

void wpi_where_close(wpi_where *where) {
    if (where == NULL) return;
    for (uint32_t i = 0; i < where->count; i++) {
        wpi_free(where->comparisons[i].column);
        wpi_free(where->comparisons[i].text);
        wpi_free(where->comparisons[i].answers);
    }
    for (uint32_t i = 0; i < where->column_count; i++) {
        wpi_free(where->values[i]);
        wpi_free(where->valid[i]);
    }
    wpi_free(where->comparisons);
    wpi_free(where->keeps);
    wpi_free(where->columns);
    wpi_free((void *)where->values);
    wpi_free((void *)where->valid);
    wpi_free(where->capacities);
    wpi_free(where);
}

/* ---- columns ---- */

uint32_t wpi_where_width(const wpi_where *where) {
    return where->count;
}

static wp_status check_types(const comparison *c, const wpi_field *field, wp_error *err) {
    if (c->test == IS_NULL || c->test == IS_NOT_NULL) return WP_STATUS_OK;
    if (field->is_text && c->text == NULL)
        return WP_FAIL(err, INVALID,
                       "--where: column '%s' is text and cannot be compared with a number: write a "
                       "text in single quotes, or give --null NA if NA means NULL",
                       c->column);
    if (!field->is_text && c->text != NULL)
        return WP_FAIL(err, INVALID,
                       "--where: column '%s' is %s and cannot be compared with the text '%s': "
                       "write a number, or give --types %s:text",
                       c->column, wp_type_name(field->type), c->text, c->column);
    return WP_STATUS_OK;
}

wp_status wpi_where_bind(wpi_where *where, wpi_column_table *table, wpi_selected *selected,
                         uint32_t *count, wp_error *err) {
    for (uint32_t i = 0; i < where->count; i++) {
        comparison *c = &where->comparisons[i];
        uint32_t column;
        WP_TRY(wpi_column_table_find(table, c->column, &column, err));
        const bool is_number = c->test != IS_NULL && c->test != IS_NOT_NULL && c->text == NULL;
        const wpi_field *field = is_number ? wpi_column_table_numbers(table, column)
                                           : wpi_column_table_field(table, column);
        WP_TRY(check_types(c, field, err));
        c->is_text = field->is_text;
        c->place = 0;
        while (c->place < *count &&
               (selected[c->place].column != column || selected[c->place].use != WPI_USE_VALUES))
            c->place++;
        if (c->place == *count) selected[(*count)++] = (wpi_selected){column, WPI_USE_VALUES};
    }
    return WP_STATUS_OK;
}

/* ---- rows ---- */

static bool is_valid(const wp_column *column, uint64_t row) {
    const uint64_t bit = column->valid_offset + row;
    return column->valid == NULL || (column->valid[bit / 8] >> (bit % 8) & 1) != 0;
}

static void keep_valid(const wp_column *column, uint64_t row_count, bool is_wanted,
                       uint8_t *keeps) {
    if (column->valid == NULL && is_wanted) return;
    for (uint64_t row = 0; row < row_count; row++)
        keeps[row] &= is_valid(column, row) == is_wanted;
}

#define LOOP(values, operator, number)                                                             \
    for (uint64_t row = 0; row < row_count; row++)                                                 \
        keeps[row] &= (uint8_t)((long double)(values)[row] operator(number));                      \
    break

#define COMPARE(type)                                                                              \
    do {                                                                                           \
        const type *const values = column->values;                                                 \
        switch (c->test) {                                                                         \
        case EQUAL: LOOP(values, ==, c->number);                                                   \
        case UNEQUAL: LOOP(values, !=, c->number);                                                 \
        case LESS: LOOP(values, <, c->number);                                                     \
        case LESS_EQUAL: LOOP(values, <=, c->number);                                              \
        case GREATER: LOOP(values, >, c->number);                                                  \
        default: LOOP(values, >=, c->number);                                                      \
        }                                                                                          \
    } while (0)

static void keep_numbers(const comparison *c, const wp_column *column, uint64_t row_count,
                         uint8_t *keeps) {
    switch (column->type) {
    case WP_TYPE_INT8: COMPARE(int8_t); break;
    case WP_TYPE_INT16: COMPARE(int16_t); break;
    case WP_TYPE_INT32: COMPARE(int32_t); break;
    case WP_TYPE_INT64: COMPARE(int64_t); break;
    case WP_TYPE_UINT8: COMPARE(uint8_t); break;
    case WP_TYPE_UINT16: COMPARE(uint16_t); break;
    case WP_TYPE_UINT32: COMPARE(uint32_t); break;
    case WP_TYPE_UINT64: COMPARE(uint64_t); break;
    case WP_TYPE_FLOAT32: COMPARE(float); break;
    default: COMPARE(double); break;
    }
}

static bool answer(const comparison *c, const wpi_slice *text) {
    const size_t shorter = text->length < c->text_length ? text->length : c->text_length;
    int order = memcmp(text->text, c->text, shorter);
    if (order == 0) order = (text->length > c->text_length) - (text->length < c->text_length);
    switch (c->test) {
    case EQUAL: return order == 0;
    case UNEQUAL: return order != 0;
    case LESS: return order < 0;
    case LESS_EQUAL: return order <= 0;
    case GREATER: return order > 0;
    default: return order >= 0;
    }
}

/* Code 0 is NULL. */
static wp_status extend_answers(comparison *c, const wpi_dictionary *dictionary, wp_error *err) {
    const uint32_t wanted = dictionary->count + 1;
    if (wanted > c->answer_capacity) {
        const uint32_t capacity = wanted > UINT32_MAX / 2 ? wanted : 2 * wanted;
        uint8_t *answers = wpi_realloc(c->answers, capacity);
        if (answers == NULL) return WP_FAIL(err, NOMEM, "the condition of --where");
        c->answers = answers;
        c->answer_capacity = capacity;
    }
    for (uint32_t code = c->answer_count; code < wanted; code++) {
        if (c->test == IS_NULL || c->test == IS_NOT_NULL)
            c->answers[code] = (code == 0) == (c->test == IS_NULL);
        else
            c->answers[code] = code != 0 && answer(c, &dictionary->strings[code - 1]);
    }
    c->answer_count = wanted;
    return WP_STATUS_OK;
}

static wp_status keep(comparison *c, const wpi_column_table *table, const wpi_column_chunk *chunk,
                      uint8_t *keeps, wp_error *err) {
    const wp_column *column = &chunk->columns[c->place];
    if (c->is_text) {
        const uint32_t *codes = column->values;
        WP_TRY(extend_answers(c, wpi_column_table_dictionary(table, c->place), err));
        for (uint64_t row = 0; row < chunk->row_count; row++)
            keeps[row] &= c->answers[codes[row]];
        return WP_STATUS_OK;
    }
    keep_valid(column, chunk->row_count, c->test != IS_NULL, keeps);
    if (c->test != IS_NULL && c->test != IS_NOT_NULL)
        keep_numbers(c, column, chunk->row_count, keeps);
    return WP_STATUS_OK;
}

/* ---- remaining rows ---- */

#define TAKE(type)                                                                                 \
    do {                                                                                           \
        const type *const from = column->values;                                                   \
        type *const to = values;                                                                   \
        for (uint64_t row = 0, at = 0; row < row_count; row++)                                     \
            if (keeps[row] != 0) to[at++] = from[row];                                             \
    } while (0)

static void take_values(const wp_column *column, uint64_t row_count, const uint8_t *keeps,
                        void *values) {
    switch (wp_type_bytes(column->type)) {
    case 1: TAKE(uint8_t); break;
    case 2: TAKE(uint16_t); break;
    case 4: TAKE(uint32_t); break;
    default: TAKE(uint64_t); break;
    }
}

static void take_valid(const wp_column *column, uint64_t row_count, const uint8_t *keeps,
                       uint8_t *valid) {
    uint64_t at = 0;
    for (uint64_t row = 0; row < row_count; row++) {
        if (keeps[row] == 0) continue;
        if (at % 8 == 0) valid[at / 8] = 0;
        valid[at / 8] |= (uint8_t)(is_valid(column, row) << (at % 8));
        at++;
    }
}

static wp_status reserve_columns(wpi_where *where, uint32_t column_count, wp_error *err) {
    if (where->columns != NULL) return WP_STATUS_OK;
    where->columns = wpi_calloc(column_count + (size_t)1, sizeof *where->columns);
    where->values = (void **)wpi_calloc(column_count + (size_t)1, sizeof *where->values);
    where->valid = (uint8_t **)wpi_calloc(column_count + (size_t)1, sizeof *where->valid);
    where->capacities = wpi_calloc(column_count + (size_t)1, sizeof *where->capacities);
    if (where->columns == NULL || where->values == NULL || where->valid == NULL ||
        where->capacities == NULL)
        return WP_FAIL(err, NOMEM, "rows that satisfy --where");
    where->column_count = column_count;
    return WP_STATUS_OK;
}

static wp_status reserve_rows(wpi_where *where, uint32_t i, const wp_column *column, uint64_t rows,
                              wp_error *err) {
    if (rows <= where->capacities[i]) return WP_STATUS_OK;
    void *values = wpi_realloc(where->values[i], rows * wp_type_bytes(column->type));
    if (values != NULL) where->values[i] = values;
    uint8_t *valid = wpi_realloc(where->valid[i], rows / 8 + 1);
    if (valid != NULL) where->valid[i] = valid;
    if (values == NULL || valid == NULL) return WP_FAIL(err, NOMEM, "rows that satisfy --where");
    where->capacities[i] = rows;
    return WP_STATUS_OK;
}

wp_status wpi_where_filter(wpi_where *where, const wpi_column_table *table,
                           const wpi_column_chunk *chunk, uint32_t column_count,
                           const wp_column **columns, uint64_t *row_count, wp_error *err) {
    uint64_t kept = 0;
    if (chunk->row_count > where->keep_capacity) {
        wpi_free(where->keeps);
        where->keep_capacity = 0;
        where->keeps = wpi_malloc(chunk->row_count);
        if (where->keeps == NULL) return WP_FAIL(err, NOMEM, "rows that satisfy --where");
        where->keep_capacity = chunk->row_count;
    }
    memset(where->keeps, 1, chunk->row_count);
    for (uint32_t i = 0; i < where->count; i++)
        WP_TRY(keep(&where->comparisons[i], table, chunk, where->keeps, err));
    for (uint64_t row = 0; row < chunk->row_count; row++)
        kept += where->keeps[row];
    *columns = chunk->columns;
    *row_count = kept;
    if (kept == chunk->row_count || kept == 0) return WP_STATUS_OK;
    WP_TRY(reserve_columns(where, column_count, err));
    for (uint32_t i = 0; i < column_count; i++) {
        const wp_column *column = &chunk->columns[i];
        WP_TRY(reserve_rows(where, i, column, kept, err));
        take_values(column, chunk->row_count, where->keeps, where->values[i]);
        if (column->valid != NULL)
            take_valid(column, chunk->row_count, where->keeps, where->valid[i]);
        where->columns[i] = (wp_column){.type = column->type,
                                        .values = where->values[i],
                                        .valid = column->valid != NULL ? where->valid[i] : NULL};
    }
    *columns = where->columns;
    return WP_STATUS_OK;
}
