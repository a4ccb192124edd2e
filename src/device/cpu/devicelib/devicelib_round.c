/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Arithmetic with directed rounding, exact as IEEE 754 asks.
 *
 * The processor's rounding mode is not touched: the optimiser may move arithmetic across a change
 * of mode. Each function computes the nearest result r and the sign of what r misses,
 *
 *     s = sign(exact - r),
 *
 * and steps to the neighbour of r when the direction demands it. For float the sign comes from
 * double arithmetic, which is exact there; for double from error-free transformations (Fast2Sum,
 * TwoSum, products by fma) on operands scaled so that nothing underflows.
 */
#include "device/devicelib/devicelib_define.h"

#include <math.h>
#include <stdbool.h>

typedef enum direction { DOWN, UP, TO_ZERO } direction;

/* The result in direction `d`, given the nearest one and which way the exact value lies. */
static double step(double r, int sign, direction d) {
    if (sign == 0 || r != r) {
        return r;
    }
    if (d == TO_ZERO) {
        return (sign > 0) != (signbit(r) != 0) ? r : nextafter(r, 0.0);
    }
    if (d == DOWN) {
        return sign < 0 ? nextafter(r, -HUGE_VAL) : r;
    }
    return sign > 0 ? nextafter(r, HUGE_VAL) : r;
}

static float stepf(float r, int sign, direction d) {
    if (sign == 0 || r != r) {
        return r;
    }
    if (d == TO_ZERO) {
        return (sign > 0) != (signbit(r) != 0) ? r : nextafterf(r, 0.0f);
    }
    if (d == DOWN) {
        return sign < 0 ? nextafterf(r, -HUGE_VALF) : r;
    }
    return sign > 0 ? nextafterf(r, HUGE_VALF) : r;
}

static int sign_of(double x) {
    return (x > 0.0) - (x < 0.0);
}

/* An exact zero sum of operands with unlike signs is -0 when rounding down. */
static double zero_sum(double r, bool unlike, direction d) {
    return r == 0.0 && unlike && d == DOWN ? -0.0 : r;
}

/* ---- double -------------------------------------------------------------------------------- */

/* Rounding error of s = a + b, exactly; a, b and s finite. Never overflows. */
static double sum_error(double a, double b, double s) {
    const bool swap = fabs(a) < fabs(b);
    const double large = swap ? b : a;
    const double small = swap ? a : b;
    return small - (s - large);
}

static double add(double a, double b, direction d) {
    const double s = a + b;
    if (!isfinite(a) || !isfinite(b)) {
        return s;
    }
    if (isinf(s)) {
        return step(s, s > 0.0 ? -1 : 1, d);
    }
    const int sign = sign_of(sum_error(a, b, s));
    return zero_sum(step(s, sign, d), (signbit(a) != 0) != (signbit(b) != 0), d);
}

/* sign(a b - p) for the product's nearest value p, which may be subnormal or infinite. */
static int product_sign(double a, double b, double p) {
    int ea, eb;
    const double fa = frexp(a, &ea);
    const double fb = frexp(b, &eb);
    const double q = fa * fb;
    const double error = fma(fa, fb, -q);
    if (isinf(p)) {
        return p > 0.0 ? -1 : 1;
    }
    return sign_of((q - ldexp(p, -(ea + eb))) + error);
}

static double mul(double a, double b, direction d) {
    const double p = a * b;
    if (!isfinite(a) || !isfinite(b) || a == 0.0 || b == 0.0) {
        return p;
    }
    return step(p, product_sign(a, b, p), d);
}

static double quotient(double a, double b, direction d) {
    const double q = a / b;
    if (!isfinite(a) || !isfinite(b) || a == 0.0 || b == 0.0) {
        return q;
    }
    if (isinf(q)) {
        return step(q, q > 0.0 ? -1 : 1, d);
    }
    /* a - q b on mantissas: q takes the scale of fa / fb, subnormal or not. */
    int ea, eb;
    const double fa = frexp(a, &ea);
    const double fb = frexp(b, &eb);
    const double rest = fma(-ldexp(q, eb - ea), fb, fa);
    return step(q, b > 0.0 ? sign_of(rest) : -sign_of(rest), d);
}

static double root(double a, direction d) {
    const double r = __nv_sqrt(a);
    if (!(a > 0.0) || isinf(a)) {
        return r;
    }
    int e;
    (void)frexp(a, &e);
    e &= ~1;
    const double scaled = ldexp(r, -e / 2);
    return step(r, sign_of(fma(-scaled, scaled, ldexp(a, -e))), d);
}

/* sign(a b + c - r), r the nearest value. The product is scaled to [1/4, 1); an addend far below
 * it only breaks ties and may be enlarged, a product far below the addend is all that r misses. */
static int fma_sign(double a, double b, double c, double r) {
    const int product = (signbit(a) != 0) != (signbit(b) != 0) ? -1 : 1;
    if (isinf(r)) {
        return r > 0.0 ? -1 : 1;
    }
    int ea, eb, ec;
    const double fa = frexp(a, &ea);
    const double fb = frexp(b, &eb);
    const int e = ea + eb;
    double fc = frexp(c, &ec);
    if (c != 0.0) {
        if (ec - e > 300) {
            return product;
        }
        fc = ldexp(fc, ec - e < -400 ? -400 : ec - e);
    }
    const double fr = ldexp(r, -e);
    /* Boldo and Muller's ErrFma: the error of a fused multiply-add as a sum of two numbers. */
    const double u1 = fa * fb;
    const double u2 = fma(fa, fb, -u1);
    const double alpha1 = fc + u2;
    const double alpha2 = sum_error(fc, u2, alpha1);
    const double beta1 = u1 + alpha1;
    const double beta2 = sum_error(u1, alpha1, beta1);
    const double gamma = (beta1 - fr) + beta2;
    return sign_of(gamma + alpha2);
}

static double multiply_add(double a, double b, double c, direction d) {
    const double r = fma(a, b, c);
    if (!isfinite(a) || !isfinite(b) || !isfinite(c)) {
        return r;
    }
    if (a == 0.0 || b == 0.0) {
        return zero_sum(r, ((signbit(a) != 0) != (signbit(b) != 0)) != (signbit(c) != 0), d);
    }
    const double stepped = step(r, fma_sign(a, b, c, r), d);
    return stepped == 0.0 && c != 0.0 && fma_sign(a, b, c, r) == 0 && d == DOWN ? -0.0 : stepped;
}

/* ---- float ---------------------------------------------------------------------------------- */

/* The double x, and what it misses, as a float. */
static float narrow(double x, double missing, direction d) {
    const float r = (float)x;
    if (x != x) {
        return r;
    }
    const double r_wide = r;
    return stepf(r, r_wide < x ? 1 : r_wide > x ? -1 : sign_of(missing), d);
}

static float addf(float a, float b, direction d) {
    const double s = (double)a + (double)b;
    if (!isfinite(a) || !isfinite(b)) {
        return (float)s;
    }
    return s == 0.0 ? (float)zero_sum(s, (signbit(a) != 0) != (signbit(b) != 0), d)
                    : narrow(s, sum_error(a, b, s), d);
}

static float mulf(float a, float b, direction d) {
    return narrow((double)a * (double)b, 0.0, d);
}

static float quotientf(float a, float b, direction d) {
    const float q = a / b;
    if (!isfinite(a) || !isfinite(b) || a == 0.0f || b == 0.0f) {
        return q;
    }
    const double back = fabs((double)q) * fabs((double)b);
    const double want = fabs((double)a);
    const int magnitude = (want > back) - (want < back);
    return stepf(q, signbit(q) ? -magnitude : magnitude, d);
}

static float rootf(float a, direction d) {
    const float r = __nv_sqrtf(a);
    const double back = (double)r * (double)r;
    return a > 0.0f && isfinite(a) ? stepf(r, ((double)a > back) - ((double)a < back), d) : r;
}

static float multiply_addf(float a, float b, float c, direction d) {
    const double p = (double)a * (double)b;
    const double s = p + (double)c;
    if (!isfinite(s)) {
        return (float)s;
    }
    return s == 0.0 ? (float)zero_sum(s, (signbit(p) != 0) != (signbit(c) != 0), d)
                    : narrow(s, sum_error(p, c, s), d);
}

/* ---- by name -------------------------------------------------------------------------------- */

#define DIRECTED(suffix, d)                                                                        \
    double __nv_dadd_##suffix(double a, double b) {                                                \
        return add(a, b, d);                                                                       \
    }                                                                                              \
    double __nv_dsub_##suffix(double a, double b) {                                                \
        return add(a, -b, d);                                                                      \
    }                                                                                              \
    double __nv_dmul_##suffix(double a, double b) {                                                \
        return mul(a, b, d);                                                                       \
    }                                                                                              \
    double __nv_ddiv_##suffix(double a, double b) {                                                \
        return quotient(a, b, d);                                                                  \
    }                                                                                              \
    double __nv_drcp_##suffix(double a) {                                                          \
        return quotient(1.0, a, d);                                                                \
    }                                                                                              \
    double __nv_dsqrt_##suffix(double a) {                                                         \
        return root(a, d);                                                                         \
    }                                                                                              \
    double __nv_fma_##suffix(double a, double b, double c) {                                       \
        return multiply_add(a, b, c, d);                                                           \
    }                                                                                              \
    float __nv_fadd_##suffix(float a, float b) {                                                   \
        return addf(a, b, d);                                                                      \
    }                                                                                              \
    float __nv_fsub_##suffix(float a, float b) {                                                   \
        return addf(a, -b, d);                                                                     \
    }                                                                                              \
    float __nv_fmul_##suffix(float a, float b) {                                                   \
        return mulf(a, b, d);                                                                      \
    }                                                                                              \
    float __nv_fdiv_##suffix(float a, float b) {                                                   \
        return quotientf(a, b, d);                                                                 \
    }                                                                                              \
    float __nv_frcp_##suffix(float a) {                                                            \
        return quotientf(1.0f, a, d);                                                              \
    }                                                                                              \
    float __nv_fsqrt_##suffix(float a) {                                                           \
        return rootf(a, d);                                                                        \
    }                                                                                              \
    float __nv_fmaf_##suffix(float a, float b, float c) {                                          \
        return multiply_addf(a, b, c, d);                                                          \
    }                                                                                              \
    float __nv_fmaf_ieee_##suffix(float a, float b, float c) {                                     \
        return multiply_addf(a, b, c, d);                                                          \
    }                                                                                              \
    float __nv_double2float_##suffix(double a) {                                                   \
        return narrow(a, 0.0, d);                                                                  \
    }

DIRECTED(rd, DOWN)
DIRECTED(ru, UP)
DIRECTED(rz, TO_ZERO)

double __nv_dadd_rn(double a, double b) {
    return a + b;
}
double __nv_dsub_rn(double a, double b) {
    return a - b;
}
double __nv_dmul_rn(double a, double b) {
    return a * b;
}
double __nv_ddiv_rn(double a, double b) {
    return a / b;
}
double __nv_drcp_rn(double a) {
    return 1.0 / a;
}
double __nv_dsqrt_rn(double a) {
    return __nv_sqrt(a);
}
double __nv_fma_rn(double a, double b, double c) {
    return fma(a, b, c);
}
float __nv_fadd_rn(float a, float b) {
    return a + b;
}
float __nv_fsub_rn(float a, float b) {
    return a - b;
}
float __nv_fmul_rn(float a, float b) {
    return a * b;
}
float __nv_fdiv_rn(float a, float b) {
    return a / b;
}
float __nv_frcp_rn(float a) {
    return 1.0f / a;
}
float __nv_fsqrt_rn(float a) {
    return __nv_sqrtf(a);
}
float __nv_fmaf_rn(float a, float b, float c) {
    return fmaf(a, b, c);
}
float __nv_fmaf_ieee_rn(float a, float b, float c) {
    return fmaf(a, b, c);
}
float __nv_double2float_rn(double a) {
    return (float)a;
}
