/* SPDX-License-Identifier: Apache-2.0 */
/**
 * 4-bit floats, on host and device: E2M1, whose numbers are 0, 0.5, 1, 1.5, 2, 3, 4 and 6, and
 * their negatives. They are storage types: arithmetic uses wider types. Every conversion rounds
 * once, to nearest even, whatever the rounding that a call names; what is larger than 6 is 6, as is
 * NaN.
 */
#ifndef WARPAGE_CUDA_FP4_H
#define WARPAGE_CUDA_FP4_H

#define __CUDA_FP4_H__
#define __CUDA_FP4_TYPES_EXIST__

#include "cuda_fp8.h"
#include "driver_types.h"

typedef unsigned char __nv_fp4_storage_t;    /* the lower four bits */
typedef unsigned char __nv_fp4x2_storage_t;  /* the first number in the lower four bits */
typedef unsigned short __nv_fp4x4_storage_t; /* … and so on */

typedef enum { __NV_E2M1 } __nv_fp4_interpretation_t;

#if defined(__cplusplus)

#define WP_FP4 static __inline__ __host__ __device__

/* ---- one number ---- */

WP_FP4 __nv_fp4_storage_t __nv_cvt_double_to_fp4(const double x,
                                                 const __nv_fp4_interpretation_t kind,
                                                 const enum cudaRoundMode rounding) {
    (void)kind, (void)rounding;
    if (x != x) {
        return 7;
    }
    const unsigned int sign = __builtin_signbit(x) ? 8u : 0u;
    const double size = x < 0 ? -x : x;
    /* Halfway between two numbers the even code is nearer. */
    const unsigned int code = (unsigned int)(size > 0.25) + (size >= 0.75) + (size > 1.25) +
                              (size >= 1.75) + (size > 2.5) + (size >= 3.5) + (size > 5.0);
    return (__nv_fp4_storage_t)(sign | code);
}
WP_FP4 __nv_fp4_storage_t __nv_cvt_float_to_fp4(const float x, const __nv_fp4_interpretation_t kind,
                                                const enum cudaRoundMode rounding) {
    return __nv_cvt_double_to_fp4((double)x, kind, rounding);
}
WP_FP4 __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(const __half_raw x,
                                                  const __nv_fp4_interpretation_t kind,
                                                  const enum cudaRoundMode rounding) {
    return __nv_cvt_float_to_fp4(__half2float(__half(x)), kind, rounding);
}
WP_FP4 __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(const __nv_bfloat16_raw x,
                                                      const __nv_fp4_interpretation_t kind,
                                                      const enum cudaRoundMode rounding) {
    return __nv_cvt_float_to_fp4(__bfloat162float(__nv_bfloat16(x)), kind, rounding);
}

WP_FP4 float wp_fp4_widen(unsigned int x) {
    const unsigned int code = x & 7u;
    /* 0 and 0.5; behind them the lowest bit is half of the exponent's power of two. */
    const float size = code < 2u
                           ? 0.5f * (float)code
                           : (1.0f + 0.5f * (float)(code & 1u)) * (float)(1u << ((code >> 1) - 1u));
    return (x & 8u) != 0u ? -size : size;
}
WP_FP4 __half_raw __nv_cvt_fp4_to_halfraw(const __nv_fp4_storage_t x,
                                          const __nv_fp4_interpretation_t kind) {
    (void)kind;
    return (__half_raw)__float2half(wp_fp4_widen(x));
}

/* ---- two numbers ---- */

WP_FP4 __nv_fp4x2_storage_t __nv_cvt_double2_to_fp4x2(const double2 x,
                                                      const __nv_fp4_interpretation_t kind,
                                                      const enum cudaRoundMode rounding) {
    const unsigned int low = __nv_cvt_double_to_fp4(x.x, kind, rounding);
    const unsigned int high = __nv_cvt_double_to_fp4(x.y, kind, rounding);
    return (__nv_fp4x2_storage_t)(low | (high << 4));
}
WP_FP4 __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(const float2 x,
                                                     const __nv_fp4_interpretation_t kind,
                                                     const enum cudaRoundMode rounding) {
    return __nv_cvt_double2_to_fp4x2(make_double2(x.x, x.y), kind, rounding);
}
WP_FP4 __nv_fp4x2_storage_t __nv_cvt_halfraw2_to_fp4x2(const __half2_raw x,
                                                       const __nv_fp4_interpretation_t kind,
                                                       const enum cudaRoundMode rounding) {
    return __nv_cvt_float2_to_fp4x2(__half22float2(__half2(x)), kind, rounding);
}
WP_FP4 __nv_fp4x2_storage_t __nv_cvt_bfloat16raw2_to_fp4x2(const __nv_bfloat162_raw x,
                                                           const __nv_fp4_interpretation_t kind,
                                                           const enum cudaRoundMode rounding) {
    return __nv_cvt_float2_to_fp4x2(make_float2(wp_bf16_widen(x.x), wp_bf16_widen(x.y)), kind,
                                    rounding);
}
WP_FP4 float2 wp_fp4x2_widen(unsigned int x) {
    return make_float2(wp_fp4_widen(x), wp_fp4_widen(x >> 4));
}
WP_FP4 __half2_raw __nv_cvt_fp4x2_to_halfraw2(const __nv_fp4x2_storage_t x,
                                              const __nv_fp4_interpretation_t kind) {
    (void)kind;
    return (__half2_raw)__float22half2_rn(wp_fp4x2_widen(x));
}

/* ---- types ---- */

#define WP_FP4_FROM(type, value)                                                                   \
    explicit __host__ __device__ __nv_fp4_e2m1(const type v)                                       \
        : __x(__nv_cvt_double_to_fp4((double)(value), __NV_E2M1, cudaRoundNearest)) {              \
    }
#define WP_FP4_TO(type, value)                                                                     \
    explicit __host__ __device__ operator type() const {                                           \
        return (type)(value);                                                                      \
    }

struct __nv_fp4_e2m1 {
    __nv_fp4_storage_t __x;

    __nv_fp4_e2m1() = default;
    WP_FP4_FROM(float, v)
    WP_FP4_FROM(double, v)
    WP_FP4_FROM(__half, __half2float(v))
    WP_FP4_FROM(__nv_bfloat16, __bfloat162float(v))
    WP_FP4_FROM(short, v)
    WP_FP4_FROM(unsigned short, v)
    WP_FP4_FROM(int, v)
    WP_FP4_FROM(unsigned int, v)
    WP_FP4_FROM(long, v)
    WP_FP4_FROM(unsigned long, v)
    WP_FP4_FROM(long long, v)
    WP_FP4_FROM(unsigned long long, v)
    WP_FP4_TO(float, wp_fp4_widen(__x))
    WP_FP4_TO(double, wp_fp4_widen(__x))
    WP_FP4_TO(__half, __float2half(wp_fp4_widen(__x)))
    WP_FP4_TO(__nv_bfloat16, __float2bfloat16(wp_fp4_widen(__x)))
    WP_FP4_TO(int, wp_fp4_widen(__x))
    WP_FP4_TO(bool, (__x & 7u) != 0)
};

struct __nv_fp4x2_e2m1 {
    __nv_fp4x2_storage_t __x;

    __nv_fp4x2_e2m1() = default;
    explicit __host__ __device__ __nv_fp4x2_e2m1(const double2 v)
        : __x(__nv_cvt_double2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {
    }
    explicit __host__ __device__ __nv_fp4x2_e2m1(const float2 v)
        : __x(__nv_cvt_float2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {
    }
    explicit __host__ __device__ __nv_fp4x2_e2m1(const __half2 v)
        : __nv_fp4x2_e2m1(__half22float2(v)) {
    }
    explicit __host__ __device__ __nv_fp4x2_e2m1(const __nv_bfloat162 v)
        : __nv_fp4x2_e2m1(make_float2(__bfloat162float(v.x), __bfloat162float(v.y))) {
    }
    WP_FP4_TO(float2, wp_fp4x2_widen(__x))
    WP_FP4_TO(__half2, __float22half2_rn(wp_fp4x2_widen(__x)))
};

struct __align__(2) __nv_fp4x4_e2m1 {
    __nv_fp4x4_storage_t __x;

    __nv_fp4x4_e2m1() = default;
    explicit __host__ __device__ __nv_fp4x4_e2m1(const __nv_fp4x2_e2m1 low,
                                                 const __nv_fp4x2_e2m1 high)
        : __x((__nv_fp4x4_storage_t)(low.__x | (high.__x << 8))) {
    }
    explicit __host__ __device__ __nv_fp4x4_e2m1(const double4 v)
        : __nv_fp4x4_e2m1(__nv_fp4x2_e2m1(make_double2(v.x, v.y)),
                          __nv_fp4x2_e2m1(make_double2(v.z, v.w))) {
    }
    explicit __host__ __device__ __nv_fp4x4_e2m1(const float4 v)
        : __nv_fp4x4_e2m1(__nv_fp4x2_e2m1(make_float2(v.x, v.y)),
                          __nv_fp4x2_e2m1(make_float2(v.z, v.w))) {
    }
    explicit __host__ __device__ __nv_fp4x4_e2m1(const __half2 low, const __half2 high)
        : __nv_fp4x4_e2m1(__nv_fp4x2_e2m1(low), __nv_fp4x2_e2m1(high)) {
    }
    explicit __host__ __device__ __nv_fp4x4_e2m1(const __nv_bfloat162 low,
                                                 const __nv_bfloat162 high)
        : __nv_fp4x4_e2m1(__nv_fp4x2_e2m1(low), __nv_fp4x2_e2m1(high)) {
    }
    explicit __host__ __device__ operator float4() const {
        const float2 low = wp_fp4x2_widen(__x), high = wp_fp4x2_widen(__x >> 8);
        return make_float4(low.x, low.y, high.x, high.y);
    }
};

#undef WP_FP4_TO
#undef WP_FP4_FROM
#undef WP_FP4

#endif
#endif
