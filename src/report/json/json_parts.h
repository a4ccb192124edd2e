/* SPDX-License-Identifier: Apache-2.0 */
/** Inside the report room: writing and reading JSON members, for json.c and its like. */
#ifndef WP_REPORT_JSON_PARTS_H
#define WP_REPORT_JSON_PARTS_H

#include <jansson.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/json_string.h"

json_t *wpi_json_number(uint64_t value);
void wpi_json_set(json_t *object, const char *key, json_t *value);
void wpi_json_append(json_t *array, json_t *value);

/** Where reading stands; the first wrong member ends it. */
typedef struct wpi_json_reader {
    const char *where;
    wp_error *err;
    wp_status status;
} wpi_json_reader;

const json_t *wpi_json_member(wpi_json_reader *r, const json_t *object, const char *key,
                              json_type type);
uint64_t wpi_json_read_number(wpi_json_reader *r, const json_t *object, const char *key);
char *wpi_json_read_string(wpi_json_reader *r, const json_t *object, const char *key);

#endif
