/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json_parts.h"

#include <string.h>

#include "base/alloc.h"

json_t *wpi_json_number(uint64_t value) {
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

void wpi_json_set(json_t *object, const char *key, json_t *value) {
    WP_CHECK(json_object_set_new(object, key, value) == 0);
}

void wpi_json_append(json_t *array, json_t *value) {
    WP_CHECK(json_array_append_new(array, value) == 0);
}

const json_t *wpi_json_member(wpi_json_reader *r, const json_t *object, const char *key,
                              json_type type) {
    const json_t *value = json_object_get(object, key);
    if (r->status != WP_STATUS_OK) return NULL;
    if (value != NULL && json_typeof(value) == type) return value;
    r->status = WP_FAIL(r->err, PARSE, "%s: not a run record: '%s' is missing or of the wrong type",
                        r->where, key);
    return NULL;
}

uint64_t wpi_json_read_number(wpi_json_reader *r, const json_t *object, const char *key) {
    const json_t *value = wpi_json_member(r, object, key, JSON_INTEGER);
    const json_int_t integer = json_integer_value(value);
    if (value != NULL && integer < 0)
        r->status = WP_FAIL(r->err, PARSE, "%s: not a run record: '%s' is negative", r->where, key);
    return integer < 0 ? 0 : (uint64_t)integer;
}

char *wpi_json_read_string(wpi_json_reader *r, const json_t *object, const char *key) {
    const json_t *value = wpi_json_member(r, object, key, JSON_STRING);
    return wpi_format("%s", value != NULL ? json_string_value(value) : "");
}
