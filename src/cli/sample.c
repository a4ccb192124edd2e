/* SPDX-License-Identifier: Apache-2.0 */
/* warpage sample: a column's statistics, estimated from values at random positions. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/options/choice.h"
#include "cli/options/column_options.h"
#include "table_io/output.h"
#include "table_io/parse_number.h"
#include "table_io/where.h"
#include "warpage/ops.h"

enum option_index {
    COLUMN,
    N,
    SEED,
    RANGE,
    CONFIDENCE,
    WHERE,
    FORMAT,
    PRECISION,
    OUTPUT,
    TYPES, /* and the others of tables */
    DEVICE = TYPES + 4,
    STRATEGY,
    SCOPE,
    PLACEMENT,
    THREADS,
    PROFILE,
    SET
};

const wpi_cli_option wpi_sample_options[] = {
    [COLUMN] = {"column", "COLUMN", "estimate the statistics of this column"},
    [N] = {"n", "COUNT", "read at least COUNT values, with replacement (default: 1000000)"},
    [SEED] = {"seed", "N", "seed the generator of random positions with N (default: 0)"},
    [RANGE] = {"range", "LOW..HIGH",
               "also estimate the fraction of values from LOW to HIGH; either may be left out"},
    [CONFIDENCE] = {"confidence", "PERCENT",
                    "compute confidence intervals of this level (default: 95)"},
    [WHERE] = {"where", "CONDITION",
               "sample only rows that satisfy CONDITION, which `warpage help groupby` describes"},
    [FORMAT] = {"format", "text|json|csv", "print text (default), JSON or CSV"},
    [PRECISION] = {"precision", "DIGITS",
                   "print estimates with at most DIGITS significant digits, 1 to 17 (default: 6 in "
                   "text, elsewhere as many as the exact value needs)"},
    [OUTPUT] = {"output", "FILE", "write the result to FILE, which is complete or not created"},
    WPI_COLUMN_OPTION_ROWS(TYPES),
    [DEVICE] = {"device", "SPEC", "run on cpu (default), sim:<gpu> or cuda:<n>"},
    [STRATEGY] = {"strategy", "NAME", "use this algorithm: direct or scoped (default: auto)"},
    [SCOPE] = {"scope", "BYTES",
               "limit the part of the column that one pass reads to BYTES, such "
               "as 128MiB"},
    [PLACEMENT] = {"placement", "NAME",
                   "let the GPU read the column in host memory (zero-copy) or copy it to the GPU "
                   "first (resident) (default: auto)"},
    [THREADS] = {"threads", "N", "run at most N threads of the device at once"},
    [PROFILE] = {"profile", "NAME|FILE",
                 "plan for the TLBs of this profile: one of `warpage devices`, or a file of "
                 "`warpage probe --write-profile`"},
    [SET] = {"set", "KEY=VALUE", "change a parameter of the simulated GPU; may be repeated"},
    {0}};

#define READS_DEFAULT 1000000

typedef enum form { FORM_TEXT, FORM_JSON, FORM_CSV } form;

typedef struct request {
    const wpi_arguments *arguments;
    char *types; /* of all --types */
    wp_sample_options options;
    wpi_column_options table;
    wpi_where *where; /* NULL: all rows */
    int digits;       /* significant ones of estimates; 0: as many as the form has by default */
    bool has_range;
    form form;
} request;

/* ---- the request ---- */

static wp_status parse_choice(const request *r, int option, const char *const *names, int *out,
                              wp_error *err) {
    return wpi_choice_parse(wpi_sample_options[option].name, r->arguments->values[option], names,
                            out, err);
}

/* "10..20"; a side that is left out is open. */
static wp_status parse_range(request *r, wp_error *err) {
    const char *text = r->arguments->values[RANGE],
               *dots = text != NULL ? strstr(text, "..") : NULL;
    r->options.low = -INFINITY;
    r->options.high = INFINITY;
    r->has_range = text != NULL;
    if (text == NULL) return WP_STATUS_OK;
    const bool is_fine = dots != NULL && (dots != text || dots[2] != '\0') &&
                         (dots == text || wpi_float_parse(text, (size_t)(dots - text),
                                                          &r->options.low) == WPI_PARSED_OK) &&
                         (dots[2] == '\0' || wpi_float_parse(dots + 2, strlen(dots + 2),
                                                             &r->options.high) == WPI_PARSED_OK);
    if (!is_fine)
        return WP_FAIL(err, INVALID,
                       "--range %s: give two numbers, as in 10..20, or one, as in 10.. or ..20",
                       text);
    if (!(r->options.low <= r->options.high))
        return WP_FAIL(err, INVALID, "--range %s: the first number is greater than the second",
                       text);
    return WP_STATUS_OK;
}

static wp_status parse_confidence(request *r, wp_error *err) {
    const char *text = r->arguments->values[CONFIDENCE];
    double percent = 95;
    if (text != NULL && (wpi_float_parse(text, strlen(text), &percent) != WPI_PARSED_OK ||
                         !(percent > 0) || !(percent < 100)))
        return WP_FAIL(err, INVALID, "--confidence %s: give a number between 0 and 100, such as 99",
                       text);
    r->options.confidence = percent / 100;
    return WP_STATUS_OK;
}

static wp_status parse_precision(request *r, wp_error *err) {
    const char *text = r->arguments->values[PRECISION];
    uint64_t digits = 0;
    if (text == NULL) return WP_STATUS_OK;
    if (wpi_parse_count(text, &digits, NULL) != WP_STATUS_OK || digits == 0 ||
        digits > WPI_DIGITS_MAX)
        return WP_FAIL(err, INVALID, "--precision %s: give a number of digits from 1 to %d", text,
                       WPI_DIGITS_MAX);
    r->digits = (int)digits;
    return WP_STATUS_OK;
}

static wp_status parse_numbers(request *r, wp_error *err) {
    const char *const *values = r->arguments->values;
    r->options.read_count = READS_DEFAULT;
    if (values[N] != NULL) WP_TRY(wpi_parse_count(values[N], &r->options.read_count, err));
    if (r->options.read_count == 0)
        return WP_FAIL(err, INVALID, "--n 0: at least one value must be read");
    if (values[SEED] != NULL) WP_TRY(wpi_parse_count(values[SEED], &r->options.seed, err));
    if (values[SCOPE] != NULL) WP_TRY(wpi_parse_bytes(values[SCOPE], &r->options.scope_bytes, err));
    if (values[THREADS] != NULL)
        WP_TRY(wpi_parse_count(values[THREADS], &r->options.thread_count, err));
    return WP_STATUS_OK;
}

static wp_status parse_request(request *r, wp_error *err) {
    static const wp_strategy of_names[] = {WP_STRATEGY_AUTO, WP_STRATEGY_DIRECT, WP_STRATEGY_SCOPED,
                                           WP_STRATEGY_COUNT};
    static const wp_placement places[] = {WP_PLACEMENT_AUTO, WP_PLACEMENT_ZERO_COPY,
                                          WP_PLACEMENT_RESIDENT, WP_PLACEMENT_COUNT};
    const char *strategies[sizeof of_names / sizeof *of_names];
    const char *placements[sizeof places / sizeof *places];
    for (size_t i = 0; i < sizeof of_names / sizeof *of_names; i++)
        strategies[i] = wp_strategy_name(of_names[i]);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        placements[i] = wp_placement_name(places[i]);
    static const char *const forms[] = {"text", "json", "csv", NULL};
    int strategy, placement, chosen;
    if (r->arguments->values[COLUMN] == NULL)
        return WP_FAIL(err, INVALID, "which column? Give --column COLUMN");
    WP_TRY(parse_choice(r, STRATEGY, strategies, &strategy, err));
    WP_TRY(parse_choice(r, PLACEMENT, placements, &placement, err));
    WP_TRY(parse_choice(r, FORMAT, forms, &chosen, err));
    WP_TRY(parse_numbers(r, err));
    WP_TRY(parse_range(r, err));
    WP_TRY(parse_confidence(r, err));
    WP_TRY(parse_precision(r, err));
    if (r->arguments->values[WHERE] != NULL)
        WP_TRY(wpi_where_parse(r->arguments->values[WHERE], &r->where, err));
    WP_TRY(wpi_column_options_parse(&r->arguments->values[TYPES], &r->table, err));
    r->options.profile = r->arguments->values[PROFILE];
    r->options.strategy = of_names[strategy];
    r->options.placement = places[placement];
    if (r->options.strategy == WP_STRATEGY_DIRECT && r->arguments->values[SCOPE] != NULL)
        return WP_FAIL(err, INVALID, "--scope has no meaning with --strategy direct; omit it");
    r->form = (form)chosen;
    return WP_STATUS_OK;
}

/* ---- the column ---- */

/* A whole column, copied to memory. */
typedef struct whole {
    wp_type type;
    char *values;
    uint8_t *valid; /* of NULLs */
    uint64_t row_count, capacity;
} whole;

static wp_status find_column(wpi_column_table *table, const char *name, uint32_t *column,
                             wp_error *err) {
    WP_TRY(wpi_column_table_find(table, name, column, err));
    if (!wpi_column_table_numbers(table, *column)->is_text) return WP_STATUS_OK;
    return WP_FAIL(
        err, INVALID,
        "column '%s' is text; give --null NA if NA means NULL, or --types %s:float64 if all "
        "its values are numbers",
        name, name);
}

static wp_status grow(whole *w, uint64_t wanted, wp_error *err) {
    uint64_t capacity = w->capacity != 0 ? w->capacity : 1 << 16;
    if (wanted <= w->capacity) return WP_STATUS_OK;
    while (capacity < wanted)
        capacity *= 2;
    char *values = wpi_realloc(w->values, capacity * wp_type_bytes(w->type));
    if (values != NULL) w->values = values;
    uint8_t *valid = w->valid != NULL ? wpi_realloc(w->valid, capacity / 8) : NULL;
    if (valid != NULL) {
        memset(valid + w->capacity / 8, 0xff, (capacity - w->capacity) / 8);
        w->valid = valid;
    }
    if (values == NULL || (w->valid != NULL && valid == NULL))
        return WP_FAIL(err, NOMEM, "a column of %" PRIu64 " rows", wanted);
    w->capacity = capacity;
    return WP_STATUS_OK;
}

static wp_status add_nulls(whole *w, const wp_column *column, uint64_t row_count, wp_error *err) {
    if (w->valid == NULL) {
        w->valid = wpi_malloc(w->capacity / 8);
        if (w->valid == NULL) return WP_FAIL(err, NOMEM, "NULLs of a column");
        memset(w->valid, 0xff, w->capacity / 8);
    }
    for (uint64_t row = 0; row < row_count; row++) {
        const uint64_t from = column->valid_offset + row, to = w->row_count + row;
        if ((column->valid[from / 8] >> (from % 8) & 1) == 0)
            w->valid[to / 8] &= (uint8_t)~(1u << (to % 8));
    }
    return WP_STATUS_OK;
}

static wp_status add_chunk(const request *r, const wpi_column_table *table,
                           const wpi_column_chunk *chunk, whole *w, wp_error *err) {
    const wp_column *column = chunk->columns;
    const uint32_t bytes = wp_type_bytes(w->type);
    uint64_t row_count = chunk->row_count;
    if (r->where != NULL)
        WP_TRY(wpi_where_filter(r->where, table, chunk, 1, &column, &row_count, err));
    if (row_count == 0) return WP_STATUS_OK;
    WP_TRY(grow(w, w->row_count + row_count, err));
    memcpy(w->values + w->row_count * bytes, column->values, row_count * bytes);
    if (column->valid != NULL) WP_TRY(add_nulls(w, column, row_count, err));
    w->row_count += row_count;
    return WP_STATUS_OK;
}

static wp_status read_column(const request *r, wpi_column_table *table, uint32_t number, whole *w,
                             wp_error *err) {
    const uint32_t where_width = r->where != NULL ? wpi_where_width(r->where) : 0;
    wpi_selected *selected = wpi_calloc((size_t)1 + where_width, sizeof *selected);
    uint32_t count = 1;
    wpi_column_chunk chunk = {0};
    wp_status status = WP_STATUS_OK;
    if (selected == NULL) return WP_FAIL(err, NOMEM, "columns");
    selected[0] = (wpi_selected){.column = number, .use = WPI_USE_VALUES};
    w->type = wpi_column_table_field(table, number)->type;
    if (r->where != NULL) status = wpi_where_bind(r->where, table, selected, &count, err);
    if (status == WP_STATUS_OK) status = wpi_column_table_select(table, selected, count, err);
    wpi_free(selected);
    WP_TRY(status);
    for (;;) {
        WP_TRY(wpi_column_table_next(table, &chunk, err));
        if (chunk.row_count == 0) return WP_STATUS_OK;
        WP_TRY(add_chunk(r, table, &chunk, w, err));
    }
}

/* Maps the column's file if values need no conversion or selection, and the device reads the host's
 * memory or gets a copy; otherwise reads all of it. GPUs cannot access a mapped file themselves. */
static wp_status get_column(const request *r, wp_device *device, wpi_column_table *table, whole *w,
                            wp_column *out, uint64_t *row_count, wp_error *err) {
    const char *name = r->arguments->values[COLUMN];
    const bool is_shown = device == NULL ||
                          wp_device_get_info(device)->host_pointers_are_device_pointers ||
                          r->options.placement != WP_PLACEMENT_ZERO_COPY;
    uint32_t column;
    *row_count = 0;
    WP_TRY(find_column(table, name, &column, err));
    if (is_shown && r->where == NULL)
        WP_TRY(wpi_column_table_map(table, column, r->options.read_count, out, row_count, err));
    if (*row_count != 0) return WP_STATUS_OK;
    WP_TRY(read_column(r, table, column, w, err));
    if (w->row_count == 0 && r->where != NULL)
        return WP_FAIL(err, INVALID, "no row satisfies --where \"%s\"",
                       r->arguments->values[WHERE]);
    if (w->row_count == 0) return WP_FAIL(err, INVALID, "column '%s' has no rows", name);
    *out = (wp_column){.type = w->type, .values = w->values, .valid = w->valid};
    *row_count = w->row_count;
    return WP_STATUS_OK;
}

/* ---- the result ---- */

typedef struct estimates {
    const char *column;
    uint64_t row_count;
    wp_sample_result sampled;
} estimates;

typedef struct row { /* of the result */
    const char *name;
    double value;
    bool is_count;
} row;

#define ROWS_MAX 16

static size_t make_rows(const request *r, const estimates *e, row out[ROWS_MAX]) {
    const wp_sample_result *s = &e->sampled;
    const row rows[] = {{"rows", (double)e->row_count, true},
                        {"read", (double)s->read_count, true},
                        {"values", (double)s->value_count, true},
                        {"avg", s->mean, false},
                        {"avg_error", s->mean_error, false},
                        {"sum", s->column_sum, false},
                        {"sum_error", s->column_sum_error, false},
                        {"min", s->min, false},
                        {"max", s->max, false},
                        {"selectivity", s->selectivity, false},
                        {"selectivity_error", s->selectivity_error, false},
                        {"confidence", r->options.confidence, false}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (r->has_range || strncmp(rows[i].name, "selectivity", 11) != 0) out[count++] = rows[i];
    return count;
}

static void write_value(const request *r, wpi_text *text, const row *v, bool has_values,
                        bool is_json) {
    char number[WPI_NUMBER_CHARACTERS];
    const wp_column column = {.type = WP_TYPE_FLOAT64, .values = &v->value};
    if (v->is_count)
        wpi_text_appendf(text, "%.0f", v->value);
    else if (has_values || strcmp(v->name, "confidence") == 0)
        wpi_text_append_n(text, number,
                          wpi_number_format_digits(&column, 0, is_json, r->digits, number));
    else if (is_json)
        wpi_text_append(text, "null");
}

static void write_json(const request *r, const estimates *e, wpi_text *text) {
    row rows[ROWS_MAX];
    const size_t count = make_rows(r, e, rows);
    wpi_text_append(text, "{\"schema\": \"warpage.sample/1\"");
    for (size_t i = 0; i < count; i++) {
        wpi_text_appendf(text, ", \"%s\": ", rows[i].name);
        write_value(r, text, &rows[i], e->sampled.value_count != 0, true);
    }
    wpi_text_append(text, "}\n");
}

static void write_csv(const request *r, const estimates *e, wpi_text *text) {
    row rows[ROWS_MAX];
    const size_t count = make_rows(r, e, rows);
    for (size_t i = 0; i < count; i++)
        wpi_text_appendf(text, "%s%s", i > 0 ? "," : "", rows[i].name);
    for (size_t i = 0; i < count; i++) {
        wpi_text_append(text, i > 0 ? "," : "\n");
        write_value(r, text, &rows[i], e->sampled.value_count != 0, false);
    }
    wpi_text_append(text, "\n");
}

static void write_text(const request *r, const estimates *e, wpi_text *text) {
    const wp_sample_result *s = &e->sampled;
    wpi_text_appendf(text, "%s: %" PRIu64 " rows, %" PRIu64 " read at random positions", e->column,
                     e->row_count, s->read_count);
    if (s->value_count != s->read_count)
        wpi_text_appendf(text, ", %" PRIu64 " of them NULL", s->read_count - s->value_count);
    wpi_text_append(text, "\n");
    if (s->value_count == 0) return;
    const int digits = r->digits != 0 ? r->digits : 6;
    wpi_text_appendf(text, "avg  %.*g ± %.2g\n", digits, s->mean, s->mean_error);
    wpi_text_appendf(text, "sum  %.*g ± %.2g\n", digits, s->column_sum, s->column_sum_error);
    wpi_text_appendf(text, "min  %.*g (of the values read)\n", digits, s->min);
    wpi_text_appendf(text, "max  %.*g (of the values read)\n", digits, s->max);
    if (r->has_range)
        wpi_text_appendf(text, "in %s  %.4g%% ± %.2g%% of the values\n",
                         r->arguments->values[RANGE], 100 * s->selectivity,
                         100 * s->selectivity_error);
    wpi_text_appendf(text,
                     "Each interval contains the column's true value with %.4g%% confidence.\n",
                     100 * r->options.confidence);
}

static wp_status write_estimates(const request *r, const estimates *e, wp_error *err) {
    static void (*const write[])(const request *, const estimates *,
                                 wpi_text *) = {write_text, write_json, write_csv};
    wpi_text text = {0};
    wpi_output *output = NULL;
    write[r->form](r, e, &text);
    wp_status status = wpi_output_open(r->arguments->values[OUTPUT], &output, err);
    if (status == WP_STATUS_OK) {
        wpi_output_text(output, wpi_text_string(&text));
        status = wpi_output_finish(output, err);
    }
    wpi_output_close(output);
    wpi_text_deinit(&text);
    return status;
}

/* ---- the work ---- */

static wp_status run(const request *r, wp_error *err) {
    const wpi_arguments *arguments = r->arguments;
    const char *spec = arguments->values[DEVICE];
    wp_device *device = NULL;
    wpi_column_table *table = NULL;
    whole w = {0};
    wp_column column;
    estimates e = {.column = arguments->values[COLUMN]};
    wp_status status = WP_STATUS_OK;
    WP_TRY_GOTO(wpi_column_table_open((const char *const *)arguments->operands,
                                      (size_t)arguments->operand_count, &r->table, &table, err),
                done);
    if (spec != NULL) WP_TRY_GOTO(wp_device_open(spec, &device, err), done);
    WP_TRY_GOTO(get_column(r, device, table, &w, &column, &e.row_count, err), done);
    WP_TRY_GOTO(wp_sample(device, &column, e.row_count, &r->options, &e.sampled, err), done);
    WP_TRY_GOTO(write_estimates(r, &e, err), done);
done:
    wpi_column_table_close(table);
    wp_device_close(device);
    wpi_free(w.values);
    wpi_free(w.valid);
    return status;
}

int wpi_sample_main(int argc, char **argv) {
    wpi_arguments arguments;
    wp_error err = {0};
    request r = {.arguments = &arguments};
    if (wpi_arguments_parse_mixed(wpi_sample_options, argc, argv, &arguments, &err) != WP_STATUS_OK)
        return wpi_usage_error("sample", "%s", err.message);
    r.types = wpi_arguments_list(&arguments, TYPES);
    if (parse_request(&r, &err) != WP_STATUS_OK ||
        wpi_set_keys(&arguments, arguments.values[DEVICE], NULL, &err) != WP_STATUS_OK)
        goto usage;
    if (arguments.operand_count == 0) {
        (void)WP_FAIL(&err, INVALID, "which table? Give a file, or - for standard input");
        goto usage;
    }
    const wp_status status = run(&r, &err);
    wpi_where_close(r.where);
    wpi_free(r.types);
    if (status == WP_STATUS_OK) return wpi_finish("sample");
    return wpi_failure("sample", "%s", err.message);
usage:
    wpi_where_close(r.where);
    wpi_free(r.types);
    return wpi_usage_error("sample", "%s", err.message);
}
