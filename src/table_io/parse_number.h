/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers as text, and back. */
#ifndef WP_TABLE_IO_NUMBER_H
#define WP_TABLE_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "warpage/ops.h"

typedef enum wpi_parsed { WPI_PARSED_OK, WPI_PARSED_NO_NUMBER, WPI_PARSED_OUT_OF_RANGE } wpi_parsed;

/* 8 digits are read at once, as one word (little-endian) with a digit per byte: a shorter number
 * has leading zeros shifted in, and a byte of 10 or more is not a digit. */

/** 1 to 8 characters as such a word; for other lengths a word without digits. 8 bytes from `text`
 * on must be readable. */
static inline uint64_t wpi_digits_word(const char *text, size_t length) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return length - 1 > 7 ? UINT64_MAX : (word ^ 0x3030303030303030u) << (64 - 8 * length);
}
static inline bool wpi_is_digits(uint64_t word) {
    return (((word + 0x7676767676767676u) | word) & 0x8080808080808080u) == 0;
}
/** Three multiplications add digits up: pairs, fours, all. */
static inline uint64_t wpi_digits_value(uint64_t word) {
    word = (word * 10 + (word >> 8)) & 0x00ff00ff00ff00ffu;
    word = (word * 100 + (word >> 16)) & 0x0000ffff0000ffffu;
    return (word * 10000 + (word >> 32)) & 0xffffffffu;
}
/** Values of many words at once. False: some have no digits; their values are unspecified. */
bool wpi_digits_values(const uint64_t *words, size_t count, uint64_t *out);

/** 1 to 8 digits and nothing else; 8 bytes from `text` on must be readable. */
static inline bool wpi_short_integer(const char *text, size_t length, uint64_t *out) {
    const uint64_t word = wpi_digits_word(text, length);
    *out = wpi_digits_value(word);
    return wpi_is_digits(word);
}

/** 2 to 8 characters: digits and one point among them. The point is taken out of the word. */
static inline bool wpi_short_decimal(const char *text, size_t length, double *out) {
    static const double tens[8] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7};
    uint64_t word;
    if (length - 2 > 6) return false;
    memcpy(&word, text, sizeof word);
    const uint64_t no_point = word ^ 0x2e2e2e2e2e2e2e2eu;
    const uint64_t zeros = (no_point - 0x0101010101010101u) & ~no_point & 0x8080808080808080u;
    const size_t point = zeros != 0 ? (size_t)__builtin_ctzll(zeros) / 8 : 8;
    if (point >= length) return false;
    const uint64_t below = ((uint64_t)1 << (8 * point)) - 1;
    word = (word & below) | (word >> 8 & ~below);
    word = (word ^ 0x3030303030303030u) << (64 - 8 * (length - 1));
    *out = (double)wpi_digits_value(word) / tens[length - 1 - point];
    return wpi_is_digits(word);
}

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
/** The same with at most so many significant digits of floats (1 to 17); 0: as above. */
#define WPI_DIGITS_MAX 17
size_t wpi_number_format_digits(const wp_column *column, uint64_t row, bool is_json, int digits,
                                char out[WPI_NUMBER_CHARACTERS]);

#endif
