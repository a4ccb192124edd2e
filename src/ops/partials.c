/* SPDX-License-Identifier: Apache-2.0 */
#include "warpage/partials.h"

#include <math.h>
#include <string.h>

#include "ops/wide_sum.h"

/* Decimals are as Arrow has them: two's complement, the low word first. */

void wp_decimals_piece(const void *decimals, uint64_t count, wp_decimal_piece piece, void *out) {
    const uint64_t *words = decimals;
    if (piece == WP_DECIMAL_HIGH)
        for (uint64_t i = 0; i < count; i++)
            ((uint64_t *)out)[i] = words[2 * i + 1];
    else
        for (uint64_t i = 0; i < count; i++)
            ((uint32_t *)out)[i] =
                (uint32_t)(piece == WP_DECIMAL_LOW ? words[2 * i] : words[2 * i] >> 32);
}

void wp_decimals_join(const int64_t *high, const uint64_t *middle, const uint64_t *low,
                      uint64_t count, void *decimals) {
    uint64_t *words = decimals;
    for (uint64_t i = 0; i < count; i++) {
        wpi_wide_bits sum = (wpi_wide_bits)(uint64_t)high[i] << 64;
        if (middle != NULL) sum += (wpi_wide_bits)middle[i] << 32;
        sum += low[i];
        words[2 * i] = (uint64_t)sum;
        words[2 * i + 1] = (uint64_t)(sum >> 64);
    }
}

/* The lower pieces add less than 2^33 to the high one, which is far from 2^63 where it is in range.
 */
bool wp_decimals_fit(const int64_t *high, const void *decimals, uint64_t count) {
    const uint64_t *words = decimals;
    const wpi_wide outer =
        (wpi_wide)UINT64_C(10000000000000000000) * UINT64_C(10000000000000000000);
    const int64_t high_max = (int64_t)(outer >> 64) + 1;
    bool fits = true;
    for (uint64_t i = 0; i < count; i++) {
        const wpi_wide sum = wpi_wide_of(&words[2 * i]);
        fits &= high[i] <= high_max && high[i] >= -high_max - (INT64_C(1) << 33) && sum < outer &&
                sum > -outer;
    }
    return fits;
}

bool wp_decimals_narrow(const void *decimals, uint64_t count, wp_type type, void *out) {
    const uint64_t *words = decimals;
    bool is_ok = true;
    for (uint64_t i = 0; i < count; i++) {
        is_ok = is_ok && wpi_wide_fits(wpi_wide_of(&words[2 * i]), type);
        ((uint64_t *)out)[i] = words[2 * i];
    }
    return is_ok;
}

void wp_decimals_widen(const int64_t *values, uint64_t count, void *decimals) {
    uint64_t *words = decimals;
    for (uint64_t i = 0; i < count; i++) {
        words[2 * i] = (uint64_t)values[i];
        words[2 * i + 1] = values[i] < 0 ? UINT64_MAX : 0;
    }
}

/* A long double has 10^27 exactly; what is divided, or the quotient, is rounded once more. */
void wp_decimals_double(const void *decimals, uint64_t count, uint32_t scale, double *out) {
    const uint64_t *words = decimals;
    long double power = 1;
    for (uint32_t i = 0; i < scale; i++)
        power *= 10;
    for (uint64_t i = 0; i < count; i++)
        out[i] = (double)((long double)wpi_wide_of(&words[2 * i]) / power);
}

/* The exponent is 15 too large, in 5 bits, where a float's is 127 too large, in 8. */
void wp_halves_widen(const uint16_t *halves, uint64_t count, float *out) {
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t exponent = halves[i] >> 10 & 31, fraction = halves[i] & 1023u;
        const uint32_t sign = (uint32_t)(halves[i] >> 15) << 31;
        if (exponent == 0) {
            const float least = (float)fraction * 0x1p-24f;
            out[i] = sign != 0 ? -least : least;
            continue;
        }
        const uint32_t bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
        memcpy(&out[i], &bits, sizeof bits);
    }
}

void wp_decimals_average(const void *decimals, const double *sums, const uint64_t *value_counts,
                         uint64_t count, double *out) {
    const uint64_t *words = decimals;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = 0;
        if (value_counts[i] == 0) continue;
        out[i] = words != NULL ? wpi_wide_average(&words[2 * i], value_counts[i])
                               : sums[i] / (double)value_counts[i];
    }
}

/* Digit by digit. Rounding twice rounds up from a bit less than one half on: with k digits more,
 * from (1 - 10^-k) / 2. */
bool wp_decimals_divide(const void *decimals, const uint64_t *divisors, uint64_t count,
                        const wp_decimal_quotient *quotient, void *out) {
    const uint64_t *words = decimals;
    uint64_t *results = out;
    const uint32_t more = WP_DECIMAL_QUOTIENT_DIGITS > quotient->scale
                              ? WP_DECIMAL_QUOTIENT_DIGITS - quotient->scale
                              : 0;
    wpi_wide_bits end = 1, power = 1;
    for (uint32_t i = 0; i < quotient->precision; i++)
        end *= 10;
    for (uint32_t i = 0; i < more && i < 19; i++)
        power *= 10;
    bool fits = true;
    for (uint64_t i = 0; i < count; i++) {
        const wpi_wide sum = wpi_wide_of(&words[2 * i]);
        const uint64_t divisor = divisors[i];
        wpi_wide_bits result = 0;
        if (divisor != 0) {
            const wpi_wide_bits size = sum < 0 ? -(wpi_wide_bits)sum : (wpi_wide_bits)sum;
            wpi_wide_bits rest = size % divisor;
            result = size / divisor;
            for (uint32_t digit = 0; digit < quotient->more_digits; digit++) {
                fits &= result < end / 10; /* no digit is lost */
                rest *= 10;
                result = result * 10 + rest / divisor;
                rest %= divisor;
            }
            if (2 * rest * power >= divisor * (power - (more != 0 && more < 20))) result++;
            fits &= result < end;
            if (sum < 0) result = -result;
        }
        results[2 * i] = (uint64_t)result;
        results[2 * i + 1] = (uint64_t)(result >> 64);
    }
    return fits;
}

void wp_squares_variance(const double *squares, const double *more, const uint64_t *value_counts,
                         uint64_t count, bool is_root, double *out, uint8_t *valid) {
    for (uint64_t i = 0; i < count; i++) {
        valid[i] = value_counts[i] > 1;
        out[i] = 0;
        if (!valid[i]) continue;
        const double sum = squares[i] + (more != NULL ? more[i] : 0);
        const double variance = sum / (double)(value_counts[i] - 1);
        out[i] = is_root ? sqrt(variance) : variance;
    }
}
