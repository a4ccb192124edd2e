/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mathematical functions: the C library's, and CUDA's own on top of them.
 *
 * The C library's functions are declared again as const, so that calls of them have no side effect
 * (errno) and clang may turn them into its intrinsics, fold them and vectorise them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* exp10, lgamma_r */
#endif

#include "device/devicelib.h"

#include <limits.h>
#include <math.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
/* A processor instruction for every element type, not a call. */
#define WP_SQRT(a) __builtin_elementwise_sqrt(a)
#define WP_SQRTF(a) __builtin_elementwise_sqrt(a)
#else
#define WP_SQRT(a) sqrt(a)
#define WP_SQRTF(a) sqrtf(a)
#endif

#define PURE_1(name)                                                                               \
    extern double name(double) __attribute__((const));                                             \
    extern float name##f(float) __attribute__((const));
#define PURE_2(name)                                                                               \
    extern double name(double, double) __attribute__((const));                                     \
    extern float name##f(float, float) __attribute__((const));
PURE_1(acos)
PURE_1(acosh)
PURE_1(asin)
PURE_1(asinh)
PURE_1(atan)
PURE_1(atanh)
PURE_1(cos)
PURE_1(cosh)
PURE_1(erf)
PURE_1(erfc)
PURE_1(exp)
PURE_1(exp10)
PURE_1(exp2)
PURE_1(expm1)
PURE_1(j0)
PURE_1(j1)
PURE_1(log)
PURE_1(log10)
PURE_1(log1p)
PURE_1(log2)
PURE_1(logb)
PURE_1(sin)
PURE_1(sinh)
PURE_1(sqrt)
PURE_1(tan)
PURE_1(tanh)
PURE_1(tgamma)
PURE_1(y0)
PURE_1(y1)
PURE_2(atan2)
PURE_2(fdim)
PURE_2(fmod)
PURE_2(hypot)
PURE_2(nextafter)
PURE_2(pow)
PURE_2(remainder)
extern double ldexp(double, int) __attribute__((const));
extern float ldexpf(float, int) __attribute__((const));
extern double jn(int, double) __attribute__((const));
extern float jnf(int, float) __attribute__((const));
extern double yn(int, double) __attribute__((const));
extern float ynf(int, float) __attribute__((const));
extern double fma(double, double, double) __attribute__((const));
extern float fmaf(float, float, float) __attribute__((const));
#undef PURE_1
#undef PURE_2

static const double pi = 3.14159265358979323846;
static const double sqrt_2 = 1.41421356237309504880;
static const double half_sqrt_pi = 0.88622692545275801365;

/* ---- one to one ------------------------------------------------------------------------------ */

#define SAME_1(name)                                                                               \
    double __nv_##name(double a) {                                                                 \
        return name(a);                                                                            \
    }                                                                                              \
    float __nv_##name##f(float a) {                                                                \
        return name##f(a);                                                                         \
    }
#define SAME_2(name)                                                                               \
    double __nv_##name(double a, double b) {                                                       \
        return name(a, b);                                                                         \
    }                                                                                              \
    float __nv_##name##f(float a, float b) {                                                       \
        return name##f(a, b);                                                                      \
    }
SAME_1(acos)
SAME_1(acosh)
SAME_1(asin)
SAME_1(asinh)
SAME_1(atan)
SAME_1(atanh)
SAME_1(ceil)
SAME_1(cos)
SAME_1(cosh)
SAME_1(erf)
SAME_1(erfc)
SAME_1(exp)
SAME_1(exp2)
SAME_1(expm1)
SAME_1(fabs)
SAME_1(floor)
SAME_1(j0)
SAME_1(j1)
SAME_1(log)
SAME_1(log10)
SAME_1(log1p)
SAME_1(log2)
SAME_1(logb)
SAME_1(nearbyint)
SAME_1(rint)
SAME_1(round)
SAME_1(sin)
SAME_1(sinh)
SAME_1(tan)
SAME_1(tanh)
SAME_1(tgamma)
SAME_1(trunc)
SAME_1(y0)
SAME_1(y1)
SAME_2(atan2)
SAME_2(copysign)
SAME_2(fdim)
SAME_2(fmax)
SAME_2(fmin)
SAME_2(fmod)
SAME_2(hypot)
SAME_2(nextafter)
SAME_2(pow)
SAME_2(remainder)

double __nv_sqrt(double a) {
    return WP_SQRT(a);
}
float __nv_sqrtf(float a) {
    return WP_SQRTF(a);
}
double __nv_fma(double a, double b, double c) {
    return fma(a, b, c);
}
float __nv_fmaf(float a, float b, float c) {
    return fmaf(a, b, c);
}
double __nv_jn(int a, double b) {
    return jn(a, b);
}
float __nv_jnf(int a, float b) {
    return jnf(a, b);
}
double __nv_yn(int a, double b) {
    return yn(a, b);
}
float __nv_ynf(int a, float b) {
    return ynf(a, b);
}
double __nv_ldexp(double a, int b) {
    return ldexp(a, b);
}
float __nv_ldexpf(float a, int b) {
    return ldexpf(a, b);
}
double __nv_scalbn(double a, int b) {
    return ldexp(a, b);
}
float __nv_scalbnf(float a, int b) {
    return ldexpf(a, b);
}
double __nv_frexp(double a, int *b) {
    return frexp(a, b);
}
float __nv_frexpf(float a, int *b) {
    return frexpf(a, b);
}
double __nv_modf(double a, double *b) {
    return modf(a, b);
}
float __nv_modff(float a, float *b) {
    return modff(a, b);
}
double __nv_remquo(double a, double b, int *c) {
    return remquo(a, b, c);
}
float __nv_remquof(float a, float b, int *c) {
    return remquof(a, b, c);
}

/* lgamma without its global sign, which threads would race for. */
double __nv_lgamma(double a) {
    int sign;
    return lgamma_r(a, &sign);
}
float __nv_lgammaf(float a) {
    int sign;
    return lgammaf_r(a, &sign);
}

/* As CUDA: INT_MIN for 0 and NaN, INT_MAX for infinity. */
int __nv_ilogb(double a) {
    return a == 0.0 || a != a ? INT_MIN : isinf(a) ? INT_MAX : ilogb(a);
}
int __nv_ilogbf(float a) {
    return a == 0.0f || a != a ? INT_MIN : isinf(a) ? INT_MAX : ilogbf(a);
}

int __nv_isnand(double a) {
    return a != a;
}
int __nv_isnanf(float a) {
    return a != a;
}
int __nv_isinfd(double a) {
    return fabs(a) == HUGE_VAL;
}
int __nv_isinff(float a) {
    return fabsf(a) == HUGE_VALF;
}
int __nv_isfinited(double a) {
    return fabs(a) < HUGE_VAL;
}
int __nv_finitef(float a) {
    return fabsf(a) < HUGE_VALF;
}
int __nv_signbitd(double a) {
    return signbit(a) != 0;
}
int __nv_signbitf(float a) {
    return signbit(a) != 0;
}
double __nv_nan(const signed char *a) {
    return nan((const char *)a);
}
float __nv_nanf(const signed char *a) {
    return nanf((const char *)a);
}
float __nv_saturatef(float a) {
    return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f;
}

/* ---- the fast forms -------------------------------------------------------------------------- */

float __nv_fast_cosf(float a) {
    return cosf(a);
}
float __nv_fast_sinf(float a) {
    return sinf(a);
}
float __nv_fast_tanf(float a) {
    return tanf(a);
}
float __nv_fast_expf(float a) {
    return expf(a);
}
float __nv_fast_exp10f(float a) {
    return exp10f(a);
}
float __nv_fast_logf(float a) {
    return logf(a);
}
float __nv_fast_log2f(float a) {
    return log2f(a);
}
float __nv_fast_log10f(float a) {
    return log10f(a);
}
float __nv_fast_powf(float a, float b) {
    return powf(a, b);
}
float __nv_fast_fdividef(float a, float b) {
    return a / b;
}
void __nv_fast_sincosf(float a, float *s, float *c) {
    *s = sinf(a);
    *c = cosf(a);
}

/* ---- trigonometry ---------------------------------------------------------------------------- */

void __nv_sincos(double a, double *b, double *c) {
    *b = sin(a);
    *c = cos(a);
}
void __nv_sincosf(float a, float *b, float *c) {
    *b = sinf(a);
    *c = cosf(a);
}

/* sin(pi a), reduced exactly to a quarter turn, so that multiples of 1/2 are exact. */
double __nv_sinpi(double a) {
    const double r = fmod(fabs(a), 2.0);
    const double s = r <= 0.25   ? sin(pi * r)
                     : r <= 0.75 ? cos(pi * (r - 0.5))
                     : r <= 1.25 ? sin(pi * (1.0 - r))
                     : r <= 1.75 ? -cos(pi * (r - 1.5))
                                 : sin(pi * (r - 2.0));
    /* An integer gives a zero of the argument's sign. */
    return s == 0.0 ? copysign(0.0, a) : signbit(a) ? -s : s;
}
double __nv_cospi(double a) {
    const double r = fmod(fabs(a), 2.0);
    return r <= 0.25   ? cos(pi * r)
           : r <= 0.75 ? sin(pi * (0.5 - r))
           : r <= 1.25 ? -cos(pi * (r - 1.0))
           : r <= 1.75 ? sin(pi * (r - 1.5))
                       : cos(pi * (r - 2.0));
}
float __nv_sinpif(float a) {
    return (float)__nv_sinpi((double)a);
}
float __nv_cospif(float a) {
    return (float)__nv_cospi((double)a);
}
void __nv_sincospi(double a, double *b, double *c) {
    *b = __nv_sinpi(a);
    *c = __nv_cospi(a);
}
void __nv_sincospif(float a, float *b, float *c) {
    *b = __nv_sinpif(a);
    *c = __nv_cospif(a);
}

/* ---- roots and lengths ----------------------------------------------------------------------- */

double __nv_rsqrt(double a) {
    return 1.0 / WP_SQRT(a);
}
float __nv_rsqrtf(float a) {
    return (float)(1.0 / WP_SQRT((double)a));
}
/* libm's double forms miss CUDA's bound of 1 ulp. */
double __nv_cbrt(double a) {
    return (double)cbrtl(a);
}
float __nv_cbrtf(float a) {
    return cbrtf(a);
}
double __nv_exp10(double a) {
    return (double)exp10l(a);
}
float __nv_exp10f(float a) {
    return exp10f(a);
}
double __nv_rcbrt(double a) {
    return (double)(1.0L / cbrtl(a));
}
float __nv_rcbrtf(float a) {
    return (float)(1.0 / cbrt((double)a));
}

/* The high word of 1 / a: an approximation that programs refine. */
double __nv_rcp64h(double a) {
    return __nv_longlong_as_double(
        (long long)(__nv_double_as_longlong(1.0 / a) & 0xffffffff00000000ull));
}

/* Lengths of vectors: divided by the power of two of the largest component, so that squares
 * neither overflow nor vanish; an infinite component makes the length infinite. */
static double length(int n, const double *v) {
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        const double m = fabs(v[i]);
        if (m == HUGE_VAL) {
            return m;
        }
        largest = m > largest || m != m ? m : largest;
    }
    if (largest == 0.0 || largest != largest) {
        return largest;
    }
    int e;
    (void)frexp(largest, &e);
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const double m = ldexp(v[i], -e);
        sum += m * m;
    }
    return ldexp(sqrt(sum), e);
}

/* Floats need no care in double. */
static double lengthf(int n, const float *v) {
    double sum = 0.0;
    int has_infinity = 0;
    for (int i = 0; i < n; i++) {
        has_infinity |= fabsf(v[i]) == HUGE_VALF;
        sum += (double)v[i] * (double)v[i];
    }
    return has_infinity ? HUGE_VAL : sqrt(sum);
}

double __nv_norm(int a, const double *b) {
    return length(a, b);
}
float __nv_normf(int a, const float *b) {
    return (float)lengthf(a, b);
}
double __nv_rnorm(int a, const double *b) {
    return 1.0 / length(a, b);
}
float __nv_rnormf(int a, const float *b) {
    return (float)(1.0 / lengthf(a, b));
}
double __nv_norm3d(double a, double b, double c) {
    const double v[3] = {a, b, c};
    return length(3, v);
}
float __nv_norm3df(float a, float b, float c) {
    const float v[3] = {a, b, c};
    return (float)lengthf(3, v);
}
double __nv_norm4d(double a, double b, double c, double d) {
    const double v[4] = {a, b, c, d};
    return length(4, v);
}
float __nv_norm4df(float a, float b, float c, float d) {
    const float v[4] = {a, b, c, d};
    return (float)lengthf(4, v);
}
double __nv_rnorm3d(double a, double b, double c) {
    return 1.0 / __nv_norm3d(a, b, c);
}
float __nv_rnorm3df(float a, float b, float c) {
    const float v[3] = {a, b, c};
    return (float)(1.0 / lengthf(3, v));
}
double __nv_rnorm4d(double a, double b, double c, double d) {
    return 1.0 / __nv_norm4d(a, b, c, d);
}
float __nv_rnorm4df(float a, float b, float c, float d) {
    const float v[4] = {a, b, c, d};
    return (float)(1.0 / lengthf(4, v));
}
double __nv_rhypot(double a, double b) {
    return 1.0 / hypot(a, b);
}
float __nv_rhypotf(float a, float b) {
    return (float)(1.0 / hypot((double)a, (double)b));
}

/* Integer powers by squaring. */
double __nv_powi(double a, int b) {
    unsigned int n = b < 0 ? 0u - (unsigned int)b : (unsigned int)b;
    double result = 1.0;
    for (; n != 0; n >>= 1) {
        result = (n & 1u) != 0 ? result * a : result;
        a *= a;
    }
    return b < 0 ? 1.0 / result : result;
}
float __nv_powif(float a, int b) {
    unsigned int n = b < 0 ? 0u - (unsigned int)b : (unsigned int)b;
    float result = 1.0f;
    for (; n != 0; n >>= 1) {
        result = (n & 1u) != 0 ? result * a : result;
        a *= a;
    }
    return b < 0 ? 1.0f / result : result;
}

/* ---- the normal distribution ------------------------------------------------------------------
 */

/* exp(a²) erfc(a): the product while erfc is a normal number, its continued fraction beyond. The
 * square is split, so that its rounding does not come out magnified. */
double __nv_erfcx(double a) {
    if (a < 10.0) {
        const double high = a * a;
        const double low = fma(a, a, -high);
        const double e = exp(high);
        return isinf(e) ? e * 2.0 : e * erfc(a) * (1.0 + low);
    }
    double t = a;
    for (int k = 30; k > 0; k--) {
        t = a + 0.5 * k / t;
    }
    return 0.56418958354775628695 / t;
}
float __nv_erfcxf(float a) {
    return (float)__nv_erfcx((double)a);
}

/* Inverse of erf: a first guess from its asymptotic form, then Halley's iteration on the
 * difference, taken between the small tails where erf is near 1. */
double __nv_erfinv(double a) {
    if (!(a > -1.0 && a < 1.0)) {
        return a == 1.0 ? HUGE_VAL : a == -1.0 ? -HUGE_VAL : (double)NAN;
    }
    const double l = log1p(-a * a);
    const double m = 4.33074675 + 0.5 * l;
    double x = copysign(sqrt(sqrt(m * m - l / 0.147) - m), a);
    for (int i = 0; i < 3; i++) {
        const double e = a > 0.5    ? erfc(x) - (1.0 - a)
                         : a < -0.5 ? (1.0 + a) - erfc(-x)
                                    : a - erf(x);
        const double step = e * half_sqrt_pi * exp(x * x);
        x += step / (1.0 - x * step);
    }
    return x;
}
float __nv_erfinvf(float a) {
    return (float)__nv_erfinv((double)a);
}

/* Inverse of erfc: its small arguments by Newton's iteration on logarithms. */
double __nv_erfcinv(double a) {
    if (!(a > 0.0 && a < 2.0)) {
        return a == 0.0 ? HUGE_VAL : a == 2.0 ? -HUGE_VAL : (double)NAN;
    }
    if (a > 0.25) {
        return a > 1.75 ? -__nv_erfcinv(2.0 - a) : __nv_erfinv(1.0 - a);
    }
    const double l = log(a);
    double x = sqrt(-l - 0.5 * log(-l * pi));
    for (int i = 0; i < 5; i++) {
        const double scaled = __nv_erfcx(x);
        x += (log(scaled) - x * x - l) * scaled * half_sqrt_pi;
    }
    return x;
}
float __nv_erfcinvf(float a) {
    return (float)__nv_erfcinv((double)a);
}

double __nv_normcdf(double a) {
    return (double)(0.5L * erfcl(-(long double)a / sqrtl(2.0L)));
}
float __nv_normcdff(float a) {
    return (float)__nv_normcdf((double)a);
}
double __nv_normcdfinv(double a) {
    return -sqrt_2 * __nv_erfcinv(2.0 * a);
}
float __nv_normcdfinvf(float a) {
    return (float)__nv_normcdfinv((double)a);
}

/* ---- modified Bessel functions ------------------------------------------------------------------
 */

/* The power series, all terms of one sign: sum of (a²/4)^k / (k! (k + order)!). */
static double bessel_series(double a, int order) {
    const double q = 0.25 * a * a;
    double term = 1.0;
    double sum = 1.0;
    for (int k = 1; k < 2000 && term > sum * 1e-17; k++) {
        term *= q / ((double)k * (k + order));
        sum += term;
    }
    return sum;
}
double __nv_cyl_bessel_i0(double a) {
    return bessel_series(a, 0);
}
double __nv_cyl_bessel_i1(double a) {
    return 0.5 * a * bessel_series(a, 1);
}
float __nv_cyl_bessel_i0f(float a) {
    return (float)bessel_series((double)a, 0);
}
float __nv_cyl_bessel_i1f(float a) {
    return (float)(0.5 * (double)a * bessel_series((double)a, 1));
}
