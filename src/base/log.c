/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variable is read at every call: messages are rare, and this needs no
 * initialisation. */
#include "base/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"

const wpi_param wpi_log_params[] = {
    {"log", WP_UNIT_TEXT, "", 0, 0,
     "log to stderr: category:level,... (levels: error, warn, info, debug)"},
    {0}};

static const char *const level_names[WP_LOG_LEVEL_COUNT] = {"error", "warn", "info", "debug"};

static bool find_level(const char *name, size_t length, wpi_log_level *out) {
    for (int i = 0; i < WP_LOG_LEVEL_COUNT; i++) {
        if (strlen(level_names[i]) == length && strncmp(level_names[i], name, length) == 0) {
            *out = (wpi_log_level)i;
            return true;
        }
    }
    return false;
}

/* True when the rule's category is `category` itself or a room above it. */
static bool covers(const char *rule, size_t length, const char *category) {
    return strncmp(rule, category, length) == 0 &&
           (category[length] == '\0' || category[length] == '.');
}

wpi_log_level wpi_log_level_of(const char *spec, const char *category) {
    wpi_log_level best = WP_LOG_WARN;
    size_t best_length = 0;
    for (const char *rule = spec; rule != NULL && *rule != '\0';) {
        const size_t length = strcspn(rule, ",");
        const char *colon = memchr(rule, ':', length);
        wpi_log_level level = WP_LOG_DEBUG;
        if (colon == NULL) {
            /* A level alone is for all categories; a category alone means all its levels. */
            if (find_level(rule, length, &level)) {
                if (best_length == 0) best = level;
            } else if (covers(rule, length, category) && length > best_length) {
                best = WP_LOG_DEBUG;
                best_length = length;
            }
        } else {
            const size_t name_length = (size_t)(colon - rule);
            if (covers(rule, name_length, category) && name_length > best_length &&
                find_level(colon + 1, length - name_length - 1, &level)) {
                best = level;
                best_length = name_length;
            }
        }
        rule += length;
        if (*rule == ',') rule++;
    }
    return best;
}

bool wpi_log_is_on(wpi_log_level level, const char *category) {
    return level <= wpi_log_level_of(getenv("WARPAGE_LOG"), category);
}

void wpi_log(wpi_log_level level, const char *category, const char *format, ...) {
    if (!wpi_log_is_on(level, category)) return;
    char message[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)fprintf(stderr, "warpage: %s: %s: %s\n", level_names[level], category, message);
}
