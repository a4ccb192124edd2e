/* SPDX-License-Identifier: Apache-2.0 */
/* Two results, member by member. Members that depend on the run (samples, confidence, conditions)
 * are not compared; delays that differ by less than half a cycle, or 5%, are the same. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "probe/result.h"

#define CYCLES_APART 0.5
#define CYCLES_SHARE 0.05

static wp_status read_result(const char *path, json_t **out, wp_error *err) {
    char *text = NULL;
    size_t bytes = 0;
    json_error_t error;
    WP_TRY(wpi_file_read(path, &text, &bytes, err));
    *out = json_loadb(text, bytes, 0, &error);
    wpi_free(text);
    if (*out == NULL) return WP_FAIL(err, PARSE, "%s:%d: %s", path, error.line, error.text);
    const char *schema = json_string_value(json_object_get(*out, "schema"));
    if (schema != NULL && strcmp(schema, WPI_PROBE_SCHEMA) == 0 &&
        json_is_array(json_object_get(*out, "levels")))
        return WP_STATUS_OK;
    json_decref(*out);
    *out = NULL;
    return WP_FAIL(err, PARSE, "%s: not a result of `warpage probe --format json`", path);
}

typedef struct diff {
    wpi_text *out;
    bool is_same;
} diff;

/* As in the file; "unknown" for null and for missing members. */
static void append_value(const json_t *value, wpi_text *out) {
    char *text = json_is_null(value) || value == NULL
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(4));
    wpi_text_append(out, text != NULL ? text : "unknown");
    free(text);
}

static bool are_near(const json_t *a, const json_t *b) {
    const double x = json_number_value(a), y = json_number_value(b);
    return fabs(x - y) <= fmax(CYCLES_APART, CYCLES_SHARE * fmin(fabs(x), fabs(y)));
}

static void compare(diff *d, const char *prefix, const char *name, const json_t *a,
                    const json_t *b) {
    const bool is_time = strstr(name, "cycles") != NULL && json_is_number(a) && json_is_number(b);
    const bool is_unknown = (a == NULL || json_is_null(a)) && (b == NULL || json_is_null(b));
    if (is_unknown || (is_time ? are_near(a, b) : json_equal(a, b))) return;
    d->is_same = false;
    wpi_text_appendf(d->out, "%s%s: ", prefix, name);
    append_value(a, d->out);
    wpi_text_append(d->out, " | ");
    append_value(b, d->out);
    wpi_text_append(d->out, "\n");
}

static void compare_level(diff *d, const char *part, size_t number, const json_t *a,
                          const json_t *b) {
    char *prefix = wpi_format("%sL%zu ", part, number);
    if (a == NULL || b == NULL) {
        d->is_same = false;
        wpi_text_appendf(d->out, "%sis only in the %s\n", prefix, a != NULL ? "first" : "second");
    } else {
        for (const wpi_level_field *f = wpi_level_fields; f->name != NULL; f++)
            compare(d, prefix, f->name, json_object_get(a, f->name), json_object_get(b, f->name));
        compare(d, prefix, "way_groups", json_object_get(a, "way_groups"),
                json_object_get(b, "way_groups"));
        compare(d, prefix, "sharing_groups", json_object_get(a, "sharing_groups"),
                json_object_get(b, "sharing_groups"));
    }
    wpi_free(prefix);
}

static void compare_hierarchy(diff *d, const char *part, const json_t *a, const json_t *b) {
    const json_t *of_a = json_object_get(a, "levels"), *of_b = json_object_get(b, "levels");
    compare(d, part, "base_cycles", json_object_get(a, "base_cycles"),
            json_object_get(b, "base_cycles"));
    for (size_t i = 0; i < json_array_size(of_a) || i < json_array_size(of_b); i++)
        compare_level(d, part, i + 1, json_array_get(of_a, i), json_array_get(of_b, i));
    compare(d, part, "missing_sms", json_object_get(a, "missing_sms"),
            json_object_get(b, "missing_sms"));
}

wp_status wpi_probe_diff(const char *a_path, const char *b_path, wpi_text *out, bool *is_same,
                         wp_error *err) {
    json_t *a = NULL, *b = NULL;
    diff d = {out, true};
    WP_TRY(read_result(a_path, &a, err));
    const wp_status status = read_result(b_path, &b, err);
    if (status == WP_STATUS_OK) {
        const json_t *huge_a = json_object_get(a, "huge_pages");
        const json_t *huge_b = json_object_get(b, "huge_pages");
        compare_hierarchy(&d, "", a, b);
        if (huge_a != NULL || huge_b != NULL) compare_hierarchy(&d, "huge pages: ", huge_a, huge_b);
        if (d.is_same) wpi_text_append(out, "the same TLBs\n");
        *is_same = d.is_same;
    }
    json_decref(a);
    json_decref(b);
    return status;
}
