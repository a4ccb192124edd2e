/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and failed checks. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *wp_status_string(wp_status status) {
    switch (status) {
#define TEXT_CASE(name, text)                                                                      \
    case WP_STATUS_##name: return text;
        WP_STATUS_MAP(TEXT_CASE)
#undef TEXT_CASE
    case WP_STATUS_COUNT: break;
    }
    return "unknown status";
}

wp_status wpi_fail(wp_error *err, wp_status status, const char *file, int line, const char *format,
                   ...) {
    if (err != NULL) {
        /* Formatted into a copy first: the arguments may include err->message itself. */
        char message[sizeof err->message];
        va_list args;
        va_start(args, format);
        const int length = vsnprintf(message, sizeof message, format, args);
        va_end(args);
        if (length < 0) message[0] = '\0';
        *err = (wp_error){.status = status, .file = file, .line = line};
        (void)snprintf(err->message, sizeof err->message, "%s", message);
    }
    return status;
}

_Noreturn void wpi_check_failed(const char *condition, const char *file, int line) {
    (void)fprintf(stderr, "warpage: internal error: %s does not hold (%s:%d)\n", condition, file,
                  line);
    abort();
}
