/* SPDX-License-Identifier: Apache-2.0 */
/* A value is a tree: names and numbers are its leaves, a list is a sum, an object an operation on
 * the values of a list. */
#include "study/claims_value.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "study/claims_run.h"

typedef struct operands {
    const double *values;
    size_t count; /* at least 1 */
    const json_t *object;
} operands;

static double add_up(const operands *o) {
    double sum = 0.0;
    for (size_t i = 0; i < o->count; i++)
        sum += o->values[i];
    return sum;
}

static double divide(const operands *o) {
    return o->values[0] / o->values[1];
}

static double mean(const operands *o) {
    return add_up(o) / (double)o->count;
}

static double geometric_mean(const operands *o) {
    double logarithms = 0.0;
    for (size_t i = 0; i < o->count; i++)
        logarithms += log(o->values[i]);
    return exp(logarithms / (double)o->count);
}

static double smallest(const operands *o) {
    double least = o->values[0];
    for (size_t i = 1; i < o->count; i++)
        least = fmin(least, o->values[i]);
    return least;
}

static double largest(const operands *o) {
    double most = o->values[0];
    for (size_t i = 1; i < o->count; i++)
        most = fmax(most, o->values[i]);
    return most;
}

static double bound(const json_t *object, const char *key, double without) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : without;
}

/* How many of them lie from `from` to `to`, of 1. */
static double share(const operands *o) {
    const double from = bound(o->object, "from", -INFINITY);
    const double to = bound(o->object, "to", INFINITY);
    size_t inside = 0;
    for (size_t i = 0; i < o->count; i++)
        inside += o->values[i] >= from && o->values[i] <= to;
    return (double)inside / (double)o->count;
}

typedef struct operation {
    const char *name;
    double (*combine)(const operands *o);
    size_t operand_count; /* 0: any number but none */
} operation;

static const operation operations[] = {
    {"over", divide, 2},  {"mean", mean, 0},   {"geomean", geometric_mean, 0},
    {"min", smallest, 0}, {"max", largest, 0}, {"share", share, 0},
};

/* A list is a sum; an object names its operation. NULL: there is no such form. */
static const operation *find_operation(const json_t *value, const json_t **list) {
    static const operation sum = {"sum", add_up, 0};
    *list = value;
    if (json_is_array(value)) return &sum;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        *list = json_object_get(value, operations[i].name);
        if (*list != NULL) return &operations[i];
    }
    return NULL;
}

const char *wpi_claims_value_name(const char *text, char **run) {
    const char *name = text + (text[0] == '-');
    const char *colon = strchr(name, ':');
    *run = colon == NULL ? NULL : wpi_strndup(name, (size_t)(colon - name));
    WP_CHECK(colon == NULL || *run != NULL);
    return colon == NULL ? name : colon + 1;
}

static bool is_of_a_run(const char *text, const json_t *runs) {
    char *run;
    (void)wpi_claims_value_name(text, &run);
    const bool is_known = run == NULL || json_object_get(runs, run) != NULL;
    wpi_free(run);
    return is_known;
}

bool wpi_claims_value_names_run(const json_t *value, const char *run) {
    if (json_is_string(value)) {
        char *own;
        (void)wpi_claims_value_name(json_string_value(value), &own);
        const bool is_named = own != NULL && strcmp(own, run) == 0;
        wpi_free(own);
        return is_named;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        if (wpi_claims_value_names_run(json_array_get(value, i), run)) return true;
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member) {
        if (wpi_claims_value_names_run(member, run)) return true;
    }
    return false;
}

bool wpi_claims_value_is_valid(const json_t *value, const json_t *runs) {
    if (json_is_number(value)) return true;
    if (json_is_string(value)) return is_of_a_run(json_string_value(value), runs);
    const json_t *list;
    const operation *form = find_operation(value, &list);
    const size_t count = json_array_size(list);
    if (form == NULL || count == 0) return false;
    if (form->operand_count != 0 && count != form->operand_count) return false;
    for (size_t i = 0; i < count; i++)
        if (!wpi_claims_value_is_valid(json_array_get(list, i), runs)) return false;
    return true;
}

static wp_status find_value(const char *text, const wpi_outcome *from, double *out, wp_error *err) {
    char *run;
    const char *name = wpi_claims_value_name(text, &run);
    const json_t *values = json_object_get(from->values, run != NULL ? run : from->run);
    const json_t *value = json_object_get(values, name);
    wpi_free(run);
    if (!json_is_number(value)) return WP_FAIL(err, PARSE, "no run has given '%s'", text);
    *out = text[0] == '-' ? -json_number_value(value) : json_number_value(value);
    return WP_STATUS_OK;
}

static wp_status combine(const json_t *value, const wpi_outcome *from, double *out, wp_error *err) {
    const json_t *list;
    const operation *form = find_operation(value, &list);
    const size_t count = json_array_size(list);
    double *values = wpi_calloc(count, sizeof *values);
    WP_CHECK(form != NULL && values != NULL);
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < count && status == WP_STATUS_OK; i++)
        status = wpi_claims_value(json_array_get(list, i), from, &values[i], err);
    if (status == WP_STATUS_OK) *out = form->combine(&(operands){values, count, value});
    wpi_free(values);
    if (status == WP_STATUS_OK && !isfinite(*out))
        return WP_FAIL(err, PARSE, "its '%s' has no finite value", form->name);
    return status;
}

wp_status wpi_claims_value(const json_t *value, const wpi_outcome *from, double *out,
                           wp_error *err) {
    *out = json_number_value(value);
    if (json_is_number(value)) return WP_STATUS_OK;
    if (json_is_string(value)) return find_value(json_string_value(value), from, out, err);
    return combine(value, from, out, err);
}
