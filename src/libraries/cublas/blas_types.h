/* SPDX-License-Identifier: Apache-2.0 */
/** Includes TEXT once for each element type of BLAS, behind the type's arithmetic (blas_element.h): with T float, double,
 * float2, double2; REAL, its real type; IS_COMPLEX; NAME(x), the name x with _s, _d, _c, _z. Before it is included: TEXT, a
 * header's name as #include takes it. */
#define IS_COMPLEX 0
#define T float
#define REAL float
#define NAME(x) x##_s
#include "libraries/cublas/blas_element.h"
#include TEXT
#undef NAME
#undef T
#undef REAL

#define T double
#define REAL double
#define NAME(x) x##_d
#include "libraries/cublas/blas_element.h"
#include TEXT
#undef NAME
#undef T
#undef REAL
#undef IS_COMPLEX

#define IS_COMPLEX 1
#define T float2
#define REAL float
#define NAME(x) x##_c
#include "libraries/cublas/blas_element.h"
#include TEXT
#undef NAME
#undef T
#undef REAL

#define T double2
#define REAL double
#define NAME(x) x##_z
#include "libraries/cublas/blas_element.h"
#include TEXT
#undef NAME
#undef T
#undef REAL
#undef IS_COMPLEX
#undef TEXT
