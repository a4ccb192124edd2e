/* SPDX-License-Identifier: Apache-2.0 */
/** Complex numbers as pairs: x real, y imaginary; on host and device, in C too. */
#ifndef WARPAGE_CUDA_CUCOMPLEX_H
#define WARPAGE_CUDA_CUCOMPLEX_H

#define CU_COMPLEX_H_

#include <math.h>

#include "vector_functions.h"
#include "vector_types.h"

#define WP_COMPLEX static __inline__ __host__ __device__

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#if defined(__cplusplus)
#define WP_SQRTF sqrtf
#define WP_FABSF fabsf
#else /* C89's math.h has no float functions */
#define WP_SQRTF __builtin_sqrtf
#define WP_FABSF __builtin_fabsf
#endif

/* Magnitudes are scaled by the larger part, so that no square overflows. */
#define WP_COMPLEX_ALL(type, real, suffix, make, root, absolute)                                   \
    WP_COMPLEX real cuCreal##suffix(type a) {                                                      \
        return a.x;                                                                                \
    }                                                                                              \
    WP_COMPLEX real cuCimag##suffix(type a) {                                                      \
        return a.y;                                                                                \
    }                                                                                              \
    WP_COMPLEX type make(real r, real i) {                                                         \
        type c;                                                                                    \
        c.x = r;                                                                                   \
        c.y = i;                                                                                   \
        return c;                                                                                  \
    }                                                                                              \
    WP_COMPLEX type cuConj##suffix(type a) {                                                       \
        return make(a.x, -a.y);                                                                    \
    }                                                                                              \
    WP_COMPLEX type cuCadd##suffix(type a, type b) {                                               \
        return make(a.x + b.x, a.y + b.y);                                                         \
    }                                                                                              \
    WP_COMPLEX type cuCsub##suffix(type a, type b) {                                               \
        return make(a.x - b.x, a.y - b.y);                                                         \
    }                                                                                              \
    WP_COMPLEX type cuCmul##suffix(type a, type b) {                                               \
        return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                 \
    }                                                                                              \
    WP_COMPLEX type cuCdiv##suffix(type a, type b) {                                               \
        const real scale = absolute(b.x) + absolute(b.y);                                          \
        const type as = make(a.x / scale, a.y / scale);                                            \
        const type bs = make(b.x / scale, b.y / scale);                                            \
        const real square = bs.x * bs.x + bs.y * bs.y;                                             \
        return make((as.x * bs.x + as.y * bs.y) / square, (as.y * bs.x - as.x * bs.y) / square);   \
    }                                                                                              \
    WP_COMPLEX real cuCabs##suffix(type a) {                                                       \
        const real x = absolute(a.x);                                                              \
        const real y = absolute(a.y);                                                              \
        const real large = x > y ? x : y;                                                          \
        const real small = x > y ? y : x;                                                          \
        const real ratio = small / large;                                                          \
        if (!(large > 0) || ratio != ratio) { /* zero, infinities, NaN */                          \
            return large + small;                                                                  \
        }                                                                                          \
        return large * root(1 + ratio * ratio);                                                    \
    }                                                                                              \
    WP_COMPLEX type cuCfma##suffix(type a, type b, type c) {                                       \
        return cuCadd##suffix(cuCmul##suffix(a, b), c);                                            \
    }
WP_COMPLEX_ALL(cuFloatComplex, float, f, make_cuFloatComplex, WP_SQRTF, WP_FABSF)
WP_COMPLEX_ALL(cuDoubleComplex, double, , make_cuDoubleComplex, sqrt, fabs)
#undef WP_COMPLEX_ALL
#undef WP_SQRTF
#undef WP_FABSF

WP_COMPLEX cuComplex make_cuComplex(float x, float y) {
    return make_cuFloatComplex(x, y);
}
WP_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex c) {
    return make_cuDoubleComplex((double)c.x, (double)c.y);
}
WP_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex c) {
    return make_cuFloatComplex((float)c.x, (float)c.y);
}

#undef WP_COMPLEX

#endif
