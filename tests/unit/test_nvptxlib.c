/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The mathematics of the GPU's device library, compiled for this machine from the same bitcode,
 * against the C library's long double functions: the largest error in units in the last place over
 * random and special arguments must stay within a bound. Approximations of the GPU's own (`fast`
 * forms, rsqrtf) cannot be measured here.
 */
#define _GNU_SOURCE 1

#include "wp_random.h"
#include "wp_test.h"

#include <limits.h>
#include <math.h>

#include "device/devicelib/devicelib.h"

/* GPU instructions that the measured functions are made of. */
float gpu_rsqrt(float a) __asm__("nvvm.rsqrt.approx.f");
float gpu_rsqrt(float a) {
    return 1.0f / sqrtf(a);
}

static uint64_t seed = 20261121;

static uint64_t next_random(void) {
    return wp_random_next(&seed);
}

/* Bits of any kind, moderate and small values, special ones. */
static double random_double(void) {
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.5,
                                     -2.0,
                                     0x1p-1074,
                                     -0x1p-1030,
                                     HUGE_VAL,
                                     -HUGE_VAL,
                                     (double)NAN,
                                     3.0,
                                     0x1.fffffffffffffp1023,
                                     1e300,
                                     -1e-300,
                                     709.5,
                                     1e9};
    const uint64_t bits = next_random();
    double x;
    switch (next_random() % 8) {
    case 0: return special[bits % (sizeof(special) / sizeof(special[0]))];
    case 1: memcpy(&x, &bits, sizeof(x)); return x;
    case 2:
    case 3: return (double)(int64_t)bits * 0x1p-54;
    case 4: return (double)(int64_t)bits * 0x1p-66;
    case 5: return (double)(int64_t)bits * 0x1p-63;
    default: return (double)(int64_t)bits * 0x1p-60;
    }
}
static float random_float(void) {
    const uint32_t bits = (uint32_t)next_random();
    float x;
    memcpy(&x, &bits, sizeof(x));
    return next_random() % 4 == 0 ? x : (float)random_double();
}

/* The distance from the exact value, in units in the last place of a result of `digits` bits. */
static double ulps(long double exact, double got, int digits, int least, double largest) {
    if (isnan(exact) || isnan(got)) return isnan(exact) && isnan(got) ? 0 : 1e30;
    if (fabsl(exact) > (long double)largest * (1 + 0.25L / (long double)((uint64_t)1 << digits)))
        return isinf(got) && (got > 0) == (exact > 0) ? 0 : fabs(got) == largest ? 1 : 1e30;
    if (isinf(got)) return fabsl(exact) > (long double)largest * 0.9999999L ? 1 : 1e30;
    if (exact == 0) return got == 0 ? 0 : 1e30;
    int e;
    (void)frexpl(exact, &e);
    if (e < least) e = least;
    return (double)(fabsl(exact - (long double)got) / ldexpl(1, e - digits));
}
static double ulps_double(long double exact, double got) {
    return ulps(exact, got, 53, -1021, 0x1.fffffffffffffp1023);
}
static double ulps_float(long double exact, float got) {
    return ulps(exact, (double)got, 24, -125, 0x1.fffffep127);
}

/* A zero of the wrong sign. */
static bool loses_sign(long double exact, double got) {
    return exact == 0 && got == 0 && !signbit(exact) != !signbit(got);
}

/* ---- references where the C library has none ---- */

static const long double pil = 3.14159265358979323846264338327950288L;

static long double sinpi_ref(long double x) {
    long double r = fmodl(fabsl(x), 2), s = 1;
    if (isinf(x)) return NAN;
    if (r == 0 || r == 1) return copysignl(0, x);
    if (r >= 1) r -= 1, s = -1;
    if (r > 0.5L) r = 1 - r;
    return (signbit(x) ? -s : s) * (r > 0.25L ? cosl(pil * (0.5L - r)) : sinl(pil * r));
}
static long double cospi_ref(long double x) {
    long double r = fmodl(fabsl(x), 2);
    if (isinf(x)) return NAN;
    if (r > 1) r = 2 - r;
    return r <= 0.25L ? cosl(pil * r) : r <= 0.75L ? sinl(pil * (0.5L - r)) : -cosl(pil * (1 - r));
}
static long double rsqrt_ref(long double x) {
    return 1 / sqrtl(x);
}
static long double rcbrt_ref(long double x) {
    return 1 / cbrtl(x);
}
static long double rhypot_ref(long double x, long double y) {
    return 1 / hypotl(x, y);
}
static long double erfcx_ref(long double x) {
    if (x > 100) {
        long double q = 1 / (2 * x * x);
        return (1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q)))) / (x * sqrtl(pil));
    }
    long double e = expl(x * x);
    return isinf(e) ? e : e * erfcl(x);
}
static long double normcdf_ref(long double x) {
    return 0.5L * erfcl(-x / sqrtl(2));
}
/* Newton from the library's own result: right if it is near. */
static long double erfcinv_from(long double a, long double x) {
    for (int i = 0; i < 3; i++)
        x += (erfcl(x) - a) * 0.5L * sqrtl(pil) * expl(x * x);
    return x;
}
static long double bessel_i_ref(long double x, int order) {
    long double q = x * x / 4, term = 1, sum = 1;
    if (!(fabsl(x) < 800)) return order ? x * INFINITY : x * x;
    for (int k = 1; k < 3000 && term > sum * 1e-21L; k++) {
        term *= q / ((long double)k * (k + order));
        sum += term;
    }
    return order ? x / 2 * sum : sum;
}
static long double i0_ref(long double x) {
    return bessel_i_ref(x, 0);
}
static long double i1_ref(long double x) {
    return bessel_i_ref(x, 1);
}

/* ---- one argument ---- */

/* The bound in ulp for double and float; what CUDA documents, or what was measured where that is
 * more. */
typedef struct function_1 {
    const char *name;
    double (*d)(double);
    float (*f)(float);
    long double (*exact)(long double);
    double bound_d, bound_f;
    double low, high; /* arguments outside are skipped */
} function_1;

#define F1(name, exact, bound_d, bound_f, ...)                                                     \
    {#name, __nv_##name, __nv_##name##f, exact, bound_d, bound_f, __VA_ARGS__}
#define ALL -HUGE_VAL, HUGE_VAL

static const function_1 functions_1[] = {
    F1(acos, acosl, 2, 2, ALL),
    F1(acosh, acoshl, 3, 4, ALL),
    F1(asin, asinl, 2, 2, ALL),
    F1(asinh, asinhl, 3, 3, ALL),
    F1(atan, atanl, 2, 2, ALL),
    F1(atanh, atanhl, 2, 3, ALL),
    F1(cbrt, cbrtl, 1, 1, ALL),
    F1(ceil, ceill, 0, 0, ALL),
    F1(cos, cosl, 2, 2, -1e15, 1e15),
    F1(cosh, coshl, 1.5, 2, ALL),
    F1(cospi, cospi_ref, 2, 2, ALL),
    F1(cyl_bessel_i0, i0_ref, 6, 6, -700, 700),
    F1(cyl_bessel_i1, i1_ref, 6, 6, -700, 700),
    F1(erf, erfl, 2, 2, ALL),
    F1(erfc, erfcl, 5, 4, ALL),
    F1(erfcx, erfcx_ref, 4, 4, -26, HUGE_VAL),
    F1(exp, expl, 1, 1, ALL),
    F1(exp10, exp10l, 1, 2, ALL),
    F1(exp2, exp2l, 1, 2, ALL),
    F1(expm1, expm1l, 1.25, 1.25, ALL),
    F1(fabs, fabsl, 0, 0, ALL),
    F1(floor, floorl, 0, 0, ALL),
    F1(lgamma, lgammal, 4, 6, 0, HUGE_VAL),
    F1(lgamma, lgammal, 4, 6, -1e6, -12),
    F1(log, logl, 1, 1, ALL),
    F1(log10, log10l, 1, 2, ALL),
    F1(log1p, log1pl, 1, 1, ALL),
    F1(log2, log2l, 1, 1, ALL),
    F1(logb, logbl, 0, 0, ALL),
    F1(nearbyint, nearbyintl, 0, 0, ALL),
    F1(normcdf, normcdf_ref, 5, 5, ALL),
    F1(rcbrt, rcbrt_ref, 1, 1, ALL),
    F1(rint, rintl, 0, 0, ALL),
    F1(round, roundl, 0, 0, ALL),
    F1(sin, sinl, 2, 2, -1e15, 1e15),
    F1(sinh, sinhl, 2, 3, ALL),
    F1(sinpi, sinpi_ref, 2, 2, ALL),
    F1(sqrt, sqrtl, 0.5, 0.5, ALL),
    F1(tan, tanl, 2, 4, -1e15, 1e15),
    F1(tanh, tanhl, 1.5, 2, ALL),
    F1(tgamma, tgammal, 10, 5, ALL),
    F1(trunc, truncl, 0, 0, ALL),
    {"rsqrt", __nv_rsqrt, NULL, rsqrt_ref, 1, 0, ALL},
};

enum { ROUNDS = 30000 };

static void functions_of_one_argument_stay_within_their_bounds(void **state) {
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof(functions_1) / sizeof(functions_1[0]); i++) {
        const function_1 *t = &functions_1[i];
        double worst_d = 0, at_d = 0, worst_f = 0, at_f = 0;
        for (int n = 0; n < ROUNDS; n++) {
            const double x = random_double();
            const float y = random_float();
            if (!(x < t->low || x > t->high)) {
                const long double exact = t->exact((long double)x);
                const double got = t->d(x), u = ulps_double(exact, got);
                if (u > worst_d) worst_d = u, at_d = x;
                if (loses_sign(exact, got)) fail_msg("%s(%g) is %g", t->name, x, got);
            }
            if (t->f && !((double)y < t->low || (double)y > t->high)) {
                const long double exact = t->exact((long double)y);
                const float got = t->f(y);
                const double u = ulps_float(exact, got);
                if (u > worst_f) worst_f = u, at_f = (double)y;
                if (loses_sign(exact, (double)got))
                    fail_msg("%sf(%g) is %g", t->name, (double)y, (double)got);
            }
        }
        printf("%-14s %8.3g (%.17g) %8.3g (%.9g)\n", t->name, worst_d, at_d, worst_f, at_f);
        failures += worst_d > t->bound_d || worst_f > t->bound_f;
    }
    assert_int_equal(failures, 0);
}

/* ---- two arguments ---- */

typedef struct function_2 {
    const char *name;
    double (*d)(double, double);
    float (*f)(float, float);
    long double (*exact)(long double, long double);
    double bound_d, bound_f;
} function_2;

#define F2(name, exact, bound_d, bound_f)                                                          \
    {#name, __nv_##name, __nv_##name##f, exact, bound_d, bound_f}

static const function_2 functions_2[] = {
    F2(atan2, atan2l, 2, 3),      F2(copysign, copysignl, 0, 0), F2(fdim, fdiml, 0.5, 0.5),
    F2(fmax, fmaxl, 0, 0),        F2(fmin, fminl, 0, 0),         F2(fmod, fmodl, 0, 0),
    F2(hypot, hypotl, 2, 3),      F2(pow, powl, 1, 2),           F2(remainder, remainderl, 0, 0),
    F2(rhypot, rhypot_ref, 1, 1),
};

static void functions_of_two_arguments_stay_within_their_bounds(void **state) {
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof(functions_2) / sizeof(functions_2[0]); i++) {
        const function_2 *t = &functions_2[i];
        double worst_d = 0, x_d = 0, y_d = 0, worst_f = 0, x_f = 0, y_f = 0;
        for (int n = 0; n < 2 * ROUNDS; n++) {
            const double x = random_double(), y = random_double();
            double u = ulps_double(t->exact((long double)x, (long double)y), t->d(x, y));
            if (u > worst_d) worst_d = u, x_d = x, y_d = y;
            const float v = random_float(), w = random_float();
            u = ulps_float(t->exact((long double)v, (long double)w), t->f(v, w));
            if (u > worst_f) worst_f = u, x_f = (double)v, y_f = (double)w;
        }
        printf("%-14s %8.3g (%.17g, %.17g) %8.3g (%.9g, %.9g)\n", t->name, worst_d, x_d, y_d,
               worst_f, x_f, y_f);
        failures += worst_d > t->bound_d || worst_f > t->bound_f;
    }
    assert_int_equal(failures, 0);
}

/* ---- the others ---- */

static void inverses_of_the_error_functions_are_inverses(void **state) {
    (void)state;
    double worst_c = 0, worst_i = 0, worst_n = 0, at_c = 0, at_i = 0, at_n = 0;
    for (int n = 0; n < 3000; n++) {
        const double u01 = (double)((next_random() >> 12) | 1) * 0x1p-52;
        const double small = n % 3 == 0 ? ldexp(u01, -(int)(next_random() % 900)) : u01;
        const double c = n % 5 == 0 ? 2 - small : small;
        if (c < 2) {
            const double got = __nv_erfcinv(c);
            const double u = ulps_double(erfcinv_from((long double)c, (long double)got), got);
            if (u > worst_c) worst_c = u, at_c = c;
        }
        const double a = n & 1 ? -u01 : u01;
        const double got_i = __nv_erfinv(a);
        long double exact = erfcinv_from(1 - fabsl((long double)a), fabsl((long double)got_i));
        double u = ulps_double(a < 0 ? -exact : exact, got_i);
        if (u > worst_i && fabs(a) > 1e-3) worst_i = u, at_i = a;
        const double got_n = __nv_normcdfinv(small);
        exact = -sqrtl(2) * erfcinv_from(2 * (long double)small, -(long double)got_n / sqrtl(2));
        u = ulps_double(exact, got_n);
        if (u > worst_n && fabs(small - 0.5) > 1e-2) worst_n = u, at_n = small;
    }
    printf("erfcinv %.3g (%.17g) erfinv %.3g (%.17g) normcdfinv %.3g (%.17g)\n", worst_c, at_c,
           worst_i, at_i, worst_n, at_n);
    assert_true(worst_c <= 6);
    assert_true(worst_i <= 5);
    assert_true(worst_n <= 8);
    assert_true(isinf(__nv_erfcinv(0)) && isnan(__nv_erfinv(1.5)) && isinf(__nv_erfinv(-1)));
}

static void bessel_functions_are_right_to_the_rounding_of_one(void **state) {
    (void)state;
    double worst[6] = {0}, at[6] = {0};
    for (int n = 0; n < 6000; n++) {
        const double x =
            ldexp((double)(next_random() >> 12) * 0x1p-52, (int)(next_random() % 12) - 3);
        const int order = (int)(next_random() % 12);
        if (x <= 0) continue;
        const double got[] = {__nv_j0(x), __nv_j1(x),        __nv_y0(x),
                              __nv_y1(x), __nv_jn(order, x), __nv_yn(order, x)};
        const long double l = (long double)x;
        const long double exact[] = {j0l(l), j1l(l), y0l(l), y1l(l), jnl(order, l), ynl(order, l)};
        for (int i = 0; i < 6; i++) {
            const double error = (double)(fabsl((long double)got[i] - exact[i]) /
                                          fmaxl(i == 4 ? 0.1L : 0.3L, fabsl(exact[i])));
            if (error > worst[i]) worst[i] = error, at[i] = x;
        }
    }
    for (int i = 0; i < 6; i++)
        printf("bessel %d: %.3g (%.17g)\n", i, worst[i], at[i]);
    for (int i = 0; i < 6; i++)
        assert_true(worst[i] < 1e-14);
    assert_true(__nv_j1(-2.5) == -__nv_j1(2.5) && __nv_j0(-2.5) == __nv_j0(2.5));
    assert_true(isnan(__nv_y0(-1)) && isinf(__nv_y1(0)) && __nv_jn(3, 0.0) == 0);
}

static void parts_of_numbers_are_those_of_the_c_library(void **state) {
    (void)state;
    for (int n = 0; n < 100000; n++) {
        const double x = random_double(), y = random_double();
        const float f = random_float();
        int got = 0, wanted = 0;
        double whole, other;
        float whole_f, other_f;
        const int shift = (int)(next_random() % 5000) - 2500;
        assert_true(ulps_double(frexp(x, &wanted), __nv_frexp(x, &got)) == 0);
        assert_true(isnan(x) || isinf(x) || got == wanted);
        assert_true(ulps_float((long double)frexpf(f, &wanted), __nv_frexpf(f, &got)) == 0);
        assert_true(isnan(f) || isinf(f) || got == wanted);
        assert_true(ulps_double(modf(x, &whole), __nv_modf(x, &other)) == 0);
        assert_true(ulps_double(whole, other) == 0);
        assert_true(ulps_float((long double)modff(f, &whole_f), __nv_modff(f, &other_f)) == 0);
        assert_true(ulps_float((long double)whole_f, other_f) == 0);
        assert_true(ulps_double(ldexp(x, shift), __nv_ldexp(x, shift)) == 0);
        assert_true(ulps_float((long double)ldexpf(f, shift / 8), __nv_ldexpf(f, shift / 8)) == 0);
        assert_true(ulps_double(nextafter(x, y), __nv_nextafter(x, y)) == 0);
        const double rest = remquo(x, y, &wanted);
        assert_true(ulps_double(rest, __nv_remquo(x, y, &got)) == 0);
        assert_true(isnan(rest) || isinf(y) || got % 8 == wanted % 8);
        if (x != 0 && isfinite(x)) assert_int_equal(__nv_ilogb(x), ilogb(x));
    }
    assert_int_equal(__nv_ilogb(0), INT_MIN);
    assert_int_equal(__nv_ilogbf(HUGE_VALF), INT_MAX);
    const double v[] = {3e200, 4e200, 12e200};
    assert_near(__nv_norm(3, v), 13e200, 3e-16);
    assert_near(__nv_rnorm(3, v), 1 / 13e200, 3e-16);
    assert_near(__nv_powi(3.0, -3), 1 / 27.0, 3e-16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_one_argument_stay_within_their_bounds),
        cmocka_unit_test(functions_of_two_arguments_stay_within_their_bounds),
        cmocka_unit_test(inverses_of_the_error_functions_are_inverses),
        cmocka_unit_test(bessel_functions_are_right_to_the_rounding_of_one),
        cmocka_unit_test(parts_of_numbers_are_those_of_the_c_library),
    };
    return wp_test_main(tests);
}
