/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the device library's files define functions: constants, and macros for the double and the
 * float form of a function together.
 */
#ifndef WP_DEVICE_DEVICELIB_DEFINE_H
#define WP_DEVICE_DEVICELIB_DEFINE_H

#include "device/devicelib/devicelib.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF /* functions say fma where they mean it */
#endif

#define WP_PI 3.14159265358979323846
#define WP_INF __builtin_huge_val()
#define WP_INFF __builtin_huge_valf()

/* Of one argument or two: as a function of the same name, with a prefix or none, has them. */
#define WP_FORMS_1(prefix, name)                                                                   \
    double __nv_##name(double a) {                                                                 \
        return prefix##name(a);                                                                    \
    }                                                                                              \
    float __nv_##name##f(float a) {                                                                \
        return prefix##name##f(a);                                                                 \
    }
#define WP_FORMS_2(prefix, name)                                                                   \
    double __nv_##name(double a, double b) {                                                       \
        return prefix##name(a, b);                                                                 \
    }                                                                                              \
    float __nv_##name##f(float a, float b) {                                                       \
        return prefix##name##f(a, b);                                                              \
    }

/* The float form computes in double. */
#define WP_FLOAT_FORM(name)                                                                        \
    float __nv_##name##f(float a) {                                                                \
        return (float)__nv_##name((double)a);                                                      \
    }

#endif
