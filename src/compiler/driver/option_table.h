/* SPDX-License-Identifier: Apache-2.0 */
/** The options that wpcc knows: one table of names, how the value is given, what to do. */
#ifndef WP_COMPILER_OPTION_TABLE_H
#define WP_COMPILER_OPTION_TABLE_H

#include "compiler/driver/options.h"

#define WPI_ARCH_LOWEST 70
#define WPI_ARCH_HIGHEST 90

/** How an option's value is given. */
typedef enum wpi_option_value {
    WPI_NO_VALUE,
    WPI_VALUE,    /* -o x, -o=x */
    WPI_ATTACHED, /* -Ix, -I x */
    WPI_DIGIT     /* -O2, -O 2, -O */
} wpi_option_value;

typedef struct wpi_option_row {
    const char *name, *alias; /* alias: may be NULL */
    wpi_option_value value;
    /** Applies the option; NULL: -x, which the parser handles. */
    wp_status (*apply)(wpi_options *o, const char *value, int arg, wp_error *err);
    int arg;
    const char *doc; /* NULL: accepted, not listed */
} wpi_option_row;

/** All rows; static. */
const wpi_option_row *wpi_option_table(size_t *count);

#endif
