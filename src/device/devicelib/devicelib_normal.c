/* SPDX-License-Identifier: Apache-2.0 */
/** The error function's inverses and scaled form, and the normal distribution that they give. */
#include "device/devicelib/devicelib_define.h"

static const double sqrt_2 = 1.41421356237309504880;
static const double half_sqrt_pi = 0.88622692545275801365;

/* exp(a^2) erfc(a): the product while erfc is a normal number, its continued fraction beyond. The
 * square is split, so that its rounding error is not magnified. */
double __nv_erfcx(double a) {
    if (a < 10.0) {
        const double high = a * a;
        const double low = __builtin_fma(a, a, -high);
        const double e = __nv_exp(high);
        return e == WP_INF ? e : e * __nv_erfc(a) * (1.0 + low);
    }
    double t = a;
    for (int k = 30; k > 0; k--) {
        t = a + 0.5 * k / t;
    }
    return 0.56418958354775628695 / t;
}
WP_FLOAT_FORM(erfcx)

/* Inverse of erf: a first guess from its asymptotic form, then Halley's iteration on the
 * difference, taken between the small tails where erf is near 1. */
double __nv_erfinv(double a) {
    if (!(a > -1.0 && a < 1.0)) {
        return a == 1.0 ? WP_INF : a == -1.0 ? -WP_INF : __builtin_nan("");
    }
    const double l = __nv_log1p(-a * a);
    const double m = 4.33074675 + 0.5 * l;
    double x = __builtin_copysign(__nv_sqrt(__nv_sqrt(m * m - l / 0.147) - m), a);
    for (int i = 0; i < 3; i++) {
        const double e = a > 0.5    ? __nv_erfc(x) - (1.0 - a)
                         : a < -0.5 ? (1.0 + a) - __nv_erfc(-x)
                                    : a - __nv_erf(x);
        const double step = e * half_sqrt_pi * __nv_exp(x * x);
        x += step / (1.0 - x * step);
    }
    return x;
}
WP_FLOAT_FORM(erfinv)

/* Inverse of erfc: its small arguments by Newton's iteration on logarithms. */
double __nv_erfcinv(double a) {
    if (!(a > 0.0 && a < 2.0)) {
        return a == 0.0 ? WP_INF : a == 2.0 ? -WP_INF : __builtin_nan("");
    }
    if (a > 0.25) {
        return a > 1.75 ? -__nv_erfcinv(2.0 - a) : __nv_erfinv(1.0 - a);
    }
    const double l = __nv_log(a);
    double x = __nv_sqrt(-l - 0.5 * __nv_log(-l * WP_PI));
    for (int i = 0; i < 5; i++) {
        const double scaled = __nv_erfcx(x);
        x += (__nv_log(scaled) - x * x - l) * scaled * half_sqrt_pi;
    }
    return x;
}
WP_FLOAT_FORM(erfcinv)

WP_FLOAT_FORM(normcdf)
double __nv_normcdfinv(double a) {
    return -sqrt_2 * __nv_erfcinv(2.0 * a);
}
WP_FLOAT_FORM(normcdfinv)
