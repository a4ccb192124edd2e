/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lengths of vectors: those of floats, which need no care in double, and all fixed sizes. The
 * lengths of doubles are a device's own.
 */
#include "device/devicelib/devicelib_define.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT ON /* the square of a float is exact: fused or not, the sum is the same   \
                             */
#endif

static double lengthf(int n, const float *v) {
    double sum = 0.0;
    int has_infinity = 0;
    for (int i = 0; i < n; i++) {
        has_infinity |= __builtin_fabsf(v[i]) == WP_INFF;
        sum += (double)v[i] * (double)v[i];
    }
    return has_infinity ? WP_INF : __nv_sqrt(sum);
}
float __nv_normf(int a, const float *b) {
    return (float)lengthf(a, b);
}
float __nv_rnormf(int a, const float *b) {
    return (float)(1.0 / lengthf(a, b));
}

#define FIXED(name)                                                                                \
    double __nv_##name##3d(double a, double b, double c) {                                         \
        const double v[3] = {a, b, c};                                                             \
        return __nv_##name(3, v);                                                                  \
    }                                                                                              \
    float __nv_##name##3df(float a, float b, float c) {                                            \
        const float v[3] = {a, b, c};                                                              \
        return __nv_##name##f(3, v);                                                               \
    }                                                                                              \
    double __nv_##name##4d(double a, double b, double c, double d) {                               \
        const double v[4] = {a, b, c, d};                                                          \
        return __nv_##name(4, v);                                                                  \
    }                                                                                              \
    float __nv_##name##4df(float a, float b, float c, float d) {                                   \
        const float v[4] = {a, b, c, d};                                                           \
        return __nv_##name##f(4, v);                                                               \
    }
FIXED(norm)
FIXED(rnorm)
