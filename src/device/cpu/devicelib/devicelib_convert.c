/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Conversions between numbers. Those to integers saturate as PTX's cvt does. NaN becomes 0, except
 * where the source or the result has 64 bits: there it becomes the integer with only its top bit
 * set.
 */
#include "device/devicelib/devicelib_define.h"

#include <limits.h>
#include <math.h>

/* ---- to integers ----------------------------------------------------------------------------- */

/* x is integral, infinite or NaN. */
static int to_int(double x, int nan) {
    if (x != x) {
        return nan;
    }
    return x >= 0x1p31 ? INT_MAX : x <= -0x1p31 ? INT_MIN : (int)x;
}

static unsigned int to_uint(double x, unsigned int nan) {
    if (x != x) {
        return nan;
    }
    return x >= 0x1p32 ? UINT_MAX : x <= 0.0 ? 0u : (unsigned int)x;
}

static long long to_ll(double x) {
    if (x != x) {
        return LLONG_MIN;
    }
    return x >= 0x1p63 ? LLONG_MAX : x <= -0x1p63 ? LLONG_MIN : (long long)x;
}

static unsigned long long to_ull(double x) {
    if (x != x) {
        return 1ull << 63;
    }
    return x >= 0x1p64 ? ULLONG_MAX : x <= 0.0 ? 0ull : (unsigned long long)x;
}

/* To nearest even in any rounding mode of the processor; converting float to double is exact. */
#define TO_INTEGER(suffix, rounded)                                                                \
    int __nv_float2int_##suffix(float a) {                                                         \
        return to_int(rounded((double)a), 0);                                                      \
    }                                                                                              \
    unsigned int __nv_float2uint_##suffix(float a) {                                               \
        return to_uint(rounded((double)a), 0u);                                                    \
    }                                                                                              \
    long long __nv_float2ll_##suffix(float a) {                                                    \
        return to_ll(rounded((double)a));                                                          \
    }                                                                                              \
    unsigned long long __nv_float2ull_##suffix(float a) {                                          \
        return to_ull(rounded((double)a));                                                         \
    }                                                                                              \
    int __nv_double2int_##suffix(double a) {                                                       \
        return to_int(rounded(a), INT_MIN);                                                        \
    }                                                                                              \
    unsigned int __nv_double2uint_##suffix(double a) {                                             \
        return to_uint(rounded(a), 1u << 31);                                                      \
    }                                                                                              \
    long long __nv_double2ll_##suffix(double a) {                                                  \
        return to_ll(rounded(a));                                                                  \
    }                                                                                              \
    unsigned long long __nv_double2ull_##suffix(double a) {                                        \
        return to_ull(rounded(a));                                                                 \
    }
TO_INTEGER(rn, nearbyint)
TO_INTEGER(rz, trunc)
TO_INTEGER(ru, ceil)
TO_INTEGER(rd, floor)

long long __nv_llrint(double a) {
    return to_ll(nearbyint(a));
}
long long __nv_llrintf(float a) {
    return to_ll(nearbyint((double)a));
}
long long __nv_llround(double a) {
    return to_ll(round(a));
}
long long __nv_llroundf(float a) {
    return to_ll(round((double)a));
}

/* ---- from integers --------------------------------------------------------------------------- */

/* Sign of r - a for the nearest float or double r of an integer a. */
static int above_ll(double r, long long a) {
    if (r >= 0x1p63) {
        return 1;
    }
    const long long back = (long long)r;
    return (back > a) - (back < a);
}

static int above_ull(double r, unsigned long long a) {
    if (r >= 0x1p64) {
        return 1;
    }
    const unsigned long long back = (unsigned long long)r;
    return (back > a) - (back < a);
}

static float down(float r, int above) {
    return above > 0 ? nextafterf(r, -HUGE_VALF) : r;
}
static float up(float r, int above) {
    return above < 0 ? nextafterf(r, HUGE_VALF) : r;
}
static double down_double(double r, int above) {
    return above > 0 ? nextafter(r, -HUGE_VAL) : r;
}
static double up_double(double r, int above) {
    return above < 0 ? nextafter(r, HUGE_VAL) : r;
}

float __nv_ll2float_rn(long long a) {
    return (float)a;
}
float __nv_ll2float_rd(long long a) {
    return down((float)a, above_ll((double)(float)a, a));
}
float __nv_ll2float_ru(long long a) {
    return up((float)a, above_ll((double)(float)a, a));
}
float __nv_ll2float_rz(long long a) {
    return a < 0 ? __nv_ll2float_ru(a) : __nv_ll2float_rd(a);
}
float __nv_ull2float_rn(unsigned long long a) {
    return (float)a;
}
float __nv_ull2float_rd(unsigned long long a) {
    return down((float)a, above_ull((double)(float)a, a));
}
float __nv_ull2float_ru(unsigned long long a) {
    return up((float)a, above_ull((double)(float)a, a));
}
float __nv_ull2float_rz(unsigned long long a) {
    return __nv_ull2float_rd(a);
}

float __nv_int2float_rn(int a) {
    return (float)a;
}
float __nv_int2float_rd(int a) {
    return __nv_ll2float_rd(a);
}
float __nv_int2float_ru(int a) {
    return __nv_ll2float_ru(a);
}
float __nv_int2float_rz(int a) {
    return __nv_ll2float_rz(a);
}
float __nv_uint2float_rn(unsigned int a) {
    return (float)a;
}
float __nv_uint2float_rd(unsigned int a) {
    return __nv_ull2float_rd(a);
}
float __nv_uint2float_ru(unsigned int a) {
    return __nv_ull2float_ru(a);
}
float __nv_uint2float_rz(unsigned int a) {
    return __nv_ull2float_rz(a);
}

double __nv_ll2double_rn(long long a) {
    return (double)a;
}
double __nv_ll2double_rd(long long a) {
    return down_double((double)a, above_ll((double)a, a));
}
double __nv_ll2double_ru(long long a) {
    return up_double((double)a, above_ll((double)a, a));
}
double __nv_ll2double_rz(long long a) {
    return a < 0 ? __nv_ll2double_ru(a) : __nv_ll2double_rd(a);
}
double __nv_ull2double_rn(unsigned long long a) {
    return (double)a;
}
double __nv_ull2double_rd(unsigned long long a) {
    return down_double((double)a, above_ull((double)a, a));
}
double __nv_ull2double_ru(unsigned long long a) {
    return up_double((double)a, above_ull((double)a, a));
}
double __nv_ull2double_rz(unsigned long long a) {
    return __nv_ull2double_rd(a);
}

/* ---- half precision ---- */

float __nv_half2float(unsigned short h) {
    const unsigned int sign = (unsigned int)(h & 0x8000u) << 16;
    const unsigned int exponent = (h >> 10) & 0x1fu;
    const unsigned int fraction = h & 0x3ffu;
    if (exponent == 0x1fu) {
        return __nv_uint_as_float(sign | 0x7f800000u | (fraction << 13));
    }
    if (exponent == 0) {
        const float tiny = (float)fraction * 0x1p-24f;
        return sign != 0 ? -tiny : tiny;
    }
    return __nv_uint_as_float(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

unsigned short __nv_float2half_rn(float a) {
    const unsigned int bits = __nv_float_as_uint(a);
    const unsigned int sign = (bits >> 16) & 0x8000u;
    const unsigned int rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) {
        return 0x7fffu;
    }
    if (rest >= 0x477ff000u) { /* rounds to 65536 or more */
        return (unsigned short)(sign | 0x7c00u);
    }
    if (rest < 0x38800000u) {
        /* Subnormal: adding 1/2 leaves the fraction, rounded, in the low bits of the sum. */
        const float sum = __nv_uint_as_float(rest) + 0.5f;
        return (unsigned short)(sign | (__nv_float_as_uint(sum) - 0x3f000000u));
    }
    const unsigned int even = (rest >> 13) & 1u;
    return (unsigned short)(sign | ((rest - 0x38000000u + 0xfffu + even) >> 13));
}
