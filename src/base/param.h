/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parameters: settings for users, declared as rows in the file that uses them. From the rows follow
 * parsing, range checks, the environment variable and `warpage params`.
 *
 *     const wpi_param wpi_device_params[] = {
 *         {"device-memory", WP_UNIT_BYTES, "0", 0, UINT64_MAX, "limit of device memory; 0: none"},
 *         {0}};
 *
 * The build collects every file-scope array declared exactly as `const wpi_param
 * wpi_<room>_params[]`. A parameter `device-memory` is the variable WARPAGE_DEVICE_MEMORY; where a
 * command has an option for it, that is --device-memory.
 */
#ifndef WP_BASE_PARAM_H
#define WP_BASE_PARAM_H

#include <stdint.h>

#include "warpage/error.h"

typedef enum wpi_unit {
    WP_UNIT_NUMBER = 0, /* whole number */
    WP_UNIT_BYTES,      /* "64KiB" */
    WP_UNIT_NS,         /* "350ns" */
    WP_UNIT_FLAG,       /* on/off, 1/0, yes/no, true/false */
    WP_UNIT_TEXT,       /* any string: a path, a spec */
    WP_UNIT_COUNT       /* must be last */
} wpi_unit;

typedef struct wpi_param {
    const char *name; /* lower case, words joined by '-' */
    wpi_unit unit;
    const char *default_text; /* as a user would write it */
    uint64_t min, max;        /* inclusive; in the unit's base (bytes, ns); unused for text */
    const char *doc;          /* one line */
} wpi_param;

typedef enum wpi_param_source {
    WP_PARAM_DEFAULT = 0,
    WP_PARAM_ENVIRONMENT,
    WP_PARAM_SOURCE_COUNT
} wpi_param_source;

typedef struct wpi_param_value {
    uint64_t number;  /* base unit; 0 or 1 for a flag; 0 for text */
    const char *text; /* as written; borrowed from the environment or the row */
    wpi_param_source source;
} wpi_param_value;

/** Reads `text` by the row's unit and range. PARSE, INVALID. */
WP_NODISCARD wp_status wpi_param_parse(const wpi_param *param, const char *text, uint64_t *number,
                                       wp_error *err);
/** The value in force: the environment's if set and not empty, else the default. */
WP_NODISCARD wp_status wpi_param_load(const wpi_param *param, wpi_param_value *out, wp_error *err);
/** The row called `name` in a {0}-terminated table; NOT_FOUND names the nearest one. */
WP_NODISCARD wp_status wpi_param_find(const wpi_param *table, const char *name,
                                      const wpi_param **out, wp_error *err);
/** "device-memory" -> "WARPAGE_DEVICE_MEMORY"; caller frees (wpi_free). */
WP_NODISCARD char *wpi_param_variable(const wpi_param *param);
const char *wpi_unit_name(wpi_unit unit);

#endif
