/* SPDX-License-Identifier: Apache-2.0 */
/** CUDA's own mathematical functions on the host: those the C library does not have. */
#ifndef WARPAGE_CUDA_WP_MATH_HOST_H
#define WARPAGE_CUDA_WP_MATH_HOST_H

#include <math.h>

#define WP_HOST static __inline__ __host__

#define WP_MINMAX(type_a, type_b, type)                                                            \
    WP_HOST type min(type_a a, type_b b) {                                                         \
        return (type)b < (type)a ? (type)b : (type)a;                                              \
    }                                                                                              \
    WP_HOST type max(type_a a, type_b b) {                                                         \
        return (type)a < (type)b ? (type)b : (type)a;                                              \
    }
WP_MINMAX(int, int, int)
WP_MINMAX(int, unsigned int, unsigned int)
WP_MINMAX(unsigned int, int, unsigned int)
WP_MINMAX(unsigned int, unsigned int, unsigned int)
WP_MINMAX(long, long, long)
WP_MINMAX(long, unsigned long, unsigned long)
WP_MINMAX(unsigned long, long, unsigned long)
WP_MINMAX(unsigned long, unsigned long, unsigned long)
WP_MINMAX(long long, long long, long long)
WP_MINMAX(long long, unsigned long long, unsigned long long)
WP_MINMAX(unsigned long long, long long, unsigned long long)
WP_MINMAX(unsigned long long, unsigned long long, unsigned long long)
#undef WP_MINMAX
#define WP_MINMAX(type_a, type_b, type, min_fn, max_fn)                                            \
    WP_HOST type min(type_a a, type_b b) {                                                         \
        return min_fn((type)a, (type)b);                                                           \
    }                                                                                              \
    WP_HOST type max(type_a a, type_b b) {                                                         \
        return max_fn((type)a, (type)b);                                                           \
    }
WP_MINMAX(float, float, float, ::fminf, ::fmaxf)
WP_MINMAX(float, double, double, ::fmin, ::fmax)
WP_MINMAX(double, float, double, ::fmin, ::fmax)
WP_MINMAX(double, double, double, ::fmin, ::fmax)
#undef WP_MINMAX

WP_HOST unsigned int umin(unsigned int a, unsigned int b) {
    return a < b ? a : b;
}
WP_HOST unsigned int umax(unsigned int a, unsigned int b) {
    return a > b ? a : b;
}
WP_HOST long long llmin(long long a, long long b) {
    return a < b ? a : b;
}
WP_HOST long long llmax(long long a, long long b) {
    return a > b ? a : b;
}
WP_HOST unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return a < b ? a : b;
}
WP_HOST unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return a > b ? a : b;
}

WP_HOST double rsqrt(double a) {
    return 1.0 / ::sqrt(a);
}
WP_HOST float rsqrtf(float a) {
    return 1.0f / ::sqrtf(a);
}
WP_HOST float rsqrt(float a) {
    return rsqrtf(a);
}
WP_HOST double rcbrt(double a) {
    return 1.0 / ::cbrt(a);
}
WP_HOST float rcbrtf(float a) {
    return 1.0f / ::cbrtf(a);
}
WP_HOST float rcbrt(float a) {
    return rcbrtf(a);
}
WP_HOST double fdivide(double a, double b) {
    return a / b;
}
WP_HOST float fdividef(float a, float b) {
    return a / b;
}
WP_HOST float fdivide(float a, float b) {
    return a / b;
}

/* sin(pi a) and cos(pi a), exact where the result is: reduced to a quarter turn first. */
WP_HOST double sinpi(double a) {
    const double r = ::fmod(::fabs(a), 2.0);
    const double pi = 3.14159265358979323846;
    double s;
    if (r <= 0.25) {
        s = ::sin(pi * r);
    } else if (r <= 0.75) {
        s = ::cos(pi * (r - 0.5));
    } else if (r <= 1.25) {
        s = ::sin(pi * (1.0 - r));
    } else if (r <= 1.75) {
        s = -::cos(pi * (r - 1.5));
    } else {
        s = ::sin(pi * (r - 2.0));
    }
    return ::copysign(1.0, a) * s;
}
WP_HOST double cospi(double a) {
    const double r = ::fmod(::fabs(a), 2.0);
    const double pi = 3.14159265358979323846;
    if (r <= 0.25) {
        return ::cos(pi * r);
    }
    if (r <= 0.75) {
        return ::sin(pi * (0.5 - r));
    }
    if (r <= 1.25) {
        return -::cos(pi * (r - 1.0));
    }
    if (r <= 1.75) {
        return ::sin(pi * (r - 1.5));
    }
    return ::cos(pi * (r - 2.0));
}
WP_HOST float sinpif(float a) {
    return (float)sinpi((double)a);
}
WP_HOST float cospif(float a) {
    return (float)cospi((double)a);
}
WP_HOST float sinpi(float a) {
    return sinpif(a);
}
WP_HOST float cospi(float a) {
    return cospif(a);
}
WP_HOST void sincospi(double a, double *s, double *c) {
    *s = sinpi(a);
    *c = cospi(a);
}
WP_HOST void sincospif(float a, float *s, float *c) {
    *s = sinpif(a);
    *c = cospif(a);
}
WP_HOST void sincospi(float a, float *s, float *c) {
    sincospif(a, s, c);
}

WP_HOST double rhypot(double a, double b) {
    return 1.0 / ::hypot(a, b);
}
WP_HOST float rhypotf(float a, float b) {
    return 1.0f / ::hypotf(a, b);
}
WP_HOST double norm3d(double a, double b, double c) {
    return ::hypot(::hypot(a, b), c);
}
WP_HOST float norm3df(float a, float b, float c) {
    return ::hypotf(::hypotf(a, b), c);
}
WP_HOST double rnorm3d(double a, double b, double c) {
    return 1.0 / norm3d(a, b, c);
}
WP_HOST float rnorm3df(float a, float b, float c) {
    return 1.0f / norm3df(a, b, c);
}
WP_HOST double norm4d(double a, double b, double c, double d) {
    return ::hypot(::hypot(a, b), ::hypot(c, d));
}
WP_HOST float norm4df(float a, float b, float c, float d) {
    return ::hypotf(::hypotf(a, b), ::hypotf(c, d));
}

WP_HOST double normcdf(double a) {
    return 0.5 * ::erfc(-a * 0.70710678118654752440);
}
WP_HOST float normcdff(float a) {
    return (float)normcdf((double)a);
}
WP_HOST float normcdf(float a) {
    return normcdff(a);
}
/* exp(a²) erfc(a): directly while both factors are normal, by its continued fraction beyond. */
WP_HOST double erfcx(double a) {
    if (a < 10.0) {
        return ::exp(a * a) * ::erfc(a);
    }
    double t = a;
    for (int k = 30; k > 0; k--) {
        t = a + 0.5 * k / t;
    }
    return 0.56418958354775628695 / t;
}
WP_HOST float erfcxf(float a) {
    return (float)erfcx((double)a);
}
WP_HOST float erfcx(float a) {
    return erfcxf(a);
}

/* Inverse of erf: a first guess from its asymptotic form, then Halley's iteration on the
 * difference, taken between the small tails where erf is near 1. */
WP_HOST double erfinv(double a) {
    if (!(a > -1.0 && a < 1.0)) {
        return a == 1.0 ? HUGE_VAL : a == -1.0 ? -HUGE_VAL : (double)NAN;
    }
    const double l = ::log1p(-a * a);
    const double m = 4.33074675 + 0.5 * l;
    double x = ::copysign(::sqrt(::sqrt(m * m - l / 0.147) - m), a);
    for (int i = 0; i < 3; i++) {
        const double e = a > 0.5    ? ::erfc(x) - (1.0 - a)
                         : a < -0.5 ? (1.0 + a) - ::erfc(-x)
                                    : a - ::erf(x);
        const double step = e * 0.88622692545275801365 * ::exp(x * x);
        x += step / (1.0 - x * step);
    }
    return x;
}
WP_HOST float erfinvf(float a) {
    return (float)erfinv((double)a);
}
WP_HOST float erfinv(float a) {
    return erfinvf(a);
}

/* Inverse of erfc: its small arguments by Newton's iteration on logarithms. */
WP_HOST double erfcinv(double a) {
    if (!(a > 0.0 && a < 2.0)) {
        return a == 0.0 ? HUGE_VAL : a == 2.0 ? -HUGE_VAL : (double)NAN;
    }
    if (a > 0.25) {
        return a > 1.75 ? -erfcinv(2.0 - a) : erfinv(1.0 - a);
    }
    const double l = ::log(a);
    double x = ::sqrt(-l - 0.5 * ::log(-l * 3.14159265358979323846));
    for (int i = 0; i < 5; i++) {
        x += (::log(erfcx(x)) - x * x - l) * erfcx(x) * 0.88622692545275801365;
    }
    return x;
}
WP_HOST float erfcinvf(float a) {
    return (float)erfcinv((double)a);
}
WP_HOST float erfcinv(float a) {
    return erfcinvf(a);
}
WP_HOST double normcdfinv(double a) {
    return -1.41421356237309504880 * erfcinv(2.0 * a);
}
WP_HOST float normcdfinvf(float a) {
    return (float)normcdfinv((double)a);
}
WP_HOST float normcdfinv(float a) {
    return normcdfinvf(a);
}

/* Modified Bessel functions of order 0 and 1: their power series, which has no cancellation. */
WP_HOST double cyl_bessel_i0(double a) {
    const double q = 0.25 * a * a;
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 2000 && term > sum * 1e-17; k++) {
        term *= q / ((double)k * k);
        sum += term;
    }
    return sum;
}
WP_HOST double cyl_bessel_i1(double a) {
    const double q = 0.25 * a * a;
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 2000 && term > sum * 1e-17; k++) {
        term *= q / ((double)k * (k + 1));
        sum += term;
    }
    return 0.5 * a * sum;
}
WP_HOST float cyl_bessel_i0f(float a) {
    return (float)cyl_bessel_i0((double)a);
}
WP_HOST float cyl_bessel_i1f(float a) {
    return (float)cyl_bessel_i1((double)a);
}

#undef WP_HOST

#endif
