/* SPDX-License-Identifier: Apache-2.0 */
/* warpage groupby: a table's groups and their aggregates. */
#include "cli/groupby.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/table_options.h"

enum option_index {
    KEY,
    AGG,
    FORMAT,
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

const wp_option wpi_groupby_options[] = {
    [KEY] = {"key", "COLUMN[,...]", "rows that agree in these columns are a group"},
    [AGG] = {"agg", "OP[:COLUMN],...", "count (default), count:c, sum:c, min:c, max:c, avg:c"},
    [FORMAT] = {"format", "csv|json", "form of the result"},
    [OUTPUT] = {"output", "FILE", "write the result there, completely or not at all"},
    [UNSORTED] = {"unsorted", NULL,
                  "leave groups as they come; default: in order of keys, NULL last"},
    WPI_TABLE_OPTION_ROWS(TYPES),
    [DEVICE] = {"device", "SPEC", "cpu (default), sim:<gpu>, cuda:<n>"},
    [STRATEGY] = {"strategy", "NAME", "auto (default), direct, scoped, copy, partition"},
    [SCOPE] = {"scope", "BYTES", "of the table of groups, in one pass: 128MiB"},
    [PLACEMENT] = {"placement", "NAME",
                   "auto (default), zero-copy, copied, resident: how a GPU gets rows"},
    [MEMORY] = {"memory", "BYTES", "of the device, at most: 4GiB"},
    [THREADS] = {"threads", "N", "at most so many"},
    [GROUPS] = {"groups", "N", "about so many are expected"},
    [PROFILE] = {"profile", "NAME|FILE",
                 "whose TLBs the GPU has: a probe's profile, or one of `warpage params`"},
    [SET] = {"set", "KEY=VALUE", "change a number of a simulated GPU; may be repeated"},
    [EXPLAIN] = {"explain", NULL, "say on stderr what was chosen and why"},
    {0}};

typedef struct aggregate {
    wp_aggregate_op op;
    const char *text;   /* "sum:price" */
    const char *column; /* NULL: rows are counted */
    char *name;         /* "sum_price" */
} aggregate;

typedef struct request {
    const wp_arguments *arguments;
    char *key_text, *aggregate_text; /* taken apart */
    wpi_groupby_key *keys;
    aggregate *aggregates;
    uint32_t key_count, aggregate_count;
    wp_ops_options options;
    wpi_table_options table;
    bool is_json, is_sorted;
} request;

/* ---- what is asked for ------------------------------------------------------------------------
 */

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
        return WP_FAIL(err, INVALID, "by which columns? --key COLUMN[,COLUMN...]");
    r->key_text = wp_strdup(keys);
    if (r->key_text == NULL) return WP_FAIL(err, NOMEM, "keys");
    r->key_count = split(r->key_text);
    r->keys = wp_calloc(r->key_count, sizeof *r->keys);
    if (r->keys == NULL) return WP_FAIL(err, NOMEM, "keys");
    char *at = r->key_text;
    for (uint32_t i = 0; i < r->key_count; i++, at += strlen(at) + 1) {
        r->keys[i].name = at;
        for (uint32_t before = 0; before < i; before++)
            if (strcmp(r->keys[before].name, at) == 0)
                return WP_FAIL(err, INVALID, "--key names '%s' twice", at);
    }
    return WP_STATUS_OK;
}

static wp_status parse_aggregate(char *text, aggregate *out, wp_error *err) {
    static const char *const names[WP_AGGREGATE_OP_COUNT] = {"count", "sum", "min", "max", "avg"};
    const size_t length = strcspn(text, ":");
    int op = 0;
    while (op < WP_AGGREGATE_OP_COUNT &&
           (strlen(names[op]) != length || strncmp(names[op], text, length) != 0))
        op++;
    if (op == WP_AGGREGATE_OP_COUNT)
        return WP_FAIL(err, INVALID, "--agg %s: the aggregates are count, sum, min, max, avg",
                       text);
    *out = (aggregate){.op = (wp_aggregate_op)op, .text = text};
    if (text[length] == ':') out->column = text + length + 1;
    if (out->column == NULL && op != WP_AGGREGATE_COUNT)
        return WP_FAIL(err, INVALID, "--agg %s: of which column? %s:COLUMN", text, text);
    out->name =
        out->column != NULL ? wp_format("%s_%s", names[op], out->column) : wp_format("count");
    return WP_STATUS_OK;
}

static wp_status parse_aggregates(request *r, wp_error *err) {
    const char *text = r->arguments->values[AGG];
    r->aggregate_text = wp_strdup(text != NULL ? text : "count");
    if (r->aggregate_text == NULL) return WP_FAIL(err, NOMEM, "aggregates");
    const uint32_t count = split(r->aggregate_text);
    r->aggregates = wp_calloc(count, sizeof *r->aggregates);
    if (r->aggregates == NULL) return WP_FAIL(err, NOMEM, "aggregates");
    char *at = r->aggregate_text;
    for (; r->aggregate_count < count; r->aggregate_count++) {
        char *const next = at + strlen(at) + 1;
        WP_TRY(parse_aggregate(at, &r->aggregates[r->aggregate_count], err));
        at = next;
    }
    return WP_STATUS_OK;
}

/* The place of an option's value among `names`; 0 where it is not given. */
static wp_status parse_choice(const request *r, int option, const char *const *names, int *out,
                              wp_error *err) {
    const char *text = r->arguments->values[option];
    wp_nearest nearest = {.wanted = text};
    *out = 0;
    if (text == NULL) return WP_STATUS_OK;
    for (int i = 0; names[i] != NULL; i++) {
        *out = i;
        if (strcmp(names[i], text) == 0) return WP_STATUS_OK;
        wp_nearest_offer(&nearest, names[i]);
    }
    const char *meant = wp_nearest_result(&nearest);
    return WP_FAIL(
        err, INVALID, "--%s %s is none of %s%s%s%s", wpi_groupby_options[option].name, text,
        wpi_groupby_options[option].value_name[0] == 'N' ? wpi_groupby_options[option].doc
                                                         : wpi_groupby_options[option].value_name,
        meant != NULL ? "; did you mean '" : "", meant != NULL ? meant : "",
        meant != NULL ? "'?" : "");
}

static wp_status parse_numbers(request *r, wp_error *err) {
    const char *const *values = r->arguments->values;
    uint64_t count = 0;
    if (values[SCOPE] != NULL) WP_TRY(wp_parse_bytes(values[SCOPE], &r->options.scope_bytes, err));
    if (values[MEMORY] != NULL)
        WP_TRY(wp_parse_bytes(values[MEMORY], &r->options.memory_bytes, err));
    if (values[THREADS] != NULL)
        WP_TRY(wp_parse_count(values[THREADS], &r->options.thread_count, err));
    if (values[GROUPS] != NULL) WP_TRY(wp_parse_count(values[GROUPS], &count, err));
    r->options.group_count = count;
    r->options.profile = values[PROFILE];
    r->table.thread_count =
        r->options.thread_count < UINT32_MAX ? (uint32_t)r->options.thread_count : UINT32_MAX;
    return WP_STATUS_OK;
}

/* What says how a device does it. */
static wp_status check_device_options(const request *r, wp_error *err) {
    static const int options[] = {STRATEGY, SCOPE, PLACEMENT, MEMORY, PROFILE};
    const char *const *values = r->arguments->values;
    const bool is_processor = values[DEVICE] == NULL || strcmp(values[DEVICE], "cpu") == 0;
    for (size_t i = 0; is_processor && i < sizeof options / sizeof options[0]; i++)
        if (values[options[i]] != NULL)
            return WP_FAIL(err, INVALID,
                           "--%s is for GPUs: name one, as in --device cuda:0 or sim:k80",
                           wpi_groupby_options[options[i]].name);
    if (r->options.strategy == WP_STRATEGY_DIRECT && values[SCOPE] != NULL)
        return WP_FAIL(err, INVALID, "--strategy direct has no scopes: leave --scope out");
    return WP_STATUS_OK;
}

static wp_status parse_request(request *r, wp_error *err) {
    static const char *const strategies[] = {"auto", "direct", "scoped", "copy", "partition", NULL};
    static const char *const placements[] = {"auto", "zero-copy", "copied", "resident", NULL};
    static const char *const formats[] = {"csv", "json", NULL};
    int strategy, placement, format;
    WP_TRY(parse_keys(r, err));
    WP_TRY(parse_aggregates(r, err));
    WP_TRY(parse_choice(r, STRATEGY, strategies, &strategy, err));
    WP_TRY(parse_choice(r, PLACEMENT, placements, &placement, err));
    WP_TRY(parse_choice(r, FORMAT, formats, &format, err));
    WP_TRY(parse_numbers(r, err));
    WP_TRY(wpi_table_options_parse(&r->arguments->values[TYPES], &r->table, err));
    r->options.strategy = (wp_strategy)strategy;
    r->options.placement = (wp_placement)placement;
    r->is_json = format == 1;
    r->is_sorted = r->arguments->values[UNSORTED] == NULL;
    r->options.is_sorted = r->is_sorted;
    return check_device_options(r, err);
}

static void deinit_request(request *r) {
    for (uint32_t i = 0; i < r->aggregate_count; i++)
        wp_free(r->aggregates[i].name);
    wp_free(r->aggregates);
    wp_free(r->keys);
    wp_free(r->key_text);
    wp_free(r->aggregate_text);
}

/* ---- its columns ------------------------------------------------------------------------------
 */

/* Columns of the table that take part: keys first, then values. */
typedef struct plan {
    wpi_selected *selected; /* [key_count + value_count] */
    uint32_t value_count;
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
static wp_status plan_aggregate(request *r, const wpi_table *table, uint32_t number, plan *p,
                                wp_error *err) {
    const aggregate *a = &r->aggregates[number];
    uint32_t column;
    p->aggregates[number] = (wp_aggregate){a->op, WP_ALL_ROWS};
    if (a->column == NULL) return WP_STATUS_OK;
    WP_TRY(wpi_table_find(table, a->column, &column, err));
    const wpi_field *field = wpi_table_field(table, column);
    if (a->op != WP_AGGREGATE_COUNT && field->is_text)
        return WP_FAIL(err, INVALID,
                       "%s: column '%s' is text; say --null NA if NA means NULL, --types "
                       "%s:float64 if all of it is numbers",
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

static wp_status make_plan(request *r, const wpi_table *table, plan *p, wp_error *err) {
    p->selected = wp_calloc(r->key_count + r->aggregate_count, sizeof *p->selected);
    p->keys = wp_calloc(r->key_count, sizeof *p->keys);
    p->values = wp_calloc(r->aggregate_count, sizeof *p->values);
    p->aggregates = wp_calloc(r->aggregate_count, sizeof *p->aggregates);
    if (p->selected == NULL || p->keys == NULL || p->values == NULL || p->aggregates == NULL)
        return WP_FAIL(err, NOMEM, "columns");
    for (uint32_t i = 0; i < r->key_count; i++) {
        uint32_t column;
        WP_TRY(wpi_table_find(table, r->keys[i].name, &column, err));
        const wpi_field *field = wpi_table_field(table, column);
        p->selected[i] = (wpi_selected){column, WPI_USE_VALUES};
        p->keys[i] = (wp_key){field->type, field->is_nullable && !field->is_text};
        r->keys[i].place = i;
        r->keys[i].is_text = field->is_text;
    }
    for (uint32_t i = 0; i < r->aggregate_count; i++)
        WP_TRY(plan_aggregate(r, table, i, p, err));
    if (!wpi_groupby_sorts_itself(r->keys, r->key_count)) r->options.is_sorted = false;
    return WP_STATUS_OK;
}

static void deinit_plan(plan *p) {
    wp_free(p->selected);
    wp_free(p->keys);
    wp_free(p->values);
    wp_free(p->aggregates);
}

/* ---- the work ---------------------------------------------------------------------------------
 */

typedef struct progress {
    bool is_on, is_shown;
    double start_s, last_s;
} progress;

static double now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void show_progress(progress *p, const wpi_table *table, uint64_t rows) {
    uint64_t done_bytes, total_bytes;
    char done[32], total[32];
    const double now = p->is_on ? now_s() : 0;
    if (!p->is_on || now - p->last_s < 0.2) return;
    wpi_table_progress(table, &done_bytes, &total_bytes);
    (void)fprintf(stderr, "\r%" PRIu64 " rows, %s", rows, wp_format_bytes(done_bytes, done));
    if (total_bytes != 0)
        (void)fprintf(stderr, " of %s, %.0f s left", wp_format_bytes(total_bytes, total),
                      (now - p->start_s) * ((double)total_bytes / (double)(done_bytes + 1) - 1));
    (void)fprintf(stderr, "\033[K");
    p->last_s = now;
    p->is_shown = true;
}

static wp_status add_rows(wpi_table *table, wp_groupby *groupby, uint32_t key_count,
                          wp_error *err) {
    progress p = {.is_on = isatty(STDERR_FILENO) != 0, .start_s = now_s(), .last_s = now_s()};
    wpi_chunk chunk;
    uint64_t rows = 0;
    wp_status status;
    while ((status = wpi_table_next(table, &chunk, err)) == WP_STATUS_OK && chunk.row_count != 0) {
        status =
            wp_groupby_add(groupby, chunk.columns, chunk.columns + key_count, chunk.row_count, err);
        if (status != WP_STATUS_OK) break;
        rows += chunk.row_count;
        show_progress(&p, table, rows);
    }
    if (p.is_shown) (void)fprintf(stderr, "\r\033[K");
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
    return WP_FAIL(err, INVALID, "%s: %.400s; avg:%s, or --types %s:float64, does without",
                   r->aggregates[number].text, rest, r->aggregates[number].column,
                   r->aggregates[number].column);
}

static wp_status write_groups(const request *r, const wpi_table *table, const wp_groups *groups,
                              wp_error *err) {
    const char **names = wp_calloc(r->aggregate_count, sizeof *names);
    if (names == NULL) return WP_FAIL(err, NOMEM, "names of aggregates");
    for (uint32_t i = 0; i < r->aggregate_count; i++)
        names[i] = r->aggregates[i].name;
    const wpi_groupby_result result = {.groups = groups,
                                       .table = table,
                                       .keys = r->keys,
                                       .aggregate_names = names,
                                       .key_count = r->key_count,
                                       .aggregate_count = r->aggregate_count,
                                       .is_sorted = r->is_sorted,
                                       .is_json = r->is_json};
    const wp_status status = wpi_groupby_write(&result, r->arguments->values[OUTPUT], err);
    wp_free((void *)names);
    return status;
}

static wp_status group(request *r, wp_device *device, wpi_table *table, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    plan p = {0};
    WP_TRY_GOTO(make_plan(r, table, &p, err), done);
    WP_TRY_GOTO(wpi_table_select(table, p.selected, r->key_count + p.value_count, err), done);
    r->options.row_count = wpi_table_expected_rows(table);
    const wp_groupby_spec spec = {.key_count = r->key_count,
                                  .value_count = p.value_count,
                                  .aggregate_count = r->aggregate_count,
                                  .keys = p.keys,
                                  .values = p.values,
                                  .aggregates = p.aggregates,
                                  .options = r->options};
    WP_TRY_GOTO(wp_groupby_open(device, &spec, &groupby, err), done);
    WP_TRY_GOTO(add_rows(table, groupby, r->key_count, err), done);
    WP_TRY_GOTO(name_aggregate(r, wp_groupby_finish(groupby, &groups, err), err), done);
    if (r->arguments->values[EXPLAIN] != NULL) (void)fputs(wp_groupby_explain(groupby), stderr);
    WP_TRY_GOTO(write_groups(r, table, groups, err), done);
done:
    wp_groups_close(groups);
    wp_groupby_close(groupby);
    deinit_plan(&p);
    return status;
}

static wp_status run(request *r, wp_error *err) {
    const wp_arguments *arguments = r->arguments;
    const char *spec = arguments->values[DEVICE];
    wp_device *device = NULL;
    wpi_table *table = NULL;
    wp_status status = WP_STATUS_OK;
    WP_TRY_GOTO(wpi_table_open((const char *const *)arguments->operands,
                               (size_t)arguments->operand_count, &r->table, &table, err),
                done);
    if (spec != NULL && strcmp(spec, "cpu") != 0)
        WP_TRY_GOTO(wp_device_open(spec, &device, err), done);
    WP_TRY_GOTO(group(r, device, table, err), done);
done:
    wpi_table_close(table);
    wp_device_close(device);
    return status;
}

int wpi_groupby_main(int argc, char **argv) {
    wp_arguments arguments;
    wp_error err = {0};
    request r = {.arguments = &arguments};
    if (wpi_arguments_parse(wpi_groupby_options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        parse_request(&r, &err) != WP_STATUS_OK ||
        wpi_set_keys(&arguments, arguments.values[DEVICE], NULL, &err) != WP_STATUS_OK) {
        deinit_request(&r);
        return wpi_usage_error("groupby", "%s", err.message);
    }
    if (arguments.operand_count == 0) {
        deinit_request(&r);
        return wpi_usage_error("groupby", "which table? A file, or - for stdin");
    }
    for (int i = 1; i < arguments.operand_count; i++) {
        if (strncmp(arguments.operands[i], "--", 2) != 0) continue;
        deinit_request(&r);
        return wpi_usage_error("groupby", "%s: options come before the table",
                               arguments.operands[i]);
    }
    const wp_status status = run(&r, &err);
    deinit_request(&r);
    if (status == WP_STATUS_OK) return wpi_finish("groupby");
    return wpi_failure("groupby", "%s", err.message);
}
