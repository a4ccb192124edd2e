/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpage compare: one program under many combinations of a simulated GPU's numbers.
 *
 *     record once ─► for each combination: replay (if it may) or run ─► <hash>.json ─► table, plot
 *
 * Each combination is a process of its own, `warpage trace replay` or `warpage run`; a result has
 * the name of a hash of everything that it follows from, so that an interrupted comparison goes on
 * where it was.
 */
#include "cli/compare.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "base/units.h"
#include "cli/table.h"
#include "cli/trace.h"
#include "warpage/device.h"
#include "warpage/report.h"
#include "warpage/trace.h"
#include "warpage/version.h"

#define KEYS_MAX 8u /* with the results, what a table holds */

enum option_index {
    DEVICE,
    AS,
    SET,
    OVERSUBSCRIBE, /* … and three more of paging */
    VARY = OVERSUBSCRIBE + 4,
    FUNCTIONAL,
    JOBS,
    FORMAT,
    OUTPUT
};

const wp_option wpi_compare_options[] = {
    [DEVICE] = {"device", "sim:GPU", "the simulated GPU (default: " WPI_TRACE_DEVICE ")"},
    [AS] = WPI_AS_OPTION,
    [SET] = {"set", "KEY=VALUE", "a number of it in all combinations"},
    WPI_PAGING_OPTIONS(OVERSUBSCRIBE),
    [VARY] = {"vary", "KEY=A,B,C",
              "a number with several values, or device=sim:A,sim:B; repeatable"},
    [FUNCTIONAL] = {"functional", NULL,
                    "record without a model: faster (see `warpage help trace`)"},
    [JOBS] = {"jobs", "N", "processes at a time, also -j N (default: all processors)"},
    [FORMAT] = {"format", "text|json|csv", "form of the table"},
    [OUTPUT] = {"output", "DIR", "keep trace and results in DIR, go on where they end, and plot"},
    {0}};

/* A combination. */
typedef struct variant {
    const char *device;
    char *settings;    /* WARPAGE_SET */
    char *result_path; /* its report */
    bool is_replayed;  /* else the program runs */
    char *failure;     /* what was said; NULL: none */
    uint64_t kernel_ns, copy_ns, simulated_ns;
    double tlb_hit_pct, l2_hit_pct; /* of all kernels */
} variant;

typedef struct comparison {
    const wp_arguments *arguments;
    wp_variation variation;
    variant *variants; /* [combination_count] */
    char *folder;
    bool is_temporary;
    char *trace_path; /* NULL: the program could not be recorded */
    char *self;
    char *key; /* of program and arguments */
    pthread_mutex_t lock;
    size_t next; /* variant to start */
} comparison;

static size_t count_of(const comparison *c) {
    return c->variation.combination_count;
}

/* ---- what is asked for ---------------------------------------------------------------------- */

static wp_status read_variation(comparison *c, wp_error *err) {
    int cursor = 0;
    const char *text;
    while ((text = wpi_arguments_next(c->arguments, VARY, &cursor)) != NULL)
        WP_TRY(wpi_variation_add(&c->variation, text, err));
    if (c->variation.key_count == 0)
        return WP_FAIL(err, INVALID, "what differs? --vary l2.bytes=1MiB,2MiB, say");
    if (c->variation.key_count > KEYS_MAX)
        return WP_FAIL(err, INVALID, "--vary: at most %u keys", KEYS_MAX);
    if (c->arguments->values[AS] != NULL && wpi_variation_device(&c->variation, 0, NULL) != NULL)
        return WP_FAIL(err, INVALID, "--as is of --device; in --vary write device=sim:k80+%s",
                       c->arguments->values[AS]);
    return WP_STATUS_OK;
}

/* Every combination is a GPU that can be: said before anything runs. */
static wp_status make_variants(comparison *c, wp_error *err) {
    const char *device = c->arguments->values[DEVICE];
    if (device == NULL) device = WPI_TRACE_DEVICE;
    WP_TRY(wpi_set_keys(c->arguments, device, NULL, err));
    char *base = wp_format("%s", getenv("WARPAGE_SET") != NULL ? getenv("WARPAGE_SET") : "");
    wp_status status = WP_STATUS_OK;
    c->variants = wp_calloc(count_of(c), sizeof *c->variants);
    WP_CHECK(c->variants != NULL);
    for (size_t i = 0; i < count_of(c) && status == WP_STATUS_OK; i++) {
        variant *v = &c->variants[i];
        wp_text settings = {0};
        wp_device *opened = NULL;
        v->device = wpi_variation_device(&c->variation, i, device);
        wpi_variation_settings(&c->variation, i, base, &settings);
        v->settings = wp_text_take(&settings);
        (void)setenv("WARPAGE_SET", v->settings, 1);
        status = strncmp(v->device, "sim:", 4) == 0
                     ? wp_device_open(v->device, &opened, err)
                     : WP_FAIL(err, INVALID, "'%s' is not a simulated GPU", v->device);
        wp_device_close(opened);
    }
    wp_free(base);
    return status;
}

/* ---- the recording -------------------------------------------------------------------------- */

static char *hash_name(const char *text) {
    return wp_format("%016" PRIx64, wp_hash64(text, strlen(text), 1));
}

/* Program and arguments, and where they are; what the program reads is not in it. */
static wp_status make_key(comparison *c, wp_error *err) {
    char *const *program = c->arguments->operands, *data = NULL, here[4096] = "";
    size_t bytes = 0;
    char *found = wp_program_find(program[0]);
    if (found == NULL) return WP_FAIL(err, NOT_FOUND, "%s: no such program", program[0]);
    const wp_status status = wp_file_read(found, &data, &bytes, err);
    wp_free(found);
    WP_TRY(status);
    wp_text text = {0};
    wp_text_appendf(&text, "%s %016" PRIx64 " %s", WP_VERSION_STRING, wp_hash64(data, bytes, 1),
                    getcwd(here, sizeof here) != NULL ? here : "");
    for (int i = 0; i < c->arguments->operand_count; i++)
        wp_text_appendf(&text, " '%s'", program[i]);
    c->key = hash_name(wp_text_string(&text));
    wp_text_deinit(&text);
    wp_free(data);
    return WP_STATUS_OK;
}

/* On the first combination's GPU, unless the folder has it already. */
static void record(comparison *c) {
    const variant *first = &c->variants[0];
    const bool is_functional = c->arguments->values[FUNCTIONAL] != NULL;
    char *what = wp_format("%s %s %s %d", c->key, first->device, first->settings, is_functional);
    char *hash = hash_name(what), *name = wp_format("%s.wpt", hash);
    wp_strings environment = {0};
    wp_error err = {0};
    int exit_code;
    c->trace_path = wp_path_join(c->folder, name);
    wp_strings_addf(&environment, "WARPAGE_SET=%s", first->settings);
    if (!wp_file_exists(c->trace_path) &&
        wpi_trace_record((const char *const *)c->arguments->operands, c->trace_path, first->device,
                         is_functional, "/dev/null", &environment, &exit_code,
                         &err) != WP_STATUS_OK) {
        (void)fprintf(stderr, "warpage compare: not recorded: %s\n", err.message);
        wp_free(c->trace_path);
        c->trace_path = NULL;
    }
    wp_strings_deinit(&environment);
    wp_free(what);
    wp_free(hash);
    wp_free(name);
}

/* Which combinations may be replayed; why the first of the others may not is said once. */
static void choose_ways(comparison *c) {
    bool has_said = c->trace_path == NULL;
    for (size_t i = 0; i < count_of(c); i++) {
        variant *v = &c->variants[i];
        wp_error err = {0};
        char *what = wp_format("%s %s %s %d", c->key, v->device, v->settings,
                               c->arguments->values[FUNCTIONAL] != NULL);
        char *hash = hash_name(what), *name = wp_format("%s.json", hash);
        v->result_path = wp_path_join(c->folder, name);
        wp_free(what);
        wp_free(hash);
        wp_free(name);
        (void)setenv("WARPAGE_SET", v->settings, 1);
        v->is_replayed =
            c->trace_path != NULL && wp_trace_check(c->trace_path, v->device, &err) == WP_STATUS_OK;
        if (v->is_replayed || has_said) continue;
        (void)fprintf(stderr, "warpage compare: runs the program where it cannot replay: %s\n",
                      err.message);
        has_said = true;
    }
}

/* ---- results -------------------------------------------------------------------------------- */

static void add_command(const comparison *c, const variant *v, wp_strings *argv) {
    wp_strings_add(argv, c->self);
    if (v->is_replayed) wp_strings_add(argv, "trace");
    wp_strings_add(argv, v->is_replayed ? "replay" : "run");
    wp_strings_addf(argv, "--device=%s", v->device);
    wp_strings_addf(argv, "--report=%s", v->result_path);
    wp_strings_add(argv, "--");
    if (v->is_replayed) {
        wp_strings_add(argv, c->trace_path);
        return;
    }
    for (int i = 0; i < c->arguments->operand_count; i++)
        wp_strings_add(argv, c->arguments->operands[i]);
}

static void make_result(const comparison *c, variant *v) {
    wp_strings argv = {0}, environment = {0};
    wp_text said = {0};
    wp_error err = {0};
    int exit_code = 0;
    add_command(c, v, &argv);
    wp_strings_addf(&environment, "WARPAGE_SET=%s", v->settings);
    const wp_subprocess_options how = {.environment = wp_strings_argv(&environment),
                                       .stdin_path = "/dev/null",
                                       .stdout_path = "/dev/null",
                                       .stderr_text = &said};
    if (wp_subprocess_run(wp_strings_argv(&argv), &how, &exit_code, &err) != WP_STATUS_OK) {
        v->failure = wp_format("%s", err.message);
    } else if (!wp_file_exists(v->result_path)) {
        v->failure = wp_format("exit status %d: %.400s", exit_code, wp_text_string(&said));
    }
    wp_text_deinit(&said);
    wp_strings_deinit(&argv);
    wp_strings_deinit(&environment);
}

/* A thread that starts one process after the other. */
static void *work(void *object) {
    comparison *c = object;
    for (;;) {
        pthread_mutex_lock(&c->lock);
        const size_t i = c->next++;
        pthread_mutex_unlock(&c->lock);
        if (i >= count_of(c)) return NULL;
        variant *v = &c->variants[i];
        if (!wp_file_exists(v->result_path)) make_result(c, v);
        if (isatty(STDERR_FILENO) != 0)
            (void)fprintf(stderr, "warpage compare: %zu of %zu\n", i + 1, count_of(c));
    }
}

static void make_results(comparison *c, uint64_t jobs) {
    pthread_t threads[256];
    size_t started = 0;
    if (jobs > count_of(c)) jobs = count_of(c);
    pthread_mutex_init(&c->lock, NULL);
    while (started + 1 < jobs && started < sizeof threads / sizeof threads[0] &&
           pthread_create(&threads[started], NULL, work, c) == 0)
        started++;
    (void)work(c);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&c->lock);
}

/* Of a cache's look-ups, those that found it. */
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

static wp_status read_result(variant *v, wp_error *err) {
    wp_run_record record = {0};
    if (v->failure != NULL) return WP_FAIL(err, DEVICE, "%s", v->failure);
    WP_TRY(wp_run_record_read(v->result_path, &record, err));
    for (size_t k = 0; k < record.kernel_count; k++)
        v->kernel_ns += record.kernels[k].time_ns;
    for (size_t k = 0; k < WP_COPY_KIND_COUNT; k++)
        v->copy_ns += record.copies[k].time_ns;
    if (record.simulation != NULL) {
        v->simulated_ns = record.simulation->time_ps / 1000;
        v->tlb_hit_pct = hit_pct(&record, "tlb_l1");
        v->l2_hit_pct = hit_pct(&record, "l2");
    }
    wp_run_record_deinit(&record);
    return WP_STATUS_OK;
}

/* ---- the table ------------------------------------------------------------------------------ */

typedef struct extremes {
    size_t best, worst; /* the first ones of equal ones */
} extremes;

static extremes find_extremes(const comparison *c) {
    extremes e = {0, 0};
    for (size_t i = 1; i < count_of(c); i++) {
        if (c->variants[i].kernel_ns < c->variants[e.best].kernel_ns) e.best = i;
        if (c->variants[i].kernel_ns > c->variants[e.worst].kernel_ns) e.worst = i;
    }
    return e;
}

static void add_row(const comparison *c, size_t i, extremes e, wp_strings *cells) {
    const variant *v = &c->variants[i];
    const double best_ns = (double)c->variants[e.best].kernel_ns;
    for (size_t k = 0; k < c->variation.key_count; k++)
        wp_strings_add(cells, wpi_variation_value(&c->variation, i, k));
    wp_strings_addf(cells, "%" PRIu64, v->kernel_ns);
    wp_strings_addf(cells, "%" PRIu64, v->copy_ns);
    wp_strings_addf(cells, "%" PRIu64, v->simulated_ns);
    wp_strings_addf(cells, "%.2f", v->tlb_hit_pct);
    wp_strings_addf(cells, "%.2f", v->l2_hit_pct);
    wp_strings_addf(cells, "%.3f", best_ns > 0 ? (double)v->kernel_ns / best_ns : 1.0);
    wp_strings_add(cells, v->is_replayed ? "replayed" : "run");
    wp_strings_add(cells, e.best == e.worst ? ""
                          : i == e.best     ? "best"
                          : i == e.worst    ? "worst"
                                            : "");
}

static void print_table(const comparison *c, wp_table_format format, extremes e) {
    static const char *const results[] = {"kernel_time_ns",
                                          "copy_time_ns",
                                          "simulated_time_ns",
                                          "tlb_l1_hit_pct",
                                          "l2_hit_pct",
                                          "times_best",
                                          "how",
                                          "mark"};
    const char *columns[16] = {0};
    size_t count = 0;
    for (; count < c->variation.key_count; count++)
        columns[count] = c->variation.keys[count].key;
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        columns[count++] = results[i];
    wp_table table = {.columns = columns};
    for (size_t i = 0; i < count_of(c); i++)
        add_row(c, i, e, &table.cells);
    wpi_table_print(&table, format);
    wpi_table_deinit(&table);
}

static void plot(const comparison *c, extremes e) {
    uint64_t *times_ns = wp_calloc(count_of(c), sizeof *times_ns);
    wp_error err = {0};
    for (size_t i = 0; times_ns != NULL && i < count_of(c); i++)
        times_ns[i] = c->variants[i].kernel_ns;
    if (times_ns != NULL &&
        wpi_compare_plot(&c->variation, times_ns, e.best, e.worst, c->folder, &err) != WP_STATUS_OK)
        (void)fprintf(stderr, "warpage compare: %s\n", err.message);
    wp_free(times_ns);
}

static int show(comparison *c, wp_table_format format) {
    for (size_t i = 0; i < count_of(c); i++) {
        wp_error err = {0};
        if (read_result(&c->variants[i], &err) == WP_STATUS_OK) continue;
        wp_text label = {0};
        wpi_variation_label(&c->variation, i, &label);
        const int code = wpi_failure("compare", "%s: %s", wp_text_string(&label), err.message);
        wp_text_deinit(&label);
        return code;
    }
    const extremes e = find_extremes(c);
    print_table(c, format, e);
    if (!c->is_temporary) plot(c, e);
    return wpi_finish("compare");
}

/* ---- the command ---------------------------------------------------------------------------- */

static wp_status open_folder(comparison *c, wp_error *err) {
    const char *output = c->arguments->values[OUTPUT];
    c->is_temporary = output == NULL;
    if (c->is_temporary) return wp_temp_dir_create(&c->folder, err);
    c->folder = wp_format("%s", output);
    return wp_dir_create(output, err);
}

static void deinit(comparison *c) {
    for (size_t i = 0; c->variants != NULL && i < count_of(c); i++) {
        wp_free(c->variants[i].settings);
        wp_free(c->variants[i].result_path);
        wp_free(c->variants[i].failure);
    }
    if (c->is_temporary) wp_temp_dir_remove(c->folder);
    wp_free(c->variants);
    wp_free(c->folder);
    wp_free(c->trace_path);
    wp_free(c->self);
    wp_free(c->key);
    wpi_variation_deinit(&c->variation);
}

static wp_status prepare(comparison *c, wp_error *err) {
    WP_TRY(make_key(c, err));
    WP_TRY(wp_self_path(&c->self, err));
    return open_folder(c, err);
}

static wp_status read_jobs(const char *text, uint64_t *jobs, wp_error *err) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *jobs = processors > 0 ? (uint64_t)processors : 1;
    if (text != NULL) WP_TRY(wp_parse_count(text, jobs, err));
    return *jobs != 0 ? WP_STATUS_OK : WP_FAIL(err, INVALID, "--jobs: at least 1");
}

int wpi_compare_main(int argc, char **argv) {
    wp_arguments arguments;
    wp_table_format format;
    uint64_t jobs;
    wp_error err = {0};
    wpi_expand_short_options(argc, argv);
    if (wpi_arguments_parse(wpi_compare_options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        wpi_table_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK ||
        read_jobs(arguments.values[JOBS], &jobs, &err) != WP_STATUS_OK)
        return wpi_usage_error("compare", "%s", err.message);
    if (arguments.operand_count == 0)
        return wpi_usage_error("compare", "which program? For example: warpage compare --vary "
                                          "l2.bytes=1MiB,2MiB -- ./app");
    comparison c = {.arguments = &arguments};
    int exit_code;
    if (wpi_device_as(&arguments, WPI_TRACE_DEVICE, &err) != WP_STATUS_OK ||
        read_variation(&c, &err) != WP_STATUS_OK || make_variants(&c, &err) != WP_STATUS_OK) {
        exit_code = wpi_usage_error("compare", "%s", err.message);
    } else if (prepare(&c, &err) != WP_STATUS_OK) {
        exit_code = wpi_failure("compare", "%s", err.message);
    } else {
        record(&c);
        choose_ways(&c);
        make_results(&c, jobs);
        exit_code = show(&c, format);
    }
    deinit(&c);
    return exit_code;
}
