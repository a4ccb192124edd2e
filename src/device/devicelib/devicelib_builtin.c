/* SPDX-License-Identifier: Apache-2.0 */
/** Functions that are compiler builtins: an instruction or a few, on any device. */
#include "device/devicelib/devicelib_define.h"

#if defined(__clang__)
/* A processor instruction for every element type, not a call. */
#define WP_SQRT(a) __builtin_elementwise_sqrt(a)
#define WP_SQRTF(a) __builtin_elementwise_sqrt(a)
#else
#define WP_SQRT(a) __builtin_sqrt(a)
#define WP_SQRTF(a) __builtin_sqrtf(a)
#endif

WP_FORMS_1(__builtin_, ceil)
WP_FORMS_1(__builtin_, fabs)
WP_FORMS_1(__builtin_, floor)
WP_FORMS_1(__builtin_, nearbyint)
WP_FORMS_1(__builtin_, rint)
WP_FORMS_1(__builtin_, round)
WP_FORMS_1(__builtin_, trunc)
WP_FORMS_2(__builtin_, copysign)
WP_FORMS_2(__builtin_, fmax)
WP_FORMS_2(__builtin_, fmin)

double __nv_sqrt(double a) {
    return WP_SQRT(a);
}
float __nv_sqrtf(float a) {
    return WP_SQRTF(a);
}
double __nv_fma(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
float __nv_fmaf(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

double __nv_int2double_rn(int a) {
    return (double)a;
}
double __nv_uint2double_rn(unsigned int a) {
    return (double)a;
}
