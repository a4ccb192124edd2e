/* SPDX-License-Identifier: Apache-2.0 */
/* warpage groupby: a table's groups and their aggregates. */
#include "cli/groupby.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/options/choice.h"
#include "cli/options/column_options.h"
#include "table_io/parquet.h"
#include "table_io/parse_number.h"
#include "table_io/where.h"

enum option_index {
    KEY,
    AGG,
    WHERE,
    ORDER_BY,
    LIMIT,
    FORMAT,
    PRECISION,
    OUTPUT,
    UNSORTED,
    TYPES, /* and the others of tables */
    DEVICE = TYPES + 4,
    STRATEGY,
    SCOPE,
    PLACEMENT,
    MEMORY,
    THREADS,
    GROUPS,
    PROFILE,
    SET,
    EXPLAIN
};

const wpi_cli_option wpi_groupby_options[] = {
    [KEY] = {"key", "COLUMN[,...]",
             "group rows that have equal values in these columns; may be repeated"},
    [AGG] = {"agg", "OP[:COLUMN],...",
             "compute these aggregates of each group: count (the default), count:COLUMN, "
             "sum:COLUMN, min:COLUMN, max:COLUMN, avg:COLUMN; may be repeated"},
    [WHERE] = {"where", "CONDITION",
               "use only rows that satisfy CONDITION: comparisons of a column with a number or a "
               "'text' (= != < <= > >=), COLUMN is null, COLUMN is not null, joined by and"},
    [ORDER_BY] = {"order-by", "COLUMN[:desc],...",
                  "sort groups by columns of the result, in ascending or descending order, NULL "
                  "last (default: by keys, ascending); may be repeated"},
    [LIMIT] = {"limit", "N", "print at most the first N groups"},
    [FORMAT] =
        {"format", "text|csv|json|parquet|html",
         "print an aligned table (the default on a terminal), CSV (the default elsewhere) or "
         "JSON, or write a Parquet file or a page for browsers (the defaults of --output "
         "FILE.parquet and FILE.html)"},
    [PRECISION] = {"precision", "DIGITS",
                   "print floating-point numbers with at most DIGITS significant digits, 1 to 17 "
                   "(default: 15 in a table, elsewhere as many as the exact value needs)"},
    [OUTPUT] = {"output", "FILE", "write the result to FILE, which is complete or not created"},
    [UNSORTED] = {"unsorted", NULL, "do not sort groups"},
    WPI_COLUMN_OPTION_ROWS(TYPES),
    [DEVICE] = {"device", "SPEC", "run on cpu (default), sim:<gpu> or cuda:<n>"},
    [STRATEGY] =
        {"strategy", "NAME",
         "use this GPU algorithm: direct, scoped, copy, partition or sepo (default: auto)"},
    [SCOPE] = {"scope", "BYTES",
               "limit the part of the hash table that one GPU pass accesses to "
               "BYTES, such as 128MiB"},
    [PLACEMENT] =
        {"placement", "NAME",
         "let the GPU read rows in host memory (zero-copy), or copy them to the GPU chunk "
         "by chunk (copied) or all at once (resident) (default: auto)"},
    [MEMORY] = {"memory", "BYTES", "use at most BYTES of device memory, such as 4GiB"},
    [THREADS] = {"threads", "N",
                 "run at most N threads (default: all processors; on a GPU, as many as it holds)"},
    [GROUPS] = {"groups", "N", "plan for about N groups (default: estimated from the rows)"},
    [PROFILE] = {"profile", "NAME|FILE",
                 "plan for the TLBs of this profile: one of `warpage devices`, or a file of "
                 "`warpage probe --write-profile`"},
    [SET] = {"set", "KEY=VALUE", "change a parameter of the simulated GPU; may be repeated"},
    [EXPLAIN] = {"explain", NULL, "print the chosen algorithm and its cost estimates to stderr"},
    {0}};

typedef struct aggregate {
    wp_aggregate_op op;
    const char *text;   /* "sum:price" */
    const char *column; /* NULL: rows are counted */
    char *name;         /* "sum_price" */
} aggregate;

typedef struct request {
    const wpi_arguments *arguments;
    char *lists[4];                  /* of the options that take one */
    char *key_text, *aggregate_text; /* split */
    wpi_groupby_key *keys;
    aggregate *aggregates;
    uint32_t key_count, aggregate_count;
    wp_ops_options options;
    wpi_column_options table;
    wpi_where *where; /* NULL: all rows */
    char *order_text; /* split */
    wpi_groupby_order *orders;
    uint32_t order_count;
    uint64_t limit;
    int digits;
    wpi_groupby_form form;
    bool is_sorted;
    char *const *command;
    size_t command_count;
} request;

/* ---- the request ---- */

/* Commas become ends; how many parts there are. */
static uint32_t split(char *text) {
    uint32_t count = 1;
    for (; *text != '\0'; text++) {
        if (*text != ',') continue;
        *text = '\0';
        count++;
    }
    return count;
}

static wp_status parse_keys(request *r, wp_error *err) {
    const char *keys = r->arguments->values[KEY];
    if (keys == NULL || *keys == '\0')
        return WP_FAIL(err, INVALID, "which key? Give --key COLUMN[,COLUMN...]");
    r->key_text = wpi_strdup(keys);
    if (r->key_text == NULL) return WP_FAIL(err, NOMEM, "keys");
    r->key_count = split(r->key_text);
    r->keys = wpi_calloc(r->key_count, sizeof *r->keys);
    if (r->keys == NULL) return WP_FAIL(err, NOMEM, "keys");
    char *at = r->key_text;
    for (uint32_t i = 0; i < r->key_count; i++, at += strlen(at) + 1) {
        r->keys[i].name = at;
        for (uint32_t before = 0; before < i; before++)
            if (strcmp(r->keys[before].name, at) == 0)
                return WP_FAIL(err, INVALID, "--key has column '%s' twice", at);
    }
    return WP_STATUS_OK;
}

static wp_status parse_aggregate(char *text, aggregate *out, wp_error *err) {
    static const char *const names[] = {"count", "sum", "min", "max", "avg"};
    const int name_count = (int)(sizeof names / sizeof names[0]);
    const size_t length = strcspn(text, ":");
    int op = 0;
    while (op < name_count &&
           (strlen(names[op]) != length || strncmp(names[op], text, length) != 0))
        op++;
    if (op == name_count)
        return WP_FAIL(err, INVALID,
                       "--agg %s: unknown aggregate; the aggregates are count, sum, min, max, avg",
                       text);
    *out = (aggregate){.op = (wp_aggregate_op)op, .text = text};
    if (text[length] == ':') out->column = text + length + 1;
    if (out->column == NULL && op != WP_AGGREGATE_COUNT)
        return WP_FAIL(err, INVALID, "--agg %s: the column is missing; write %s:COLUMN", text,
                       text);
    out->name =
        out->column != NULL ? wpi_format("%s_%s", names[op], out->column) : wpi_format("count");
    return WP_STATUS_OK;
}

static wp_status parse_aggregates(request *r, wp_error *err) {
    const char *text = r->arguments->values[AGG];
    r->aggregate_text = wpi_strdup(text != NULL ? text : "count");
    if (r->aggregate_text == NULL) return WP_FAIL(err, NOMEM, "aggregates");
    const uint32_t count = split(r->aggregate_text);
    r->aggregates = wpi_calloc(count, sizeof *r->aggregates);
    if (r->aggregates == NULL) return WP_FAIL(err, NOMEM, "aggregates");
    char *at = r->aggregate_text;
    for (; r->aggregate_count < count; r->aggregate_count++) {
        char *const next = at + strlen(at) + 1;
        for (uint32_t before = 0; before < r->aggregate_count; before++)
            if (strcmp(r->aggregates[before].text, at) == 0)
                return WP_FAIL(err, INVALID, "--agg has '%s' twice", at);
        WP_TRY(parse_aggregate(at, &r->aggregates[r->aggregate_count], err));
        at = next;
    }
    return WP_STATUS_OK;
}

/* "sum_price" or "sum:price": a column of the result. */
static wp_status find_result_column(const request *r, const char *name, uint32_t *out,
                                    wp_error *err) {
    wpi_nearest nearest = {.wanted = name};
    uint32_t found = 0;
    for (uint32_t i = 0; i < r->key_count + r->aggregate_count; i++) {
        const bool is_key = i < r->key_count;
        const aggregate *a = is_key ? NULL : &r->aggregates[i - r->key_count];
        const char *column = is_key ? r->keys[i].name : a->name;
        wpi_nearest_offer(&nearest, column);
        if (strcmp(column, name) != 0 && (is_key || strcmp(a->text, name) != 0)) continue;
        *out = i;
        found++;
    }
    if (found == 1) return WP_STATUS_OK;
    if (found > 1)
        return WP_FAIL(err, INVALID, "--order-by %s: two columns of the result have this name",
                       name);
    const char *meant = wpi_nearest_result(&nearest);
    if (meant != NULL)
        return WP_FAIL(err, INVALID,
                       "--order-by: the result has no column '%s'; did you mean '%s'?", name,
                       meant);
    return WP_FAIL(err, INVALID,
                   "--order-by: the result has no column '%s'; it has keys and "
                   "aggregates, such as '%s'",
                   name, r->aggregates[0].name);
}

static wp_status parse_order(const request *r, char *text, wpi_groupby_order *out, wp_error *err) {
    char *colon = strrchr(text, ':');
    const bool is_descending = colon != NULL && strcmp(colon, ":desc") == 0;
    if (is_descending || (colon != NULL && strcmp(colon, ":asc") == 0)) *colon = '\0';
    out->is_descending = is_descending;
    return find_result_column(r, text, &out->column, err);
}

static wp_status parse_orders(request *r, wp_error *err) {
    const char *text = r->arguments->values[ORDER_BY];
    if (text == NULL) return WP_STATUS_OK;
    if (r->arguments->values[UNSORTED] != NULL)
        return WP_FAIL(err, INVALID, "--order-by and --unsorted exclude each other");
    r->order_text = wpi_strdup(text);
    if (r->order_text == NULL) return WP_FAIL(err, NOMEM, "--order-by");
    const uint32_t count = split(r->order_text);
    r->orders = wpi_calloc(count, sizeof *r->orders);
    if (r->orders == NULL) return WP_FAIL(err, NOMEM, "--order-by");
    char *at = r->order_text;
    for (; r->order_count < count; r->order_count++) {
        char *const next = at + strlen(at) + 1;
        WP_TRY(parse_order(r, at, &r->orders[r->order_count], err));
        at = next;
    }
    return WP_STATUS_OK;
}

/* The place of an option's value among `names`; 0 where it is not given. */
static wp_status parse_choice(const request *r, int option, const char *const *names, int *out,
                              wp_error *err) {
    return wpi_choice_parse(wpi_groupby_options[option].name, r->arguments->values[option], names,
                            out, err);
}

static bool ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), ending_length = strlen(ending);
    return length >= ending_length && strcmp(text + length - ending_length, ending) == 0;
}

/* Checks before any row is read that the result can be written. */
static wp_status choose_form(request *r, wp_error *err) {
    static const char *const formats[] = {"csv", "json", "text", "parquet", "html", NULL};
    const char *output = r->arguments->values[OUTPUT];
    const bool is_terminal = output == NULL && isatty(STDOUT_FILENO) != 0;
    int format;
    WP_TRY(parse_choice(r, FORMAT, formats, &format, err));
    r->form = (wpi_groupby_form)format;
    if (r->arguments->values[FORMAT] == NULL)
        r->form = is_terminal                                       ? WPI_GROUPBY_TEXT
                  : output != NULL && ends_with(output, ".parquet") ? WPI_GROUPBY_PARQUET
                  : output != NULL && ends_with(output, ".html")    ? WPI_GROUPBY_HTML
                                                                    : WPI_GROUPBY_CSV;
    if (r->form == WPI_GROUPBY_PARQUET && is_terminal)
        return WP_FAIL(err, INVALID,
                       "--format parquet: a terminal cannot show Parquet; give --output FILE");
    return WP_STATUS_OK;
}

/* A key may be a column named as an aggregate is, "count". */
static wp_status check_names(const request *r, wp_error *err) {
    if (r->form != WPI_GROUPBY_JSON && r->form != WPI_GROUPBY_PARQUET) return WP_STATUS_OK;
    for (uint32_t key = 0; key < r->key_count; key++)
        for (uint32_t i = 0; i < r->aggregate_count; i++)
            if (strcmp(r->keys[key].name, r->aggregates[i].name) == 0)
                return WP_FAIL(err, INVALID,
                               "the key and the aggregate '%s' have one name, which JSON and "
                               "Parquet cannot hold; use --format csv, or rename the column",
                               r->keys[key].name);
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
    uint64_t count = 0;
    if (values[SCOPE] != NULL) WP_TRY(wpi_parse_bytes(values[SCOPE], &r->options.scope_bytes, err));
    if (values[MEMORY] != NULL)
        WP_TRY(wpi_parse_bytes(values[MEMORY], &r->options.memory_bytes, err));
    if (values[THREADS] != NULL)
        WP_TRY(wpi_parse_count(values[THREADS], &r->options.thread_count, err));
    if (values[GROUPS] != NULL) WP_TRY(wpi_parse_count(values[GROUPS], &count, err));
    r->limit = UINT64_MAX;
    if (values[LIMIT] != NULL) WP_TRY(wpi_parse_count(values[LIMIT], &r->limit, err));
    r->options.group_count = count;
    r->options.profile = values[PROFILE];
    r->table.thread_count =
        r->options.thread_count < UINT32_MAX ? (uint32_t)r->options.thread_count : UINT32_MAX;
    return WP_STATUS_OK;
}

/* Options that only devices have. */
static wp_status check_device_options(const request *r, wp_error *err) {
    static const int options[] = {STRATEGY, SCOPE, PLACEMENT, MEMORY, PROFILE};
    const char *const *values = r->arguments->values;
    const bool is_processor = values[DEVICE] == NULL || strcmp(values[DEVICE], "cpu") == 0;
    for (size_t i = 0; is_processor && i < sizeof options / sizeof options[0]; i++)
        if (values[options[i]] != NULL)
            return WP_FAIL(err, INVALID,
                           "--%s applies to GPUs only; give one, as in --device cuda:0 or sim:k80",
                           wpi_groupby_options[options[i]].name);
    const bool is_unscoped =
        r->options.strategy == WP_STRATEGY_DIRECT || r->options.strategy == WP_STRATEGY_SEPO;
    if (is_unscoped && values[SCOPE] != NULL)
        return WP_FAIL(err, INVALID, "--scope has no meaning with --strategy %s; omit it",
                       values[STRATEGY]);
    return WP_STATUS_OK;
}

static wp_status parse_request(request *r, wp_error *err) {
    const char *strategies[WP_STRATEGY_COUNT + 1], *placements[WP_PLACEMENT_COUNT + 1];
    int strategy, placement;
    for (int i = 0; i <= WP_STRATEGY_COUNT; i++)
        strategies[i] = wp_strategy_name((wp_strategy)i);
    for (int i = 0; i <= WP_PLACEMENT_COUNT; i++)
        placements[i] = wp_placement_name((wp_placement)i);
    WP_TRY(parse_keys(r, err));
    WP_TRY(parse_aggregates(r, err));
    WP_TRY(parse_orders(r, err));
    if (r->arguments->values[WHERE] != NULL)
        WP_TRY(wpi_where_parse(r->arguments->values[WHERE], &r->where, err));
    WP_TRY(parse_choice(r, STRATEGY, strategies, &strategy, err));
    WP_TRY(parse_choice(r, PLACEMENT, placements, &placement, err));
    WP_TRY(choose_form(r, err));
    WP_TRY(check_names(r, err));
    WP_TRY(parse_precision(r, err));
    WP_TRY(parse_numbers(r, err));
    WP_TRY(wpi_column_options_parse(&r->arguments->values[TYPES], &r->table, err));
    r->options.strategy = (wp_strategy)strategy;
    r->options.placement = (wp_placement)placement;
    r->is_sorted = r->arguments->values[UNSORTED] == NULL;
    r->options.is_sorted = r->is_sorted && r->order_count == 0;
    return check_device_options(r, err);
}

static void deinit_request(request *r) {
    for (size_t i = 0; i < sizeof r->lists / sizeof r->lists[0]; i++)
        wpi_free(r->lists[i]);
    for (uint32_t i = 0; i < r->aggregate_count; i++)
        wpi_free(r->aggregates[i].name);
    wpi_free(r->aggregates);
    wpi_free(r->keys);
    wpi_free(r->orders);
    wpi_free(r->order_text);
    wpi_where_close(r->where);
    wpi_free(r->key_text);
    wpi_free(r->aggregate_text);
}

/* ---- its columns ---- */

/* Columns of the table that take part: keys first, then values, then others of the condition. */
typedef struct plan {
    wpi_selected *selected; /* [selected_count] */
    uint32_t value_count, selected_count;
    wp_key *keys;
    wp_type *values;
    wp_aggregate *aggregates;
} plan;

static uint32_t value_of(plan *p, uint32_t key_count, uint32_t column, wpi_use use) {
    wpi_selected *values = p->selected + key_count;
    uint32_t i = 0;
    while (i < p->value_count && (values[i].column != column || values[i].use != use))
        i++;
    if (i == p->value_count) values[p->value_count++] = (wpi_selected){column, use};
    return i;
}

/* One that is only counted need not be understood; one that others aggregate is counted as it is.
 */
static wp_status plan_aggregate(request *r, wpi_column_table *table, uint32_t number, plan *p,
                                wp_error *err) {
    const aggregate *a = &r->aggregates[number];
    uint32_t column;
    p->aggregates[number] = (wp_aggregate){a->op, WP_ALL_ROWS};
    if (a->column == NULL) return WP_STATUS_OK;
    WP_TRY(wpi_column_table_find(table, a->column, &column, err));
    const wpi_field *field = a->op == WP_AGGREGATE_COUNT ? wpi_column_table_field(table, column)
                                                         : wpi_column_table_numbers(table, column);
    if (a->op != WP_AGGREGATE_COUNT && field->is_text)
        return WP_FAIL(err, INVALID,
                       "%s: column '%s' is text; give --null NA if NA means NULL, or --types "
                       "%s:float64 if all its values are numbers",
                       a->text, a->column, a->column);
    bool is_aggregated = false;
    for (uint32_t i = 0; i < r->aggregate_count; i++)
        is_aggregated = is_aggregated || (r->aggregates[i].op != WP_AGGREGATE_COUNT &&
                                          strcmp(r->aggregates[i].column, a->column) == 0);
    const wpi_use use = is_aggregated && !field->is_text ? WPI_USE_VALUES : WPI_USE_NULLS;
    const uint32_t value = value_of(p, r->key_count, column, use);
    p->aggregates[number].value = value;
    p->values[value] = use == WPI_USE_NULLS ? WP_TYPE_UINT8 : field->type;
    return WP_STATUS_OK;
}

static wp_status make_plan(request *r, wpi_column_table *table, plan *p, wp_error *err) {
    const uint32_t where_width = r->where != NULL ? wpi_where_width(r->where) : 0;
    p->selected = wpi_calloc(r->key_count + r->aggregate_count + where_width, sizeof *p->selected);
    p->keys = wpi_calloc(r->key_count, sizeof *p->keys);
    p->values = wpi_calloc(r->aggregate_count, sizeof *p->values);
    p->aggregates = wpi_calloc(r->aggregate_count, sizeof *p->aggregates);
    if (p->selected == NULL || p->keys == NULL || p->values == NULL || p->aggregates == NULL)
        return WP_FAIL(err, NOMEM, "columns");
    for (uint32_t i = 0; i < r->key_count; i++) {
        uint32_t column;
        WP_TRY(wpi_column_table_find(table, r->keys[i].name, &column, err));
        p->selected[i] = (wpi_selected){column, WPI_USE_VALUES};
        r->keys[i].place = i;
    }
    for (uint32_t i = 0; i < r->aggregate_count; i++)
        WP_TRY(plan_aggregate(r, table, i, p, err));
    p->selected_count = r->key_count + p->value_count;
    if (r->where != NULL)
        WP_TRY(wpi_where_bind(r->where, table, p->selected, &p->selected_count, err));
    /* Last: an aggregate or the condition may have made a column one of numbers. */
    for (uint32_t i = 0; i < r->key_count; i++) {
        const wpi_field *field = wpi_column_table_field(table, p->selected[i].column);
        p->keys[i] = (wp_key){field->type, field->is_nullable && !field->is_text};
        r->keys[i].is_text = field->is_text;
    }
    if (!wpi_groupby_sorts_itself(r->keys, r->key_count)) r->options.is_sorted = false;
    return WP_STATUS_OK;
}

static void deinit_plan(plan *p) {
    wpi_free(p->selected);
    wpi_free(p->keys);
    wpi_free(p->values);
    wpi_free(p->aggregates);
}

/* ---- the work ---- */

typedef struct progress {
    bool is_on, is_shown;
    double start_s, last_s;
} progress;

static double now_s(void) {
    return 1e-9 * (double)wpi_clock_ns();
}

static void show_progress(progress *p, const wpi_column_table *table, uint64_t rows) {
    uint64_t done_bytes, total_bytes;
    char done[32], total[32];
    const double now = p->is_on ? now_s() : 0;
    if (!p->is_on || now - p->last_s < 0.2) return;
    wpi_column_table_progress(table, &done_bytes, &total_bytes);
    (void)fprintf(stderr, "\r%" PRIu64 " rows, %s", rows, wpi_format_bytes(done_bytes, done));
    if (total_bytes != 0)
        (void)fprintf(stderr, " of %s, %.0f s left", wpi_format_bytes(total_bytes, total),
                      (now - p->start_s) * ((double)total_bytes / (double)(done_bytes + 1) - 1));
    (void)fprintf(stderr, "\033[K");
    p->last_s = now;
    p->is_shown = true;
}

static wp_status add_chunk(const request *r, const plan *p, const wpi_column_table *table,
                           wp_groupby *groupby, const wpi_column_chunk *chunk, wp_error *err) {
    const wp_column *columns = chunk->columns;
    uint64_t row_count = chunk->row_count;
    if (r->where != NULL)
        WP_TRY(wpi_where_filter(r->where, table, chunk, r->key_count + p->value_count, &columns,
                                &row_count, err));
    if (row_count == 0) return WP_STATUS_OK;
    return wp_groupby_add(groupby, columns, columns + r->key_count, row_count, err);
}

static wp_status add_rows(const request *r, const plan *p, wpi_column_table *table,
                          wp_groupby *groupby, wp_error *err) {
    progress shown = {.is_on = isatty(STDERR_FILENO) != 0, .start_s = now_s(), .last_s = now_s()};
    wpi_column_chunk chunk;
    uint64_t rows = 0;
    wp_status status;
    while ((status = wpi_column_table_next(table, &chunk, err)) == WP_STATUS_OK &&
           chunk.row_count != 0) {
        status = add_chunk(r, p, table, groupby, &chunk, err);
        if (status != WP_STATUS_OK) break;
        rows += chunk.row_count;
        show_progress(&shown, table, rows);
    }
    if (shown.is_shown) (void)fprintf(stderr, "\r\033[K");
    return status;
}

/* "aggregate 1: a sum does not fit int64" names no column. */
static wp_status name_aggregate(const request *r, wp_status status, wp_error *err) {
    unsigned number;
    int length = 0;
    char rest[sizeof err->message];
    if (status == WP_STATUS_OK || sscanf(err->message, "aggregate %u: %n", &number, &length) != 1 ||
        length == 0 || number >= r->aggregate_count)
        return status;
    (void)snprintf(rest, sizeof rest, "%s", err->message + length);
    return WP_FAIL(err, INVALID, "%s: %.400s; use avg:%s, or --types %s:float64",
                   r->aggregates[number].text, rest, r->aggregates[number].column,
                   r->aggregates[number].column);
}

static wp_status write_groups(const request *r, const wpi_column_table *table,
                              const wp_groups *groups, const char *explanation, wp_error *err) {
    const char **names = wpi_calloc(r->aggregate_count, sizeof *names);
    if (names == NULL) return WP_FAIL(err, NOMEM, "names of aggregates");
    for (uint32_t i = 0; i < r->aggregate_count; i++)
        names[i] = r->aggregates[i].name;
    const wpi_groupby_result result = {
        .groups = groups,
        .table = table,
        .keys = r->keys,
        .aggregate_names = names,
        .key_count = r->key_count,
        .aggregate_count = r->aggregate_count,
        .orders = r->orders,
        .order_count = r->order_count,
        .is_sorted = r->is_sorted,
        .limit = r->limit,
        .digits = r->digits,
        .form = r->form,
        .command = r->command,
        .command_count = r->command_count,
        .device_name = r->arguments->values[DEVICE] != NULL ? r->arguments->values[DEVICE] : "cpu",
        .plan = explanation};
    const wp_status status = wpi_groupby_write(&result, r->arguments->values[OUTPUT], err);
    wpi_free((void *)names);
    return status;
}

static wp_status group(request *r, wp_device *device, wpi_column_table *table, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    plan p = {0};
    WP_TRY_GOTO(make_plan(r, table, &p, err), done);
    WP_TRY_GOTO(wpi_column_table_select(table, p.selected, p.selected_count, err), done);
    r->options.row_count = wpi_column_table_expected_rows(table);
    const wp_groupby_spec spec = {.key_count = r->key_count,
                                  .value_count = p.value_count,
                                  .aggregate_count = r->aggregate_count,
                                  .keys = p.keys,
                                  .values = p.values,
                                  .aggregates = p.aggregates,
                                  .options = r->options};
    WP_TRY_GOTO(wp_groupby_open(device, &spec, &groupby, err), done);
    WP_TRY_GOTO(add_rows(r, &p, table, groupby, err), done);
    WP_TRY_GOTO(name_aggregate(r, wp_groupby_finish(groupby, &groups, err), err), done);
    if (r->arguments->values[EXPLAIN] != NULL) (void)fputs(wp_groupby_explain(groupby), stderr);
    WP_TRY_GOTO(write_groups(r, table, groups, wp_groupby_explain(groupby), err), done);
done:
    wp_groups_close(groups);
    wp_groupby_close(groupby);
    deinit_plan(&p);
    return status;
}

static wp_status run(request *r, wp_error *err) {
    const wpi_arguments *arguments = r->arguments;
    const char *spec = arguments->values[DEVICE];
    wp_device *device = NULL;
    wpi_column_table *table = NULL;
    wp_status status = WP_STATUS_OK;
    if (r->form == WPI_GROUPBY_PARQUET) WP_TRY(wpi_parquet_check(arguments->values[OUTPUT], err));
    WP_TRY_GOTO(wpi_column_table_open((const char *const *)arguments->operands,
                                      (size_t)arguments->operand_count, &r->table, &table, err),
                done);
    if (spec != NULL && strcmp(spec, "cpu") != 0)
        WP_TRY_GOTO(wp_device_open(spec, &device, err), done);
    WP_TRY_GOTO(group(r, device, table, err), done);
done:
    wpi_column_table_close(table);
    wp_device_close(device);
    return status;
}

static void join_lists(request *r, wpi_arguments *arguments) {
    static const size_t lists[] = {KEY, AGG, ORDER_BY, TYPES};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        r->lists[i] = wpi_arguments_list(arguments, lists[i]);
}

int wpi_groupby_main(int argc, char **argv) {
    wpi_arguments arguments;
    wp_error err = {0};
    request r = {.arguments = &arguments, .command = argv, .command_count = (size_t)argc};
    if (wpi_arguments_parse_mixed(wpi_groupby_options, argc, argv, &arguments, &err) !=
        WP_STATUS_OK)
        return wpi_usage_error("groupby", "%s", err.message);
    join_lists(&r, &arguments);
    if (parse_request(&r, &err) != WP_STATUS_OK ||
        wpi_set_keys(&arguments, arguments.values[DEVICE], NULL, &err) != WP_STATUS_OK) {
        deinit_request(&r);
        return wpi_usage_error("groupby", "%s", err.message);
    }
    if (arguments.operand_count == 0) {
        deinit_request(&r);
        return wpi_usage_error("groupby", "which table? Give a file, or - for standard input");
    }
    const wp_status status = run(&r, &err);
    deinit_request(&r);
    if (status == WP_STATUS_OK) return wpi_finish("groupby");
    return wpi_failure("groupby", "%s", err.message);
}
