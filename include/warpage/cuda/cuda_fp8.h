/* SPDX-License-Identifier: Apache-2.0 */
/**
 * 8-bit floats, on host and device: E4M3 (no infinities, largest 448) and E5M2 (the upper half of a
 * half). They are storage types: arithmetic uses wider types. Every conversion rounds once,
 * to nearest even.
 */
#ifndef WARPAGE_CUDA_FP8_H
#define WARPAGE_CUDA_FP8_H

#define __CUDA_FP8_H__
#define __CUDA_FP8_TYPES_EXIST__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

typedef enum {
    __NV_NOSAT,    /* overflow gives infinity, in E4M3 NaN */
    __NV_SATFINITE /* overflow gives the largest finite number */
} __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#if defined(__cplusplus)

#define WP_FP8 static __inline__ __host__ __device__

/* ---- one number ---- */

WP_FP8 __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                 const __nv_fp8_interpretation_t kind) {
    const bool is_e4m3 = kind == __NV_E4M3;
    const int fraction_bits = is_e4m3 ? 3 : 2, bias = is_e4m3 ? 7 : 15;
    const unsigned int largest = is_e4m3 ? 0x7eu : 0x7bu;
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    const unsigned int sign = (unsigned int)(bits >> 56) & 0x80u;
    const int exponent = (int)((bits >> 52) & 0x7ffu) - 1023;
    if (x != x) {
        return 0x7f;
    }
    if (exponent < -bias - fraction_bits) { /* below half of the smallest number */
        return (__nv_fp8_storage_t)sign;
    }
    unsigned int code = 0x7fu;
    if (exponent <= bias + 1) {
        const int denormal = exponent < 1 - bias ? 1 - bias - exponent : 0;
        const int dropped = 52 - fraction_bits + denormal;
        const unsigned long long significand = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
        const unsigned long long half = 1ull << (dropped - 1);
        const unsigned long long rest = significand & (2 * half - 1);
        code = (unsigned int)(significand >> dropped);
        code += rest > half || (rest == half && (code & 1u) != 0);
        /* The significand's leading one counts as a step of the exponent. */
        code += denormal != 0 ? 0 : (unsigned int)(exponent + bias - 1) << fraction_bits;
    }
    if (code > largest) {
        code = saturate == __NV_SATFINITE ? largest : is_e4m3 ? 0x7fu : 0x7cu;
    }
    return (__nv_fp8_storage_t)(code | sign);
}
WP_FP8 __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8((double)x, saturate, kind);
}
WP_FP8 __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x,
                                                  const __nv_saturation_t saturate,
                                                  const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(__half2float(__half(x)), saturate, kind);
}
WP_FP8 __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x,
                                                      const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(x)), saturate, kind);
}

WP_FP8 float wp_fp8_widen(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    const bool is_e4m3 = kind == __NV_E4M3;
    const int fraction_bits = is_e4m3 ? 3 : 2;
    const unsigned int magnitude = x & 0x7fu, sign = (x & 0x80u) << 24;
    const unsigned int least_special = is_e4m3 ? 0x7fu : 0x7cu;
    unsigned int bits = 0x7fffffffu;
    if (magnitude < (1u << fraction_bits)) { /* a multiple of the smallest number */
        const float small = (float)magnitude * (is_e4m3 ? 0.001953125f : 1.52587890625e-5f);
        return sign != 0 ? -small : small;
    }
    if (magnitude < least_special) {
        bits = sign | ((magnitude << (23 - fraction_bits)) + ((is_e4m3 ? 120u : 112u) << 23));
    } else if (!is_e4m3 && magnitude == 0x7cu) {
        bits = sign | 0x7f800000u;
    }
    float wide;
    __builtin_memcpy(&wide, &bits, sizeof(wide));
    return wide;
}
WP_FP8 __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x,
                                          const __nv_fp8_interpretation_t kind) {
    return (__half_raw)__float2half(wp_fp8_widen(x, kind));
}

/* ---- two numbers, the first in the lower byte ---- */

WP_FP8 __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x,
                                                      const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t kind) {
    const unsigned int low = __nv_cvt_double_to_fp8(x.x, saturate, kind);
    const unsigned int high = __nv_cvt_double_to_fp8(x.y, saturate, kind);
    return (__nv_fp8x2_storage_t)(low | (high << 8));
}
WP_FP8 __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x,
                                                     const __nv_saturation_t saturate,
                                                     const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double2_to_fp8x2(make_double2(x.x, x.y), saturate, kind);
}
WP_FP8 __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x,
                                                       const __nv_saturation_t saturate,
                                                       const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturate, kind);
}
WP_FP8 __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                           const __nv_saturation_t saturate,
                                                           const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float2_to_fp8x2(make_float2(wp_bf16_widen(x.x), wp_bf16_widen(x.y)), saturate,
                                    kind);
}
WP_FP8 float2 wp_fp8x2_widen(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
    return make_float2(wp_fp8_widen((__nv_fp8_storage_t)(x & 0xffu), kind),
                       wp_fp8_widen((__nv_fp8_storage_t)(x >> 8), kind));
}
WP_FP8 __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x,
                                              const __nv_fp8_interpretation_t kind) {
    return (__half2_raw)__float22half2_rn(wp_fp8x2_widen(x, kind));
}

/* ---- types: conversions into them saturate ---- */

#define WP_FP8_FROM(name, type, value)                                                             \
    explicit __host__ __device__ name(const type v)                                                \
        : __x(__nv_cvt_double_to_fp8((double)(value), __NV_SATFINITE, kind)) {                     \
    }
#define WP_FP8_TO(type, value)                                                                     \
    explicit __host__ __device__ operator type() const {                                           \
        return (type)(value);                                                                      \
    }

#define WP_FP8_TYPES(name, name2, name4, interpretation)                                           \
    struct __align__(1) name {                                                                     \
        static const __nv_fp8_interpretation_t kind = interpretation;                              \
        __nv_fp8_storage_t __x;                                                                    \
                                                                                                   \
        name() = default;                                                                          \
        WP_FP8_FROM(name, float, v)                                                                \
        WP_FP8_FROM(name, double, v)                                                               \
        WP_FP8_FROM(name, __half, __half2float(v))                                                 \
        WP_FP8_FROM(name, __nv_bfloat16, __bfloat162float(v))                                      \
        WP_FP8_FROM(name, short, v)                                                                \
        WP_FP8_FROM(name, unsigned short, v)                                                       \
        WP_FP8_FROM(name, int, v)                                                                  \
        WP_FP8_FROM(name, unsigned int, v)                                                         \
        WP_FP8_FROM(name, long, v)                                                                 \
        WP_FP8_FROM(name, unsigned long, v)                                                        \
        WP_FP8_FROM(name, long long, v)                                                            \
        WP_FP8_FROM(name, unsigned long long, v)                                                   \
        WP_FP8_TO(float, wp_fp8_widen(__x, kind))                                                  \
        WP_FP8_TO(double, wp_fp8_widen(__x, kind))                                                 \
        WP_FP8_TO(__half, __float2half(wp_fp8_widen(__x, kind)))                                   \
        WP_FP8_TO(__nv_bfloat16, __float2bfloat16(wp_fp8_widen(__x, kind)))                        \
        WP_FP8_TO(bool, (__x & 0x7fu) != 0)                                                        \
    };                                                                                             \
    struct __align__(2) name2 {                                                                    \
        static const __nv_fp8_interpretation_t kind = interpretation;                              \
        __nv_fp8x2_storage_t __x;                                                                  \
                                                                                                   \
        name2() = default;                                                                         \
        explicit __host__ __device__ name2(const double2 v)                                        \
            : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind)) {                            \
        }                                                                                          \
        explicit __host__ __device__ name2(const float2 v)                                         \
            : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind)) {                             \
        }                                                                                          \
        explicit __host__ __device__ name2(const __half2 v) : name2(__half22float2(v)) {           \
        }                                                                                          \
        explicit __host__ __device__ name2(const __nv_bfloat162 v)                                 \
            : name2(make_float2(__bfloat162float(v.x), __bfloat162float(v.y))) {                   \
        }                                                                                          \
        WP_FP8_TO(float2, wp_fp8x2_widen(__x, kind))                                               \
        WP_FP8_TO(__half2, __float22half2_rn(wp_fp8x2_widen(__x, kind)))                           \
    };                                                                                             \
    struct __align__(4) name4 {                                                                    \
        __nv_fp8x4_storage_t __x;                                                                  \
                                                                                                   \
        name4() = default;                                                                         \
        __host__ __device__ name4(const name2 low, const name2 high)                               \
            : __x((__nv_fp8x4_storage_t)low.__x | ((__nv_fp8x4_storage_t)high.__x << 16)) {        \
        }                                                                                          \
        explicit __host__ __device__ name4(const double4 v)                                        \
            : name4(name2(make_double2(v.x, v.y)), name2(make_double2(v.z, v.w))) {                \
        }                                                                                          \
        explicit __host__ __device__ name4(const float4 v)                                         \
            : name4(name2(make_float2(v.x, v.y)), name2(make_float2(v.z, v.w))) {                  \
        }                                                                                          \
        explicit __host__ __device__ name4(const __half2 low, const __half2 high)                  \
            : name4(name2(low), name2(high)) {                                                     \
        }                                                                                          \
        explicit __host__ __device__ name4(const __nv_bfloat162 low, const __nv_bfloat162 high)    \
            : name4(name2(low), name2(high)) {                                                     \
        }                                                                                          \
        explicit __host__ __device__ operator float4() const {                                     \
            const float2 low = wp_fp8x2_widen((__nv_fp8x2_storage_t)(__x & 0xffffu), name2::kind); \
            const float2 high = wp_fp8x2_widen((__nv_fp8x2_storage_t)(__x >> 16), name2::kind);    \
            return make_float4(low.x, low.y, high.x, high.y);                                      \
        }                                                                                          \
    };

WP_FP8_TYPES(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
WP_FP8_TYPES(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)

#undef WP_FP8_TYPES
#undef WP_FP8_TO
#undef WP_FP8_FROM
#undef WP_FP8

#endif
#endif
