/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mathematical functions on NVIDIA GPUs.
 *
 * Three sources, chosen by measuring (tests/unit/test_nvptxlib.c holds the bounds):
 *
 *     libclc         most functions: LLVM's OpenCL library, within one or two ulp
 *     written here   functions that libclc lacks, or that have larger errors there, no subnormal
 *                    results, or a table index that is out of range for NaN
 *     approximations of the processor: the `fast` forms and rsqrtf
 */
#include "device/cuda/nvptxlib/nvptxlib.h"

/* libclc's functions by their OpenCL names. */
#define CLC_1(name, mangled)                                                                       \
    double clc_##name(double) __asm__(mangled "d") __attribute__((const));                         \
    float clc_##name##f(float) __asm__(mangled "f") __attribute__((const));
#define CLC_2(name, mangled)                                                                       \
    double clc_##name(double, double) __asm__(mangled "dd") __attribute__((const));                \
    float clc_##name##f(float, float) __asm__(mangled "ff") __attribute__((const));
CLC_1(acos, "_Z4acos")
CLC_1(acosh, "_Z5acosh")
CLC_1(asin, "_Z4asin")
CLC_1(asinh, "_Z5asinh")
CLC_1(atan, "_Z4atan")
CLC_1(atanh, "_Z5atanh")
CLC_1(cbrt, "_Z4cbrt")
CLC_1(cos, "_Z3cos")
CLC_1(cosh, "_Z4cosh")
CLC_1(cospi, "_Z5cospi")
CLC_1(erf, "_Z3erf")
CLC_1(exp, "_Z3exp")
CLC_1(exp10, "_Z5exp10")
CLC_1(exp2, "_Z4exp2")
CLC_1(expm1, "_Z5expm1")
CLC_1(log10, "_Z5log10")
CLC_1(log1p, "_Z5log1p")
CLC_1(log2, "_Z4log2")
CLC_1(sin, "_Z3sin")
CLC_1(sinh, "_Z4sinh")
CLC_1(sinpi, "_Z5sinpi")
CLC_1(tan, "_Z3tan")
CLC_1(tanh, "_Z4tanh")
CLC_2(atan2, "_Z5atan2")
CLC_2(fmod, "_Z4fmod")
CLC_2(hypot, "_Z5hypot")
CLC_2(nextafter, "_Z9nextafter")
CLC_2(pow, "_Z3pow")
CLC_2(remainder, "_Z9remainder")
double clc_remquo(double, double, int *) __asm__("_Z6remquoddPi");

static uint64_t bits_of(double a) {
    return __nv_double_as_longlong(a);
}
static double from_bits(uint64_t bits) {
    return __nv_longlong_as_double((long long)bits);
}
static int is_finite(double a) {
    return __builtin_fabs(a) < WP_INF;
}

/* ---- one to one ---- */

/* libclc's double form makes +0 of -0. */
#define KEEPS_ZERO(name)                                                                           \
    double __nv_##name(double a) {                                                                 \
        return a != 0.0 ? clc_##name(a) : a;                                                       \
    }                                                                                              \
    float __nv_##name##f(float a) {                                                                \
        return clc_##name##f(a);                                                                   \
    }

WP_FORMS_1(clc_, acos)
WP_FORMS_1(clc_, acosh)
WP_FORMS_1(clc_, asin)
WP_FORMS_1(clc_, asinh)
WP_FORMS_1(clc_, atanh)
WP_FORMS_1(clc_, cbrt)
WP_FORMS_1(clc_, exp10)
WP_FORMS_1(clc_, log10)
WP_FORMS_1(clc_, log1p)
WP_FORMS_1(clc_, log2)
KEEPS_ZERO(atan)
KEEPS_ZERO(erf)
KEEPS_ZERO(expm1)
WP_FORMS_2(clc_, atan2)
WP_FORMS_2(clc_, hypot)
WP_FORMS_2(clc_, nextafter)
WP_FORMS_2(clc_, pow)

double __nv_fdim(double a, double b) {
    return a <= b ? 0.0 : a - b;
}
float __nv_fdimf(float a, float b) {
    return a <= b ? 0.0f : a - b;
}

/* ---- the parts of a number ---- */

/* In exact steps, of which only the last may round. `most`, `least`: exponents of normal numbers;
 * `down` takes a step below, by as much as leaves a normal number normal. */
#define LDEXP(type, name, most, least, up, down, down_by, power)                                   \
    type name(type a, int b) {                                                                     \
        if (b > (most)) {                                                                          \
            a *= (up);                                                                             \
            b -= (most);                                                                           \
            if (b > (most)) {                                                                      \
                a *= (up);                                                                         \
                b = b - (most) > (most) ? (most) : b - (most);                                     \
            }                                                                                      \
        } else if (b < (least)) {                                                                  \
            a *= (down);                                                                           \
            b += (down_by);                                                                        \
            if (b < (least)) {                                                                     \
                a *= (down);                                                                       \
                b = b + (down_by) < (least) ? (least) : b + (down_by);                             \
            }                                                                                      \
        }                                                                                          \
        return a * (power);                                                                        \
    }
LDEXP(double, __nv_ldexp, 1023, -1022, 0x1p1023, 0x1p-969, 969,
      from_bits((uint64_t)(b + 1023) << 52))
LDEXP(float, __nv_ldexpf, 127, -126, 0x1p127f, 0x1p-102f, 102,
      __nv_uint_as_float((uint32_t)(b + 127) << 23))

double __nv_frexp(double a, int *b) {
    if (a == 0.0 || !is_finite(a)) {
        *b = 0;
        return a + a;
    }
    int shift = 0;
    if (__builtin_fabs(a) < 0x1p-1022) {
        a *= 0x1p54;
        shift = 54;
    }
    const uint64_t bits = bits_of(a);
    *b = (int)(bits >> 52 & 0x7ff) - 1022 - shift;
    return from_bits((bits & 0x800fffffffffffffu) | 0x3fe0000000000000u);
}
float __nv_frexpf(float a, int *b) {
    int exponent;
    const float fraction = (float)__nv_frexp((double)a, &exponent);
    *b = exponent;
    return fraction;
}

double __nv_modf(double a, double *b) {
    const double whole = __builtin_trunc(a);
    *b = whole;
    return __builtin_copysign(is_finite(a) || a != a ? a - whole : 0.0, a);
}
float __nv_modff(float a, float *b) {
    const float whole = __builtin_truncf(a);
    *b = whole;
    return __builtin_copysignf(__builtin_fabsf(a) == WP_INFF ? 0.0f : a - whole, a);
}

/* INT_MIN for 0 and NaN, INT_MAX for infinity. */
int __nv_ilogb(double a) {
    if (a == 0.0 || a != a) {
        return -2147483647 - 1;
    }
    if (!is_finite(a)) {
        return 2147483647;
    }
    int exponent;
    (void)__nv_frexp(a, &exponent);
    return exponent - 1;
}
int __nv_ilogbf(float a) {
    return __nv_ilogb((double)a);
}
double __nv_logb(double a) {
    return a == 0.0 ? -WP_INF : is_finite(a) ? (double)__nv_ilogb(a) : a * a;
}
WP_FLOAT_FORM(logb)

double __nv_nan(const signed char *a) {
    (void)a; /* GPUs keep no payload */
    return from_bits(0x7ff8000000000000u);
}
float __nv_nanf(const signed char *a) {
    (void)a;
    return __nv_uint_as_float(0x7fffffffu);
}
float __nv_saturatef(float a) {
    return __nvvm_saturate_f(a);
}

/* ---- remainders: float ones in double, exactly ---- */

double __nv_fmod(double a, double b) {
    return clc_fmod(a, b);
}
float __nv_fmodf(float a, float b) {
    return (float)clc_fmod((double)a, (double)b);
}
double __nv_remainder(double a, double b) {
    return clc_remainder(a, b);
}
float __nv_remainderf(float a, float b) {
    return (float)clc_remainder((double)a, (double)b);
}
double __nv_remquo(double a, double b, int *c) {
    int quotient = 0;
    const double rest = clc_remquo(a, b, &quotient);
    *c = quotient;
    return rest;
}
float __nv_remquof(float a, float b, int *c) {
    return (float)__nv_remquo((double)a, (double)b, c);
}

/* ---- exponentials and logarithms ---- */

double __nv_exp(double a) {
    return clc_exp(a);
}
double __nv_exp2(double a) {
    return clc_exp2(a);
}

/* p 2^n for p near 1; the result may be subnormal or infinite. */
static float scale(float p, int n) {
    const int half = n >> 1;
    return p * __nv_uint_as_float((uint32_t)(half + 127) << 23) *
           __nv_uint_as_float((uint32_t)(n - half + 127) << 23);
}

/* e^a 2^k: a polynomial of what is left beside a whole power of two. */
static float exp_scaled(float a, int k) {
    const float x = __builtin_fmaxf(__builtin_fminf(a, 130.0f), -130.0f);
    const float n = __builtin_rintf(x * 1.44269504f);
    float f = __builtin_fmaf(n, -0x1.62e4p-1f, x);
    f = __builtin_fmaf(n, -1.42860677e-6f, f);
    float p = 1.392648410e-03f;
    p = __builtin_fmaf(p, f, 8.363419620e-03f);
    p = __builtin_fmaf(p, f, 4.166655281e-02f);
    p = __builtin_fmaf(p, f, 1.666657554e-01f);
    p = __builtin_fmaf(p, f, 5.000000000e-01f);
    p = __builtin_fmaf(p * f, f, f) + 1.0f;
    return a != a ? a : scale(p, (int)n + k);
}
float __nv_expf(float a) {
    return exp_scaled(a, 0);
}
float __nv_exp2f(float a) {
    const float x = __builtin_fmaxf(__builtin_fminf(a, 190.0f), -190.0f);
    const float n = __builtin_rintf(x);
    const float f = x - n;
    float p = 1.545336197e-04f;
    p = __builtin_fmaf(p, f, 1.339109325e-03f);
    p = __builtin_fmaf(p, f, 9.618082183e-03f);
    p = __builtin_fmaf(p, f, 5.550356682e-02f);
    p = __builtin_fmaf(p, f, 2.402265076e-01f);
    p = __builtin_fmaf(p, f, 6.931471881e-01f);
    p = __builtin_fmaf(p, f, 1.0f);
    return a != a ? a : scale(p, (int)n);
}

/* log(m 2^n) for m in [2/3, 4/3]. */
double __nv_log(double a) {
    if (!(a > 0.0 && a < WP_INF)) {
        return a == 0.0 ? -WP_INF : a > 0.0 ? a : from_bits(0x7ff8000000000000u);
    }
    int n;
    double m = __nv_frexp(a, &n);
    if (m < 0.70710678118654752) {
        m += m;
        n--;
    }
    const double low = __builtin_fma((double)n, 1.90821492927058770e-10, clc_log1p(m - 1.0));
    return __builtin_fma((double)n, 6.93147180369123816490e-01, low);
}
float __nv_logf(float a) {
    float x = a;
    int n = 0;
    if (a < 0x1p-126f) {
        x *= 0x1p24f;
        n = -24;
    }
    const int over = (int)__nv_float_as_uint(x) - 0x3f2aaaab; /* 2/3 */
    n += over >> 23;
    const float r =
        __nv_uint_as_float(__nv_float_as_uint(x) - ((uint32_t)over & 0xff800000u)) - 1.0f;
    float p = 1.135672535e-01f;
    p = __builtin_fmaf(p, r, -1.245039045e-01f);
    p = __builtin_fmaf(p, r, 1.091130031e-01f);
    p = __builtin_fmaf(p, r, -1.228401968e-01f);
    p = __builtin_fmaf(p, r, 1.429206859e-01f);
    p = __builtin_fmaf(p, r, -1.667353374e-01f);
    p = __builtin_fmaf(p, r, 1.999994612e-01f);
    p = __builtin_fmaf(p, r, -2.499994178e-01f);
    p = __builtin_fmaf(p, r, 3.333333333e-01f);
    p = __builtin_fmaf(p, r, -0.5f);
    const float low = __builtin_fmaf((float)n, -2.12194440e-4f, p * (r * r));
    const float result = __builtin_fmaf((float)n, 0.693359375f, r + low);
    return a > 0.0f && a < WP_INFF ? result
           : a == 0.0f             ? -WP_INFF
           : a > 0.0f              ? a
                                   : __nv_uint_as_float(0x7fffffffu);
}

/* Beyond these arguments the results are infinite, or 1, without libclc's tables. */
double __nv_cosh(double a) {
    return __builtin_fabs(a) < 712.0 ? clc_cosh(a) : a != a ? a : WP_INF;
}
double __nv_sinh(double a) {
    return __builtin_fabs(a) < 712.0 ? clc_sinh(a) : a + a * WP_INF;
}
double __nv_tanh(double a) {
    return __builtin_fabs(a) < 30.0 ? clc_tanh(a) : a != a ? a : __builtin_copysign(1.0, a);
}
float __nv_coshf(float a) {
    const float half = exp_scaled(__builtin_fabsf(a), -1);
    return half + 0.25f / half;
}
float __nv_sinhf(float a) {
    const float x = __builtin_fabsf(a);
    if (x < 1.0f) {
        const float t = clc_expm1f(x);
        return __builtin_copysignf(0.5f * (t + t / (t + 1.0f)), a);
    }
    const float half = exp_scaled(x, -1);
    return __builtin_copysignf(half - 0.25f / half, a);
}
float __nv_tanhf(float a) {
    return clc_tanhf(a);
}

/* ---- the fast forms ---- */

float __nv_fast_cosf(float a) {
    return __nvvm_cos_approx_f(a);
}
float __nv_fast_sinf(float a) {
    return __nvvm_sin_approx_f(a);
}
float __nv_fast_tanf(float a) {
    return __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a));
}
float __nv_fast_expf(float a) {
    return __nvvm_ex2_approx_f(a * 1.44269504f);
}
float __nv_fast_exp10f(float a) {
    return __nvvm_ex2_approx_f(a * 3.32192809f);
}
float __nv_fast_logf(float a) {
    return __nvvm_lg2_approx_f(a) * 0.693147181f;
}
float __nv_fast_log2f(float a) {
    return __nvvm_lg2_approx_f(a);
}
float __nv_fast_log10f(float a) {
    return __nvvm_lg2_approx_f(a) * 0.301029996f;
}
float __nv_fast_powf(float a, float b) {
    return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a));
}
float __nv_fast_fdividef(float a, float b) {
    return __nvvm_div_approx_f(a, b);
}
void __nv_fast_sincosf(float a, float *s, float *c) {
    *s = __nvvm_sin_approx_f(a);
    *c = __nvvm_cos_approx_f(a);
}

/* ---- trigonometry ---- */

/* libclc's reduction of doubles would read past its table for infinities and NaN, and it makes +0
 * of -0. */
#define REDUCED(name, of_zero)                                                                     \
    double __nv_##name(double a) {                                                                 \
        return a == 0.0 ? (of_zero) : is_finite(a) ? clc_##name(a) : a - a;                        \
    }                                                                                              \
    float __nv_##name##f(float a) {                                                                \
        return clc_##name##f(a);                                                                   \
    }
REDUCED(cos, 1.0)
REDUCED(sin, a)
REDUCED(tan, a)
/* a less the nearest multiple of a half, which is *quarter halves; exact. */
static double halves(double a, int *quarter) {
    const double whole = 2.0 * __builtin_trunc(0.5 * a);
    const double twice = __builtin_rint(2.0 * (a - whole));
    *quarter = (int)twice & 3;
    return (a - whole) - 0.5 * twice;
}
static float halvesf(float a, int *quarter) {
    const float whole = 2.0f * __builtin_truncf(0.5f * a);
    const float twice = __builtin_rintf(2.0f * (a - whole));
    *quarter = (int)twice & 3;
    return (a - whole) - 0.5f * twice;
}
double __nv_sinpi(double a) {
    int quarter;
    const double r = halves(a, &quarter);
    const double s = (quarter & 1) != 0 ? clc_cospi(r) : clc_sinpi(r);
    /* An integer gives a zero of the argument's sign. */
    return s == 0.0 ? __builtin_copysign(0.0, a) : (quarter & 2) != 0 ? -s : s;
}
double __nv_cospi(double a) {
    int quarter;
    const double r = halves(a, &quarter);
    const double s = (quarter & 1) != 0 ? clc_sinpi(r) : clc_cospi(r);
    return s == 0.0 ? 0.0 : quarter == 1 || quarter == 2 ? -s : s;
}
float __nv_sinpif(float a) {
    int quarter;
    const float r = halvesf(a, &quarter);
    const float s = (quarter & 1) != 0 ? clc_cospif(r) : clc_sinpif(r);
    return s == 0.0f ? __builtin_copysignf(0.0f, a) : (quarter & 2) != 0 ? -s : s;
}
float __nv_cospif(float a) {
    int quarter;
    const float r = halvesf(a, &quarter);
    const float s = (quarter & 1) != 0 ? clc_sinpif(r) : clc_cospif(r);
    return s == 0.0f ? 0.0f : quarter == 1 || quarter == 2 ? -s : s;
}
/* ---- roots and lengths ---- */

/* 1 / sqrt(high + low): the quotient, and its residual once more. */
static double inverse_root(double high, double low) {
    const double y = 1.0 / __nv_sqrt(high);
    const double product = high * y;
    const double error = __builtin_fma(high, y, -product);
    double e = __builtin_fma(-product, y, 1.0);
    e = __builtin_fma(-error, y, e);
    e = __builtin_fma(-low * y, y, e);
    return is_finite(e) ? __builtin_fma(0.5 * e, y, y) : y;
}
double __nv_rsqrt(double a) {
    if (a < 0x1p-1000) {
        return a > 0.0 ? inverse_root(a * 0x1p200, 0.0) * 0x1p100 : 1.0 / __nv_sqrt(a);
    }
    return inverse_root(a, 0.0);
}
float __nv_rsqrtf(float a) {
    return __nvvm_rsqrt_approx_f(a);
}
/* The quotient, and what its cube lacks once more; where that overflows, the quotient alone. */
#define INVERSE_CUBE_ROOT(type, name, cbrt, fma, fabs)                                             \
    type name(type a) {                                                                            \
        const type y = (type)1 / cbrt(a);                                                          \
        const type square = y * y;                                                                 \
        const type cube = square * y;                                                              \
        const type low = fma(square, y, -cube) + fma(y, y, -square) * y;                           \
        const type e = fma(-a, cube, (type)1) - a * low;                                           \
        return fabs(e) < (type)0.001 ? fma(y * e, (type)(1.0 / 3.0), y) : y;                       \
    }
INVERSE_CUBE_ROOT(double, __nv_rcbrt, clc_cbrt, __builtin_fma, __builtin_fabs)
INVERSE_CUBE_ROOT(float, __nv_rcbrtf, clc_cbrtf, __builtin_fmaf, __builtin_fabsf)

/* The high word of 1 / a: an approximation that programs refine. */
double __nv_rcp64h(double a) {
    return __nvvm_rcp_approx_ftz_d(a);
}

/* Lengths of vectors: scaled by the power of two of the largest component, so that squares neither
 * overflow nor vanish, and summed with their rounding errors. */
typedef struct squares {
    double high, low;
    int exponent;
    double special; /* the length where it is 0, infinite or NaN */
    int is_special;
} squares;

static squares sum_squares(int n, const double *v) {
    squares s = {0};
    double largest = 0.0;
    int has_infinity = 0, has_nan = 0;
    for (int i = 0; i < n; i++) {
        const double m = __builtin_fabs(v[i]);
        has_infinity |= m == WP_INF;
        has_nan |= m != m;
        largest = m > largest ? m : largest;
    }
    if (has_infinity || has_nan || largest == 0.0) {
        s.special = has_infinity ? WP_INF : has_nan ? from_bits(0x7ff8000000000000u) : 0.0;
        s.is_special = 1;
        return s;
    }
    (void)__nv_frexp(largest, &s.exponent);
    for (int i = 0; i < n; i++) {
        const double m = __nv_ldexp(v[i], -s.exponent);
        const double square = m * m;
        const double error = __builtin_fma(m, m, -square);
        const double sum = s.high + square;
        const double part = sum - s.high;
        s.low += ((s.high - (sum - part)) + (square - part)) + error;
        s.high = sum;
    }
    return s;
}
static double length(int n, const double *v) {
    const squares s = sum_squares(n, v);
    if (s.is_special) {
        return s.special;
    }
    const double root = __nv_sqrt(s.high);
    const double rest = __builtin_fma(-root, root, s.high) + s.low;
    return __nv_ldexp(root + 0.5 * rest / root, s.exponent);
}
static double inverse_length(int n, const double *v) {
    const squares s = sum_squares(n, v);
    return s.is_special ? 1.0 / s.special : __nv_ldexp(inverse_root(s.high, s.low), -s.exponent);
}

double __nv_norm(int a, const double *b) {
    return length(a, b);
}
double __nv_rnorm(int a, const double *b) {
    return inverse_length(a, b);
}
double __nv_rhypot(double a, double b) {
    const double v[2] = {a, b};
    return inverse_length(2, v);
}
float __nv_rhypotf(float a, float b) {
    const float v[2] = {a, b};
    return __nv_rnormf(2, v);
}
