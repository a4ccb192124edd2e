/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers as text, and back. */
#ifndef WP_TABLE_IO_NUMBER_H
#define WP_TABLE_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/ops.h"

typedef enum wpi_parsed { WPI_PARSED_OK, WPI_PARSED_NO_NUMBER, WPI_PARSED_OUT_OF_RANGE } wpi_parsed;

/** A decimal integer; 16 bytes from `text` on must be readable. `out`: two's complement. */
wpi_parsed wpi_integer_parse(const char *text, size_t length, bool is_signed, uint64_t *out);
/** A decimal number, rounded correctly; also inf, infinity, nan. */
wpi_parsed wpi_float_parse(const char *text, size_t length, double *out);
/** Whether an integer from wpi_integer_parse is one of `type`'s. */
bool wpi_integer_fits(wp_type type, uint64_t value);

#define WPI_NUMBER_CHARACTERS 32
/** Value `row` of a column as text that reads back to the same bits; its length. Floats have a
 * point or an exponent. `is_json`: null where JSON has no such number. */
size_t wpi_number_format(const wp_column *column, uint64_t row, bool is_json,
                         char out[WPI_NUMBER_CHARACTERS]);

#endif
