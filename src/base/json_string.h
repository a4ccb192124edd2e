/* SPDX-License-Identifier: Apache-2.0 */
/**
 * JSON strings of names that users choose: arguments, paths and device names may hold any bytes,
 * JSON holds UTF-8. Rooms that include this header link jansson; base itself does not.
 */
#ifndef WP_BASE_JSON_STRING_H
#define WP_BASE_JSON_STRING_H

#include <jansson.h>

#include "base/text.h"

/** A new JSON string; NULL only if memory is exhausted. Bytes that are not UTF-8 become U+FFFD,
 * NULL an empty string. */
static inline json_t *wpi_json_string(const char *string) {
    wpi_text valid = {0};
    wpi_text_append_utf8(&valid, string != NULL ? string : "");
    json_t *value = json_string(wpi_text_string(&valid));
    wpi_text_deinit(&valid);
    return value;
}

#endif
