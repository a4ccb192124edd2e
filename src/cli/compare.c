/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpage compare: one program under many combinations of a simulated GPU's numbers (trials.h does
 * the work), as a table and a plot.
 */
#include "study/variation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "cli/print/listing.h"
#include "cli/print/trials_page.h"
#include "cli/trace_commands.h"
#include "study/bars.h"
#include "study/cells_page.h"
#include "study/compare_pages.h"
#include "study/shown_numbers.h"
#include "study/trials.h"
#include "warpage/device.h"
#include "warpage/report.h"

#define KEYS_MAX 8u /* with the results and shown numbers, the table's columns */
#define SHOWN_MAX 12u

enum option_index {
    DEVICE,
    AS,
    SET,
    OVERSUBSCRIBE, /* … and three more of paging */
    VARY = OVERSUBSCRIBE + 4,
    FUNCTIONAL,
    JOBS,
    FORMAT,
    SHOW,
    OUTPUT,
    PAGES,
    PLAN,
    FINISHED,
    POLICY_FILE
};

const wpi_cli_option wpi_compare_options[] = {
    [DEVICE] = {"device", "sim:GPU", "simulate this GPU (default: " WPI_TRACE_DEVICE ")"},
    [AS] = WPI_AS_OPTION,
    [SET] = {"set", "KEY=VALUE", "set a parameter of the GPU in all combinations; may be repeated"},
    WPI_PAGING_OPTIONS(OVERSUBSCRIBE),
    [VARY] =
        {"vary", "KEY=A,B,C",
         "try each of these values of a parameter, or each GPU of device=sim:A,sim:B; with several "
         "--vary, every combination"},
    [FUNCTIONAL] =
        {"functional", NULL,
         "record the trace without timing the kernels, which is faster (see `warpage help trace`)"},
    [JOBS] = {"jobs", "N",
              "run N processes at a time; also -j N (default: one for each processor)"},
    [FORMAT] = {"format", "text|json|csv", "print an aligned table (default), JSON or CSV"},
    [SHOW] =
        {"show", "NAME,NAME",
         "add columns for these metrics and counters, by their names in the JSON report; may be "
         "repeated"},
    [OUTPUT] =
        {"output", "DIR",
         "keep trace, results and plots in DIR, and reuse the results that are already there"},
    [PAGES] =
        {"pages", "DIR",
         "write when each page of managed memory was accessed, migrated and evicted to a folder of "
         "DIR for each combination, and all of them side by side to DIR/index.html"},
    [PLAN] = {"plan", NULL,
              "record the trace into the folder of --output, print the command that makes the "
              "report of each combination, as JSON, and run none: for other schedulers"},
    [FINISHED] = {"finished", NULL,
                  "run nothing: compare the combinations whose reports are in the folder of "
                  "--output"},
    [POLICY_FILE] = WPI_POLICY_FILE_OPTION,
    {0}};

/* The results of a combination. */
typedef struct outcome {
    bool is_absent; /* not finished */
    uint64_t kernel_ns, copy_ns, simulated_ns;
    double tlb_hit_pct, l2_hit_pct; /* of all kernels */
    uint64_t far_faults, fetched_pages, again_pages, remote_accesses;
    wpi_strings shown; /* "": the report has no such number */
} outcome;

typedef struct comparison {
    const wpi_arguments *arguments;
    wpi_variation variation;
    wpi_trials trials;
    wpi_strings shown; /* names */
    wpi_strings meant; /* … and those of a report that are nearest to them */
    outcome *outcomes; /* [combination_count] */
    char *settings;    /* of all combinations */
} comparison;

static size_t count_of(const comparison *c) {
    return c->variation.combination_count;
}

/* ---- the request ---- */

static wp_status read_variation(comparison *c, wp_error *err) {
    int cursor = 0;
    const char *text;
    while ((text = wpi_arguments_next(c->arguments, VARY, &cursor)) != NULL)
        WP_TRY(wpi_variation_add(&c->variation, text, err));
    if (c->variation.key_count == 0)
        return WP_FAIL(err, INVALID, "what is to vary? For example: --vary l2.bytes=1MiB,2MiB");
    if (c->variation.key_count > KEYS_MAX)
        return WP_FAIL(err, INVALID, "--vary: at most %u keys", KEYS_MAX);
    if (c->arguments->values[AS] != NULL && wpi_variation_device(&c->variation, 0, NULL) != NULL)
        return WP_FAIL(err, INVALID, "--as is of --device; in --vary write device=sim:k80+%s",
                       c->arguments->values[AS]);
    return WP_STATUS_OK;
}

/* Every combination must be a valid GPU: checked before anything runs. */
static wp_status make_trial(comparison *c, size_t number, const char *device, const char *base,
                            wp_error *err) {
    wpi_text settings = {0};
    wp_device *opened = NULL;
    device = wpi_variation_device(&c->variation, number, device);
    wpi_variation_settings(&c->variation, number, base, &settings);
    wpi_trials_add(&c->trials, device, wpi_text_string(&settings), NULL, NULL);
    (void)setenv("WARPAGE_SET", wpi_text_string(&settings), 1);
    const wp_status status =
        strncmp(device, "sim:", 4) == 0
            ? wp_device_open(device, &opened, err)
            : WP_FAIL(err, INVALID, "'%s' is not a simulated GPU such as sim:k80", device);
    wp_device_close(opened);
    wpi_text_deinit(&settings);
    return status;
}

static wp_status make_trials(comparison *c, wp_error *err) {
    const char *device = c->arguments->values[DEVICE];
    if (device == NULL) device = WPI_TRACE_DEVICE;
    WP_TRY(wpi_set_keys(c->arguments, device, NULL, err));
    c->settings = wpi_format("%s", getenv("WARPAGE_SET") != NULL ? getenv("WARPAGE_SET") : "");
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < count_of(c) && status == WP_STATUS_OK; i++)
        status = make_trial(c, i, device, c->settings, err);
    return status;
}

static wp_status check_pages(const comparison *c, wp_error *err) {
    const char *dir = c->arguments->values[PAGES];
    return dir != NULL ? wpi_compare_check_pages(&c->variation, dir, err) : WP_STATUS_OK;
}

static wp_status read_shown(comparison *c, wp_error *err) {
    const char *names = c->arguments->values[SHOW];
    return names != NULL ? wpi_shown_read(names, SHOWN_MAX, &c->shown, err) : WP_STATUS_OK;
}

static void run_trials(comparison *c) {
    wp_error err = {0};
    if (wpi_trials_record(&c->trials, &err) != WP_STATUS_OK)
        (void)fprintf(stderr, "warpage compare: not recorded: %s\n", err.message);
    wpi_trials_run(&c->trials, 0);
}

/* ---- results -------------------------------------------------------------------------------- */

/* The hit rate of a cache. */
static double hit_pct(const wp_run_record *record, const char *cache) {
    static const char *const outcomes[] = {"hits", "merges", "misses"};
    uint64_t counts[3], all = 0;
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s_%s", cache, outcomes[i]);
        counts[i] = wp_run_count(record, record->simulation->values, name);
        all += counts[i];
    }
    return all != 0 ? 100.0 * (double)counts[0] / (double)all : 0;
}

static void read_numbers(comparison *c, const wp_run_record *record, outcome *v) {
    wpi_strings_deinit(&c->meant);
    for (size_t i = 0; i < c->shown.count; i++) {
        char *value = wpi_shown_value(record, c->shown.items[i]);
        char *meant = wpi_shown_nearest(record, c->shown.items[i]);
        wpi_strings_add(&v->shown, value);
        wpi_strings_add(&c->meant, meant != NULL ? meant : "");
        wpi_free(value);
        wpi_free(meant);
    }
}

static wp_status read_result(comparison *c, const wpi_trial *trial, outcome *v, wp_error *err) {
    wp_run_record record = {0};
    if (trial->failure != NULL) return WP_FAIL(err, DEVICE, "%s", trial->failure);
    WP_TRY(wp_run_record_read(trial->result_path, &record, err));
    for (size_t k = 0; k < record.kernel_count; k++)
        v->kernel_ns += record.kernels[k].time_ns;
    for (size_t k = 0; k < WP_COPY_KIND_COUNT; k++)
        v->copy_ns += record.copies[k].time_ns;
    if (record.simulation != NULL) {
        v->simulated_ns = record.simulation->time_ps / 1000;
        v->tlb_hit_pct = hit_pct(&record, "tlb_l1");
        v->l2_hit_pct = hit_pct(&record, "l2");
        const uint64_t *values = record.simulation->values;
        v->far_faults = wp_run_count(&record, values, "paging_far_faults");
        v->fetched_pages = wp_run_count(&record, values, "paging_fetched");
        v->again_pages = wp_run_count(&record, values, "paging_thrashed");
        v->remote_accesses = wp_run_count(&record, values, "paging_remote");
    }
    read_numbers(c, &record, v);
    wp_run_record_deinit(&record);
    return WP_STATUS_OK;
}

/* ---- the table ------------------------------------------------------------------------------ */

typedef struct extremes {
    size_t best, worst; /* the first ones of equal ones */
} extremes;

static extremes find_extremes(const comparison *c) {
    extremes e = {0, 0};
    while (e.best + 1 < count_of(c) && c->outcomes[e.best].is_absent)
        e.best = ++e.worst;
    for (size_t i = e.best + 1; i < count_of(c); i++) {
        if (c->outcomes[i].is_absent) continue;
        if (c->outcomes[i].kernel_ns < c->outcomes[e.best].kernel_ns) e.best = i;
        if (c->outcomes[i].kernel_ns > c->outcomes[e.worst].kernel_ns) e.worst = i;
    }
    return e;
}

/* Whether pages were migrated, or accessed across the link. */
static bool has_paging(const comparison *c) {
    for (size_t i = 0; i < count_of(c); i++)
        if (c->outcomes[i].far_faults + c->outcomes[i].fetched_pages +
                c->outcomes[i].remote_accesses !=
            0)
            return true;
    return false;
}

/* A column has one name in JSON and CSV and one in text. */
typedef struct column {
    const char *name, *title;
} column;

static const column times[] = {{"kernel_time_ns", "kernel time"},
                               {"copy_time_ns", "copy time"},
                               {"simulated_time_ns", "simulated time"},
                               {"tlb_l1_hit_pct", "L1 TLB hits"},
                               {"l2_hit_pct", "L2 hits"}};
static const column paging[] = {{"far_faults", "far faults"},
                                {"pages_fetched", "migrated in"},
                                {"pages_fetched_again", "migrated again"},
                                {"remote_accesses", "remote"}};
static const column ends[] = {{"times_best", "times best"}, {"how", "how"}, {"mark", "mark"}};

/* Of a row of the table: numbers as they are, or with their units. */
typedef struct row {
    wpi_strings *cells;
    bool is_text;
} row;

static void add_value(const row *r, const char *name, const char *value) {
    char *text = r->is_text ? wpi_shown_text(name, value) : wpi_format("%s", value);
    wpi_strings_add(r->cells, text);
    wpi_free(text);
}

static void add_count(const row *r, const char *name, uint64_t value) {
    char number[32];
    (void)snprintf(number, sizeof number, "%" PRIu64, value);
    add_value(r, name, number);
}

static void add_row(const comparison *c, size_t i, extremes e, bool is_paged, const row *r) {
    const outcome *v = &c->outcomes[i];
    const double best_ns = (double)c->outcomes[e.best].kernel_ns;
    char pct[32];
    for (size_t k = 0; k < c->variation.key_count; k++)
        wpi_strings_add(r->cells, wpi_variation_value(&c->variation, i, k));
    add_count(r, times[0].name, v->kernel_ns);
    add_count(r, times[1].name, v->copy_ns);
    add_count(r, times[2].name, v->simulated_ns);
    (void)snprintf(pct, sizeof pct, "%.2f", v->tlb_hit_pct);
    add_value(r, times[3].name, pct);
    (void)snprintf(pct, sizeof pct, "%.2f", v->l2_hit_pct);
    add_value(r, times[4].name, pct);
    const uint64_t counts[] = {v->far_faults, v->fetched_pages, v->again_pages, v->remote_accesses};
    for (size_t k = 0; is_paged && k < sizeof counts / sizeof counts[0]; k++)
        add_count(r, paging[k].name, counts[k]);
    for (size_t k = 0; k < v->shown.count; k++)
        add_value(r, c->shown.items[k], v->shown.items[k]);
    wpi_strings_addf(r->cells, "%.3f", best_ns > 0 ? (double)v->kernel_ns / best_ns : 1.0);
    wpi_strings_add(r->cells, c->trials.items[i].is_replayed ? "replayed" : "run");
    wpi_strings_add(r->cells, e.best == e.worst ? ""
                              : i == e.best     ? "best"
                              : i == e.worst    ? "worst"
                                                : "");
}

/* What a table points to. */
typedef struct table_heads {
    const char *columns[WPI_LISTING_COLUMNS_MAX + 1];
    wpi_column_kind kinds[WPI_LISTING_COLUMNS_MAX + 1];
} table_heads;

static void add_columns(const column *from, size_t from_count, bool is_text, table_heads *to,
                        size_t *count) {
    for (size_t i = 0; i < from_count; i++) {
        const bool is_word = strcmp(from[i].name, "how") == 0 || strcmp(from[i].name, "mark") == 0;
        to->kinds[*count] = is_word ? WP_COLUMN_TEXT : WP_COLUMN_NUMBER;
        to->columns[(*count)++] = is_text ? from[i].title : from[i].name;
    }
}

/* Varied values are text, as they were given. */
static void make_table(const comparison *c, bool is_text, extremes e, table_heads *to,
                       wpi_listing *table) {
    const bool is_paged = has_paging(c);
    size_t count = 0;
    *to = (table_heads){0};
    for (; count < c->variation.key_count; count++)
        to->columns[count] = c->variation.keys[count].key;
    add_columns(times, sizeof times / sizeof times[0], is_text, to, &count);
    add_columns(paging, is_paged ? sizeof paging / sizeof paging[0] : 0, is_text, to, &count);
    for (size_t i = 0; i < c->shown.count; i++)
        add_columns(&(column){c->shown.items[i], c->shown.items[i]}, 1, is_text, to, &count);
    add_columns(ends, sizeof ends / sizeof ends[0], is_text, to, &count);
    *table = (wpi_listing){.columns = to->columns, .kinds = is_text ? NULL : to->kinds};
    for (size_t i = 0; i < count_of(c); i++)
        if (!c->outcomes[i].is_absent) add_row(c, i, e, is_paged, &(row){&table->cells, is_text});
}

static void print_table(const comparison *c, wpi_listing_format format, extremes e) {
    table_heads heads;
    wpi_listing table;
    make_table(c, format == WPI_LISTING_TEXT, e, &heads, &table);
    wpi_listing_print(&table, format);
    wpi_listing_deinit(&table);
}

/* Runs side by side; nothing if a record cannot be read, or is of another device. */
static void append_cells(const comparison *c, wpi_text *out) {
    wpi_cell *cells = wpi_calloc(count_of(c), sizeof *cells);
    wp_run_record *records = wpi_calloc(count_of(c), sizeof *records);
    char **labels = wpi_calloc(count_of(c), sizeof *labels);
    size_t count = 0;
    WP_CHECK(cells != NULL && records != NULL && labels != NULL);
    for (; count < count_of(c); count++) {
        wpi_text label = {0};
        if (wp_run_record_read(c->trials.items[count].result_path, &records[count], NULL) !=
                WP_STATUS_OK ||
            records[count].simulation == NULL)
            break;
        wpi_variation_label(&c->variation, count, &label);
        labels[count] = wpi_text_take(&label);
        cells[count] = (wpi_cell){labels[count], &records[count]};
    }
    if (count == count_of(c)) wpi_cells_html(cells, count, out);
    for (size_t i = 0; i < count_of(c); i++) {
        wp_run_record_deinit(&records[i]);
        wpi_free(labels[i]);
    }
    wpi_free(labels);
    wpi_free(records);
    wpi_free(cells);
}

/* "Fastest: evict=tree, 1.36 ms of kernels, 4.16 times as fast as evict=lru-4k, 5.66 ms." */
static char *verdict_of(const comparison *c, extremes e) {
    wpi_text best = {0}, worst = {0};
    char fast[32], slow[32];
    const uint64_t best_ns = c->outcomes[e.best].kernel_ns,
                   worst_ns = c->outcomes[e.worst].kernel_ns;
    wpi_variation_label(&c->variation, e.best, &best);
    wpi_variation_label(&c->variation, e.worst, &worst);
    char *text = best_ns == worst_ns
                     ? wpi_format("Kernels take the same time in all cells.")
                     : wpi_format("Fastest: %s, with %s of kernels. Slowest: %s, with %s, %.2f "
                                  "times as long.",
                                  wpi_text_string(&best), wpi_format_duration(best_ns, fast),
                                  wpi_text_string(&worst), wpi_format_duration(worst_ns, slow),
                                  (double)worst_ns / (double)(best_ns != 0 ? best_ns : 1));
    wpi_text_deinit(&best);
    wpi_text_deinit(&worst);
    return text;
}

static wp_status write_page(const comparison *c, extremes e, wp_error *err) {
    table_heads heads;
    const char *device =
        wpi_variation_device(&c->variation, 0, NULL) != NULL ? "" : c->trials.items[0].device;
    wpi_listing table;
    make_table(c, true, e, &heads, &table);
    const size_t last = wpi_listing_column_count(&table) - 1;
    char *verdict = verdict_of(c, e);
    wpi_text details = {0};
    append_cells(c, &details);
    const wpi_trials_page page = {.device = device,
                                  .settings = c->settings,
                                  .verdict = verdict,
                                  .details = details.length != 0 ? details.data : NULL,
                                  .plot = "compare",
                                  .plot_title = "Kernel time",
                                  .text_columns = (((size_t)1 << c->variation.key_count) - 1) |
                                                  (size_t)3 << (last - 1)};
    const wp_status status = wpi_trials_page_write(&c->trials, &table, &page, err);
    wpi_listing_deinit(&table);
    wpi_text_deinit(&details);
    wpi_free(verdict);
    return status;
}

static void plot(const comparison *c, extremes e) {
    wpi_bar *bars = wpi_calloc(count_of(c), sizeof *bars);
    wp_error err = {0};
    size_t bar_count = 0;
    for (size_t i = 0; bars != NULL && i < count_of(c); i++) {
        wpi_text label = {0};
        if (c->outcomes[i].is_absent) continue;
        wpi_variation_label(&c->variation, i, &label);
        bars[bar_count++] = (wpi_bar){.label = wpi_text_take(&label),
                                      .time_ns = c->outcomes[i].kernel_ns,
                                      .mark = i == e.best    ? WP_BAR_GOOD
                                              : i == e.worst ? WP_BAR_BAD
                                                             : WP_BAR_PLAIN};
    }
    if (bars != NULL && wpi_bars_plot(bars, bar_count, "kernel time (ms)", c->trials.folder,
                                      "compare", &err) != WP_STATUS_OK)
        (void)fprintf(stderr, "warpage compare: %s\n", err.message);
    for (size_t i = 0; i < bar_count; i++)
        wpi_free(bars[i].label);
    wpi_free(bars);
}

/* Names that no report has. */
static void tell_unknown(const comparison *c) {
    for (size_t i = 0; i < c->shown.count; i++) {
        size_t k = 0;
        while (k < count_of(c) &&
               (c->outcomes[k].is_absent || c->outcomes[k].shown.items[i][0] == '\0'))
            k++;
        if (k < count_of(c)) continue;
        const char *meant = c->meant.items[i];
        (void)fprintf(stderr, "warpage compare: --show: no report has '%s'%s%s%s\n",
                      c->shown.items[i], meant[0] != '\0' ? "; did you mean '" : "", meant,
                      meant[0] != '\0' ? "'?" : "");
    }
}

static int show(comparison *c, wpi_listing_format format) {
    c->outcomes = wpi_calloc(count_of(c), sizeof *c->outcomes);
    WP_CHECK(c->outcomes != NULL);
    size_t finished = 0;
    for (size_t i = 0; i < count_of(c); i++) {
        wp_error err = {0};
        c->outcomes[i].is_absent = c->trials.runs_nothing && c->trials.items[i].failure != NULL;
        finished += !c->outcomes[i].is_absent;
        if (c->outcomes[i].is_absent ||
            read_result(c, &c->trials.items[i], &c->outcomes[i], &err) == WP_STATUS_OK)
            continue;
        wpi_text label = {0};
        wpi_variation_label(&c->variation, i, &label);
        const int code = wpi_failure("compare", "%s: %s", wpi_text_string(&label), err.message);
        wpi_text_deinit(&label);
        return code;
    }
    if (finished == 0)
        return wpi_failure("compare",
                           "--finished: %s has the report of no combination; run the "
                           "same command without --finished",
                           c->trials.folder);
    const extremes e = find_extremes(c);
    print_table(c, format, e);
    tell_unknown(c);
    wp_error err = {0};
    if (!c->trials.is_temporary) plot(c, e);
    if (!c->trials.is_temporary && write_page(c, e, &err) != WP_STATUS_OK)
        return wpi_failure("compare", "%s", err.message);
    const char *pages = c->arguments->values[PAGES];
    if (pages != NULL &&
        wpi_compare_write_pages(&c->variation, &c->trials, pages, &err) != WP_STATUS_OK)
        return wpi_failure("compare", "%s", err.message);
    return wpi_finish("compare");
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void append_strings(const wpi_strings *strings, wpi_text *out) {
    wpi_text_append(out, "[");
    for (size_t i = 0; i < strings->count; i++) {
        if (i != 0) wpi_text_append(out, ", ");
        wpi_listing_json_string(out, strings->items[i]);
    }
    wpi_text_append(out, "]");
}

static void append_values(const comparison *c, size_t number, wpi_text *out) {
    wpi_text_append(out, "{");
    for (size_t k = 0; k < c->variation.key_count; k++) {
        if (k != 0) wpi_text_append(out, ", ");
        wpi_listing_json_string(out, c->variation.keys[k].key);
        wpi_text_append(out, ": ");
        wpi_listing_json_string(out, wpi_variation_value(&c->variation, number, k));
    }
    wpi_text_append(out, "}");
}

/* An object for each combination. */
static int print_plan(comparison *c) {
    wp_error err = {0};
    wpi_text out = {0};
    if (wpi_trials_record(&c->trials, &err) != WP_STATUS_OK)
        (void)fprintf(stderr, "warpage compare: not recorded: %s\n", err.message);
    wpi_trials_choose(&c->trials);
    for (size_t i = 0; i < count_of(c); i++) {
        const wpi_trial *trial = &c->trials.items[i];
        wpi_strings argv = {0}, environment = {0};
        wpi_trials_command(&c->trials, trial, &argv, &environment);
        wpi_text_append(&out, i == 0 ? "[\n  {\"values\": " : ",\n  {\"values\": ");
        append_values(c, i, &out);
        wpi_text_appendf(
            &out, ", \"how\": \"%s\", \"report\": ", trial->is_replayed ? "replayed" : "run");
        wpi_listing_json_string(&out, trial->result_path);
        wpi_text_append(&out, ", \"trace\": ");
        if (trial->is_replayed)
            wpi_listing_json_string(&out, c->trials.trace_path);
        else
            wpi_text_append(&out, "null");
        wpi_text_append(&out, ", \"environment\": ");
        append_strings(&environment, &out);
        wpi_text_append(&out, ", \"command\": ");
        append_strings(&argv, &out);
        wpi_text_append(&out, "}");
        wpi_strings_deinit(&argv);
        wpi_strings_deinit(&environment);
    }
    (void)printf("%s\n]\n", wpi_text_string(&out));
    wpi_text_deinit(&out);
    return wpi_finish("compare");
}

/* ---- the command ---------------------------------------------------------------------------- */

static void deinit(comparison *c) {
    wpi_trials_deinit(&c->trials);
    for (size_t i = 0; c->outcomes != NULL && i < count_of(c); i++)
        wpi_strings_deinit(&c->outcomes[i].shown);
    wpi_strings_deinit(&c->shown);
    wpi_strings_deinit(&c->meant);
    wpi_free(c->outcomes);
    wpi_free(c->settings);
    wpi_variation_deinit(&c->variation);
}

int wpi_compare_main(int argc, char **argv) {
    wpi_arguments arguments;
    wpi_listing_format format;
    uint64_t jobs;
    wp_error err = {0};
    wpi_expand_short_options(argc, argv);
    if (wpi_arguments_parse(wpi_compare_options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        wpi_listing_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK ||
        wpi_trials_read_jobs(arguments.values[JOBS], &jobs, &err) != WP_STATUS_OK)
        return wpi_usage_error("compare", "%s", err.message);
    if (arguments.operand_count == 0)
        return wpi_usage_error("compare", "which program? For example: warpage compare --vary "
                                          "l2.bytes=1MiB,2MiB -- ./app");
    if ((arguments.values[PLAN] != NULL || arguments.values[FINISHED] != NULL) &&
        arguments.values[OUTPUT] == NULL)
        return wpi_usage_error("compare", "%s needs a folder: add --output DIR",
                               arguments.values[PLAN] != NULL ? "--plan" : "--finished");
    char *const shown = wpi_arguments_list(&arguments, SHOW);
    comparison c = {.arguments = &arguments,
                    .trials = {.command = "compare",
                               .runs_nothing = arguments.values[FINISHED] != NULL,
                               .program = arguments.operands,
                               .program_count = arguments.operand_count,
                               .is_functional = arguments.values[FUNCTIONAL] != NULL,
                               .wants_pages = arguments.values[PAGES] != NULL,
                               .wants_lines = arguments.values[OUTPUT] != NULL,
                               .jobs = jobs}};
    int exit_code;
    if (wpi_device_as(&arguments, WPI_TRACE_DEVICE, &err) != WP_STATUS_OK ||
        read_variation(&c, &err) != WP_STATUS_OK || make_trials(&c, &err) != WP_STATUS_OK ||
        check_pages(&c, &err) != WP_STATUS_OK || read_shown(&c, &err) != WP_STATUS_OK) {
        exit_code = wpi_usage_error("compare", "%s", err.message);
    } else if (wpi_trials_open(&c.trials, arguments.values[OUTPUT], &err) != WP_STATUS_OK) {
        exit_code = wpi_failure("compare", "%s", err.message);
    } else if (arguments.values[PLAN] != NULL) {
        exit_code = print_plan(&c);
    } else {
        run_trials(&c);
        exit_code = show(&c, format);
    }
    deinit(&c);
    wpi_free(shown);
    return exit_code;
}
