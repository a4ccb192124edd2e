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

#include "device/devicelib/devicelib_define.h"

#include <limits.h>
#include <math.h>

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

/* Of which devicelib_float.c has the float's form. */
#define WP_DOUBLE_1(name)                                                                          \
    double __nv_##name(double a) {                                                                 \
        return name(a);                                                                            \
    }

/* ---- one to one ------------------------------------------------------------------------------ */

WP_FORMS_1(, acos)
WP_FORMS_1(, acosh)
WP_FORMS_1(, asin)
WP_FORMS_1(, asinh)
WP_FORMS_1(, atan)
WP_FORMS_1(, atanh)
WP_FORMS_1(, cos)
WP_FORMS_1(, cosh)
WP_DOUBLE_1(erf)
WP_FORMS_1(, erfc)
WP_DOUBLE_1(exp)
WP_DOUBLE_1(exp2)
WP_DOUBLE_1(expm1)
WP_FORMS_1(, j0)
WP_FORMS_1(, j1)
WP_DOUBLE_1(log)
WP_DOUBLE_1(log10)
WP_DOUBLE_1(log1p)
WP_DOUBLE_1(log2)
WP_FORMS_1(, logb)
WP_FORMS_1(, sin)
WP_FORMS_1(, sinh)
WP_FORMS_1(, tan)
WP_DOUBLE_1(tanh)
WP_FORMS_1(, tgamma)
WP_FORMS_1(, y0)
WP_FORMS_1(, y1)
WP_FORMS_2(, atan2)
WP_FORMS_2(, fdim)
WP_FORMS_2(, fmod)
WP_FORMS_2(, hypot)
WP_FORMS_2(, nextafter)
WP_FORMS_2(, remainder)
double __nv_pow(double a, double b) {
    return pow(a, b);
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

/* lgamma without its global sign, which would be a data race. */
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
float __nv_fast_fdividef(float a, float b) {
    return a / b;
}
void __nv_fast_sincosf(float a, float *s, float *c) {
    *s = sinf(a);
    *c = cosf(a);
}

/* ---- trigonometry ---------------------------------------------------------------------------- */

/* sin(pi a), reduced exactly to a quarter turn, so that multiples of 1/2 are exact. */
double __nv_sinpi(double a) {
    const double r = fmod(fabs(a), 2.0);
    const double s = r <= 0.25   ? sin(WP_PI * r)
                     : r <= 0.75 ? cos(WP_PI * (r - 0.5))
                     : r <= 1.25 ? sin(WP_PI * (1.0 - r))
                     : r <= 1.75 ? -cos(WP_PI * (r - 1.5))
                                 : sin(WP_PI * (r - 2.0));
    /* An integer gives a zero of the argument's sign. */
    return s == 0.0 ? copysign(0.0, a) : signbit(a) ? -s : s;
}
double __nv_cospi(double a) {
    const double r = fmod(fabs(a), 2.0);
    return r <= 0.25   ? cos(WP_PI * r)
           : r <= 0.75 ? sin(WP_PI * (0.5 - r))
           : r <= 1.25 ? -cos(WP_PI * (r - 1.0))
           : r <= 1.75 ? sin(WP_PI * (r - 1.5))
                       : cos(WP_PI * (r - 2.0));
}
WP_FLOAT_FORM(sinpi)
WP_FLOAT_FORM(cospi)
/* ---- roots and lengths ----------------------------------------------------------------------- */

double __nv_rsqrt(double a) {
    return 1.0 / __nv_sqrt(a);
}
float __nv_rsqrtf(float a) {
    return (float)(1.0 / __nv_sqrt((double)a));
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

double __nv_norm(int a, const double *b) {
    return length(a, b);
}
double __nv_rnorm(int a, const double *b) {
    return 1.0 / length(a, b);
}
double __nv_rhypot(double a, double b) {
    return 1.0 / hypot(a, b);
}
float __nv_rhypotf(float a, float b) {
    return (float)(1.0 / hypot((double)a, (double)b));
}

double __nv_normcdf(double a) {
    return (double)(0.5L * erfcl(-(long double)a / sqrtl(2.0L)));
}

/* ---- modified Bessel functions ---- */

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
