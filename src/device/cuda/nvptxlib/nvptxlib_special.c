/* SPDX-License-Identifier: Apache-2.0 */
/** Gamma, error, normal-distribution and Bessel functions on NVIDIA GPUs. Float forms compute in
 * double: they are rare, and single-precision forms would need approximations of their own. */
#include "device/cuda/nvptxlib/nvptxlib.h"

double clc_erfc(double) __asm__("_Z4erfcd") __attribute__((const));
float clc_erfcf(float) __asm__("_Z4erfcf") __attribute__((const));
double clc_lgamma(double) __asm__("_Z6lgammad") __attribute__((const));

/* ---- gamma ---- */

/* Stirling's series without its leading terms, for y >= 10. */
static double stirling(double y) {
    const double q = 1.0 / (y * y);
    double sum = -3617.0 / 122400.0;
    sum = __builtin_fma(sum, q, 1.0 / 156.0);
    sum = __builtin_fma(sum, q, -691.0 / 360360.0);
    sum = __builtin_fma(sum, q, 1.0 / 1188.0);
    sum = __builtin_fma(sum, q, -1.0 / 1680.0);
    sum = __builtin_fma(sum, q, 1.0 / 1260.0);
    sum = __builtin_fma(sum, q, -1.0 / 360.0);
    sum = __builtin_fma(sum, q, 1.0 / 12.0);
    return sum / y;
}

/* gamma(x) for 0 < x < 172: x is moved to y >= 10 by the recurrence. Rounding errors of its sums
 * and products are accumulated, and corrected at the end to first order. */
static double gamma_positive(double x) {
    double product = 1.0, y = x, lost = 0.0, relative = 0.0;
    while (y < 10.0) {
        const double longer = product * y;
        relative -= __builtin_fma(product, y, -longer) / longer + lost / y;
        product = longer;
        const double next = y + 1.0;
        lost += y - (next - 1.0);
        y = next;
    }
    const double half = __nv_pow(y, 0.5 * (y - 0.5));
    double value = half * __nv_exp(-y) * half * 2.50662827463100050242;
    if (value == WP_INF) {
        return value;
    }
    relative += __nv_expm1(stirling(y)) + lost * (__nv_log(y) - 0.5 / y);
    return __builtin_fma(value, relative, value) / product;
}
double __nv_tgamma(double a) {
    if (a != a || a == 0.0) {
        return 1.0 / a;
    }
    if (a > 0.0) {
        return a < 171.63 ? gamma_positive(a) : WP_INF;
    }
    if (a == __builtin_trunc(a)) {
        return a - a + (0.0 / 0.0);
    }
    if (a > -1e-9) {
        return 1.0 / a - 0.57721566490153286061; /* the series at the pole */
    }
    const double s = __nv_sinpi(a);
    if (a < -185.0) {
        return __builtin_copysign(0.0, s);
    }
    double y = -a, tail = 1.0;
    while (y > 160.0) {
        y -= 1.0;
        tail *= y;
    }
    return -WP_PI / (s * a * gamma_positive(y)) / tail;
}
WP_FLOAT_FORM(tgamma)

double __nv_lgamma(double a) {
    if (a > 0.0) {
        return a < WP_INF ? clc_lgamma(a) : WP_INF;
    }
    if (a != a || a == -WP_INF) {
        return a * a;
    }
    const double s = __builtin_fabs(__nv_sinpi(a));
    if (s == 0.0) {
        return WP_INF;
    }
    if (a > -1e-15) {
        return -__nv_log(-a);
    }
    return __nv_log(WP_PI / (s * -a)) - clc_lgamma(-a);
}
WP_FLOAT_FORM(lgamma)

/* ---- errors and the normal distribution ---- */

double __nv_erfc(double a) {
    return clc_erfc(a);
}
/* libclc's float form is coarse in the far tail. */
float __nv_erfcf(float a) {
    return a > 1.0f ? (float)clc_erfc((double)a) : clc_erfcf(a);
}

/* erfc(-a / sqrt 2) / 2; the quotient's rounding error is corrected through the derivative. */
double __nv_normcdf(double a) {
    const double c = 0.70710678118654752440, c_low = -4.83364665672645672553e-17;
    if (!(a > -39.0)) {
        return a != a ? a : 0.0;
    }
    if (a > 9.0) {
        return 1.0;
    }
    const double high = a * c;
    const double low = __builtin_fma(a, c, -high) + a * c_low;
    const double slope = __nv_exp(-high * high) * 0.56418958354775628695;
    return __builtin_fma(slope, low, 0.5 * clc_erfc(-high));
}

/* ---- Bessel functions of the first and second kind ----
 *
 * Below 25 by Miller's backward recurrence, normalised by 1 = J0 + 2 (J2 + J4 + …), and Neumann's
 * series in these for the second kind; above by Hankel's asymptotic series. Errors are of the order
 * of the rounding of 1, so near a zero of the function they are absolute. */
typedef struct bessel {
    double j0, j1, y0, y1;
} bessel;

static bessel bessel_small(double x, int want_y) {
    const double scale = 2.0 / x;
    double next = 0.0, current = 1e-280, sum = 0.0, s0 = 0.0, s1 = 0.0;
    const int start = (int)(x + 22.0 + 6.0 * (x > 1.0 ? __nv_cbrt(x) : 0.0)) | 1;
    for (int k = start; k > 0; k--) { /* current is J_k, next J_{k+1}, up to a factor */
        const double below = scale * (double)k * current - next;
        next = current;
        current = below;
        const int order = k - 1;
        if (__builtin_fabs(current) > 1e200) {
            current *= 1e-200;
            next *= 1e-200;
            sum *= 1e-200;
            s0 *= 1e-200;
            s1 *= 1e-200;
        }
        if ((order & 1) == 0) {
            sum += order == 0 ? current : 2.0 * current;
            if (order > 0 && want_y != 0) {
                const double half = 0.5 * (double)order;
                s0 += ((order & 2) != 0 ? -current : current) / half;
            }
        } else if (order > 1 && want_y != 0) {
            const double half = 0.5 * (double)(order - 1);
            s1 += ((order - 1) & 2 ? -current : current) * (double)order / (half * (half + 1.0));
        }
    }
    bessel b = {current / sum, next / sum, 0.0, 0.0};
    if (want_y != 0) {
        const double gamma = 0.57721566490153286061, l = __nv_log(0.5 * x);
        const double two_pi = 0.63661977236758134308;
        b.y0 = two_pi * ((l + gamma) * b.j0 - 2.0 * (s0 / sum));
        b.y1 = two_pi * ((l + (gamma - 1.0)) * b.j1 - s1 / sum - b.j0 / x);
    }
    return b;
}

/* The amplitude's two series for order n, and from them J and Y. */
static void hankel(int n, double x, double *j, double *y) {
    const double mu = 4.0 * (double)n * (double)n, z = 1.0 / (8.0 * x);
    double p = 1.0, q = 0.0, term = 1.0;
    for (int k = 1; k < 60; k++) {
        const double odd = (double)(2 * k - 1);
        const double factor = (mu - odd * odd) * z / (double)k;
        if (__builtin_fabs(factor) > 1.0) {
            break;
        }
        term *= factor;
        if ((k & 1) != 0) {
            q += (k & 2) != 0 ? -term : term;
        } else {
            p += (k & 2) != 0 ? -term : term;
        }
        if (__builtin_fabs(term) < 1e-18) {
            break;
        }
    }
    /* cos and sin of x - n pi/2 - pi/4 */
    double s, c;
    __nv_sincos(x, &s, &c);
    const double root = 0.70710678118654752440;
    double cosine = n == 0 ? (c + s) * root : (s - c) * root;
    double sine = n == 0 ? (s - c) * root : -(s + c) * root;
    const double amplitude = __nv_sqrt(0.63661977236758134308 / x);
    *j = amplitude * (p * cosine - q * sine);
    *y = amplitude * (p * sine + q * cosine);
}

static bessel bessel_both(double x, int want_y) {
    if (x < 25.0) {
        return bessel_small(x, want_y);
    }
    bessel b;
    hankel(0, x, &b.j0, &b.y0);
    hankel(1, x, &b.j1, &b.y1);
    return b;
}

double __nv_j0(double a) {
    const double x = __builtin_fabs(a);
    if (!(x < WP_INF)) {
        return a != a ? a : 0.0;
    }
    return x < 1e-5 ? 1.0 - 0.25 * x * x : bessel_both(x, 0).j0;
}
double __nv_j1(double a) {
    const double x = __builtin_fabs(a);
    if (!(x < WP_INF)) {
        return a != a ? a : 0.0;
    }
    return __builtin_copysign(1.0, a) *
           (x < 1e-5 ? 0.5 * x * (1.0 - 0.125 * x * x) : bessel_both(x, 0).j1);
}
/* Of the second kind: -infinity at 0, no number below. */
static int y_special(double a, double *result) {
    if (a > 0.0 && a < WP_INF) {
        return 0;
    }
    *result = a == 0.0 ? -WP_INF : a > 0.0 ? 0.0 : (0.0 / 0.0);
    return 1;
}
double __nv_y0(double a) {
    double special;
    if (y_special(a, &special) != 0) {
        return special;
    }
    return a < 1e-5 ? 0.63661977236758134308 * (__nv_log(0.5 * a) + 0.57721566490153286061)
                    : bessel_both(a, 1).y0;
}
double __nv_y1(double a) {
    double special;
    if (y_special(a, &special) != 0) {
        return special;
    }
    return a < 1e-5 ? -0.63661977236758134308 / a : bessel_both(a, 1).y1;
}

double __nv_jn(int a, double b) {
    const double x = __builtin_fabs(b);
    const int n = a < 0 ? -a : a;
    double sign = (n & 1) != 0 && (b < 0.0) != (a < 0) ? -1.0 : 1.0;
    if (b != b || n == 0) {
        return __nv_j0(b);
    }
    if (n == 1 || x == 0.0 || x == WP_INF) {
        return sign * __nv_j1(x);
    }
    if ((double)n <= x) {
        const bessel start = bessel_both(x, 0);
        double below = start.j0, current = start.j1;
        for (int k = 1; k < n; k++) {
            const double next = 2.0 * (double)k / x * current - below;
            below = current;
            current = next;
        }
        return sign * current;
    }
    /* Backwards from an order so high that the start does not matter. */
    double next = 0.0, current = 1e-280, sum = 0.0, wanted = 0.0;
    for (int k = (n + 30 + (int)__nv_sqrt(40.0 * (double)n)) | 1; k > 0; k--) {
        const double below = 2.0 * (double)k / x * current - next;
        next = current;
        current = below;
        if (__builtin_fabs(current) > 1e200) {
            current *= 1e-200;
            next *= 1e-200;
            sum *= 1e-200;
            wanted *= 1e-200;
        }
        if (k - 1 == n) {
            wanted = current;
        }
        if (((k - 1) & 1) == 0) {
            sum += k == 1 ? current : 2.0 * current;
        }
    }
    return sign * (wanted / sum);
}
double __nv_yn(int a, double b) {
    const int n = a < 0 ? -a : a;
    const double sign = a < 0 && (n & 1) != 0 ? -1.0 : 1.0;
    double special;
    if (y_special(b, &special) != 0) {
        return b == 0.0 ? sign * special : special;
    }
    double below = __nv_y0(b), current = __nv_y1(b);
    if (n == 0) {
        return below;
    }
    for (int k = 1; k < n && current > -WP_INF; k++) {
        const double next = 2.0 * (double)k / b * current - below;
        below = current;
        current = next;
    }
    return sign * current;
}

WP_FLOAT_FORM(j0)
WP_FLOAT_FORM(j1)
float __nv_jnf(int a, float b) {
    return (float)__nv_jn(a, (double)b);
}
WP_FLOAT_FORM(y0)
WP_FLOAT_FORM(y1)
float __nv_ynf(int a, float b) {
    return (float)__nv_yn(a, (double)b);
}

/* ---- modified Bessel functions ---- */

/* The power series, all terms of one sign, or beyond 20 the asymptotic one. */
static double bessel_i(double a, int order) {
    const double x = __builtin_fabs(a);
    double term = 1.0, sum = 1.0;
    if (x < 20.0) {
        /* Each term is the one before times a quotient; what these lose adds up, and is gathered.
         */
        const double q = 0.25 * x * x;
        if (q < 1e-9) {
            return order == 0 ? 1.0 + q : 0.5 * a + 0.25 * a * q;
        }
        const double lost = __builtin_fma(0.5 * x, 0.5 * x, -q) / q;
        double relative = 0.0, rest = 0.0;
        for (int k = 1; k < 100 && term > sum * 1e-17; k++) {
            const double divisor = (double)k * (double)(k + order), ratio = q / divisor;
            const double next = term * ratio;
            relative += lost + __builtin_fma(-ratio, divisor, q) / q +
                        __builtin_fma(term, ratio, -next) / next;
            term = next;
            const double longer = sum + term;
            rest += term * relative + (term - (longer - sum));
            sum = longer;
        }
        sum += rest;
        return order == 0 ? sum : 0.5 * a * sum;
    }
    if (!(x < 720.0)) {
        return a != a ? a : order == 0 ? WP_INF : __builtin_copysign(WP_INF, a);
    }
    const double mu = order == 0 ? 0.0 : 4.0, z = 1.0 / (8.0 * x);
    for (int k = 1; k < 40 && __builtin_fabs(term) > 1e-17; k++) {
        const double odd = (double)(2 * k - 1);
        term *= (odd * odd - mu) * z / (double)k;
        sum += term;
    }
    const double half = __nv_exp(0.5 * x); /* e^x itself overflows first */
    const double value = half * (sum / __nv_sqrt(2.0 * WP_PI * x)) * half;
    return order == 0 ? value : __builtin_copysign(value, a);
}
double __nv_cyl_bessel_i0(double a) {
    return bessel_i(a, 0);
}
double __nv_cyl_bessel_i1(double a) {
    return bessel_i(a, 1);
}
