/* SPDX-License-Identifier: Apache-2.0 */
/* Floats of at most 19 digits and small exponents need one exact operation on doubles (Clinger);
 * the rest goes to strtod. */
#include "table_io/parse_number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- integers ---- */

#ifdef __SSE2__
/* Two words at once; each multiplication adds up neighbours: pairs in 16 bits, fours in 32. */
static __m128i add_digits_up(__m128i words) {
    const __m128i low_bytes = _mm_set1_epi16(0xff), weights = _mm_set1_epi32(1 << 16 | 100);
    const __m128i pairs =
        _mm_add_epi16(_mm_mullo_epi16(_mm_and_si128(words, low_bytes), _mm_set1_epi16(10)),
                      _mm_srli_epi16(words, 8));
    const __m128i fours = _mm_madd_epi16(pairs, weights);
    return _mm_add_epi64(_mm_mul_epu32(fours, _mm_set1_epi32(10000)), _mm_srli_epi64(fours, 32));
}

bool wpi_digits_values(const uint64_t *words, size_t count, uint64_t *out) {
    const __m128i to_sign = _mm_set1_epi8(0x76);
    __m128i bad = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        const __m128i two = _mm_loadu_si128((const __m128i *)(const void *)(words + i));
        bad = _mm_or_si128(bad, _mm_or_si128(two, _mm_add_epi8(two, to_sign)));
        _mm_storeu_si128((__m128i *)(void *)(out + i), add_digits_up(two));
    }
    bool is_digits = _mm_movemask_epi8(bad) == 0;
    if (i < count) {
        out[i] = wpi_digits_value(words[i]);
        is_digits = is_digits && wpi_is_digits(words[i]);
    }
    return is_digits;
}
#else
bool wpi_digits_values(const uint64_t *words, size_t count, uint64_t *out) {
    bool is_digits = true;
    for (size_t i = 0; i < count; i++) {
        out[i] = wpi_digits_value(words[i]);
        is_digits = is_digits && wpi_is_digits(words[i]);
    }
    return is_digits;
}
#endif

static wpi_parsed many_digits(const char *text, size_t length, uint64_t *out) {
    uint64_t value = 0;
    bool is_large = false;
    for (size_t i = 0; i < length; i++) {
        const unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9) return WPI_PARSED_NO_NUMBER;
        is_large = is_large || __builtin_mul_overflow(value, 10, &value) ||
                   __builtin_add_overflow(value, digit, &value);
    }
    *out = value;
    return is_large ? WPI_PARSED_OUT_OF_RANGE : WPI_PARSED_OK;
}

static wpi_parsed digits(const char *text, size_t length, uint64_t *out) {
    uint64_t high;
    if (length == 0) return WPI_PARSED_NO_NUMBER;
    if (length > 16) return many_digits(text, length, out);
    if (length <= 8)
        return wpi_short_integer(text, length, out) ? WPI_PARSED_OK : WPI_PARSED_NO_NUMBER;
    if (!wpi_short_integer(text, length - 8, &high) ||
        !wpi_short_integer(text + length - 8, 8, out))
        return WPI_PARSED_NO_NUMBER;
    *out += high * 100000000u;
    return WPI_PARSED_OK;
}

static void trim(const char **text, size_t *length) {
    while (*length > 0 && **text == ' ') {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && (*text)[*length - 1] == ' ')
        (*length)--;
}

wpi_parsed wpi_integer_parse(const char *text, size_t length, bool is_signed, uint64_t *out) {
    trim(&text, &length);
    const bool is_negative = length > 0 && *text == '-';
    if (is_negative || (length > 0 && *text == '+')) {
        text++;
        length--;
    }
    const wpi_parsed parsed = digits(text, length, out);
    if (parsed != WPI_PARSED_OK) return parsed;
    if (!is_negative)
        return is_signed && *out > INT64_MAX ? WPI_PARSED_OUT_OF_RANGE : WPI_PARSED_OK;
    if (*out > (is_signed ? (uint64_t)1 << 63 : 0)) return WPI_PARSED_OUT_OF_RANGE;
    *out = 0 - *out;
    return WPI_PARSED_OK;
}

bool wpi_integer_fits(wp_type type, uint64_t value) {
    switch (type) {
    case WP_TYPE_INT8: return (int64_t)value == (int8_t)value;
    case WP_TYPE_INT16: return (int64_t)value == (int16_t)value;
    case WP_TYPE_INT32: return (int64_t)value == (int32_t)value;
    case WP_TYPE_UINT8: return value == (uint8_t)value;
    case WP_TYPE_UINT16: return value == (uint16_t)value;
    case WP_TYPE_UINT32: return value == (uint32_t)value;
    default: return true;
    }
}

/* ---- floats ---- */

static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define TENS 22
#define EXACT ((uint64_t)1 << 53)

/* Numbers that are long or have other characters: strtod, except for hexadecimal and similar
 * forms. */
static wpi_parsed slow_float(const char *text, size_t length, double *out) {
    char copy[512], *end;
    static const char *const words[] = {"inf", "infinity", "nan", NULL};
    if (length == 0 || length >= sizeof copy) return WPI_PARSED_NO_NUMBER;
    memcpy(copy, text, length);
    copy[length] = '\0';
    const char *unsigned_text = copy + (*copy == '-' || *copy == '+');
    bool is_word = false;
    for (int i = 0; words[i] != NULL; i++)
        is_word = is_word || strcasecmp(unsigned_text, words[i]) == 0;
    if (!is_word && strspn(unsigned_text, "0123456789.eE+-") != strlen(unsigned_text))
        return WPI_PARSED_NO_NUMBER;
    *out = strtod(copy, &end);
    if (end != copy + length) return WPI_PARSED_NO_NUMBER;
    return !is_word && isinf(*out) ? WPI_PARSED_OUT_OF_RANGE : WPI_PARSED_OK;
}

wpi_parsed wpi_float_parse(const char *text, size_t length, double *out) {
    trim(&text, &length);
    const char *at = text, *const end = text + length;
    const bool is_negative = at < end && *at == '-';
    uint64_t digits_value = 0;
    int digit_count = 0, behind_point = 0;
    bool has_point = false;
    if (is_negative) at++;
    for (; at < end; at++) {
        const unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit <= 9) {
            digits_value = 10 * digits_value + digit;
            digit_count++;
            behind_point += has_point;
        } else if (*at == '.' && !has_point) {
            has_point = true;
        } else {
            return slow_float(text, length, out);
        }
    }
    if (digit_count == 0 || digit_count > 19 || digits_value > EXACT || behind_point > TENS)
        return slow_float(text, length, out);
    const double value = (double)digits_value / tens[behind_point];
    *out = is_negative ? -value : value;
    return WPI_PARSED_OK;
}

/* ---- back to text ---- */

static size_t format_unsigned(uint64_t value, bool is_negative, char *out) {
    char reversed[24];
    size_t count = 0, length = 0;
    do
        reversed[count++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    if (is_negative) out[length++] = '-';
    while (count > 0)
        out[length++] = reversed[--count];
    return length;
}

/* `digits` significant ones; 0: the fewest that read back to the same bits. */
static size_t format_float(double value, bool is_narrow, bool is_json, int digits, char *out) {
    const int first = digits != 0 ? digits : is_narrow ? 6 : 15;
    const int last = digits != 0 ? digits : is_narrow ? 9 : 17;
    int length = 0;
    if (!isfinite(value)) {
        const char *word = is_json ? "null" : isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
        memcpy(out, word, strlen(word));
        return strlen(word);
    }
    if (digits == 0 && fabs(value) < 1e15 && value == (double)(int64_t)value &&
        !(value == 0 && signbit(value))) {
        length = (int)format_unsigned((uint64_t)fabs(value), value < 0, out);
        memcpy(out + length, ".0", 2);
        return (size_t)length + 2;
    }
    for (int precision = first; precision <= last; precision++) {
        length = snprintf(out, WPI_NUMBER_CHARACTERS, "%.*g", precision, value);
        const double back = is_narrow ? (double)strtof(out, NULL) : strtod(out, NULL);
        if (back == value) break;
    }
    if (strpbrk(out, ".e") == NULL) length += snprintf(out + length, 4, ".0");
    return (size_t)length;
}

size_t wpi_number_format(const wp_column *column, uint64_t row, bool is_json,
                         char out[WPI_NUMBER_CHARACTERS]) {
    return wpi_number_format_digits(column, row, is_json, 0, out);
}

size_t wpi_number_format_digits(const wp_column *column, uint64_t row, bool is_json, int digits,
                                char out[WPI_NUMBER_CHARACTERS]) {
    int64_t number = 0;
    switch (column->type) {
    case WP_TYPE_FLOAT32:
        return format_float(((const float *)column->values)[row], true, is_json, digits, out);
    case WP_TYPE_FLOAT64:
        return format_float(((const double *)column->values)[row], false, is_json, digits, out);
    case WP_TYPE_UINT64:
        return format_unsigned(((const uint64_t *)column->values)[row], false, out);
    case WP_TYPE_INT8: number = ((const int8_t *)column->values)[row]; break;
    case WP_TYPE_INT16: number = ((const int16_t *)column->values)[row]; break;
    case WP_TYPE_INT32: number = ((const int32_t *)column->values)[row]; break;
    case WP_TYPE_UINT8: number = ((const uint8_t *)column->values)[row]; break;
    case WP_TYPE_UINT16: number = ((const uint16_t *)column->values)[row]; break;
    case WP_TYPE_UINT32: number = ((const uint32_t *)column->values)[row]; break;
    default: number = ((const int64_t *)column->values)[row]; break;
    }
    return format_unsigned(number < 0 ? 0 - (uint64_t)number : (uint64_t)number, number < 0, out);
}
