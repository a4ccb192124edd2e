/* SPDX-License-Identifier: Apache-2.0 */
#include "study/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/text.h"
#include "study/claims_power.h"
#include "study/claims_run.h"
#include "study/claims_sweep.h"
#include "study/claims_value.h"

#define TOLERANCE 0.10 /* of the published value, where a claim does not have its own */

const char *wpi_verdict_name(wpi_verdict verdict) {
    static const char *const names[WPI_VERDICT_COUNT] = {
        "not run", "reproduced", "same shape", "calibrated", "differs", "no published value"};
    return (unsigned)verdict < WPI_VERDICT_COUNT ? names[verdict] : "unknown";
}

/* ---- reading ---- */

static wp_status read_json(const char *path, json_t **out, wp_error *err) {
    char *text = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(path, &text, &size_bytes, err));
    json_error_t error;
    *out = json_loadb(text, size_bytes, 0, &error);
    wpi_free(text);
    if (*out == NULL) return WP_FAIL(err, PARSE, "%s:%d: %s", path, error.line, error.text);
    return WP_STATUS_OK;
}

static bool are_valid(const json_t *values, const json_t *runs) {
    for (size_t i = 0; i < json_array_size(values); i++)
        if (!wpi_claims_value_is_valid(json_array_get(values, i), runs)) return false;
    return json_array_size(values) > 0;
}

/* Whether the claim has a value, or values in an order. */
static bool has_values(const json_t *object, const json_t *runs) {
    const json_t *value = json_object_get(object, "value");
    return value != NULL ? wpi_claims_value_is_valid(value, runs)
                         : are_valid(json_object_get(object, "ascending"), runs);
}

static bool are_texts(const json_t *list) {
    if (list != NULL && !json_is_array(list)) return false;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i))) return false;
    return list == NULL || json_array_size(list) != 0;
}

char *wpi_claim_also_true_for(const wpi_claim *claim) {
    wpi_text text = {0};
    for (size_t i = 0; i < json_array_size(claim->also_true_for); i++)
        wpi_text_appendf(&text, "%s%s", i == 0 ? "" : "; ",
                         json_string_value(json_array_get(claim->also_true_for, i)));
    return wpi_text_take(&text);
}

bool wpi_claim_discriminates(const wpi_claim *claim) {
    return wpi_verdict_may_discriminate(claim->verdict) &&
           json_array_size(claim->also_true_for) == 0;
}

wpi_verdict_sums wpi_figures_sum(const wpi_figure *figures, size_t count) {
    wpi_verdict_sums sums = {0};
    for (size_t f = 0; f < count; f++) {
        for (size_t i = 0; i < figures[f].claim_count; i++) {
            const wpi_claim *claim = &figures[f].claims[i];
            sums.claims[claim->verdict]++;
            sums.discriminating[claim->verdict] += wpi_claim_discriminates(claim);
        }
    }
    return sums;
}

/* A claim has a text, a value, and the published number or the order.
 */
static bool read_claim(const json_t *object, const json_t *runs, wpi_claim *claim) {
    const json_t *published = json_object_get(object, "published");
    const char *run = wpi_json_text(object, "run");
    *claim = (wpi_claim){.text = wpi_json_text(object, "claim"),
                         .unit = wpi_json_text(object, "unit"),
                         .calibrated = wpi_json_text(object, "calibrated"),
                         .reason = wpi_json_text(object, "reason"),
                         .also_true_for = json_array(),
                         .has_published = json_is_number(published),
                         .published = json_number_value(published)};
    return claim->text != NULL && claim->unit != NULL &&
           are_texts(json_object_get(object, "also_true_for")) &&
           (run == NULL || json_object_get(runs, run) != NULL) && has_values(object, runs);
}

static void read_results(wpi_figure *figure) {
    char *path = wpi_path_join(figure->folder, "results.json");
    json_t *results = NULL;
    if (read_json(path, &results, NULL) == WP_STATUS_OK) {
        for (size_t i = 0; i < figure->claim_count; i++) {
            wpi_claim *claim = &figure->claims[i];
            const json_t *row = json_object_get(results, claim->text);
            const char *verdict = wpi_json_text(row, "verdict");
            claim->has_ours = json_is_number(json_object_get(row, "ours"));
            claim->ours = json_number_value(json_object_get(row, "ours"));
            for (int v = 0; verdict != NULL && v < WPI_VERDICT_COUNT; v++) {
                if (strcmp(verdict, wpi_verdict_name((wpi_verdict)v)) == 0)
                    claim->verdict = (wpi_verdict)v;
            }
        }
        json_decref(results);
    }
    wpi_free(path);
}

/* The folder of a figure, or of a study, beside `root`. */
static char *folder_beside(const char *root, const char *group, const char *which) {
    char *parent = wpi_path_dir(root), *dir = wpi_path_join(parent, group);
    char *folder = wpi_path_join(dir, which);
    wpi_free(dir);
    wpi_free(parent);
    return folder;
}

/* Puts the program and the runs of another figure into `json`. */
static wp_status copy_runs(json_t *json, const json_t *other, const char *path, wp_error *err) {
    static const char *const members[] = {"program", "library", "report"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *member = json_object_get(other, members[i]);
        if (member != NULL) WP_CHECK(json_object_set(json, members[i], member) == 0);
    }
    json_t *runs = json_object_get(json, "runs"), *run;
    if (runs == NULL) {
        runs = json_object();
        WP_CHECK(json_object_set_new(json, "runs", runs) == 0);
    }
    const char *name;
    json_object_foreach(json_object_get(other, "runs"), name, run) {
        if (json_object_get(runs, name) != NULL)
            return WP_FAIL(err, PARSE, "%s: the run '%s' is one of runs_of, too", path, name);
        WP_CHECK(json_object_set(runs, name, run) == 0);
    }
    return WP_STATUS_OK;
}

/* With "runs_of", the program and the runs are those of a figure in `repro`. */
static wp_status take_runs(wpi_figure *figure, const char *root, const char *path, wp_error *err) {
    const char *of = wpi_json_text(figure->json, "runs_of");
    if (of == NULL) return WP_STATUS_OK;
    wpi_free(figure->program_folder);
    figure->program_folder = folder_beside(root, "repro", of);
    char *other_path = wpi_path_join(figure->program_folder, "claims.json");
    json_t *other = NULL;
    wp_status status = read_json(other_path, &other, err);
    if (status == WP_STATUS_OK) status = wpi_claims_expand(other, other_path, err);
    if (status == WP_STATUS_OK) status = copy_runs(figure->json, other, path, err);
    json_decref(other);
    wpi_free(other_path);
    return status;
}

/* The study of the figure's runs, if there is one. */
static wp_status load_study(wpi_figure *figure, const char *root, wp_error *err) {
    char *parent = wpi_path_dir(root), *studies = wpi_path_join(parent, "studies");
    char *which = wpi_format("%s/%s", figure->paper, figure->name);
    char *folder = wpi_path_join(studies, which), *path = wpi_path_join(folder, "claims.json");
    json_t *json = NULL;
    wp_status status = WP_STATUS_OK;
    if (wpi_file_exists(path)) status = read_json(path, &json, err);
    const char *of = wpi_json_text(json, "runs_of");
    if (of != NULL && strcmp(of, which) == 0 && json_object_get(figure->json, "runs_of") == NULL) {
        figure->study = wpi_calloc(1, sizeof *figure->study);
        WP_CHECK(figure->study != NULL);
        status = wpi_figure_load(studies, figure->paper, figure->name, figure->study, err);
    }
    json_decref(json);
    wpi_free(path);
    wpi_free(folder);
    wpi_free(which);
    wpi_free(studies);
    wpi_free(parent);
    return status;
}

wp_status wpi_figure_load(const char *root, const char *paper, const char *name, wpi_figure *out,
                          wp_error *err) {
    *out = (wpi_figure){.paper = wpi_strdup(paper), .name = wpi_strdup(name)};
    char *folder = wpi_path_join(root, paper);
    out->folder = wpi_path_join(folder, name);
    wpi_free(folder);
    out->program_folder = wpi_strdup(out->folder);
    char *path = wpi_path_join(out->folder, "claims.json");
    wp_status status = read_json(path, &out->json, err);
    if (status == WP_STATUS_OK) status = take_runs(out, root, path, err);
    if (status == WP_STATUS_OK) status = wpi_claims_expand(out->json, path, err);
    if (status == WP_STATUS_OK) {
        const json_t *claims = json_object_get(out->json, "claims");
        const json_t *runs = json_object_get(out->json, "runs");
        out->title = wpi_json_text(out->json, "title");
        out->source = wpi_json_text(out->json, "source");
        out->claim_count = json_array_size(claims);
        out->claims = wpi_calloc(out->claim_count + 1, sizeof *out->claims);
        WP_CHECK(out->claims != NULL);
        if (out->title == NULL || out->source == NULL ||
            wpi_json_text(out->json, "program") == NULL)
            status = WP_FAIL(err, PARSE, "%s: title, source or program is missing", path);
        for (size_t i = 0; status == WP_STATUS_OK && i < out->claim_count; i++) {
            if (!read_claim(json_array_get(claims, i), runs, &out->claims[i]))
                status = WP_FAIL(err, PARSE,
                                 "%s: claim %zu lacks its claim, unit, or value, or a run, or its "
                                 "also_true_for is not a list of texts",
                                 path, i + 1);
        }
    }
    wpi_free(path);
    if (status == WP_STATUS_OK) status = load_study(out, root, err);
    if (status == WP_STATUS_OK) {
        read_results(out);
        wpi_claims_weigh(out);
    } else
        wpi_figure_deinit(out);
    return status;
}

void wpi_figure_deinit(wpi_figure *figure) {
    for (size_t i = 0; figure->claims != NULL && i < figure->claim_count; i++)
        json_decref(figure->claims[i].also_true_for);
    if (figure->study != NULL) wpi_figure_deinit(figure->study);
    wpi_free(figure->study);
    json_decref(figure->json);
    wpi_free(figure->claims);
    wpi_free(figure->folder);
    wpi_free(figure->program_folder);
    wpi_free(figure->paper);
    wpi_free(figure->name);
    *figure = (wpi_figure){0};
}

/* ---- verdicts ---- */

wp_status wpi_claims_is_ascending(const json_t *values, const wpi_outcome *from, bool *out,
                                  wp_error *err) {
    double before = -INFINITY;
    *out = true;
    for (size_t i = 0; i < json_array_size(values); i++) {
        double value = 0.0;
        WP_TRY(wpi_claims_value(json_array_get(values, i), from, &value, err));
        *out = *out && value > before;
        before = value;
    }
    return WP_STATUS_OK;
}

bool wpi_claims_is_within(const json_t *object, double published, double value) {
    const json_t *tolerance = json_object_get(object, "tolerance"); /* in the claim's unit */
    const double allowed =
        json_is_number(tolerance) ? json_number_value(tolerance) : TOLERANCE * fabs(published);
    return fabs(value - published) <= allowed;
}

/* Runs that no claim names are not run. */
static bool is_needed(const wpi_figure *figure, const char *run) {
    const json_t *claims = json_object_get(figure->json, "claims");
    for (size_t i = 0; i < json_array_size(claims); i++) {
        const json_t *claim = json_array_get(claims, i);
        const char *own = wpi_json_text(claim, "run");
        if (own != NULL && strcmp(own, run) == 0) return true;
        if (wpi_claims_value_names_run(json_object_get(claim, "value"), run) ||
            wpi_claims_value_names_run(json_object_get(claim, "ascending"), run))
            return true;
    }
    return false;
}

static void drop_needless_runs(wpi_figure *figure) {
    json_t *runs = json_object_get(figure->json, "runs"), *run;
    const char *name;
    void *next;
    json_object_foreach_safe(runs, next, name, run) {
        if (!is_needed(figure, name)) (void)json_object_del(runs, name);
    }
}

static wpi_verdict judge(const json_t *object, const wpi_claim *claim) {
    if (!claim->has_published) return WPI_VERDICT_UNPUBLISHED;
    if (!wpi_claims_is_within(object, claim->published, claim->ours)) return WPI_VERDICT_DIFFERS;
    return claim->calibrated != NULL ? WPI_VERDICT_CALIBRATED : WPI_VERDICT_REPRODUCED;
}

static wp_status conclude_one(const json_t *object, const json_t *values, wpi_claim *claim,
                              wp_error *err) {
    const wpi_outcome from = {values, wpi_json_text(object, "run")};
    const json_t *order = json_object_get(object, "ascending");
    claim->has_ours = order == NULL;
    if (order == NULL) {
        WP_TRY(wpi_claims_value(json_object_get(object, "value"), &from, &claim->ours, err));
        claim->verdict = judge(object, claim);
        return WP_STATUS_OK;
    }
    bool is_as_stated = false;
    WP_TRY(wpi_claims_is_ascending(order, &from, &is_as_stated, err));
    claim->verdict = is_as_stated ? WPI_VERDICT_ORDER : WPI_VERDICT_DIFFERS;
    return WP_STATUS_OK;
}

static wp_status conclude(wpi_figure *figure, const json_t *values, wp_error *err) {
    const json_t *claims = json_object_get(figure->json, "claims");
    for (size_t i = 0; i < figure->claim_count; i++) {
        wpi_claim *claim = &figure->claims[i];
        wp_error why = {0};
        if (conclude_one(json_array_get(claims, i), values, claim, &why) != WP_STATUS_OK)
            return WP_FAIL(err, PARSE, "%s/%s: '%s': %s", figure->paper, figure->name, claim->text,
                           why.message);
    }
    return WP_STATUS_OK;
}

wp_status wpi_figure_run(wpi_figure *figure, const char *wpcc, void (*say)(const char *text),
                         wp_error *err) {
    json_t *values = json_object();
    drop_needless_runs(figure);
    wp_status status = wpi_claims_run(figure, wpcc, say, values, err);
    if (status == WP_STATUS_OK) status = conclude(figure, values, err);
    if (status == WP_STATUS_OK) wpi_claims_weigh(figure);
    json_decref(values);
    return status;
}

/* {"ours": 1.1, "verdict": "reproduced"} */
static json_t *result_of(const wpi_claim *claim) {
    json_t *row = json_object();
    if (claim->has_ours) WP_CHECK(json_object_set_new(row, "ours", json_real(claim->ours)) == 0);
    WP_CHECK(json_object_set_new(row, "verdict", json_string(wpi_verdict_name(claim->verdict))) ==
             0);
    return row;
}

static void append_json(wpi_text *out, json_t *value) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    WP_CHECK(text != NULL);
    wpi_text_append(out, text);
    free(text);
    json_decref(value);
}

/* One line a claim, so that a difference is read line by line. */
wp_status wpi_figure_record(const wpi_figure *figure, wp_error *err) {
    wpi_text text = {0};
    wpi_text_append(&text, "{");
    for (size_t i = 0; i < figure->claim_count; i++) {
        wpi_text_append(&text, i == 0 ? "\n " : ",\n ");
        append_json(&text, json_string(figure->claims[i].text));
        wpi_text_append(&text, ": ");
        append_json(&text, result_of(&figure->claims[i]));
    }
    wpi_text_append(&text, "\n}\n");
    char *path = wpi_path_join(figure->folder, "results.json");
    const wp_status status = wpi_file_write(path, text.data, text.length, err);
    wpi_free(path);
    wpi_text_deinit(&text);
    return status;
}
