/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Talk, on stderr, chosen by category and level:
 *
 *     WARPAGE_LOG=device.cpu:debug,compiler:info    these two;   WARPAGE_LOG=debug    everything
 *
 * "device" also selects "device.cpu"; the longest match wins. Without a choice, errors and warnings
 * are shown. Callable from any thread; a message is one write, so lines do not mix.
 */
#ifndef WP_BASE_LOG_H
#define WP_BASE_LOG_H

#include <stdbool.h>

#include "base/fail.h"

typedef enum wpi_log_level {
    WP_LOG_ERROR = 0,
    WP_LOG_WARN,
    WP_LOG_INFO,
    WP_LOG_DEBUG,
    WP_LOG_LEVEL_COUNT /* must be last */
} wpi_log_level;

void wpi_log(wpi_log_level level, const char *category, const char *format, ...) WP_PRINTF(3, 4);

/** Whether wpi_log would print: for messages that are costly to prepare. */
bool wpi_log_is_on(wpi_log_level level, const char *category);

/** The most verbose level that `spec` (as in WARPAGE_LOG; NULL: nothing) selects for `category`. */
wpi_log_level wpi_log_level_of(const char *spec, const char *category);

#endif
