/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers of matrices (base/matrix_abi.h): their bits in registers, and as doubles, which hold all
 * but sums exactly. */
#ifndef WP_CPU_MATRIX_NUMBERS_H
#define WP_CPU_MATRIX_NUMBERS_H

#include <math.h>
#include <string.h>

#include "base/matrix_abi.h"
#include "device/cpu/cpu.h"

#define EACH_LANE(lane, lanes)                                                                     \
    for (uint32_t wpi_left = (lanes), lane;                                                        \
         wpi_left != 0 && (lane = (uint32_t)__builtin_ctz(wpi_left), true);                        \
         wpi_left &= wpi_left - 1)

static inline uint32_t *words_of(const wp_cpu_request *request) {
    return (uint32_t *)(uintptr_t)request->a;
}

static inline double single(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* The bits of a half, moved to their places in a single, and scaled: subnormals need no case. */
static inline double half(uint32_t bits) {
    const uint32_t sign = (bits & 0x8000u) << 16, rest = (bits & 0x7fffu) << 13;
    if (rest >= 0x0f800000u) return single(sign | 0x7f800000u | (rest & 0x7fffffu));
    return single(sign | rest) * 0x1p112;
}

static inline uint32_t half_bits(double value) {
    if (isnan(value)) return 0x7fff;
    const uint32_t sign = signbit(value) ? 0x8000u : 0;
    const double size = fabs(value);
    if (size == 0.0) return sign;
    if (size >= 65520.0) return sign | 0x7c00u;
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    const int exponent = (int)(bits >> 52) - 1023; /* size >= 2^exponent */
    const int unit = exponent - 10 > -24 ? exponent - 10 : -24;
    const uint64_t inverse_bits = (uint64_t)(1023 - unit) << 52;
    double inverse;
    memcpy(&inverse, &inverse_bits, sizeof inverse);
    const uint32_t steps = (uint32_t)rint(size * inverse); /* at most 2^11; ties to even */
    return sign | (((uint32_t)(unit + 24) << 10) + steps);
}

static inline uint32_t single_bits(double value) {
    if (isnan(value)) return 0x7fffffffu;
    const float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

/* Element `i` of a lane's part of C. */
static inline double accumulator(const uint32_t *words, uint32_t type, uint32_t i) {
    double value;
    switch (type) {
    case WP_MATRIX_F64: memcpy(&value, words + (size_t)2 * i, sizeof value); return value;
    case WP_MATRIX_F16: return half(words[i / 2] >> (i % 2 * 16) & 0xffffu);
    case WP_MATRIX_S32: return (double)(int32_t)words[i];
    default: return single(words[i]);
    }
}

static inline void put(uint32_t *words, uint32_t type, uint32_t i, double value) {
    switch (type) {
    case WP_MATRIX_F64: memcpy(words + (size_t)2 * i, &value, sizeof value); break;
    case WP_MATRIX_F16: {
        const uint32_t bits = half_bits(value);
        words[i / 2] = i % 2 == 0 ? bits : (words[i / 2] & 0xffffu) | bits << 16;
        break;
    }
    default: words[i] = single_bits(value); break;
    }
}

static inline uint32_t integer_bits(int64_t sum, bool saturates) {
    if (saturates && sum > INT32_MAX) sum = INT32_MAX;
    if (saturates && sum < INT32_MIN) sum = INT32_MIN;
    return (uint32_t)sum;
}

#endif
