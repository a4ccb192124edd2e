/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: a known number is a number, an unknown one is null and has a reason. */
#include <jansson.h>
#include <stdlib.h>

#include "base/json_string.h"
#include "probe/result.h"
#include "warpage/version.h"

/* Whole numbers are written as such. */
static json_t *number_json(const wpi_number *n) {
    if (!n->is_known) return json_null();
    const json_int_t whole = (json_int_t)n->value;
    return (double)whole == n->value ? json_integer(whole) : json_real(n->value);
}

static void put(json_t *object, const char *key, json_t *value) {
    WP_CHECK(json_object_set_new(object, key, value) == 0);
}

/* A number, its confidence, and its reason if it has one. */
static void put_number(json_t *object, json_t *confidences, json_t *reasons, const char *key,
                       const wpi_number *n) {
    put(object, key, number_json(n));
    if (n->is_known) put(confidences, key, json_real(n->confidence));
    if (n->reason[0] != '\0') put(reasons, key, wpi_json_string(n->reason));
}

static json_t *groups_json(const wpi_sharing_groups *s) {
    if (!s->count.is_known) return json_null();
    json_t *groups = json_array();
    for (uint32_t g = 0; g < (uint32_t)s->count.value; g++)
        WP_CHECK(json_array_append_new(groups, json_array()) == 0);
    for (uint32_t sm = 0; sm < s->sm_count; sm++)
        WP_CHECK(json_array_append_new(json_array_get(groups, s->group_of[sm]), json_integer(sm)) ==
                 0);
    return groups;
}

static json_t *way_groups_json(const wpi_level *level) {
    if (level->way_group_count == 0) return json_null();
    json_t *groups = json_array();
    for (uint32_t g = 0; g < level->way_group_count; g++) {
        json_t *group = json_object();
        put(group, "sets", json_integer(level->way_groups[g].count));
        put(group, "ways", json_integer(level->way_groups[g].ways));
        WP_CHECK(json_array_append_new(groups, group) == 0);
    }
    return groups;
}

static json_t *level_json(const wpi_level *level, uint32_t number) {
    json_t *object = json_object(), *confidences = json_object(), *reasons = json_object();
    put(object, "level", json_integer(number));
    for (const wpi_level_field *f = wpi_level_fields; f->name != NULL; f++)
        put_number(object, confidences, reasons, f->name, f->number(level));
    if (level->replacement.is_known)
        put(object, "replacement", wpi_json_string(wpi_replacement_name(&level->replacement)));
    put(object, "way_groups", way_groups_json(level));
    put(object, "sharing_groups", groups_json(&level->sharing));
    if (level->sharing.count.is_known)
        put(confidences, "sharing_groups", json_real(level->sharing.count.confidence));
    if (level->sharing.count.reason[0] != '\0')
        put(reasons, "sharing_groups", wpi_json_string(level->sharing.count.reason));
    put(object, "confidence", json_real(wpi_level_confidence(level)));
    put(object, "confidences", confidences);
    put(object, "reasons", reasons);
    return object;
}

static void put_hierarchy(json_t *object, const wpi_hierarchy *h) {
    json_t *confidences = json_object(), *reasons = json_object();
    json_t *levels = json_array(), *missing = json_array();
    put_number(object, confidences, reasons, "base_cycles", &h->base_cycles);
    put_number(object, confidences, reasons, "levels_known", &h->levels_known);
    for (uint32_t l = 0; l < h->level_count; l++)
        WP_CHECK(json_array_append_new(levels, level_json(&h->levels[l], l + 1)) == 0);
    put(object, "levels", levels);
    for (uint32_t i = 0; i < h->missing_count; i++)
        WP_CHECK(json_array_append_new(missing, json_integer(h->missing_sms[i])) == 0);
    if (!h->missing.is_known && h->missing_count == 0) {
        json_decref(missing);
        missing = json_null();
    }
    put(object, "missing_sms", missing);
    if (h->missing.reason[0] != '\0')
        put(reasons, "missing_sms", wpi_json_string(h->missing.reason));
    put(object, "confidences", confidences);
    put(object, "reasons", reasons);
    put(object, "samples", json_integer((json_int_t)h->samples));
    put(object, "loads", json_integer((json_int_t)h->loads));
}

static json_t *conditions_json(const wpi_strings *conditions) {
    json_t *object = json_object();
    for (size_t i = 0; i + 1 < conditions->count; i += 2)
        put(object, conditions->items[i], wpi_json_string(conditions->items[i + 1]));
    return object;
}

void wpi_probe_result_json(const wpi_probe_result *result, wpi_text *out) {
    json_t *root = json_object(), *device = json_object(), *notes = json_array();
    put(root, "schema", wpi_json_string(WPI_PROBE_SCHEMA));
    put(root, "version", wpi_json_string(WP_VERSION_STRING));
    put(device, "spec", wpi_json_string(result->spec));
    put(device, "name", wpi_json_string(result->name));
    put(device, "sms", json_integer(result->sm_count));
    put(device, "probed_bytes", json_integer((json_int_t)result->memory_bytes));
    put(root, "device", device);
    put(root, "conditions", conditions_json(&result->conditions));
    for (size_t i = 0; i < result->notes.count; i++)
        WP_CHECK(json_array_append_new(notes, wpi_json_string(result->notes.items[i])) == 0);
    put(root, "notes", notes);
    if (result->tlbs != NULL) put_hierarchy(root, result->tlbs);
    if (result->huge_tlbs != NULL) {
        json_t *huge = json_object();
        put_hierarchy(huge, result->huge_tlbs);
        put(root, "huge_pages", huge);
    }
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    WP_CHECK(text != NULL);
    wpi_text_append(out, text);
    wpi_text_append(out, "\n");
    free(text);
    json_decref(root);
}
