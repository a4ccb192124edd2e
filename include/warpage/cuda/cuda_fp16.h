/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Half precision: __half and __half2, on host and device.
 *
 * A half is stored as its 16 bits. Arithmetic is done in float and rounded once; for sums,
 * differences, products, quotients and square roots that is the correctly rounded result, since a
 * float has more than twice a half's digits. Fused multiply-add is exact in double before it is
 * rounded. Transcendental functions are those of float, rounded.
 */
#ifndef WARPAGE_CUDA_FP16_H
#define WARPAGE_CUDA_FP16_H

#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__
#define CUDA_NO_HALF 0

#include "host_defines.h"
#include "vector_types.h"

/** The bits of a half, for C and for initialisers. */
typedef struct __align__(2) {
    unsigned short x;
} __half_raw;
typedef struct __align__(4) {
    unsigned short x;
    unsigned short y;
} __half2_raw;

#if defined(__cplusplus)

#include <math.h>
#include <string.h>

#include "cuda_runtime.h"

#define WP_HALF static __inline__ __host__ __device__
#define WP_HALF_DEVICE static __inline__ __device__

/* ---- bits and floats ------------------------------------------------------------------------- */

WP_HALF unsigned int wp_half_bits_of_float(float a) {
    unsigned int bits;
    __builtin_memcpy(&bits, &a, sizeof(bits));
    return bits;
}
WP_HALF float wp_half_float_of_bits(unsigned int bits) {
    float a;
    __builtin_memcpy(&a, &bits, sizeof(a));
    return a;
}

#if defined(__CUDA__) && (defined(__CUDA_ARCH__) || defined(__F16C__))
WP_HALF float wp_half_widen(unsigned short bits) {
    _Float16 h;
    __builtin_memcpy(&h, &bits, sizeof(h));
    return (float)h;
}
WP_HALF unsigned short wp_half_narrow(float a) {
    const _Float16 h = (_Float16)a;
    unsigned short bits;
    __builtin_memcpy(&bits, &h, sizeof(bits));
    return bits;
}
WP_HALF unsigned short wp_half_narrow_double(double a) {
    const _Float16 h = (_Float16)a;
    unsigned short bits;
    __builtin_memcpy(&bits, &h, sizeof(bits));
    return bits;
}
#else
/* Compilers without a half type, and host code for CPUs without F16C, for which clang calls a slow function
 * of libgcc: the exponent is rebased by 112, subnormals go through a sum.
 */
WP_HALF float wp_half_widen(unsigned short bits) {
    const unsigned int sign = (unsigned int)(bits & 0x8000u) << 16;
    const unsigned int exponent = (bits >> 10) & 0x1fu;
    const unsigned int fraction = bits & 0x3ffu;
    if (exponent == 0x1fu) {
        return wp_half_float_of_bits(sign | 0x7f800000u | (fraction << 13));
    }
    if (exponent == 0) {
        const float tiny = (float)fraction * (1.0f / 16777216.0f);
        return sign != 0 ? -tiny : tiny;
    }
    return wp_half_float_of_bits(sign | ((exponent + 112u) << 23) | (fraction << 13));
}
WP_HALF unsigned short wp_half_narrow(float a) {
    const unsigned int bits = wp_half_bits_of_float(a);
    const unsigned int sign = (bits >> 16) & 0x8000u;
    const unsigned int rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) {
        return 0x7fffu;
    }
    if (rest >= 0x477ff000u) {
        return (unsigned short)(sign | 0x7c00u);
    }
    if (rest < 0x38800000u) {
        const float sum = wp_half_float_of_bits(rest) + 0.5f;
        return (unsigned short)(sign | (wp_half_bits_of_float(sum) - 0x3f000000u));
    }
    return (unsigned short)(sign | ((rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13));
}
/* Rounds a double to odd first, which preserves the information that the second rounding needs. */
WP_HALF unsigned short wp_half_narrow_double(double a) {
    float f = (float)a;
    unsigned int bits = wp_half_bits_of_float(f);
    if ((double)f != a && a == a && (bits & 1u) == 0 && (bits & 0x7fffffffu) != 0x7f800000u) {
        const bool away = ((double)f > a) == ((bits >> 31) == 0);
        f = wp_half_float_of_bits(away ? bits - 1u : bits + 1u);
    }
    return wp_half_narrow(f);
}
#endif

/* ---- the type -------------------------------------------------------------------------------- */

struct __align__(2) __half {
  protected:
    unsigned short __x;

  public:
#if __cplusplus >= 201103L
    __half() = default;
#else
    __host__ __device__ __half() {
    }
#endif
    __host__ __device__ __half(const __half_raw &r) : __x(r.x) {
    }
    __host__ __device__ __half &operator=(const __half_raw &r) {
        __x = r.x;
        return *this;
    }
    __host__ __device__ volatile __half &operator=(const __half_raw &r) volatile {
        __x = r.x;
        return *this;
    }
    __host__ __device__ operator __half_raw() const {
        __half_raw r;
        r.x = __x;
        return r;
    }
    __host__ __device__ operator __half_raw() const volatile {
        __half_raw r;
        r.x = __x;
        return r;
    }

#if !defined(__CUDA_NO_HALF_CONVERSIONS__)
#define WP_HALF_FROM(type, narrow)                                                                 \
    __host__ __device__ __half(type v) : __x(narrow) {                                             \
    }                                                                                              \
    __host__ __device__ __half &operator=(type v) {                                                \
        __x = narrow;                                                                              \
        return *this;                                                                              \
    }
    WP_HALF_FROM(float, wp_half_narrow(v))
    WP_HALF_FROM(double, wp_half_narrow_double(v))
    WP_HALF_FROM(short, wp_half_narrow((float)v))
    WP_HALF_FROM(unsigned short, wp_half_narrow((float)v))
    WP_HALF_FROM(int, wp_half_narrow_double((double)v))
    WP_HALF_FROM(unsigned int, wp_half_narrow_double((double)v))
    WP_HALF_FROM(long, wp_half_narrow_double((double)v))
    WP_HALF_FROM(unsigned long, wp_half_narrow_double((double)v))
    WP_HALF_FROM(long long, wp_half_narrow_double((double)v))
    WP_HALF_FROM(unsigned long long, wp_half_narrow_double((double)v))
#undef WP_HALF_FROM
    __host__ __device__ operator float() const {
        return wp_half_widen(__x);
    }
#endif
};

typedef __half half;
typedef __half __nv_half;
typedef __half nv_half;
typedef __half_raw __nv_half_raw;

struct __align__(4) __half2 {
    __half x;
    __half y;

#if __cplusplus >= 201103L
    __half2() = default;
#else
    __host__ __device__ __half2() {
    }
#endif
    __host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b) {
    }
    __host__ __device__ __half2(const __half2_raw &r) {
        __half_raw a, b;
        a.x = r.x;
        b.x = r.y;
        x = a;
        y = b;
    }
    __host__ __device__ __half2 &operator=(const __half2_raw &r) {
        return *this = __half2(r);
    }
    __host__ __device__ operator __half2_raw() const {
        __half2_raw r;
        r.x = ((__half_raw)x).x;
        r.y = ((__half_raw)y).x;
        return r;
    }
};

typedef __half2 half2;
typedef __half2 __nv_half2;
typedef __half2 nv_half2;

/* ---- conversions ----------------------------------------------------------------------------- */

WP_HALF unsigned short wp_half_bits(const __half a) {
    return ((__half_raw)a).x;
}
WP_HALF __half wp_half_of_bits(unsigned int bits) {
    __half_raw r;
    r.x = (unsigned short)bits;
    return __half(r);
}

WP_HALF float __half2float(const __half a) {
    return wp_half_widen(wp_half_bits(a));
}
WP_HALF __half __float2half_rn(const float a) {
    return wp_half_of_bits(wp_half_narrow(a));
}
WP_HALF __half __float2half(const float a) {
    return __float2half_rn(a);
}
WP_HALF __half __double2half(const double a) {
    return wp_half_of_bits(wp_half_narrow_double(a));
}

/* The neighbours of a half: magnitudes are ordered as their bits. */
WP_HALF __half wp_half_toward_zero(const __half a) {
    return wp_half_of_bits(wp_half_bits(a) - 1u);
}
WP_HALF __half wp_half_away(const __half a) {
    return wp_half_of_bits(wp_half_bits(a) + 1u);
}
WP_HALF __half wp_half_step(const __half nearest, bool up) {
    const unsigned int bits = wp_half_bits(nearest);
    if ((bits & 0x7fffu) == 0) {
        return wp_half_of_bits(up ? 0x0001u : 0x8001u);
    }
    return up == ((bits & 0x8000u) == 0) ? wp_half_away(nearest) : wp_half_toward_zero(nearest);
}
WP_HALF __half wp_double2half_rd(const double a) {
    const __half r = __double2half(a);
    return (double)__half2float(r) > a ? wp_half_step(r, false) : r;
}
WP_HALF __half wp_double2half_ru(const double a) {
    const __half r = __double2half(a);
    return (double)__half2float(r) < a ? wp_half_step(r, true) : r;
}
WP_HALF __half wp_double2half_rz(const double a) {
    return a < 0.0 ? wp_double2half_ru(a) : wp_double2half_rd(a);
}
WP_HALF __half __float2half_rd(const float a) {
    return wp_double2half_rd((double)a);
}
WP_HALF __half __float2half_ru(const float a) {
    return wp_double2half_ru((double)a);
}
WP_HALF __half __float2half_rz(const float a) {
    return wp_double2half_rz((double)a);
}

/* Integers. Every half is far inside the range of 64 bits; narrower ones saturate, NaN gives 0. */
#define WP_HALF_INTEGER(name, type, low, high)                                                     \
    WP_HALF type wp_half2##name(float a) {                                                         \
        return a != a               ? (type)0                                                      \
               : a >= (float)(high) ? (type)(high)                                                 \
               : a <= (float)(low)  ? (type)(low)                                                  \
                                    : (type)a;                                                      \
    }                                                                                              \
    WP_HALF type __half2##name##_rn(const __half a) {                                              \
        return wp_half2##name(rintf(__half2float(a)));                                             \
    }                                                                                              \
    WP_HALF type __half2##name##_rz(const __half a) {                                              \
        return wp_half2##name(truncf(__half2float(a)));                                            \
    }                                                                                              \
    WP_HALF type __half2##name##_rd(const __half a) {                                              \
        return wp_half2##name(floorf(__half2float(a)));                                            \
    }                                                                                              \
    WP_HALF type __half2##name##_ru(const __half a) {                                              \
        return wp_half2##name(ceilf(__half2float(a)));                                             \
    }                                                                                              \
    WP_HALF __half __##name##2half_rn(const type a) {                                              \
        return __double2half((double)a);                                                           \
    }                                                                                              \
    WP_HALF __half __##name##2half_rz(const type a) {                                              \
        return wp_double2half_rz((double)a);                                                       \
    }                                                                                              \
    WP_HALF __half __##name##2half_rd(const type a) {                                              \
        return wp_double2half_rd((double)a);                                                       \
    }                                                                                              \
    WP_HALF __half __##name##2half_ru(const type a) {                                              \
        return wp_double2half_ru((double)a);                                                       \
    }
WP_HALF_INTEGER(short, short, -32768, 32767)
WP_HALF_INTEGER(ushort, unsigned short, 0, 65535)
WP_HALF_INTEGER(int, int, -2147483647 - 1, 2147483647)
WP_HALF_INTEGER(uint, unsigned int, 0, 4294967295u)
WP_HALF_INTEGER(ll, long long, -9223372036854775807ll - 1, 9223372036854775807ll)
WP_HALF_INTEGER(ull, unsigned long long, 0, 18446744073709551615ull)
#undef WP_HALF_INTEGER

WP_HALF short __half_as_short(const __half a) {
    return (short)wp_half_bits(a);
}
WP_HALF unsigned short __half_as_ushort(const __half a) {
    return wp_half_bits(a);
}
WP_HALF __half __short_as_half(const short a) {
    return wp_half_of_bits((unsigned short)a);
}
WP_HALF __half __ushort_as_half(const unsigned short a) {
    return wp_half_of_bits(a);
}

WP_HALF __half2 make_half2(const __half x, const __half y) {
    return __half2(x, y);
}
WP_HALF __half2 __halves2half2(const __half a, const __half b) {
    return __half2(a, b);
}
WP_HALF __half2 __half2half2(const __half a) {
    return __half2(a, a);
}
WP_HALF __half2 __float2half2_rn(const float a) {
    return __half2half2(__float2half_rn(a));
}
WP_HALF __half2 __floats2half2_rn(const float a, const float b) {
    return __half2(__float2half_rn(a), __float2half_rn(b));
}
WP_HALF __half2 __float22half2_rn(const float2 a) {
    return __floats2half2_rn(a.x, a.y);
}
WP_HALF float2 __half22float2(const __half2 a) {
    float2 r;
    r.x = __half2float(a.x);
    r.y = __half2float(a.y);
    return r;
}
WP_HALF float __low2float(const __half2 a) {
    return __half2float(a.x);
}
WP_HALF float __high2float(const __half2 a) {
    return __half2float(a.y);
}
WP_HALF __half __low2half(const __half2 a) {
    return a.x;
}
WP_HALF __half __high2half(const __half2 a) {
    return a.y;
}
WP_HALF __half2 __low2half2(const __half2 a) {
    return __half2(a.x, a.x);
}
WP_HALF __half2 __high2half2(const __half2 a) {
    return __half2(a.y, a.y);
}
WP_HALF __half2 __lows2half2(const __half2 a, const __half2 b) {
    return __half2(a.x, b.x);
}
WP_HALF __half2 __highs2half2(const __half2 a, const __half2 b) {
    return __half2(a.y, b.y);
}
WP_HALF __half2 __lowhigh2highlow(const __half2 a) {
    return __half2(a.y, a.x);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

WP_HALF __half wp_half_saturate(const __half a) {
    const float f = __half2float(a);
    return f > 0.0f ? (f < 1.0f ? a : __float2half_rn(1.0f)) : __float2half_rn(0.0f);
}
WP_HALF __half wp_half_relu(const __half a) {
    const float f = __half2float(a);
    return f > 0.0f || f != f ? a : __float2half_rn(0.0f);
}

#define WP_HALF_BINARY(name, op)                                                                   \
    WP_HALF __half name(const __half a, const __half b) {                                          \
        return __float2half_rn(__half2float(a) op __half2float(b));                                \
    }                                                                                              \
    WP_HALF __half2 name##2(const __half2 a, const __half2 b) {                                    \
        return __half2(name(a.x, b.x), name(a.y, b.y));                                            \
    }
#define WP_HALF_BINARY_ALL(name, op)                                                               \
    WP_HALF_BINARY(name, op)                                                                       \
    WP_HALF __half name##_rn(const __half a, const __half b) {                                     \
        return name(a, b);                                                                         \
    }                                                                                              \
    WP_HALF __half name##_sat(const __half a, const __half b) {                                    \
        return wp_half_saturate(name(a, b));                                                       \
    }                                                                                              \
    WP_HALF __half2 name##2_rn(const __half2 a, const __half2 b) {                                 \
        return name##2(a, b);                                                                      \
    }                                                                                              \
    WP_HALF __half2 name##2_sat(const __half2 a, const __half2 b) {                                \
        return __half2(name##_sat(a.x, b.x), name##_sat(a.y, b.y));                                \
    }
WP_HALF_BINARY_ALL(__hadd, +)
WP_HALF_BINARY_ALL(__hsub, -)
WP_HALF_BINARY_ALL(__hmul, *)
WP_HALF __half __hdiv(const __half a, const __half b) {
    return __float2half_rn(__half2float(a) / __half2float(b));
}
WP_HALF __half2 __h2div(const __half2 a, const __half2 b) {
    return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
#undef WP_HALF_BINARY
#undef WP_HALF_BINARY_ALL

WP_HALF __half __hfma(const __half a, const __half b, const __half c) {
    return __double2half((double)__half2float(a) * (double)__half2float(b) +
                         (double)__half2float(c));
}
WP_HALF __half __hfma_sat(const __half a, const __half b, const __half c) {
    return wp_half_saturate(__hfma(a, b, c));
}
WP_HALF __half __hfma_relu(const __half a, const __half b, const __half c) {
    return wp_half_relu(__hfma(a, b, c));
}
WP_HALF __half2 __hfma2(const __half2 a, const __half2 b, const __half2 c) {
    return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
WP_HALF __half2 __hfma2_sat(const __half2 a, const __half2 b, const __half2 c) {
    return __half2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
WP_HALF __half2 __hfma2_relu(const __half2 a, const __half2 b, const __half2 c) {
    return __half2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
WP_HALF __half __hneg(const __half a) {
    return wp_half_of_bits(wp_half_bits(a) ^ 0x8000u);
}
WP_HALF __half __habs(const __half a) {
    return wp_half_of_bits(wp_half_bits(a) & 0x7fffu);
}
WP_HALF __half2 __hneg2(const __half2 a) {
    return __half2(__hneg(a.x), __hneg(a.y));
}
WP_HALF __half2 __habs2(const __half2 a) {
    return __half2(__habs(a.x), __habs(a.y));
}

/* ---- comparisons: ordered, and with u true for NaN ------------------------------------------- */

WP_HALF bool __hisnan(const __half a) {
    return (wp_half_bits(a) & 0x7fffu) > 0x7c00u;
}
WP_HALF int __hisinf(const __half a) {
    return wp_half_bits(a) == 0x7c00u ? 1 : wp_half_bits(a) == 0xfc00u ? -1 : 0;
}
WP_HALF bool wp_half_unordered(const __half a, const __half b) {
    return __hisnan(a) || __hisnan(b);
}

#define WP_HALF_COMPARE(name, op)                                                                  \
    WP_HALF bool __h##name(const __half a, const __half b) {                                       \
        return !wp_half_unordered(a, b) && __half2float(a) op __half2float(b);                     \
    }                                                                                              \
    WP_HALF bool __h##name##u(const __half a, const __half b) {                                    \
        return wp_half_unordered(a, b) || __half2float(a) op __half2float(b);                      \
    }                                                                                              \
    WP_HALF __half2 __h##name##2(const __half2 a, const __half2 b) {                               \
        return __floats2half2_rn(__h##name(a.x, b.x) ? 1.0f : 0.0f,                                \
                                 __h##name(a.y, b.y) ? 1.0f : 0.0f);                               \
    }                                                                                              \
    WP_HALF __half2 __h##name##u2(const __half2 a, const __half2 b) {                              \
        return __floats2half2_rn(__h##name##u(a.x, b.x) ? 1.0f : 0.0f,                             \
                                 __h##name##u(a.y, b.y) ? 1.0f : 0.0f);                            \
    }                                                                                              \
    WP_HALF unsigned int __h##name##2_mask(const __half2 a, const __half2 b) {                     \
        return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);    \
    }                                                                                              \
    WP_HALF bool __hb##name##2(const __half2 a, const __half2 b) {                                 \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                         \
    }                                                                                              \
    WP_HALF bool __hb##name##u2(const __half2 a, const __half2 b) {                                \
        return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y);                                   \
    }
WP_HALF_COMPARE(eq, ==)
WP_HALF_COMPARE(ne, !=)
WP_HALF_COMPARE(le, <=)
WP_HALF_COMPARE(ge, >=)
WP_HALF_COMPARE(lt, <)
WP_HALF_COMPARE(gt, >)
#undef WP_HALF_COMPARE
WP_HALF __half2 __hisnan2(const __half2 a) {
    return __floats2half2_rn(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f);
}

/* A number is preferred to NaN, except in the _nan forms; -0 is less than +0. */
WP_HALF __half __hmax(const __half a, const __half b) {
    if (wp_half_unordered(a, b)) {
        return !__hisnan(a) ? a : !__hisnan(b) ? b : wp_half_of_bits(0x7fffu);
    }
    if (__half2float(a) == __half2float(b)) {
        return wp_half_of_bits(wp_half_bits(a) & wp_half_bits(b));
    }
    return __half2float(a) > __half2float(b) ? a : b;
}
WP_HALF __half __hmin(const __half a, const __half b) {
    if (wp_half_unordered(a, b)) {
        return !__hisnan(a) ? a : !__hisnan(b) ? b : wp_half_of_bits(0x7fffu);
    }
    if (__half2float(a) == __half2float(b)) {
        return wp_half_of_bits(wp_half_bits(a) | wp_half_bits(b));
    }
    return __half2float(a) < __half2float(b) ? a : b;
}
WP_HALF __half __hmax_nan(const __half a, const __half b) {
    return wp_half_unordered(a, b) ? wp_half_of_bits(0x7fffu) : __hmax(a, b);
}
WP_HALF __half __hmin_nan(const __half a, const __half b) {
    return wp_half_unordered(a, b) ? wp_half_of_bits(0x7fffu) : __hmin(a, b);
}
#define WP_HALF_PAIR(name, one)                                                                    \
    WP_HALF __half2 name(const __half2 a, const __half2 b) {                                       \
        return __half2(one(a.x, b.x), one(a.y, b.y));                                              \
    }
WP_HALF_PAIR(__hmax2, __hmax)
WP_HALF_PAIR(__hmin2, __hmin)
WP_HALF_PAIR(__hmax2_nan, __hmax_nan)
WP_HALF_PAIR(__hmin2_nan, __hmin_nan)
#undef WP_HALF_PAIR

/* ---- functions ------------------------------------------------------------------------------- */

#define WP_HALF_FUNCTION(name, expression)                                                         \
    WP_HALF_DEVICE __half h##name(const __half h) {                                                \
        const float a = __half2float(h);                                                           \
        return __float2half_rn(expression);                                                        \
    }                                                                                              \
    WP_HALF_DEVICE __half2 h2##name(const __half2 h) {                                             \
        return __half2(h##name(h.x), h##name(h.y));                                                \
    }
#if defined(__CUDA__)
WP_HALF_FUNCTION(sqrt, sqrtf(a))
WP_HALF_FUNCTION(rsqrt, rsqrtf(a))
WP_HALF_FUNCTION(rcp, 1.0f / a)
WP_HALF_FUNCTION(log, logf(a))
WP_HALF_FUNCTION(log2, log2f(a))
WP_HALF_FUNCTION(log10, log10f(a))
WP_HALF_FUNCTION(exp, expf(a))
WP_HALF_FUNCTION(exp2, exp2f(a))
WP_HALF_FUNCTION(exp10, exp10f(a))
WP_HALF_FUNCTION(sin, sinf(a))
WP_HALF_FUNCTION(cos, cosf(a))
WP_HALF_FUNCTION(ceil, ceilf(a))
WP_HALF_FUNCTION(floor, floorf(a))
WP_HALF_FUNCTION(trunc, truncf(a))
WP_HALF_FUNCTION(rint, rintf(a))
#endif
#undef WP_HALF_FUNCTION

/* ---- operators ------------------------------------------------------------------------------- */

#if !defined(__CUDA_NO_HALF_OPERATORS__)
#define WP_HALF_OPERATOR(type, op, name)                                                           \
    WP_HALF type operator op(const type &a, const type &b) {                                       \
        return name(a, b);                                                                         \
    }                                                                                              \
    WP_HALF type &operator op##=(type & a, const type & b) {                                       \
        a = name(a, b);                                                                            \
        return a;                                                                                  \
    }
WP_HALF_OPERATOR(__half, +, __hadd)
WP_HALF_OPERATOR(__half, -, __hsub)
WP_HALF_OPERATOR(__half, *, __hmul)
WP_HALF_OPERATOR(__half, /, __hdiv)
WP_HALF_OPERATOR(__half2, +, __hadd2)
WP_HALF_OPERATOR(__half2, -, __hsub2)
WP_HALF_OPERATOR(__half2, *, __hmul2)
WP_HALF_OPERATOR(__half2, /, __h2div)
#undef WP_HALF_OPERATOR
#define WP_HALF_OPERATOR(op, name, ordered)                                                        \
    WP_HALF bool operator op(const __half &a, const __half &b) {                                   \
        return name(a, b);                                                                         \
    }                                                                                              \
    WP_HALF bool operator op(const __half2 &a, const __half2 &b) {                                 \
        return ordered(a, b);                                                                      \
    }
WP_HALF_OPERATOR(==, __heq, __hbeq2)
WP_HALF_OPERATOR(!=, __hneu, __hbneu2)
WP_HALF_OPERATOR(<, __hlt, __hblt2)
WP_HALF_OPERATOR(>, __hgt, __hbgt2)
WP_HALF_OPERATOR(<=, __hle, __hble2)
WP_HALF_OPERATOR(>=, __hge, __hbge2)
#undef WP_HALF_OPERATOR
WP_HALF __half operator+(const __half &a) {
    return a;
}
WP_HALF __half operator-(const __half &a) {
    return __hneg(a);
}
WP_HALF __half2 operator+(const __half2 &a) {
    return a;
}
WP_HALF __half2 operator-(const __half2 &a) {
    return __hneg2(a);
}
WP_HALF __half &operator++(__half &a) {
    a = __hadd(a, __float2half_rn(1.0f));
    return a;
}
WP_HALF __half &operator--(__half &a) {
    a = __hsub(a, __float2half_rn(1.0f));
    return a;
}
WP_HALF __half operator++(__half &a, int) {
    const __half before = a;
    ++a;
    return before;
}
WP_HALF __half operator--(__half &a, int) {
    const __half before = a;
    --a;
    return before;
}
#endif

/* ---- device only: shuffles, hinted accesses, atomics ----------------------------------------- */

#if defined(__CUDA__)

WP_HALF_DEVICE unsigned int wp_half2_bits(const __half2 a) {
    return (unsigned int)wp_half_bits(a.x) | ((unsigned int)wp_half_bits(a.y) << 16);
}
WP_HALF_DEVICE __half2 wp_half2_of_bits(unsigned int bits) {
    return __half2(wp_half_of_bits(bits & 0xffffu), wp_half_of_bits(bits >> 16));
}

#define WP_HALF_SHUFFLE(name, type)                                                                \
    WP_HALF_DEVICE __half name##_sync(unsigned int mask, const __half v, type lane,                \
                                      int width = 32) {                                            \
        return wp_half_of_bits(name##_sync(mask, (unsigned int)wp_half_bits(v), lane, width));     \
    }                                                                                              \
    WP_HALF_DEVICE __half2 name##_sync(unsigned int mask, const __half2 v, type lane,              \
                                       int width = 32) {                                           \
        return wp_half2_of_bits(name##_sync(mask, wp_half2_bits(v), lane, width));                 \
    }                                                                                              \
    WP_HALF_DEVICE __half name(const __half v, type lane, int width = 32) {                        \
        return wp_half_of_bits(name((unsigned int)wp_half_bits(v), lane, width));                  \
    }                                                                                              \
    WP_HALF_DEVICE __half2 name(const __half2 v, type lane, int width = 32) {                      \
        return wp_half2_of_bits(name(wp_half2_bits(v), lane, width));                              \
    }
WP_HALF_SHUFFLE(__shfl, int)
WP_HALF_SHUFFLE(__shfl_up, unsigned int)
WP_HALF_SHUFFLE(__shfl_down, unsigned int)
WP_HALF_SHUFFLE(__shfl_xor, int)
#undef WP_HALF_SHUFFLE

#define WP_HALF_LOAD(name)                                                                         \
    WP_HALF_DEVICE __half name(const __half *address) {                                            \
        return *address;                                                                           \
    }                                                                                              \
    WP_HALF_DEVICE __half2 name(const __half2 *address) {                                          \
        return *address;                                                                           \
    }
WP_HALF_LOAD(__ldg)
WP_HALF_LOAD(__ldca)
WP_HALF_LOAD(__ldcg)
WP_HALF_LOAD(__ldcs)
WP_HALF_LOAD(__ldlu)
#undef WP_HALF_LOAD
#define WP_HALF_STORE(name)                                                                        \
    WP_HALF_DEVICE void name(__half *address, const __half v) {                                    \
        *address = v;                                                                              \
    }                                                                                              \
    WP_HALF_DEVICE void name(__half2 *address, const __half2 v) {                                  \
        *address = v;                                                                              \
    }
WP_HALF_STORE(__stwb)
WP_HALF_STORE(__stcg)
WP_HALF_STORE(__stcs)
WP_HALF_STORE(__stwt)
#undef WP_HALF_STORE

WP_HALF_DEVICE __half atomicAdd(__half *address, const __half value) {
    unsigned short *bits = (unsigned short *)(void *)address;
    unsigned short seen = *(volatile unsigned short *)bits;
    for (;;) {
        const __half sum = __hadd(wp_half_of_bits(seen), value);
        const unsigned short found = atomicCAS(bits, seen, wp_half_bits(sum));
        if (found == seen) {
            return wp_half_of_bits(seen);
        }
        seen = found;
    }
}
WP_HALF_DEVICE __half2 atomicAdd(__half2 *address, const __half2 value) {
    unsigned int *bits = (unsigned int *)(void *)address;
    unsigned int seen = *(volatile unsigned int *)bits;
    for (;;) {
        const __half2 sum = __hadd2(wp_half2_of_bits(seen), value);
        const unsigned int found = atomicCAS(bits, seen, wp_half2_bits(sum));
        if (found == seen) {
            return wp_half2_of_bits(seen);
        }
        seen = found;
    }
}

#endif

#undef WP_HALF
#undef WP_HALF_DEVICE

#endif
#endif
