/* SPDX-License-Identifier: Apache-2.0 */
/** Mathematical functions that every device derives from others, or from arithmetic, in the same
 * way. */
#include "device/devicelib/devicelib_define.h"

double __nv_scalbn(double a, int b) {
    return __nv_ldexp(a, b);
}
float __nv_scalbnf(float a, int b) {
    return __nv_ldexpf(a, b);
}

void __nv_sincos(double a, double *b, double *c) {
    *b = __nv_sin(a);
    *c = __nv_cos(a);
}
void __nv_sincosf(float a, float *b, float *c) {
    *b = __nv_sinf(a);
    *c = __nv_cosf(a);
}
void __nv_sincospi(double a, double *b, double *c) {
    *b = __nv_sinpi(a);
    *c = __nv_cospi(a);
}
void __nv_sincospif(float a, float *b, float *c) {
    *b = __nv_sinpif(a);
    *c = __nv_cospif(a);
}

/* Rounded once: the double quotient is right to a bit that float rounding does not see. */
float __nv_frsqrt_rn(float a) {
    return (float)(1.0 / __nv_sqrt((double)a));
}

/* Integer powers by squaring. */
#define POWI(type, name)                                                                           \
    type name(type a, int b) {                                                                     \
        unsigned int n = b < 0 ? 0u - (unsigned int)b : (unsigned int)b;                           \
        type result = (type)1;                                                                     \
        for (; n != 0; n >>= 1) {                                                                  \
            result = (n & 1u) != 0 ? result * a : result;                                          \
            a *= a;                                                                                \
        }                                                                                          \
        return b < 0 ? (type)1 / result : result;                                                  \
    }
POWI(double, __nv_powi)
POWI(float, __nv_powif)

WP_FLOAT_FORM(cyl_bessel_i0)
WP_FLOAT_FORM(cyl_bessel_i1)
