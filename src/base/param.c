/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter rows: text to number by unit, range check, environment lookup. */
#include "base/param.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"

#define VARIABLE_BYTES 128u /* of the name of an environment variable */

const char *wpi_unit_name(wpi_unit unit) {
    static const char *const names[WP_UNIT_COUNT] = {"number", "bytes", "time", "flag", "text"};
    return (unsigned)unit < WP_UNIT_COUNT ? names[unit] : "unknown";
}

static wp_status parse_flag(const char *text, uint64_t *number, wp_error *err) {
    static const char *const words[2][4] = {{"0", "off", "no", "false"},
                                            {"1", "on", "yes", "true"}};
    for (uint64_t value = 0; value < 2; value++) {
        for (int i = 0; i < 4; i++) {
            if (strcmp(text, words[value][i]) == 0) {
                *number = value;
                return WP_STATUS_OK;
            }
        }
    }
    return WP_FAIL(err, PARSE, "'%s' is neither on nor off", text);
}

wp_status wpi_param_parse(const wpi_param *param, const char *text, uint64_t *number,
                          wp_error *err) {
    *number = 0;
    wp_error detail = {0};
    wp_status status = WP_STATUS_OK;
    switch (param->unit) {
    case WP_UNIT_NUMBER: status = wpi_parse_count(text, number, &detail); break;
    case WP_UNIT_BYTES: status = wpi_parse_bytes(text, number, &detail); break;
    case WP_UNIT_NS: status = wpi_parse_duration_ns(text, number, &detail); break;
    case WP_UNIT_FLAG: status = parse_flag(text, number, &detail); break;
    case WP_UNIT_TEXT: return WP_STATUS_OK;
    case WP_UNIT_COUNT: WP_CHECK(false);
    }
    if (status != WP_STATUS_OK)
        return wpi_fail(err, status, __FILE__, __LINE__, "%s: %s", param->name, detail.message);
    if (*number < param->min || *number > param->max) {
        *number = 0;
        return WP_FAIL(err, INVALID, "%s: %s is out of range (%llu to %llu)", param->name, text,
                       (unsigned long long)param->min, (unsigned long long)param->max);
    }
    return WP_STATUS_OK;
}

/* Parameters are also read where memory may have run out, so this allocates none. */
static void name_variable(const wpi_param *param, char variable[VARIABLE_BYTES]) {
    int length = snprintf(variable, VARIABLE_BYTES, "WARPAGE_%s", param->name);
    WP_CHECK(length > 0 && (size_t)length < VARIABLE_BYTES);
    for (char *c = variable; *c != '\0'; c++) {
        if (*c == '-') *c = '_';
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
    }
}

wp_status wpi_param_load(const wpi_param *param, wpi_param_value *out, wp_error *err) {
    *out = (wpi_param_value){.text = param->default_text};
    char variable[VARIABLE_BYTES];
    name_variable(param, variable);
    const char *text = getenv(variable);
    if (text != NULL && text[0] != '\0') {
        out->text = text;
        out->source = WP_PARAM_ENVIRONMENT;
    }
    return wpi_param_parse(param, out->text, &out->number, err);
}

wp_status wpi_param_find(const wpi_param *table, const char *name, const wpi_param **out,
                         wp_error *err) {
    *out = NULL;
    wpi_nearest nearest = {.wanted = name};
    for (const wpi_param *row = table; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            *out = row;
            return WP_STATUS_OK;
        }
        wpi_nearest_offer(&nearest, row->name);
    }
    const char *meant = wpi_nearest_result(&nearest);
    if (meant != NULL)
        return WP_FAIL(err, NOT_FOUND, "no parameter '%s'; did you mean '%s'?", name, meant);
    return WP_FAIL(err, NOT_FOUND, "no parameter '%s'", name);
}

char *wpi_param_variable(const wpi_param *param) {
    char variable[VARIABLE_BYTES];
    name_variable(param, variable);
    return wpi_format("%s", variable);
}
