/* SPDX-License-Identifier: Apache-2.0 */
/** Functions that compilers know: an instruction or a few, whatever the device. */
#include "device/devicelib.h"

#if defined(__clang__)
/* A processor instruction for every element type, not a call. */
#define WP_SQRT(a) __builtin_elementwise_sqrt(a)
#define WP_SQRTF(a) __builtin_elementwise_sqrt(a)
#else
#define WP_SQRT(a) __builtin_sqrt(a)
#define WP_SQRTF(a) __builtin_sqrtf(a)
#endif

#define BUILTIN_1(name)                                                                            \
    double __nv_##name(double a) {                                                                 \
        return __builtin_##name(a);                                                                \
    }                                                                                              \
    float __nv_##name##f(float a) {                                                                \
        return __builtin_##name##f(a);                                                             \
    }
#define BUILTIN_2(name)                                                                            \
    double __nv_##name(double a, double b) {                                                       \
        return __builtin_##name(a, b);                                                             \
    }                                                                                              \
    float __nv_##name##f(float a, float b) {                                                       \
        return __builtin_##name##f(a, b);                                                          \
    }
BUILTIN_1(ceil)
BUILTIN_1(fabs)
BUILTIN_1(floor)
BUILTIN_1(nearbyint)
BUILTIN_1(rint)
BUILTIN_1(round)
BUILTIN_1(trunc)
BUILTIN_2(copysign)
BUILTIN_2(fmax)
BUILTIN_2(fmin)

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
