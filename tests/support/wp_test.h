/* SPDX-License-Identifier: Apache-2.0 */
/**
 * cmocka with its include order, and asserts for what we return. A test file:
 *
 *     static void miss_after_capacity_was_reached(void **state) { (void)state; … }
 *     int main(void) {
 *         const struct CMUnitTest tests[] = {cmocka_unit_test(miss_after_capacity_was_reached)};
 *         return wp_test_main(tests);
 *     }
 */
#ifndef WP_TEST_H
#define WP_TEST_H

/* cmocka.h needs these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warpage/error.h"

#define wp_test_main(tests) cmocka_run_group_tests((tests), NULL, NULL)

/** The call succeeded; prints the error's message if not. */
#define assert_status_ok(expression, err)                                                          \
    do {                                                                                           \
        const wp_status wp_test_status = (expression);                                             \
        if (wp_test_status != WP_STATUS_OK)                                                        \
            fail_msg("%s: %s: %s", #expression, wp_status_string(wp_test_status), (err)->message); \
    } while (0)

/** The call failed with this status, and the message contains `part`. */
#define assert_status_fails(expression, wanted, err, part)                                         \
    do {                                                                                           \
        const wp_status wp_test_status = (expression);                                             \
        if (wp_test_status != (wanted))                                                            \
            fail_msg("%s: %s, expected %s", #expression, wp_status_string(wp_test_status),         \
                     wp_status_string(wanted));                                                    \
        if (strstr((err)->message, (part)) == NULL)                                                \
            fail_msg("'%s' does not mention '%s'", (err)->message, (part));                        \
    } while (0)

#define assert_u64(a, b)                                                                           \
    do {                                                                                           \
        const uint64_t wp_test_a = (a), wp_test_b = (b);                                           \
        if (wp_test_a != wp_test_b)                                                                \
            fail_msg("%s is %llu, expected %llu", #a, (unsigned long long)wp_test_a,               \
                     (unsigned long long)wp_test_b);                                               \
    } while (0)

/** |a - b| <= relative * |b| */
#define assert_near(a, b, relative)                                                                \
    do {                                                                                           \
        const double wp_test_a = (a), wp_test_b = (b);                                             \
        const double wp_test_bound = (relative) * (wp_test_b < 0 ? -wp_test_b : wp_test_b);        \
        const double wp_test_gap =                                                                 \
            wp_test_a < wp_test_b ? wp_test_b - wp_test_a : wp_test_a - wp_test_b;                 \
        if (!(wp_test_gap <= wp_test_bound))                                                       \
            fail_msg("%s is %g, expected %g", #a, wp_test_a, wp_test_b);                           \
    } while (0)

/** |a - b| <= bound */
#define assert_within(a, b, bound)                                                                 \
    do {                                                                                           \
        const double wp_test_a = (a), wp_test_b = (b);                                             \
        const double wp_test_gap =                                                                 \
            wp_test_a < wp_test_b ? wp_test_b - wp_test_a : wp_test_a - wp_test_b;                 \
        if (!(wp_test_gap <= (bound)))                                                             \
            fail_msg("%s is %g, expected %g", #a, wp_test_a, wp_test_b);                           \
    } while (0)

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        const char *wp_test_text = (text);                                                         \
        if (strstr(wp_test_text, (part)) == NULL)                                                  \
            fail_msg("'%s' does not contain '%s'", wp_test_text, (part));                          \
    } while (0)

#endif
