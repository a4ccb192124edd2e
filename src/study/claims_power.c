/* SPDX-License-Identifier: Apache-2.0 */
#include "study/claims_power.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

static const json_t *claim_object(const wpi_figure *figure, size_t i) {
    return json_array_get(json_object_get(figure->json, "claims"), i);
}

/* The tree of a claim's values. */
static const json_t *formula(const json_t *object) {
    const json_t *value = json_object_get(object, "value");
    return value != NULL ? value : json_object_get(object, "ascending");
}

/* Of values that rise, not of one with a published number. */
static bool is_order(const json_t *object) {
    return json_object_get(object, "ascending") != NULL;
}

static void add(wpi_claim *claim, char *text) {
    WP_CHECK(json_array_append_new(claim->also_true_for, json_string(text)) == 0);
    wpi_free(text);
}

/* ---- all runs are alike ---- */

#define TRIALS 16

/* From 1 to 10^6: it depends on the name, and not on the run. */
static double number_of(const char *name, uint64_t seed) {
    uint64_t hash = seed * UINT64_C(0x9e3779b97f4a7c15);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    hash = (hash ^ (hash >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return pow(10.0, 6.0 * (double)(hash >> 12) / (double)(UINT64_C(1) << 52));
}

/* Puts such a number for every name of the tree into `values`: run -> name -> value. */
static void fill_alike(const json_t *tree, const char *default_run, uint64_t seed, json_t *values) {
    if (json_is_string(tree)) {
        char *own;
        const char *name = wpi_claims_value_name(json_string_value(tree), &own);
        const char *run = own != NULL ? own : default_run != NULL ? default_run : "";
        json_t *row = json_object_get(values, run);
        if (row == NULL) {
            row = json_object();
            WP_CHECK(json_object_set_new(values, run, row) == 0);
        }
        WP_CHECK(json_object_set_new(row, name, json_real(number_of(name, seed))) == 0);
        wpi_free(own);
    }
    for (size_t i = 0; i < json_array_size(tree); i++)
        fill_alike(json_array_get(tree, i), default_run, seed, values);
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)tree, key, member)
        fill_alike(member, default_run, seed, values);
}

typedef struct alike_result {
    bool is_known, is_ascending;
    double value;
} alike_result;

static alike_result with_runs_alike(const json_t *object, uint64_t seed) {
    alike_result out = {0};
    const char *run = json_string_value(json_object_get(object, "run"));
    json_t *values = json_object();
    fill_alike(formula(object), run, seed, values);
    const wpi_outcome from = {values, run != NULL ? run : ""};
    if (json_object_size(values) > 1) {
        const json_t *order = json_object_get(object, "ascending");
        const wp_status status =
            order != NULL ? wpi_claims_is_ascending(order, &from, &out.is_ascending, NULL)
                          : wpi_claims_value(formula(object), &from, &out.value, NULL);
        out.is_known = status == WP_STATUS_OK;
    }
    json_decref(values);
    return out;
}

/* What is the same for any numbers follows from the runs being alike. */
static void try_alike(const json_t *object, wpi_claim *claim) {
    double value = 0.0;
    for (uint64_t trial = 1; trial <= TRIALS; trial++) {
        const alike_result found = with_runs_alike(object, trial);
        if (!found.is_known) return;
        if (is_order(object)) {
            if (!found.is_ascending) return;
        } else {
            if (trial > 1 && fabs(found.value - value) > 1e-9 * fmax(1.0, fabs(value))) return;
            value = found.value;
        }
    }
    if (is_order(object))
        add(claim, wpi_strdup("all runs alike"));
    else if (wpi_claims_is_within(object, claim->published, value))
        add(claim, wpi_format("all runs alike (%g)", fabs(value) < 1e-9 ? 0.0 : value));
}

/* ---- a constant ---- */

/* No effect, nothing counted, all of it: 0 or 1, whatever runs. Runs that are alike may say so
 * already; a claim in "yes" is 0 or 1 itself. */
static void try_constants(const json_t *object, wpi_claim *claim) {
    if (strcmp(claim->unit, "yes") == 0) return;
    for (int constant = 0; constant <= 1; constant++) {
        char *alike = wpi_format("all runs alike (%d)", constant);
        bool is_known = false;
        for (size_t i = 0; i < json_array_size(claim->also_true_for); i++)
            is_known =
                is_known ||
                strcmp(json_string_value(json_array_get(claim->also_true_for, i)), alike) == 0;
        wpi_free(alike);
        if (!is_known && wpi_claims_is_within(object, claim->published, constant))
            add(claim, wpi_format("the constant %d", constant));
    }
}

/* ---- another run ---- */

typedef struct match {
    const json_t *runs;
    const char *run, *other_run; /* defaults of the two claims */
    json_t *of;                  /* run -> the run in its place */
    char *first;                 /* of the other runs */
    size_t different;
} match;

static bool may_stand_for(match *m, const char *run, const char *other) {
    const json_t *known = json_object_get(m->of, run);
    if (known != NULL) return strcmp(json_string_value(known), other) == 0;
    WP_CHECK(json_object_set_new(m->of, run, json_string(other)) == 0);
    if (strcmp(run, other) == 0) return true;
    if (m->different++ == 0) m->first = wpi_strdup(other);
    const json_t *a = json_object_get(m->runs, run), *b = json_object_get(m->runs, other);
    return !json_equal(a, b) &&
           json_equal(json_object_get(a, "arguments"), json_object_get(b, "arguments"));
}

static bool is_same_name(match *m, const char *text, const char *other_text) {
    char *own, *other_own;
    const char *name = wpi_claims_value_name(text, &own);
    const char *other_name = wpi_claims_value_name(other_text, &other_own);
    const char *run = own != NULL ? own : m->run;
    const char *other = other_own != NULL ? other_own : m->other_run;
    const bool is_same = (text[0] == '-') == (other_text[0] == '-') &&
                         strcmp(name, other_name) == 0 && run != NULL && other != NULL &&
                         may_stand_for(m, run, other);
    wpi_free(own);
    wpi_free(other_own);
    return is_same;
}

static bool is_same_formula(match *m, const json_t *a, const json_t *b) {
    if (json_is_string(a) && json_is_string(b))
        return is_same_name(m, json_string_value(a), json_string_value(b));
    if (json_is_array(a) && json_is_array(b)) {
        if (json_array_size(a) != json_array_size(b)) return false;
        for (size_t i = 0; i < json_array_size(a); i++)
            if (!is_same_formula(m, json_array_get(a, i), json_array_get(b, i))) return false;
        return true;
    }
    if (!json_is_object(a) || !json_is_object(b)) return json_equal(a, b);
    if (json_object_size(a) != json_object_size(b)) return false;
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)a, key, member) {
        if (!is_same_formula(m, member, json_object_get(b, key))) return false;
    }
    return true;
}

/* The other claim is of `among`, the figure itself or the study of its runs. */
static void try_other(const wpi_figure *figure, size_t i, const wpi_figure *among, size_t other) {
    const json_t *object = claim_object(figure, i), *by = claim_object(among, other);
    wpi_claim *claim = &figure->claims[i];
    const double value = among->claims[other].ours;
    if (!among->claims[other].has_ours || !wpi_claims_is_within(object, claim->published, value))
        return;
    match m = {.runs = json_object_get(among->json, "runs"),
               .run = json_string_value(json_object_get(object, "run")),
               .other_run = json_string_value(json_object_get(by, "run")),
               .of = json_object()};
    if (is_same_formula(&m, formula(object), formula(by)) && m.different != 0)
        add(claim,
            wpi_format(m.different == 1 ? "run %s (%g)" : "runs %s, … (%g)", m.first, value));
    wpi_free(m.first);
    json_decref(m.of);
}

static void try_others(const wpi_figure *figure, size_t i) {
    for (size_t other = 0; other < figure->claim_count; other++)
        if (other != i) try_other(figure, i, figure, other);
    for (size_t other = 0; figure->study != NULL && other < figure->study->claim_count; other++)
        try_other(figure, i, figure->study, other);
}

void wpi_claims_weigh(wpi_figure *figure) {
    for (size_t i = 0; i < figure->claim_count; i++) {
        const json_t *object = claim_object(figure, i);
        wpi_claim *claim = &figure->claims[i];
        (void)json_array_clear(claim->also_true_for);
        WP_CHECK(
            json_object_get(object, "also_true_for") == NULL ||
            json_array_extend(claim->also_true_for, json_object_get(object, "also_true_for")) == 0);
        if (is_order(object)) {
            try_alike(object, claim);
        } else if (claim->has_published && claim->calibrated == NULL) {
            try_alike(object, claim);
            try_constants(object, claim);
            try_others(figure, i);
        }
    }
}
