/* SPDX-License-Identifier: Apache-2.0 */
/** Options of all commands that read tables. */
#ifndef WP_CLI_COLUMN_OPTIONS_H
#define WP_CLI_COLUMN_OPTIONS_H

#include "table_io/column_table.h"

/** Their rows, in this order: wpi_option rows of a command begin with them at `first`. */
#define WPI_COLUMN_OPTION_ROWS(first)                                                              \
    [(first) + 0] =                                                                                \
        {"types", "COLUMN:TYPE,...",                                                               \
         "read columns as these types: int8 … int64, uint8 … uint64, float32, float64 or text "    \
         "(default: chosen from the first 10,000 rows); may be repeated"},                         \
               [(first) + 1] = {"null", "TEXT",                                                    \
                                "read TEXT, such as NA, as NULL; an empty field always is"},       \
               [(first) +                                                                          \
                   2] = {"delimiter", "CHARACTER",                                                 \
                         "separate fields by CHARACTER (default: tab in .tsv, else comma)"},       \
               [(first) + 3] = {"no-header", NULL,                                                 \
                                "read the first line as data; columns are named c1, c2, …"}

/** `values`: of the four options, NULL where one is not given. INVALID. */
WP_NODISCARD wp_status wpi_column_options_parse(const char *const *values, wpi_column_options *out,
                                                wp_error *err);

#endif
