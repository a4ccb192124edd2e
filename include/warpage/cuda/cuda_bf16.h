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
}
__nv_bfloat16_raw;
typedef struct __align__(4) {
    unsigned short x;
    unsigned short y;
}
__nv_bfloat162_raw;

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
/* A double becomes a float rounded to odd, which keeps what the second rounding has to know. */
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
    __host__ __device__ operator __nv_bfloat16_raw() const {
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

/* ---- conversions -------------------------------------------------------------------------------
 */

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
WP_BF16 __nv_bfloat16 __int2bfloat16_rn(const int a) {
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

/* ---- arithmetic and comparisons
 * ------------------------------------------------------------------ */

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
    WP_BF16 __nv_bfloat16 &operator op##=(__nv_bfloat16 &a, const __nv_bfloat16 &b) {              \
        a = name(a, b);                                                                            \
        return a;                                                                                  \
    }                                                                                              \
    WP_BF16 __nv_bfloat162 &operator op##=(__nv_bfloat162 &a, const __nv_bfloat162 &b) {           \
        a = name2(a, b);                                                                           \
        return a;                                                                                  \
    }
WP_BF16_BINARY(__hadd, __hadd2, +)
WP_BF16_BINARY(__hsub, __hsub2, -)
WP_BF16_BINARY(__hmul, __hmul2, *)
WP_BF16_BINARY(__hdiv, __h2div, /)
#undef WP_BF16_BINARY

#define WP_BF16_COMPARE(name, op)                                                                  \
    WP_BF16 bool name(const __nv_bfloat16 a, const __nv_bfloat16 b) {                              \
        return __bfloat162float(a) op __bfloat162float(b);                                         \
    }                                                                                              \
    WP_BF16 bool operator op(const __nv_bfloat16 &a, const __nv_bfloat16 &b) {                     \
        return __bfloat162float(a) op __bfloat162float(b);                                         \
    }
WP_BF16_COMPARE(__heq, ==)
WP_BF16_COMPARE(__hneu, !=)
WP_BF16_COMPARE(__hlt, <)
WP_BF16_COMPARE(__hle, <=)
WP_BF16_COMPARE(__hgt, >)
WP_BF16_COMPARE(__hge, >=)
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

#if defined(__CUDA__)
#define WP_BF16_FUNCTION(name, function)                                                           \
    WP_BF16_DEVICE __nv_bfloat16 name(const __nv_bfloat16 a) {                                     \
        return __nv_bfloat16(function(__bfloat162float(a)));                                       \
    }
WP_BF16_FUNCTION(hsqrt, sqrtf)
WP_BF16_FUNCTION(hrsqrt, rsqrtf)
WP_BF16_FUNCTION(hexp, expf)
WP_BF16_FUNCTION(hexp2, exp2f)
WP_BF16_FUNCTION(hlog, logf)
WP_BF16_FUNCTION(hlog2, log2f)
WP_BF16_FUNCTION(hsin, sinf)
WP_BF16_FUNCTION(hcos, cosf)
WP_BF16_FUNCTION(hfloor, floorf)
WP_BF16_FUNCTION(hceil, ceilf)
WP_BF16_FUNCTION(htrunc, truncf)
WP_BF16_FUNCTION(hrint, rintf)
#undef WP_BF16_FUNCTION
#endif

#undef WP_BF16
#undef WP_BF16_DEVICE

#endif
#endif
