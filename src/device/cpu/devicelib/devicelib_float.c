/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exponentials and logarithms of floats, and functions made of them. Without branches, tables and
 * calls, so that loops over threads become vectors; in double, so that results are the nearest
 * float but for one in some hundred thousand, which are the float beside. A result does not depend
 * on its place in a vector. Products and sums are fused where the processor can: one result in
 * millions differs from that of a processor that cannot.
 */
#include <stdint.h>

#include "device/devicelib/devicelib_define.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#endif

#define INLINE static inline __attribute__((always_inline))

static const double log2_e = 1.4426950408889634, log2_10 = 3.321928094887362;
static const double ln_2 = 0.6931471805599453, log10_2 = 0.3010299956639812;

INLINE uint64_t bits_of(double a) {
    uint64_t bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits;
}

INLINE double double_of(uint64_t bits) {
    double a;
    __builtin_memcpy(&a, &bits, sizeof a);
    return a;
}

/* The lowest coefficient first. */
INLINE double polynomial(const double *coefficients, int count, double x) {
    double sum = coefficients[count - 1];
    for (int i = count - 2; i >= 0; i--)
        sum = sum * x + coefficients[i];
    return sum;
}

/* ---- powers ---------------------------------------------------------------------------------- */

/* 2^z, which may be beyond the floats, but is then inside the doubles. The sum with 1.5 * 2^52 has
 * z's nearest integer in its lowest bits. The rest of z, at most 1/2, goes through a polynomial, in
 * pairs that do not wait for each other. */
INLINE double power_of_2(double z) {
    const double rounder = 0x1.8p52, most = 512;
    z = most < z ? most : z;
    z = -most > z ? -most : z;
    const double shifted = z + rounder, r = z - (shifted - rounder);
    const double r2 = r * r;
    const double p01 = 0.6931471805568324 + r * 0.24022650695888503;
    const double p23 = 0.055504109063258665 + r * 0.00961812913523614;
    const double p45 = 0.0013333478473685416 + r * 0.00015403475186530786;
    const double p67 = 1.5303700711365693e-05 + r * 1.325080551750225e-06;
    const double p = (p01 + r2 * p23) + (r2 * r2) * (p45 + r2 * p67);
    return double_of(bits_of(1 + r * p) + (bits_of(shifted) << 52));
}

float __nv_exp2f(float a) {
    return (float)power_of_2(a);
}
float __nv_expf(float a) {
    return (float)power_of_2(a * log2_e);
}
float __nv_exp10f(float a) {
    return (float)power_of_2(a * log2_10);
}

/* Near 0 the difference from 1 would have lost its last bits: a series. */
float __nv_expm1f(float a) {
    const double x = a, power = power_of_2(x * log2_e) - 1;
    const double series = x * (1 + x * (1.0 / 2 + x * (1.0 / 6 + x * (1.0 / 24 + x / 120))));
    return (float)(__builtin_fabs(x) < 0.02 ? series : power);
}
float __nv_tanhf(float a) {
    const double x = a, square = x * x, power = power_of_2(2 * log2_e * x);
    const double series = x * (1 - square * (1.0 / 3 - square * (2.0 / 15 - square * 17 / 315)));
    return (float)(__builtin_fabs(x) < 0.03 ? series : (power - 1) / (power + 1));
}

/* ---- logarithms ------------------------------------------------------------------------------ */

/* log2 of a positive, finite double, whose exponent is far from both ends: e + log2 m, with m
 * between the square roots of 1/2 and 2, by the series of the inverse hyperbolic tangent. e gets
 * through the mantissa of 2^52, as there are no vectors of conversions from 64 bits. */
INLINE double log2_of(double x) {
    static const double series[] = {2.885390081789987, 0.9617966734515485, 0.5770835660048659,
                                    0.41167376623771057, 0.3407120415619086};
    const uint64_t half_root = bits_of(0.7071067811865476), mantissa = (UINT64_C(1) << 52) - 1;
    const uint64_t shifted = bits_of(x) - half_root + (UINT64_C(1024) << 52);
    const double e = double_of(shifted >> 52 | bits_of(0x1p52)) - (0x1p52 + 1024);
    const double m = double_of((shifted & mantissa) + half_root);
    const double s = (m - 1) / (m + 1), square = s * s;
    return e + s * polynomial(series, 5, square);
}

/* `value` for what has a logarithm. */
INLINE float log_or_limit(float a, double value) {
    const float infinity = __builtin_inff();
    const float limit = a == 0 ? -infinity : a == infinity ? a : __builtin_nanf("");
    return a > 0 && a < infinity ? (float)value : limit;
}

float __nv_log2f(float a) {
    return log_or_limit(a, log2_of(a));
}
float __nv_logf(float a) {
    return log_or_limit(a, log2_of(a) * ln_2);
}
float __nv_log10f(float a) {
    return log_or_limit(a, log2_of(a) * log10_2);
}
/* Near 0 the sum with 1 would lose the argument's last bits. */
float __nv_log1pf(float a) {
    const double x = a, series = x * (1 - x * (1.0 / 2 - x * (1.0 / 3 - x / 4)));
    const float other = log_or_limit(1 + a, log2_of(1 + x) * ln_2);
    return __builtin_fabsf(a) < 0x1p-10f ? (float)series : other;
}

/* ---- powers of any base ------------------------------------------------------------------------
 */

INLINE int is_integer(double a) {
    const double rounder = 0x1.8p52;
    return (a + rounder) - rounder == a;
}

/* What C says of zeros, infinities, negative bases and numbers that are none. */
float __nv_powf(float a, float b) {
    const float size = __builtin_fabsf(a), infinity = __builtin_inff();
    const double far = 1e60; /* times the least float it is beyond all floats' logarithms */
    const double finite = log2_of(size);
    const double logarithm = size == 0 ? -far : size == infinity ? far : finite;
    const double power = power_of_2(logarithm * b);
    const int is_odd = is_integer(b) && !is_integer(0.5 * b);
    const float value = (float)(__builtin_signbitf(a) != 0 && is_odd ? -power : power);
    const int has_none = a < 0 && size != infinity && !is_integer(b);
    const int is_one = b == 0 || a == 1 || (a == -1 && __builtin_fabsf(b) == infinity);
    return is_one ? 1 : has_none || a != a ? __builtin_nanf("") : value;
}

/* ---- the error function ---------------------------------------------------------------------- */

/* Up to 1 an odd polynomial; from there on the rest to 1, whose logarithm is one; from 4 on 1. */
float __nv_erff(float a) {
    static const double near[] = {
        1.1283791670946768,    -0.3761263888963531,     0.11283791308604582,
        -0.026866133235095593, 0.005223783477189248,    -0.0008542637997087229,
        0.0001195656256820733, -1.3909340021874599e-05, 1.058938064107502e-06};
    static const double far[] = {
        -11.262853678677464,     -7.72228597499929,       -1.3617508219826657,
        -0.015664884833966705,   0.0031241923888216195,   -0.0006072921022164767,
        0.00011100154302871564,  -1.8374927520036467e-05, 2.6613030087630375e-06,
        -2.4859952572486016e-07, -5.914749133402547e-08,  2.482833560824521e-08};
    const double size = __builtin_fabs((double)a), within = size < 4 ? size : 4;
    const double odd = a * polynomial(near, 9, (double)a * a);
    const double rest = power_of_2(polynomial(far, 12, within - 2.5));
    const float beyond = __builtin_copysignf((float)(1 - rest), a);
    return a != a ? a : size < 1 ? (float)odd : beyond;
}

/* ---- the fast forms -------------------------------------------------------------------------- */

float __nv_fast_expf(float a) {
    return __nv_expf(a);
}
float __nv_fast_exp10f(float a) {
    return __nv_exp10f(a);
}
float __nv_fast_logf(float a) {
    return __nv_logf(a);
}
float __nv_fast_log2f(float a) {
    return __nv_log2f(a);
}
float __nv_fast_log10f(float a) {
    return __nv_log10f(a);
}
float __nv_fast_powf(float a, float b) {
    return __nv_powf(a, b);
}
