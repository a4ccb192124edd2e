/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Raising and propagating errors (include/warpage/error.h), and the two kinds of assertion.
 *
 *     return WP_FAIL(err, NOMEM, "table: %zu bytes", need_bytes);
 *     WP_TRY(wpi_file_read(path, &data, &size_bytes, err));        returns early
 *     WP_TRY_GOTO(wp_queue_create(device, false, &q, err), done); sets the local `status`, jumps
 *
 * WP_ASSERT guards against bugs in Warpage, in builds with WARPAGE_ASSERTS; WP_CHECK is for cheap
 * invariants that stay in release builds. Neither is for mistakes of users.
 */
#ifndef WP_BASE_FAIL_H
#define WP_BASE_FAIL_H

#include "warpage/error.h"

#if defined(__GNUC__)
#define WP_PRINTF(format_index, first_index)                                                       \
    __attribute__((format(printf, format_index, first_index)))
#else
#define WP_PRINTF(format_index, first_index)
#endif

/** Fills `err` (if not NULL) and returns the status: `WP_FAIL(err, STATUS, format, …)`. */
#define WP_FAIL(err, status_name, ...)                                                             \
    wpi_fail((err), WP_STATUS_##status_name, __FILE__, __LINE__, __VA_ARGS__)

#define WP_TRY(expression)                                                                         \
    do {                                                                                           \
        const wp_status wpi_try_status = (expression);                                             \
        if (wpi_try_status != WP_STATUS_OK) return wpi_try_status;                                 \
    } while (0)

#define WP_TRY_GOTO(expression, label)                                                             \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != WP_STATUS_OK) goto label;                                                    \
    } while (0)

#define WP_CHECK(condition)                                                                        \
    ((condition) ? (void)0 : wpi_check_failed(#condition, __FILE__, __LINE__))

#ifdef WARPAGE_ASSERTS
#define WP_ASSERT(condition) WP_CHECK(condition)
#else
#define WP_ASSERT(condition) ((void)sizeof(!(condition)))
#endif

/** What WP_FAIL expands to. `status` is passed through so that callers can `return` it. */
wp_status wpi_fail(wp_error *err, wp_status status, const char *file, int line, const char *format,
                   ...) WP_PRINTF(5, 6);

/** Prints the failed condition and aborts; a good place for a breakpoint. */
_Noreturn void wpi_check_failed(const char *condition, const char *file, int line);

#endif
