/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Component-wise arithmetic on float2 … uint4 and the geometry of float vectors, as the sample
 * suites expect them in a header of this name.
 */
#ifndef WARPAGE_CUDA_HELPER_MATH_H
#define WARPAGE_CUDA_HELPER_MATH_H

#include <math.h>

#include "cuda_runtime.h"

typedef unsigned int uint;
typedef unsigned short ushort;

#define WP_MATH inline __host__ __device__

#if !defined(__CUDACC__)
inline float fminf(float a, float b) {
    return a < b ? a : b;
}
inline float fmaxf(float a, float b) {
    return a > b ? a : b;
}
inline int max(int a, int b) {
    return a > b ? a : b;
}
inline int min(int a, int b) {
    return a < b ? a : b;
}
inline float rsqrtf(float x) {
    return 1.0f / sqrtf(x);
}
#endif

/* ---- constructors: from one number, from a shorter or longer vector, from another type ------- */

WP_MATH float2 make_float2(float s) {
    return make_float2(s, s);
}
WP_MATH float2 make_float2(float3 a) {
    return make_float2(a.x, a.y);
}
WP_MATH float2 make_float2(float4 a) {
    return make_float2(a.x, a.y);
}
WP_MATH float2 make_float2(int2 a) {
    return make_float2((float)a.x, (float)a.y);
}
WP_MATH float2 make_float2(uint2 a) {
    return make_float2((float)a.x, (float)a.y);
}
WP_MATH float3 make_float3(float s) {
    return make_float3(s, s, s);
}
WP_MATH float3 make_float3(float4 a) {
    return make_float3(a.x, a.y, a.z);
}
WP_MATH float3 make_float3(float2 a) {
    return make_float3(a.x, a.y, 0.0f);
}
WP_MATH float3 make_float3(float2 a, float s) {
    return make_float3(a.x, a.y, s);
}
WP_MATH float3 make_float3(int3 a) {
    return make_float3((float)a.x, (float)a.y, (float)a.z);
}
WP_MATH float3 make_float3(uint3 a) {
    return make_float3((float)a.x, (float)a.y, (float)a.z);
}
WP_MATH float4 make_float4(float s) {
    return make_float4(s, s, s, s);
}
WP_MATH float4 make_float4(float3 a) {
    return make_float4(a.x, a.y, a.z, 0.0f);
}
WP_MATH float4 make_float4(float3 a, float w) {
    return make_float4(a.x, a.y, a.z, w);
}
WP_MATH float4 make_float4(int4 a) {
    return make_float4((float)a.x, (float)a.y, (float)a.z, (float)a.w);
}
WP_MATH float4 make_float4(uint4 a) {
    return make_float4((float)a.x, (float)a.y, (float)a.z, (float)a.w);
}
WP_MATH int2 make_int2(int s) {
    return make_int2(s, s);
}
WP_MATH int2 make_int2(int3 a) {
    return make_int2(a.x, a.y);
}
WP_MATH int2 make_int2(int4 a) {
    return make_int2(a.x, a.y);
}
WP_MATH int2 make_int2(float2 a) {
    return make_int2((int)a.x, (int)a.y);
}
WP_MATH int2 make_int2(uint2 a) {
    return make_int2((int)a.x, (int)a.y);
}
WP_MATH int3 make_int3(int s) {
    return make_int3(s, s, s);
}
WP_MATH int3 make_int3(int4 a) {
    return make_int3(a.x, a.y, a.z);
}
WP_MATH int3 make_int3(int2 a) {
    return make_int3(a.x, a.y, 0);
}
WP_MATH int3 make_int3(int2 a, int s) {
    return make_int3(a.x, a.y, s);
}
WP_MATH int3 make_int3(float3 a) {
    return make_int3((int)a.x, (int)a.y, (int)a.z);
}
WP_MATH int3 make_int3(uint3 a) {
    return make_int3((int)a.x, (int)a.y, (int)a.z);
}
WP_MATH int4 make_int4(int s) {
    return make_int4(s, s, s, s);
}
WP_MATH int4 make_int4(int3 a) {
    return make_int4(a.x, a.y, a.z, 0);
}
WP_MATH int4 make_int4(int3 a, int w) {
    return make_int4(a.x, a.y, a.z, w);
}
WP_MATH int4 make_int4(float4 a) {
    return make_int4((int)a.x, (int)a.y, (int)a.z, (int)a.w);
}
WP_MATH int4 make_int4(uint4 a) {
    return make_int4((int)a.x, (int)a.y, (int)a.z, (int)a.w);
}
WP_MATH uint2 make_uint2(uint s) {
    return make_uint2(s, s);
}
WP_MATH uint2 make_uint2(uint3 a) {
    return make_uint2(a.x, a.y);
}
WP_MATH uint2 make_uint2(uint4 a) {
    return make_uint2(a.x, a.y);
}
WP_MATH uint2 make_uint2(float2 a) {
    return make_uint2((uint)a.x, (uint)a.y);
}
WP_MATH uint2 make_uint2(int2 a) {
    return make_uint2((uint)a.x, (uint)a.y);
}
WP_MATH uint3 make_uint3(uint s) {
    return make_uint3(s, s, s);
}
WP_MATH uint3 make_uint3(uint4 a) {
    return make_uint3(a.x, a.y, a.z);
}
WP_MATH uint3 make_uint3(uint2 a) {
    return make_uint3(a.x, a.y, 0);
}
WP_MATH uint3 make_uint3(uint2 a, uint s) {
    return make_uint3(a.x, a.y, s);
}
WP_MATH uint3 make_uint3(float3 a) {
    return make_uint3((uint)a.x, (uint)a.y, (uint)a.z);
}
WP_MATH uint3 make_uint3(int3 a) {
    return make_uint3((uint)a.x, (uint)a.y, (uint)a.z);
}
WP_MATH uint4 make_uint4(uint s) {
    return make_uint4(s, s, s, s);
}
WP_MATH uint4 make_uint4(uint3 a) {
    return make_uint4(a.x, a.y, a.z, 0);
}
WP_MATH uint4 make_uint4(uint3 a, uint w) {
    return make_uint4(a.x, a.y, a.z, w);
}
WP_MATH uint4 make_uint4(float4 a) {
    return make_uint4((uint)a.x, (uint)a.y, (uint)a.z, (uint)a.w);
}
WP_MATH uint4 make_uint4(int4 a) {
    return make_uint4((uint)a.x, (uint)a.y, (uint)a.z, (uint)a.w);
}

/* ---- component by component ------------------------------------------------------------------ */

#define WP_MATH_OPERATOR_2(type, scalar, op)                                                       \
    WP_MATH type operator op(type a, type b) {                                                     \
        return make_##type(a.x op b.x, a.y op b.y);                                                \
    }                                                                                              \
    WP_MATH type operator op(type a, scalar b) {                                                   \
        return make_##type(a.x op b, a.y op b);                                                    \
    }                                                                                              \
    WP_MATH type operator op(scalar a, type b) {                                                   \
        return make_##type(a op b.x, a op b.y);                                                    \
    }                                                                                              \
    WP_MATH void operator op##=(type &a, type b) {                                                 \
        a = a op b;                                                                                \
    }                                                                                              \
    WP_MATH void operator op##=(type &a, scalar b) {                                               \
        a = a op b;                                                                                \
    }
#define WP_MATH_OPERATOR_3(type, scalar, op)                                                       \
    WP_MATH type operator op(type a, type b) {                                                     \
        return make_##type(a.x op b.x, a.y op b.y, a.z op b.z);                                    \
    }                                                                                              \
    WP_MATH type operator op(type a, scalar b) {                                                   \
        return make_##type(a.x op b, a.y op b, a.z op b);                                          \
    }                                                                                              \
    WP_MATH type operator op(scalar a, type b) {                                                   \
        return make_##type(a op b.x, a op b.y, a op b.z);                                          \
    }                                                                                              \
    WP_MATH void operator op##=(type &a, type b) {                                                 \
        a = a op b;                                                                                \
    }                                                                                              \
    WP_MATH void operator op##=(type &a, scalar b) {                                               \
        a = a op b;                                                                                \
    }
#define WP_MATH_OPERATOR_4(type, scalar, op)                                                       \
    WP_MATH type operator op(type a, type b) {                                                     \
        return make_##type(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w);                        \
    }                                                                                              \
    WP_MATH type operator op(type a, scalar b) {                                                   \
        return make_##type(a.x op b, a.y op b, a.z op b, a.w op b);                                \
    }                                                                                              \
    WP_MATH type operator op(scalar a, type b) {                                                   \
        return make_##type(a op b.x, a op b.y, a op b.z, a op b.w);                                \
    }                                                                                              \
    WP_MATH void operator op##=(type &a, type b) {                                                 \
        a = a op b;                                                                                \
    }                                                                                              \
    WP_MATH void operator op##=(type &a, scalar b) {                                               \
        a = a op b;                                                                                \
    }
WP_MATH_OPERATOR_2(float2, float, +)
WP_MATH_OPERATOR_2(float2, float, -)
WP_MATH_OPERATOR_2(float2, float, *)
WP_MATH_OPERATOR_2(float2, float, /)
WP_MATH_OPERATOR_3(float3, float, +)
WP_MATH_OPERATOR_3(float3, float, -)
WP_MATH_OPERATOR_3(float3, float, *)
WP_MATH_OPERATOR_3(float3, float, /)
WP_MATH_OPERATOR_4(float4, float, +)
WP_MATH_OPERATOR_4(float4, float, -)
WP_MATH_OPERATOR_4(float4, float, *)
WP_MATH_OPERATOR_4(float4, float, /)
WP_MATH_OPERATOR_2(int2, int, +)
WP_MATH_OPERATOR_2(int2, int, -)
WP_MATH_OPERATOR_2(int2, int, *)
WP_MATH_OPERATOR_3(int3, int, +)
WP_MATH_OPERATOR_3(int3, int, -)
WP_MATH_OPERATOR_3(int3, int, *)
WP_MATH_OPERATOR_4(int4, int, +)
WP_MATH_OPERATOR_4(int4, int, -)
WP_MATH_OPERATOR_4(int4, int, *)
WP_MATH_OPERATOR_2(uint2, uint, +)
WP_MATH_OPERATOR_2(uint2, uint, -)
WP_MATH_OPERATOR_2(uint2, uint, *)
WP_MATH_OPERATOR_3(uint3, uint, +)
WP_MATH_OPERATOR_3(uint3, uint, -)
WP_MATH_OPERATOR_3(uint3, uint, *)
WP_MATH_OPERATOR_4(uint4, uint, +)
WP_MATH_OPERATOR_4(uint4, uint, -)
WP_MATH_OPERATOR_4(uint4, uint, *)
#undef WP_MATH_OPERATOR_2
#undef WP_MATH_OPERATOR_3
#undef WP_MATH_OPERATOR_4

WP_MATH float2 operator-(const float2 &a) {
    return make_float2(-a.x, -a.y);
}
WP_MATH float3 operator-(const float3 &a) {
    return make_float3(-a.x, -a.y, -a.z);
}
WP_MATH float4 operator-(const float4 &a) {
    return make_float4(-a.x, -a.y, -a.z, -a.w);
}
WP_MATH int2 operator-(const int2 &a) {
    return make_int2(-a.x, -a.y);
}
WP_MATH int3 operator-(const int3 &a) {
    return make_int3(-a.x, -a.y, -a.z);
}
WP_MATH int4 operator-(const int4 &a) {
    return make_int4(-a.x, -a.y, -a.z, -a.w);
}

WP_MATH float2 fminf(float2 a, float2 b) {
    return make_float2(fminf(a.x, b.x), fminf(a.y, b.y));
}
WP_MATH float2 fmaxf(float2 a, float2 b) {
    return make_float2(fmaxf(a.x, b.x), fmaxf(a.y, b.y));
}
WP_MATH float3 fminf(float3 a, float3 b) {
    return make_float3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z));
}
WP_MATH float3 fmaxf(float3 a, float3 b) {
    return make_float3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z));
}
WP_MATH float4 fminf(float4 a, float4 b) {
    return make_float4(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z), fminf(a.w, b.w));
}
WP_MATH float4 fmaxf(float4 a, float4 b) {
    return make_float4(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
}
WP_MATH int2 min(int2 a, int2 b) {
    return make_int2(min(a.x, b.x), min(a.y, b.y));
}
WP_MATH int2 max(int2 a, int2 b) {
    return make_int2(max(a.x, b.x), max(a.y, b.y));
}
WP_MATH int3 min(int3 a, int3 b) {
    return make_int3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z));
}
WP_MATH int3 max(int3 a, int3 b) {
    return make_int3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
}
WP_MATH int4 min(int4 a, int4 b) {
    return make_int4(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z), min(a.w, b.w));
}
WP_MATH int4 max(int4 a, int4 b) {
    return make_int4(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w));
}
WP_MATH uint2 min(uint2 a, uint2 b) {
    return make_uint2(min(a.x, b.x), min(a.y, b.y));
}
WP_MATH uint2 max(uint2 a, uint2 b) {
    return make_uint2(max(a.x, b.x), max(a.y, b.y));
}
WP_MATH uint3 min(uint3 a, uint3 b) {
    return make_uint3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z));
}
WP_MATH uint3 max(uint3 a, uint3 b) {
    return make_uint3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
}
WP_MATH uint4 min(uint4 a, uint4 b) {
    return make_uint4(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z), min(a.w, b.w));
}
WP_MATH uint4 max(uint4 a, uint4 b) {
    return make_uint4(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w));
}

#if __cplusplus < 202002L /* later versions of the C++ library define it */
WP_MATH float lerp(float a, float b, float t) {
    return a + t * (b - a);
}
#endif
WP_MATH float2 lerp(float2 a, float2 b, float t) {
    return a + t * (b - a);
}
WP_MATH float3 lerp(float3 a, float3 b, float t) {
    return a + t * (b - a);
}
WP_MATH float4 lerp(float4 a, float4 b, float t) {
    return a + t * (b - a);
}

WP_MATH float clamp(float f, float a, float b) {
    return fmaxf(a, fminf(f, b));
}
WP_MATH float2 clamp(float2 v, float a, float b) {
    return make_float2(clamp(v.x, a, b), clamp(v.y, a, b));
}
WP_MATH float2 clamp(float2 v, float2 a, float2 b) {
    return make_float2(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y));
}
WP_MATH float3 clamp(float3 v, float a, float b) {
    return make_float3(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b));
}
WP_MATH float3 clamp(float3 v, float3 a, float3 b) {
    return make_float3(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z));
}
WP_MATH float4 clamp(float4 v, float a, float b) {
    return make_float4(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b));
}
WP_MATH float4 clamp(float4 v, float4 a, float4 b) {
    return make_float4(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z),
                       clamp(v.w, a.w, b.w));
}
WP_MATH int clamp(int f, int a, int b) {
    return max(a, min(f, b));
}
WP_MATH int2 clamp(int2 v, int a, int b) {
    return make_int2(clamp(v.x, a, b), clamp(v.y, a, b));
}
WP_MATH int2 clamp(int2 v, int2 a, int2 b) {
    return make_int2(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y));
}
WP_MATH int3 clamp(int3 v, int a, int b) {
    return make_int3(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b));
}
WP_MATH int3 clamp(int3 v, int3 a, int3 b) {
    return make_int3(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z));
}
WP_MATH int4 clamp(int4 v, int a, int b) {
    return make_int4(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b));
}
WP_MATH int4 clamp(int4 v, int4 a, int4 b) {
    return make_int4(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z),
                     clamp(v.w, a.w, b.w));
}
WP_MATH uint clamp(uint f, uint a, uint b) {
    return max(a, min(f, b));
}
WP_MATH uint2 clamp(uint2 v, uint a, uint b) {
    return make_uint2(clamp(v.x, a, b), clamp(v.y, a, b));
}
WP_MATH uint2 clamp(uint2 v, uint2 a, uint2 b) {
    return make_uint2(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y));
}
WP_MATH uint3 clamp(uint3 v, uint a, uint b) {
    return make_uint3(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b));
}
WP_MATH uint3 clamp(uint3 v, uint3 a, uint3 b) {
    return make_uint3(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z));
}
WP_MATH uint4 clamp(uint4 v, uint a, uint b) {
    return make_uint4(clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b));
}
WP_MATH uint4 clamp(uint4 v, uint4 a, uint4 b) {
    return make_uint4(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z),
                      clamp(v.w, a.w, b.w));
}

/* ---- geometry -------------------------------------------------------------------------------- */

WP_MATH float dot(float2 a, float2 b) {
    return a.x * b.x + a.y * b.y;
}
WP_MATH float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
WP_MATH float dot(float4 a, float4 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
WP_MATH int dot(int2 a, int2 b) {
    return a.x * b.x + a.y * b.y;
}
WP_MATH int dot(int3 a, int3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
WP_MATH int dot(int4 a, int4 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
WP_MATH uint dot(uint2 a, uint2 b) {
    return a.x * b.x + a.y * b.y;
}
WP_MATH uint dot(uint3 a, uint3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
WP_MATH uint dot(uint4 a, uint4 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
WP_MATH float length(float2 v) {
    return sqrtf(dot(v, v));
}
WP_MATH float2 normalize(float2 v) {
    return v * rsqrtf(dot(v, v));
}
WP_MATH float2 reflect(float2 i, float2 n) {
    return i - 2.0f * n * dot(n, i);
}
WP_MATH float length(float3 v) {
    return sqrtf(dot(v, v));
}
WP_MATH float3 normalize(float3 v) {
    return v * rsqrtf(dot(v, v));
}
WP_MATH float3 reflect(float3 i, float3 n) {
    return i - 2.0f * n * dot(n, i);
}
WP_MATH float length(float4 v) {
    return sqrtf(dot(v, v));
}
WP_MATH float4 normalize(float4 v) {
    return v * rsqrtf(dot(v, v));
}
WP_MATH float4 reflect(float4 i, float4 n) {
    return i - 2.0f * n * dot(n, i);
}
WP_MATH float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

WP_MATH float frac(float v) {
    return v - floorf(v);
}
WP_MATH float2 floorf(float2 v) {
    return make_float2(floorf(v.x), floorf(v.y));
}
WP_MATH float3 floorf(float3 v) {
    return make_float3(floorf(v.x), floorf(v.y), floorf(v.z));
}
WP_MATH float4 floorf(float4 v) {
    return make_float4(floorf(v.x), floorf(v.y), floorf(v.z), floorf(v.w));
}
WP_MATH float2 frac(float2 v) {
    return make_float2(frac(v.x), frac(v.y));
}
WP_MATH float3 frac(float3 v) {
    return make_float3(frac(v.x), frac(v.y), frac(v.z));
}
WP_MATH float4 frac(float4 v) {
    return make_float4(frac(v.x), frac(v.y), frac(v.z), frac(v.w));
}
WP_MATH float2 fabs(float2 v) {
    return make_float2(fabsf(v.x), fabsf(v.y));
}
WP_MATH float3 fabs(float3 v) {
    return make_float3(fabsf(v.x), fabsf(v.y), fabsf(v.z));
}
WP_MATH float4 fabs(float4 v) {
    return make_float4(fabsf(v.x), fabsf(v.y), fabsf(v.z), fabsf(v.w));
}
WP_MATH float2 fmodf(float2 a, float2 b) {
    return make_float2(fmodf(a.x, b.x), fmodf(a.y, b.y));
}
WP_MATH float3 fmodf(float3 a, float3 b) {
    return make_float3(fmodf(a.x, b.x), fmodf(a.y, b.y), fmodf(a.z, b.z));
}
WP_MATH float4 fmodf(float4 a, float4 b) {
    return make_float4(fmodf(a.x, b.x), fmodf(a.y, b.y), fmodf(a.z, b.z), fmodf(a.w, b.w));
}
WP_MATH int2 abs(int2 v) {
    return make_int2(abs(v.x), abs(v.y));
}
WP_MATH int3 abs(int3 v) {
    return make_int3(abs(v.x), abs(v.y), abs(v.z));
}
WP_MATH int4 abs(int4 v) {
    return make_int4(abs(v.x), abs(v.y), abs(v.z), abs(v.w));
}

/* 0 below a, 1 above b, a cubic with zero slope at both ends in between. */
WP_MATH float smoothstep(float a, float b, float x) {
    const float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return y * y * (3.0f - 2.0f * y);
}
WP_MATH float2 smoothstep(float2 a, float2 b, float2 x) {
    return make_float2(smoothstep(a.x, b.x, x.x), smoothstep(a.y, b.y, x.y));
}
WP_MATH float3 smoothstep(float3 a, float3 b, float3 x) {
    return make_float3(smoothstep(a.x, b.x, x.x), smoothstep(a.y, b.y, x.y),
                       smoothstep(a.z, b.z, x.z));
}
WP_MATH float4 smoothstep(float4 a, float4 b, float4 x) {
    return make_float4(smoothstep(a.x, b.x, x.x), smoothstep(a.y, b.y, x.y),
                       smoothstep(a.z, b.z, x.z), smoothstep(a.w, b.w, x.w));
}

#undef WP_MATH

#endif
