/* SPDX-License-Identifier: Apache-2.0 */
#include "study/claims_sweep.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

typedef struct sweep {
    const char *path;
    json_t *figure;
    json_t *bound; /* variable -> its value in this combination */
    wp_error *err;
} sweep;

/* ---- templates ---- */

/* The value of "{a.b}" at the start of `text`, and its end. */
static wp_status look_up(const sweep *s, const char *text, const json_t **out, const char **end) {
    const char *close = strchr(text, '}');
    if (close == NULL)
        return WP_FAIL(s->err, PARSE, "%s: sweep: '%s': a '{' without its '}'", s->path, text);
    char *name = wpi_format("%.*s", (int)(close - text - 1), text + 1);
    WP_CHECK(name != NULL);
    char *member = strchr(name, '.');
    if (member != NULL) *member++ = '\0';
    const json_t *value = json_object_get(s->bound, name);
    if (value != NULL && member != NULL) value = json_object_get(value, member);
    wp_status status = WP_STATUS_OK;
    if (value == NULL)
        status = WP_FAIL(s->err, PARSE, "%s: sweep: there is no %.*s", s->path,
                         (int)(close + 1 - text), text);
    wpi_free(name);
    *out = value;
    *end = close + 1;
    return status;
}

static wp_status append_value(const sweep *s, const json_t *value, const char *from,
                              wpi_text *out) {
    if (json_is_string(value))
        wpi_text_append(out, json_string_value(value));
    else if (json_is_integer(value))
        wpi_text_appendf(out, "%" PRId64, (int64_t)json_integer_value(value));
    else if (json_is_real(value))
        wpi_text_appendf(out, "%g", json_real_value(value));
    else
        return WP_FAIL(s->err, PARSE, "%s: sweep: '%s' is neither text nor a number", s->path,
                       from);
    return WP_STATUS_OK;
}

static wp_status fill_text(const sweep *s, const char *text, wpi_text *out) {
    while (*text != '\0') {
        const size_t plain = strcspn(text, "{");
        wpi_text_append_n(out, text, plain);
        text += plain;
        if (*text == '\0') break;
        const json_t *value;
        const char *end, *from = text;
        WP_TRY(look_up(s, text, &value, &end));
        WP_TRY(append_value(s, value, from, out));
        text = end;
    }
    return WP_STATUS_OK;
}

static wp_status fill_string(const sweep *s, const char *text, json_t **out) {
    if (text[0] == '{' && text[strcspn(text, "}")] == '}' && text[strcspn(text, "}") + 1] == '\0') {
        const json_t *value;
        const char *end;
        WP_TRY(look_up(s, text, &value, &end));
        *out = json_deep_copy(value);
        return WP_STATUS_OK;
    }
    wpi_text filled = {0};
    const wp_status status = fill_text(s, text, &filled);
    if (status == WP_STATUS_OK) *out = json_string(wpi_text_string(&filled));
    wpi_text_deinit(&filled);
    return status;
}

static wp_status fill(const sweep *s, const json_t *pattern, json_t **out);

static wp_status fill_object(const sweep *s, const json_t *pattern, json_t *out) {
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)pattern, key, member) {
        wpi_text name = {0};
        json_t *value = NULL;
        wp_status status = fill_text(s, key, &name);
        if (status == WP_STATUS_OK) status = fill(s, member, &value);
        if (status == WP_STATUS_OK)
            WP_CHECK(json_object_set_new(out, wpi_text_string(&name), value) == 0);
        wpi_text_deinit(&name);
        if (status != WP_STATUS_OK) return status;
    }
    return WP_STATUS_OK;
}

/* `*out` is the caller's; NULL on failure. */
static wp_status fill(const sweep *s, const json_t *pattern, json_t **out) {
    wp_status status = WP_STATUS_OK;
    *out = NULL;
    if (json_is_string(pattern)) return fill_string(s, json_string_value(pattern), out);
    if (json_is_object(pattern)) {
        *out = json_object();
        status = fill_object(s, pattern, *out);
    } else if (json_is_array(pattern)) {
        *out = json_array();
        for (size_t i = 0; i < json_array_size(pattern) && status == WP_STATUS_OK; i++) {
            json_t *item = NULL;
            status = fill(s, json_array_get(pattern, i), &item);
            if (status == WP_STATUS_OK) WP_CHECK(json_array_append_new(*out, item) == 0);
        }
    } else {
        *out = json_deep_copy(pattern);
    }
    if (status == WP_STATUS_OK) return status;
    json_decref(*out);
    *out = NULL;
    return status;
}

/* ---- expanded runs and claims ---- */

static json_t *member_of(json_t *figure, const char *name, json_t *(*make)(void)) {
    json_t *member = json_object_get(figure, name);
    if (member == NULL) {
        member = make();
        WP_CHECK(json_object_set_new(figure, name, member) == 0);
    }
    return member;
}

static wp_status add_runs(const sweep *s, const json_t *patterns) {
    json_t *runs = member_of(s->figure, "runs", json_object), *made = json_object(), *run;
    const char *name;
    wp_status status = fill_object(s, patterns, made);
    json_object_foreach(made, name, run) {
        if (status == WP_STATUS_OK && json_object_get(runs, name) != NULL)
            status = WP_FAIL(s->err, PARSE, "%s: sweep: the run '%s' is made twice", s->path, name);
        if (status == WP_STATUS_OK) WP_CHECK(json_object_set(runs, name, run) == 0);
    }
    json_decref(made);
    return status;
}

static bool has_claim(const json_t *claims, const char *text) {
    for (size_t i = 0; i < json_array_size(claims); i++) {
        const char *other = json_string_value(json_object_get(json_array_get(claims, i), "claim"));
        if (other != NULL && text != NULL && strcmp(other, text) == 0) return true;
    }
    return false;
}

static wp_status add_claims(const sweep *s, const json_t *patterns) {
    json_t *claims = member_of(s->figure, "claims", json_array);
    for (size_t i = 0; i < json_array_size(patterns); i++) {
        json_t *claim;
        WP_TRY(fill(s, json_array_get(patterns, i), &claim));
        const char *text = json_string_value(json_object_get(claim, "claim"));
        wp_status status = WP_STATUS_OK;
        if (has_claim(claims, text))
            status =
                WP_FAIL(s->err, PARSE, "%s: sweep: the claim '%s' is made twice", s->path, text);
        else
            WP_CHECK(json_array_append(claims, claim) == 0);
        json_decref(claim);
        if (status != WP_STATUS_OK) return status;
    }
    return WP_STATUS_OK;
}

/* ---- the product ---- */

static wp_status add_products(const sweep *s, const json_t *one, json_t *over, void *variable) {
    if (variable == NULL) {
        WP_TRY(add_runs(s, json_object_get(one, "runs")));
        return add_claims(s, json_object_get(one, "claims"));
    }
    const char *name = json_object_iter_key(variable);
    const json_t *list = json_object_iter_value(variable);
    if (!json_is_array(list) || json_array_size(list) == 0)
        return WP_FAIL(s->err, PARSE, "%s: sweep: '%s' is not a list, or an empty one", s->path,
                       name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        WP_CHECK(json_object_set(s->bound, name, json_array_get(list, i)) == 0);
        WP_TRY(add_products(s, one, over, json_object_iter_next(over, variable)));
    }
    return WP_STATUS_OK;
}

wp_status wpi_claims_expand(json_t *figure, const char *path, wp_error *err) {
    json_t *sweeps = json_object_get(figure, "sweep");
    if (sweeps == NULL) return WP_STATUS_OK;
    if (!json_is_array(sweeps))
        return WP_FAIL(err, PARSE, "%s: sweep must be a list of sweeps", path);
    const sweep s = {path, figure, json_object(), err};
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < json_array_size(sweeps) && status == WP_STATUS_OK; i++) {
        const json_t *one = json_array_get(sweeps, i);
        json_t *over = json_object_get(one, "over");
        if (!json_is_object(over) || json_object_size(over) == 0)
            status = WP_FAIL(err, PARSE, "%s: sweep %zu has nothing to go over", path, i + 1);
        else
            status = add_products(&s, one, over, json_object_iter(over));
    }
    json_decref(s.bound);
    if (status == WP_STATUS_OK) (void)json_object_del(figure, "sweep");
    return status;
}
