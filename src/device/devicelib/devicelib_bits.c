/* SPDX-License-Identifier: Apache-2.0 */
/** Floating-point numbers as their bits, and the class and the sign that these tell. */
#include "device/devicelib/devicelib_define.h"

#define SAME_BITS(name, to, from)                                                                  \
    to __nv_##name(from a) {                                                                       \
        to bits;                                                                                   \
        __builtin_memcpy(&bits, &a, sizeof(bits));                                                 \
        return bits;                                                                               \
    }
SAME_BITS(float_as_int, int, float)
SAME_BITS(float_as_uint, unsigned int, float)
SAME_BITS(int_as_float, float, int)
SAME_BITS(uint_as_float, float, unsigned int)
SAME_BITS(double_as_longlong, unsigned long long, double)
SAME_BITS(longlong_as_double, double, long long)
int __nv_double2hiint(double a) {
    return (int)(__nv_double_as_longlong(a) >> 32);
}
int __nv_double2loint(double a) {
    return (int)__nv_double_as_longlong(a);
}
double __nv_hiloint2double(int a, int b) {
    return __nv_longlong_as_double(
        (long long)((unsigned long long)(unsigned int)a << 32 | (unsigned int)b));
}

int __nv_isnand(double a) {
    return a != a;
}
int __nv_isnanf(float a) {
    return a != a;
}
int __nv_isinfd(double a) {
    return __builtin_fabs(a) == WP_INF;
}
int __nv_isinff(float a) {
    return __builtin_fabsf(a) == WP_INFF;
}
int __nv_isfinited(double a) {
    return __builtin_fabs(a) < WP_INF;
}
int __nv_finitef(float a) {
    return __builtin_fabsf(a) < WP_INFF;
}
int __nv_signbitd(double a) {
    return (int)(__nv_double_as_longlong(a) >> 63);
}
int __nv_signbitf(float a) {
    return (int)(__nv_float_as_uint(a) >> 31);
}
