/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/claims.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/subprocess.h"
#include "warpage/report.h"

#define TOLERANCE 0.10 /* of the published value, where a claim does not have its own */

const char *wpi_verdict_name(wpi_verdict verdict) {
    static const char *const names[WPI_VERDICT_COUNT] = {
        "not run", "reproduced", "same shape", "calibrated", "differs", "no published value"};
    return (unsigned)verdict < WPI_VERDICT_COUNT ? names[verdict] : "unknown";
}

/* ---- reading ------------------------------------------------------------------------------------
 */

static wp_status read_json(const char *path, json_t **out, wp_error *err) {
    char *text = NULL;
    size_t size_bytes = 0;
    WP_TRY(wp_file_read(path, &text, &size_bytes, err));
    json_error_t error;
    *out = json_loadb(text, size_bytes, 0, &error);
    wp_free(text);
    if (*out == NULL) return WP_FAIL(err, PARSE, "%s:%d: %s", path, error.line, error.text);
    return WP_STATUS_OK;
}

static const char *text_in(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* A claim says what it is about, where its value comes from, and what the paper has or the order.
 */
static bool read_claim(const json_t *object, const json_t *runs, wpi_claim *claim) {
    const json_t *published = json_object_get(object, "published");
    const char *run = text_in(object, "run");
    *claim = (wpi_claim){.text = text_in(object, "claim"),
                         .unit = text_in(object, "unit"),
                         .calibrated = text_in(object, "calibrated"),
                         .reason = text_in(object, "reason"),
                         .has_published = json_is_number(published),
                         .published = json_number_value(published)};
    return claim->text != NULL && claim->unit != NULL && run != NULL &&
           json_object_get(runs, run) != NULL &&
           (json_is_array(json_object_get(object, "value")) ||
            json_is_array(json_object_get(object, "ascending")));
}

static void read_results(wpi_figure *figure) {
    char *path = wp_path_join(figure->folder, "results.json");
    json_t *results = NULL;
    if (read_json(path, &results, NULL) == WP_STATUS_OK) {
        for (size_t i = 0; i < figure->claim_count; i++) {
            wpi_claim *claim = &figure->claims[i];
            const json_t *row = json_object_get(results, claim->text);
            const char *verdict = text_in(row, "verdict");
            claim->has_ours = json_is_number(json_object_get(row, "ours"));
            claim->ours = json_number_value(json_object_get(row, "ours"));
            for (int v = 0; verdict != NULL && v < WPI_VERDICT_COUNT; v++) {
                if (strcmp(verdict, wpi_verdict_name((wpi_verdict)v)) == 0)
                    claim->verdict = (wpi_verdict)v;
            }
        }
        json_decref(results);
    }
    wp_free(path);
}

wp_status wpi_figure_load(const char *root, const char *paper, const char *name, wpi_figure *out,
                          wp_error *err) {
    *out = (wpi_figure){.paper = wp_strdup(paper), .name = wp_strdup(name)};
    char *folder = wp_path_join(root, paper);
    out->folder = wp_path_join(folder, name);
    wp_free(folder);
    char *path = wp_path_join(out->folder, "claims.json");
    wp_status status = read_json(path, &out->json, err);
    if (status == WP_STATUS_OK) {
        const json_t *claims = json_object_get(out->json, "claims");
        const json_t *runs = json_object_get(out->json, "runs");
        out->title = text_in(out->json, "title");
        out->source = text_in(out->json, "source");
        out->claim_count = json_array_size(claims);
        out->claims = wp_calloc(out->claim_count + 1, sizeof *out->claims);
        WP_CHECK(out->claims != NULL);
        if (out->title == NULL || out->source == NULL || text_in(out->json, "program") == NULL)
            status = WP_FAIL(err, PARSE, "%s: title, source or program is missing", path);
        for (size_t i = 0; status == WP_STATUS_OK && i < out->claim_count; i++) {
            if (!read_claim(json_array_get(claims, i), runs, &out->claims[i]))
                status = WP_FAIL(err, PARSE, "%s: claim %zu lacks its claim, unit, run, or value",
                                 path, i + 1);
        }
    }
    wp_free(path);
    if (status == WP_STATUS_OK)
        read_results(out);
    else
        wpi_figure_deinit(out);
    return status;
}

void wpi_figure_deinit(wpi_figure *figure) {
    json_decref(figure->json);
    wp_free(figure->claims);
    wp_free(figure->folder);
    wp_free(figure->paper);
    wp_free(figure->name);
    *figure = (wpi_figure){0};
}

/* ---- running ------------------------------------------------------------------------------------
 */

/* "name value" lines become an object of numbers. */
static wp_status parse_values(const char *text, json_t *values, const char *program,
                              wp_error *err) {
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        char *line = wp_strndup(text, length), *end = NULL;
        WP_CHECK(line != NULL);
        char *space = strrchr(line, ' ');
        const double value = space != NULL ? strtod(space + 1, &end) : 0.0;
        const bool is_good = space != NULL && end != space + 1 && *end == '\0' && isfinite(value);
        if (is_good) {
            *space = '\0';
            WP_CHECK(json_object_set_new(values, line, json_real(value)) == 0);
        }
        wp_status status = WP_STATUS_OK;
        if (!is_good)
            status = WP_FAIL(err, PARSE, "%s printed '%s', not NAME VALUE", program, line);
        wp_free(line);
        WP_TRY(status);
        text += length + (text[length] == '\n');
    }
    return WP_STATUS_OK;
}

static wp_status compile(const wpi_figure *figure, const char *wpcc, const char *program,
                         wp_error *err) {
    char *source = wp_path_join(figure->folder, text_in(figure->json, "program"));
    wp_text errors = {0};
    const char *library = text_in(figure->json, "library");
    char *bin = wp_path_dir(wpcc), *prefix = wp_path_dir(bin);
    char *headers = wp_format("-I%s/include", prefix);
    const char *const argv[] = {wpcc, "-O2", headers, source, "-o", program, library, NULL};
    const wp_subprocess_options options = {.stdout_text = &errors, .stderr_text = &errors};
    int code = 0;
    wp_status status = wp_subprocess_run(argv, &options, &code, err);
    if (status == WP_STATUS_OK && code != 0)
        status = WP_FAIL(err, TOOLCHAIN, "%s: wpcc failed: %s", source, wp_text_string(&errors));
    wp_text_deinit(&errors);
    wp_free(headers);
    wp_free(prefix);
    wp_free(bin);
    wp_free(source);
    return status;
}

/* Whose program is what a figure's `program` says. */
static bool has_program(const wpi_figure *figure, const char *name) {
    return strcmp(text_in(figure->json, "program"), name) == 0;
}

static void add_arguments(const json_t *run, size_t first, wp_strings *argv) {
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(run, "arguments"), i, value)
        if (i >= first)
            wp_strings_add(argv, json_string_value(value) != NULL ? json_string_value(value) : "");
}

/* Runs what is in `argv`; what it prints goes to `out`. */
static wp_status run_once(const json_t *run, const wp_strings *argv, wp_text *out, wp_error *err) {
    wp_strings environment = {0};
    wp_text errors = {0};
    const char *program = argv->items[0];
    wp_strings_addf(&environment, "WARPAGE_DEVICE=%s", text_in(run, "device"));
    wp_strings_addf(&environment, "WARPAGE_SET=%s",
                    text_in(run, "set") != NULL ? text_in(run, "set") : "");
    const wp_subprocess_options options = {
        .stdout_text = out, .stderr_text = &errors, .environment = wp_strings_argv(&environment)};
    int code = 0;
    wp_status status = wp_subprocess_run(wp_strings_argv(argv), &options, &code, err);
    if (status == WP_STATUS_OK && code != 0)
        status = WP_FAIL(err, IO, "%s on %s ended with %d: %s", program, text_in(run, "device"),
                         code, wp_text_string(&errors));
    wp_text_deinit(&errors);
    wp_strings_deinit(&environment);
    return status;
}

/* The values are what the program prints. */
static wp_status run_program(const json_t *run, const char *program, json_t *values,
                             wp_error *err) {
    wp_strings argv = {0};
    wp_text out = {0};
    wp_strings_add(&argv, program);
    add_arguments(run, 0, &argv);
    wp_status status = run_once(run, &argv, &out, err);
    if (status == WP_STATUS_OK) status = parse_values(wp_text_string(&out), values, program, err);
    wp_text_deinit(&out);
    wp_strings_deinit(&argv);
    return status;
}

static void set_value(json_t *values, const char *name, uint64_t value) {
    WP_CHECK(json_object_set_new(values, name, json_real((double)value)) == 0);
}

/* What a report counts, by its names. */
static wp_status read_report(const char *path, json_t *values, wp_error *err) {
    wp_run_record record = {0};
    WP_TRY(wp_run_record_read(path, &record, err));
    const wp_run_simulation *simulation = record.simulation;
    uint64_t kernel_ns = 0;
    for (size_t i = 0; i < record.kernel_count; i++)
        kernel_ns += record.kernels[i].time_ns;
    set_value(values, "kernel_time_ns", kernel_ns);
    for (size_t i = 0; simulation != NULL && i < simulation->column_count; i++) {
        const char *name = simulation->columns[i].name;
        set_value(values, name, wp_run_count(&record, simulation->values, name));
    }
    wp_run_record_deinit(&record);
    return WP_STATUS_OK;
}

/* An app, which the first argument names, under `warpage run`. */
static wp_status run_app(const json_t *run, const char *warpage, const char *report, json_t *values,
                         wp_error *err) {
    const char *name = json_string_value(json_array_get(json_object_get(run, "arguments"), 0));
    char *bin = wp_path_dir(warpage), *prefix = wp_path_dir(bin);
    char *app = wp_format("%s/apps/%s", prefix, name != NULL ? name : "");
    wp_strings argv = {0};
    wp_text out = {0};
    wp_strings_add(&argv, warpage);
    wp_strings_add(&argv, "run");
    wp_strings_addf(&argv, "--report=%s", report);
    wp_strings_add(&argv, "--");
    wp_strings_add(&argv, app);
    add_arguments(run, 1, &argv);
    wp_status status = wp_file_exists(app)
                           ? run_once(run, &argv, &out, err)
                           : WP_FAIL(err, NOT_FOUND, "%s: apps are in the build tree only", app);
    if (status == WP_STATUS_OK) status = read_report(report, values, err);
    wp_text_deinit(&out);
    wp_strings_deinit(&argv);
    wp_free(app);
    wp_free(prefix);
    wp_free(bin);
    return status;
}

/* What came out of all runs, and the one whose values are meant by a name without a run. */
typedef struct outcome {
    json_t *values; /* run -> name -> value */
    const char *run;
} outcome;

/* "name", or "run:name". */
static const json_t *find_value(const outcome *from, const char *text) {
    const char *colon = strchr(text, ':');
    if (colon == NULL) return json_object_get(json_object_get(from->values, from->run), text);
    char *run = wp_strndup(text, (size_t)(colon - text));
    const json_t *value = json_object_get(json_object_get(from->values, run), colon + 1);
    wp_free(run);
    return value;
}

/* The sum of values by name, "-name" is taken off. */
static bool add_up(json_t *names, const outcome *from, double *sum) {
    size_t i;
    json_t *name;
    *sum = 0.0;
    json_array_foreach(names, i, name) {
        const char *text = json_string_value(name) != NULL ? json_string_value(name) : "";
        const json_t *value = find_value(from, text + (text[0] == '-'));
        if (!json_is_number(value)) return false;
        *sum += text[0] == '-' ? -json_number_value(value) : json_number_value(value);
    }
    return true;
}

static bool is_ascending(json_t *names, const outcome *from, bool *is_known) {
    double before = -INFINITY;
    size_t i;
    json_t *name;
    *is_known = true;
    json_array_foreach(names, i, name) {
        const char *text = json_string_value(name);
        const json_t *value = text != NULL ? find_value(from, text) : NULL;
        *is_known = *is_known && json_is_number(value);
        if (!*is_known || json_number_value(value) <= before) return false;
        before = json_number_value(value);
    }
    return true;
}

static bool is_within(const json_t *object, const wpi_claim *claim) {
    const json_t *tolerance = json_object_get(object, "tolerance"); /* in the claim's unit */
    const double allowed = json_is_number(tolerance) ? json_number_value(tolerance)
                                                     : TOLERANCE * fabs(claim->published);
    return fabs(claim->ours - claim->published) <= allowed;
}

static wpi_verdict judge(const json_t *object, const wpi_claim *claim) {
    if (!claim->has_published) return WPI_VERDICT_UNPUBLISHED;
    if (!is_within(object, claim)) return WPI_VERDICT_DIFFERS;
    return claim->calibrated != NULL ? WPI_VERDICT_CALIBRATED : WPI_VERDICT_REPRODUCED;
}

static wp_status conclude(wpi_figure *figure, json_t *values, wp_error *err) {
    const json_t *claims = json_object_get(figure->json, "claims");
    for (size_t i = 0; i < figure->claim_count; i++) {
        const json_t *object = json_array_get(claims, i);
        wpi_claim *claim = &figure->claims[i];
        const outcome from = {values, text_in(object, "run")};
        json_t *names = json_object_get(object, "ascending");
        bool is_known = true;
        claim->has_ours = names == NULL;
        if (names == NULL) {
            is_known = add_up(json_object_get(object, "value"), &from, &claim->ours);
            claim->verdict = judge(object, claim);
        } else {
            claim->verdict =
                is_ascending(names, &from, &is_known) ? WPI_VERDICT_ORDER : WPI_VERDICT_DIFFERS;
        }
        if (!is_known)
            return WP_FAIL(err, PARSE, "%s/%s: '%s' needs a value that its program does not print",
                           figure->paper, figure->name, claim->text);
    }
    return WP_STATUS_OK;
}

/* How a figure is run. */
typedef struct runner {
    const char *program; /* or `warpage`, for an app */
    const char *report;  /* of an app; NULL: the program prints its values */
    void (*say)(const char *text);
} runner;

static wp_status run_all(wpi_figure *figure, const runner *how, json_t *all, wp_error *err) {
    const char *name;
    json_t *run;
    json_object_foreach(json_object_get(figure->json, "runs"), name, run) {
        char *text = wp_format("%s/%s: %s on %s", figure->paper, figure->name, name,
                               text_in(run, "device") != NULL ? text_in(run, "device") : "?");
        if (how->say != NULL) how->say(text);
        wp_free(text);
        json_t *values = json_object();
        WP_CHECK(json_object_set_new(all, name, values) == 0);
        WP_TRY(how->report != NULL ? run_app(run, how->program, how->report, values, err)
                                   : run_program(run, how->program, values, err));
    }
    return conclude(figure, all, err);
}

static wp_status run_figure(wpi_figure *figure, const runner *how, wp_error *err) {
    json_t *all = json_object();
    const wp_status status = run_all(figure, how, all, err);
    json_decref(all);
    return status;
}

static wp_status run_source(wpi_figure *figure, const char *wpcc, const char *folder,
                            void (*say)(const char *text), wp_error *err) {
    char *stem = wp_path_stem(text_in(figure->json, "program"));
    char *program = wp_path_join(folder, stem);
    wp_status status = compile(figure, wpcc, program, err);
    if (status == WP_STATUS_OK) status = run_figure(figure, &(runner){program, NULL, say}, err);
    wp_free(program);
    wp_free(stem);
    return status;
}

wp_status wpi_figure_run(wpi_figure *figure, const char *wpcc, void (*say)(const char *text),
                         wp_error *err) {
    char *temp = NULL;
    WP_TRY(wp_temp_dir_create(&temp, err));
    char *bin = wp_path_dir(wpcc), *warpage = wp_path_join(bin, "warpage");
    char *report = wp_path_join(temp, "report.json");
    wp_status status;
    if (has_program(figure, "warpage"))
        status = run_figure(figure, &(runner){warpage, NULL, say}, err);
    else if (has_program(figure, "apps"))
        status = run_figure(figure, &(runner){warpage, report, say}, err);
    else
        status = run_source(figure, wpcc, temp, say, err);
    wp_temp_dir_remove(temp);
    wp_free(report);
    wp_free(warpage);
    wp_free(bin);
    wp_free(temp);
    return status;
}

wp_status wpi_figure_record(const wpi_figure *figure, wp_error *err) {
    json_t *results = json_object();
    for (size_t i = 0; i < figure->claim_count; i++) {
        const wpi_claim *claim = &figure->claims[i];
        json_t *row = json_object();
        if (claim->has_ours)
            WP_CHECK(json_object_set_new(row, "ours", json_real(claim->ours)) == 0);
        WP_CHECK(json_object_set_new(row, "verdict",
                                     json_string(wpi_verdict_name(claim->verdict))) == 0);
        WP_CHECK(json_object_set_new(results, claim->text, row) == 0);
    }
    char *text = json_dumps(results, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    WP_CHECK(text != NULL);
    char *path = wp_path_join(figure->folder, "results.json");
    char *whole = wp_format("%s\n", text);
    const wp_status status = wp_file_write(path, whole, strlen(whole), err);
    wp_free(whole);
    wp_free(path);
    free(text);
    json_decref(results);
    return status;
}
