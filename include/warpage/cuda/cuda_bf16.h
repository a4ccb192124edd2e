/* SPDX-License-Identifier: Apache-2.0 */
/**
 * bfloat16: the upper half of a float, on host and device. Arithmetic is done in float and rounded
 * once, which is the correctly rounded result; fused multiply-add is done in double, where only
 * sums whose terms lie more than 2^30 apart are not exact.
 */
#ifndef WARPAGE_CUDA_BF16_H
#define WARPAGE_CUDA_BF16_H

#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__

#include "host_defines.h"
#include "vector_types.h"

typedef struct __align__(2) {
    unsigned short x;
} __nv_bfloat16_raw;
typedef struct __align__(4) {
    unsigned short x;
    unsigned short y;
} __nv_bfloat162_raw;

#if defined(__cplusplus)

#include <math.h>

#include "cuda_runtime.h"

#define WP_BF16 static __inline__ __host__ __device__
#define WP_BF16_DEVICE static __inline__ __device__

WP_BF16 float wp_bf16_widen(unsigned short bits) {
    const unsigned int wide = (unsigned int)bits << 16;
    float a;
    __builtin_memcpy(&a, &wide, sizeof(a));
    return a;
}
/* To nearest, ties to even. */
WP_BF16 unsigned short wp_bf16_narrow(float a) {
    unsigned int bits;
    __builtin_memcpy(&bits, &a, sizeof(bits));
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fffu;
    }
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
/* Rounds a double to a float, to odd, which preserves the information that the second rounding
 * needs. */
WP_BF16 unsigned short wp_bf16_narrow_double(double a) {
    float f = (float)a;
    unsigned int bits;
    __builtin_memcpy(&bits, &f, sizeof(bits));
    if ((double)f != a && a == a && (bits & 1u) == 0 && (bits & 0x7fffffffu) != 0x7f800000u) {
        const bool is_away = ((double)f > a) == ((bits >> 31) == 0);
        bits = is_away ? bits - 1u : bits + 1u;
        __builtin_memcpy(&f, &bits, sizeof(f));
    }
    return wp_bf16_narrow(f);
}

struct __align__(2) __nv_bfloat16 {
  protected:
    unsigned short __x;

  public:
#if __cplusplus >= 201103L
    __nv_bfloat16() = default;
#else
    __host__ __device__ __nv_bfloat16() {
    }
#endif
    __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw &r) : __x(r.x) {
    }
    __host__ __device__ __nv_bfloat16 &operator=(const __nv_bfloat16_raw &r) {
        __x = r.x;
        return *this;
    }
    __host__ __device__ volatile __nv_bfloat16 &operator=(const __nv_bfloat16_raw &r) volatile {
        __x = r.x;
        return *this;
    }
    __host__ __device__ operator __nv_bfloat16_raw() const {
        __nv_bfloat16_raw r;
        r.x = __x;
        return r;
    }
    __host__ __device__ operator __nv_bfloat16_raw() const volatile {
        __nv_bfloat16_raw r;
        r.x = __x;
        return r;
    }
    __host__ __device__ __nv_bfloat16(float v) : __x(wp_bf16_narrow(v)) {
    }
    __host__ __device__ __nv_bfloat16(double v) : __x(wp_bf16_narrow_double(v)) {
    }
    __host__ __device__ __nv_bfloat16(int v) : __x(wp_bf16_narrow_double((double)v)) {
    }
    __host__ __device__ __nv_bfloat16(unsigned int v) : __x(wp_bf16_narrow_double((double)v)) {
    }
    __host__ __device__ operator float() const {
        return wp_bf16_widen(__x);
    }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x;
    __nv_bfloat16 y;

#if __cplusplus >= 201103L
    __nv_bfloat162() = default;
#else
    __host__ __device__ __nv_bfloat162() {
    }
#endif
    __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b)
        : x(a), y(b) {
    }
};
typedef __nv_bfloat162 nv_bfloat162;

/* ---- conversions ---- */

WP_BF16 float __bfloat162float(const __nv_bfloat16 a) {
    return wp_bf16_widen(((__nv_bfloat16_raw)a).x);
}
WP_BF16 __nv_bfloat16 __float2bfloat16(const float a) {
    return __nv_bfloat16(a);
}
WP_BF16 __nv_bfloat16 __float2bfloat16_rn(const float a) {
    return __nv_bfloat16(a);
}
WP_BF16 __nv_bfloat16 __double2bfloat16(const double a) {
    return __nv_bfloat16(a);
}
WP_BF16 __nv_bfloat16 __ushort_as_bfloat16(const unsigned short a) {
    __nv_bfloat16_raw r;
    r.x = a;
    return __nv_bfloat16(r);
}
WP_BF16 unsigned short __bfloat16_as_ushort(const __nv_bfloat16 a) {
    return ((__nv_bfloat16_raw)a).x;
}
WP_BF16 short __bfloat16_as_short(const __nv_bfloat16 a) {
    return (short)__bfloat16_as_ushort(a);
}
WP_BF16 __nv_bfloat16 __short_as_bfloat16(const short a) {
    return __ushort_as_bfloat16((unsigned short)a);
}

/* Other roundings: the nearest value, moved one step up or down if necessary. Magnitudes are
 * ordered as their bits. */
WP_BF16 __nv_bfloat16 wp_bf16_step(const __nv_bfloat16 nearest, bool is_up) {
    const unsigned short bits = __bfloat16_as_ushort(nearest);
    if ((bits & 0x7fffu) == 0) {
        return __ushort_as_bfloat16(is_up ? 0x0001u : 0x8001u);
    }
    return __ushort_as_bfloat16(
        (unsigned short)(is_up == ((bits & 0x8000u) == 0) ? bits + 1u : bits - 1u));
}
WP_BF16 __nv_bfloat16 wp_double2bf16_rd(const double a) {
    const __nv_bfloat16 r = __nv_bfloat16(a);
    return (double)__bfloat162float(r) > a ? wp_bf16_step(r, false) : r;
}
WP_BF16 __nv_bfloat16 wp_double2bf16_ru(const double a) {
    const __nv_bfloat16 r = __nv_bfloat16(a);
    return (double)__bfloat162float(r) < a ? wp_bf16_step(r, true) : r;
}
WP_BF16 __nv_bfloat16 wp_double2bf16_rz(const double a) {
    return a < 0.0 ? wp_double2bf16_ru(a) : wp_double2bf16_rd(a);
}
WP_BF16 __nv_bfloat16 wp_double2bf16_rn(const double a) {
    return __nv_bfloat16(a);
}
WP_BF16 __nv_bfloat16 __float2bfloat16_rd(const float a) {
    return wp_double2bf16_rd((double)a);
}
WP_BF16 __nv_bfloat16 __float2bfloat16_ru(const float a) {
    return wp_double2bf16_ru((double)a);
}
WP_BF16 __nv_bfloat16 __float2bfloat16_rz(const float a) {
    return wp_double2bf16_rz((double)a);
}

/* An integer as a double; digits that do not fit are merged into a sticky bit. */
WP_BF16 double wp_bf16_exact(unsigned long long magnitude, bool is_negative) {
    if (magnitude >> 53 != 0) {
        magnitude = ((magnitude >> 11) | ((magnitude & 0x7ffull) != 0)) << 11;
    }
    return is_negative ? -(double)magnitude : (double)magnitude;
}

/* To narrower integers: saturating; NaN gives 0. */
#define WP_BF16_ROUNDING(name, type, mode, round)                                                  \
    WP_BF16 type __bfloat162##name##_##mode(const __nv_bfloat16 a) {                               \
        return wp_bf162##name(round(__bfloat162float(a)));                                         \
    }                                                                                              \
    WP_BF16 __nv_bfloat16 __##name##2bfloat16_##mode(const type a) {                               \
        const bool is_negative = a < (type)1 && a != 0;                                            \
        const unsigned long long bits = (unsigned long long)a;                                     \
        return wp_double2bf16_##mode(                                                              \
            wp_bf16_exact(is_negative ? 0ull - bits : bits, is_negative));                         \
    }
#define WP_BF16_INTEGER(name, type, low, high)                                                     \
    WP_BF16 type wp_bf162##name(float a) {                                                         \
        return a != a               ? (type)0                                                      \
               : a >= (float)(high) ? (type)(high)                                                 \
               : a <= (float)(low)  ? (type)(low)                                                  \
                                    : (type)a;                                                      \
    }                                                                                              \
    WP_BF16_ROUNDING(name, type, rn, rintf)                                                        \
    WP_BF16_ROUNDING(name, type, rz, truncf)                                                       \
    WP_BF16_ROUNDING(name, type, rd, floorf)                                                       \
    WP_BF16_ROUNDING(name, type, ru, ceilf)
WP_BF16_INTEGER(short, short, -32768, 32767)
WP_BF16_INTEGER(ushort, unsigned short, 0, 65535)
WP_BF16_INTEGER(int, int, -2147483647 - 1, 2147483647)
WP_BF16_INTEGER(uint, unsigned int, 0, 4294967295u)
WP_BF16_INTEGER(ll, long long, -9223372036854775807ll - 1, 9223372036854775807ll)
WP_BF16_INTEGER(ull, unsigned long long, 0, 18446744073709551615ull)
#undef WP_BF16_INTEGER
#undef WP_BF16_ROUNDING
WP_BF16 signed char __bfloat162char_rz(const __nv_bfloat16 a) {
    const short wide = __bfloat162short_rz(a);
    return (signed char)(wide < -128 ? -128 : wide > 127 ? 127 : wide);
}
WP_BF16 unsigned char __bfloat162uchar_rz(const __nv_bfloat16 a) {
    const unsigned short wide = __bfloat162ushort_rz(a);
    return (unsigned char)(wide > 255 ? 255 : wide);
}

WP_BF16 __nv_bfloat162 make_bfloat162(const __nv_bfloat16 x, const __nv_bfloat16 y) {
    return __nv_bfloat162(x, y);
}
WP_BF16 __nv_bfloat162 __halves2bfloat162(const __nv_bfloat16 a, const __nv_bfloat16 b) {
    return __nv_bfloat162(a, b);
}
WP_BF16 __nv_bfloat162 __bfloat162bfloat162(const __nv_bfloat16 a) {
    return __nv_bfloat162(a, a);
}
WP_BF16 __nv_bfloat162 __float2bfloat162_rn(const float a) {
    return __nv_bfloat162(a, a);
}
WP_BF16 __nv_bfloat162 __floats2bfloat162_rn(const float a, const float b) {
    return __nv_bfloat162(a, b);
}
WP_BF16 __nv_bfloat162 __float22bfloat162_rn(const float2 a) {
    return __nv_bfloat162(a.x, a.y);
}
WP_BF16 float2 __bfloat1622float2(const __nv_bfloat162 a) {
    float2 r;
    r.x = __bfloat162float(a.x);
    r.y = __bfloat162float(a.y);
    return r;
}
WP_BF16 float __low2float(const __nv_bfloat162 a) {
    return __bfloat162float(a.x);
}
WP_BF16 float __high2float(const __nv_bfloat162 a) {
    return __bfloat162float(a.y);
}
WP_BF16 __nv_bfloat16 __low2bfloat16(const __nv_bfloat162 a) {
    return a.x;
}
WP_BF16 __nv_bfloat16 __high2bfloat16(const __nv_bfloat162 a) {
    return a.y;
}
WP_BF16 __nv_bfloat162 __low2bfloat162(const __nv_bfloat162 a) {
    return __nv_bfloat162(a.x, a.x);
}
WP_BF16 __nv_bfloat162 __high2bfloat162(const __nv_bfloat162 a) {
    return __nv_bfloat162(a.y, a.y);
}
WP_BF16 __nv_bfloat162 __lows2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) {
    return __nv_bfloat162(a.x, b.x);
}
WP_BF16 __nv_bfloat162 __highs2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) {
    return __nv_bfloat162(a.y, b.y);
}
WP_BF16 __nv_bfloat162 __lowhigh2highlow(const __nv_bfloat162 a) {
    return __nv_bfloat162(a.y, a.x);
}

/* ---- arithmetic and comparisons ---- */

#define WP_BF16_BINARY(name, name2, op)                                                            \
    WP_BF16 __nv_bfloat16 name(const __nv_bfloat16 a, const __nv_bfloat16 b) {                     \
        return __nv_bfloat16(__bfloat162float(a) op __bfloat162float(b));                          \
    }                                                                                              \
    WP_BF16 __nv_bfloat162 name2(const __nv_bfloat162 a, const __nv_bfloat162 b) {                 \
        return __nv_bfloat162(name(a.x, b.x), name(a.y, b.y));                                     \
    }                                                                                              \
    WP_BF16 __nv_bfloat16 operator op(const __nv_bfloat16 &a, const __nv_bfloat16 &b) {            \
        return name(a, b);                                                                         \
    }                                                                                              \
    WP_BF16 __nv_bfloat162 operator op(const __nv_bfloat162 &a, const __nv_bfloat162 &b) {         \
        return name2(a, b);                                                                        \
    }                                                                                              \
    WP_BF16 __nv_bfloat16 &operator op##=(__nv_bfloat16 & a, const __nv_bfloat16 & b) {            \
        a = name(a, b);                                                                            \
        return a;                                                                                  \
    }                                                                                              \
    WP_BF16 __nv_bfloat162 &operator op##=(__nv_bfloat162 & a, const __nv_bfloat162 & b) {         \
        a = name2(a, b);                                                                           \
        return a;                                                                                  \
    }
WP_BF16_BINARY(__hadd, __hadd2, +)
WP_BF16_BINARY(__hsub, __hsub2, -)
WP_BF16_BINARY(__hmul, __hmul2, *)
WP_BF16_BINARY(__hdiv, __h2div, /)
#undef WP_BF16_BINARY

/* 1 or 0 for each half; `__hb…2`: true if both are. */
#define WP_BF16_COMPARE(name, op)                                                                  \
    WP_BF16 bool __h##name(const __nv_bfloat16 a, const __nv_bfloat16 b) {                         \
        return __bfloat162float(a) op __bfloat162float(b);                                         \
    }                                                                                              \
    WP_BF16 bool operator op(const __nv_bfloat16 &a, const __nv_bfloat16 &b) {                     \
        return __bfloat162float(a) op __bfloat162float(b);                                         \
    }                                                                                              \
    WP_BF16 __nv_bfloat162 __h##name##2(const __nv_bfloat162 a, const __nv_bfloat162 b) {          \
        return __nv_bfloat162(a.x op b.x ? 1.0f : 0.0f, a.y op b.y ? 1.0f : 0.0f);                 \
    }                                                                                              \
    WP_BF16 bool __hb##name##2(const __nv_bfloat162 a, const __nv_bfloat162 b) {                   \
        return a.x op b.x && a.y op b.y;                                                           \
    }
WP_BF16_COMPARE(eq, ==)
WP_BF16_COMPARE(neu, !=)
WP_BF16_COMPARE(lt, <)
WP_BF16_COMPARE(le, <=)
WP_BF16_COMPARE(gt, >)
WP_BF16_COMPARE(ge, >=)
#undef WP_BF16_COMPARE

WP_BF16 __nv_bfloat16 __hneg(const __nv_bfloat16 a) {
    return __ushort_as_bfloat16((unsigned short)(__bfloat16_as_ushort(a) ^ 0x8000u));
}
WP_BF16 __nv_bfloat16 __habs(const __nv_bfloat16 a) {
    return __ushort_as_bfloat16((unsigned short)(__bfloat16_as_ushort(a) & 0x7fffu));
}
WP_BF16 __nv_bfloat16 operator-(const __nv_bfloat16 &a) {
    return __hneg(a);
}
WP_BF16 bool __hisnan(const __nv_bfloat16 a) {
    return (__bfloat16_as_ushort(a) & 0x7fffu) > 0x7f80u;
}
WP_BF16 __nv_bfloat16 __hmax(const __nv_bfloat16 a, const __nv_bfloat16 b) {
    return __nv_bfloat16(fmaxf(__bfloat162float(a), __bfloat162float(b)));
}
WP_BF16 __nv_bfloat16 __hmin(const __nv_bfloat16 a, const __nv_bfloat16 b) {
    return __nv_bfloat16(fminf(__bfloat162float(a), __bfloat162float(b)));
}
WP_BF16 __nv_bfloat16 __hfma(const __nv_bfloat16 a, const __nv_bfloat16 b, const __nv_bfloat16 c) {
    return __nv_bfloat16((double)__bfloat162float(a) * (double)__bfloat162float(b) +
                         (double)__bfloat162float(c));
}
WP_BF16 __nv_bfloat162 __hfma2(const __nv_bfloat162 a, const __nv_bfloat162 b,
                               const __nv_bfloat162 c) {
    return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}

WP_BF16 __nv_bfloat162 __hneg2(const __nv_bfloat162 a) {
    return __nv_bfloat162(__hneg(a.x), __hneg(a.y));
}
WP_BF16 __nv_bfloat162 __habs2(const __nv_bfloat162 a) {
    return __nv_bfloat162(__habs(a.x), __habs(a.y));
}
WP_BF16 __nv_bfloat162 __hmax2(const __nv_bfloat162 a, const __nv_bfloat162 b) {
    return __nv_bfloat162(__hmax(a.x, b.x), __hmax(a.y, b.y));
}
WP_BF16 __nv_bfloat162 __hmin2(const __nv_bfloat162 a, const __nv_bfloat162 b) {
    return __nv_bfloat162(__hmin(a.x, b.x), __hmin(a.y, b.y));
}
WP_BF16 __nv_bfloat162 operator-(const __nv_bfloat162 &a) {
    return __hneg2(a);
}
WP_BF16 int __hisinf(const __nv_bfloat16 a) {
    const unsigned short bits = __bfloat16_as_ushort(a);
    return bits == 0x7f80u ? 1 : bits == 0xff80u ? -1 : 0;
}
WP_BF16 __nv_bfloat16 __hfma_relu(const __nv_bfloat16 a, const __nv_bfloat16 b,
                                  const __nv_bfloat16 c) {
    return __hmax(__hfma(a, b, c), __nv_bfloat16(0.0f));
}

#if defined(__CUDA__)
#define WP_BF16_FUNCTION(name, function)                                                           \
    WP_BF16_DEVICE __nv_bfloat16 h##name(const __nv_bfloat16 a) {                                  \
        return __nv_bfloat16(function(__bfloat162float(a)));                                       \
    }                                                                                              \
    WP_BF16_DEVICE __nv_bfloat162 h2##name(const __nv_bfloat162 a) {                               \
        return __nv_bfloat162(h##name(a.x), h##name(a.y));                                         \
    }
WP_BF16_FUNCTION(sqrt, sqrtf)
WP_BF16_FUNCTION(rsqrt, rsqrtf)
WP_BF16_FUNCTION(exp, expf)
WP_BF16_FUNCTION(exp2, exp2f)
WP_BF16_FUNCTION(log, logf)
WP_BF16_FUNCTION(log2, log2f)
WP_BF16_FUNCTION(sin, sinf)
WP_BF16_FUNCTION(cos, cosf)
WP_BF16_FUNCTION(floor, floorf)
WP_BF16_FUNCTION(ceil, ceilf)
WP_BF16_FUNCTION(trunc, truncf)
WP_BF16_FUNCTION(rint, rintf)
WP_BF16_FUNCTION(rcp, 1.0f /)
WP_BF16_FUNCTION(exp10, exp10f)
WP_BF16_FUNCTION(log10, log10f)
#undef WP_BF16_FUNCTION

/* ---- shuffles, hinted accesses, atomics ---- */

WP_BF16_DEVICE unsigned int wp_bf162_bits(const __nv_bfloat162 a) {
    return (unsigned int)__bfloat16_as_ushort(a.x) |
           ((unsigned int)__bfloat16_as_ushort(a.y) << 16);
}
WP_BF16_DEVICE __nv_bfloat162 wp_bf162_of_bits(unsigned int bits) {
    return __nv_bfloat162(__ushort_as_bfloat16((unsigned short)bits),
                          __ushort_as_bfloat16((unsigned short)(bits >> 16)));
}

#define WP_BF16_SHUFFLE(name, type)                                                                \
    WP_BF16_DEVICE __nv_bfloat16 name##_sync(unsigned int mask, const __nv_bfloat16 v, type lane,  \
                                             int width = 32) {                                     \
        return __ushort_as_bfloat16((unsigned short)name##_sync(                                   \
            mask, (unsigned int)__bfloat16_as_ushort(v), lane, width));                            \
    }                                                                                              \
    WP_BF16_DEVICE __nv_bfloat162 name##_sync(unsigned int mask, const __nv_bfloat162 v,           \
                                              type lane, int width = 32) {                         \
        return wp_bf162_of_bits(name##_sync(mask, wp_bf162_bits(v), lane, width));                 \
    }
WP_BF16_SHUFFLE(__shfl, int)
WP_BF16_SHUFFLE(__shfl_up, unsigned int)
WP_BF16_SHUFFLE(__shfl_down, unsigned int)
WP_BF16_SHUFFLE(__shfl_xor, int)
#undef WP_BF16_SHUFFLE

#define WP_BF16_LOAD(name)                                                                         \
    WP_BF16_DEVICE __nv_bfloat16 name(const __nv_bfloat16 *address) {                              \
        return *address;                                                                           \
    }                                                                                              \
    WP_BF16_DEVICE __nv_bfloat162 name(const __nv_bfloat162 *address) {                            \
        return *address;                                                                           \
    }
WP_BF16_LOAD(__ldg)
WP_BF16_LOAD(__ldca)
WP_BF16_LOAD(__ldcg)
WP_BF16_LOAD(__ldcs)
WP_BF16_LOAD(__ldlu)
#undef WP_BF16_LOAD
#define WP_BF16_STORE(name)                                                                        \
    WP_BF16_DEVICE void name(__nv_bfloat16 *address, const __nv_bfloat16 v) {                      \
        *address = v;                                                                              \
    }                                                                                              \
    WP_BF16_DEVICE void name(__nv_bfloat162 *address, const __nv_bfloat162 v) {                    \
        *address = v;                                                                              \
    }
WP_BF16_STORE(__stwb)
WP_BF16_STORE(__stcg)
WP_BF16_STORE(__stcs)
WP_BF16_STORE(__stwt)
#undef WP_BF16_STORE

WP_BF16_DEVICE __nv_bfloat16 atomicAdd(__nv_bfloat16 *address, const __nv_bfloat16 value) {
    unsigned short *bits = (unsigned short *)(void *)address;
    unsigned short seen = *(volatile unsigned short *)bits;
    for (;;) {
        const __nv_bfloat16 sum = __hadd(__ushort_as_bfloat16(seen), value);
        const unsigned short found = atomicCAS(bits, seen, __bfloat16_as_ushort(sum));
        if (found == seen) {
            return __ushort_as_bfloat16(seen);
        }
        seen = found;
    }
}
WP_BF16_DEVICE __nv_bfloat162 atomicAdd(__nv_bfloat162 *address, const __nv_bfloat162 value) {
    unsigned int *bits = (unsigned int *)(void *)address;
    unsigned int seen = *(volatile unsigned int *)bits;
    for (;;) {
        const __nv_bfloat162 sum = __hadd2(wp_bf162_of_bits(seen), value);
        const unsigned int found = atomicCAS(bits, seen, wp_bf162_bits(sum));
        if (found == seen) {
            return wp_bf162_of_bits(seen);
        }
        seen = found;
    }
}
#endif

#undef WP_BF16
#undef WP_BF16_DEVICE

#endif
#endif
