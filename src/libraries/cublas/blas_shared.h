/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What cuBLAS's host code and its kernels share: element types, scalars, operands, and the table of
 * launches. Matrices are stored by columns; `ld` is the distance of two columns in elements.
 */
#ifndef WP_LIBRARIES_BLAS_SHARED_H
#define WP_LIBRARIES_BLAS_SHARED_H

#include "warpage/cuda/cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Types of elements; the first four have all operations. */
typedef enum wpi_blas_type {
    WPI_BLAS_S = 0,
    WPI_BLAS_D,
    WPI_BLAS_C,
    WPI_BLAS_Z,
    WPI_BLAS_TYPES,              /* the number of types above */
    WPI_BLAS_H = WPI_BLAS_TYPES, /* half in and out, sums in float */
    WPI_BLAS_HS,                 /* half in, float out */
    WPI_BLAS_HH,                 /* half in and out, sums in half */
    WPI_BLAS_B,                  /* bfloat16 in and out, sums in float */
    WPI_BLAS_BS,                 /* bfloat16 in, float out */
    WPI_BLAS_I,                  /* 8-bit integers in, 32-bit out */
    WPI_BLAS_IS,                 /* 8-bit integers in, float out */
    WPI_BLAS_PRODUCTS            /* must be last: types that products have */
} wpi_blas_type;

/** A factor: in device memory, or a value. */
typedef struct wpi_scalar {
    const void *pointer; /* NULL: the value */
    double re, im;
} wpi_scalar;

typedef enum wpi_op {
    WPI_OP_N = 0, /* as stored */
    WPI_OP_T,
    WPI_OP_C,   /* conjugated and transposed */
    WPI_OP_CONJ /* conjugated only */
} wpi_op;

typedef enum wpi_shape {
    WPI_SHAPE_GENERAL = 0,
    WPI_SHAPE_SYMMETRIC, /* one triangle is stored */
    WPI_SHAPE_HERMITIAN,
    WPI_SHAPE_TRIANGULAR /* zero in the other triangle */
} wpi_shape;

typedef enum wpi_triangle {
    WPI_TRIANGLE_ALL = 0,
    WPI_TRIANGLE_LOWER,
    WPI_TRIANGLE_UPPER
} wpi_triangle;

/** A matrix, or one of a batch: `data` and a stride, or an array of pointers. */
typedef struct wpi_matrix {
    void *data;
    void *const *array;
    long long stride, offset; /* elements */
    int ld;
    wpi_op op;
    wpi_shape shape;
    wpi_triangle triangle; /* that is stored, or, of a result, written */
    int is_unit;           /* the diagonal is 1 and not read */
} wpi_matrix;

/** c = alpha op(a) op(b) + beta c, of m x n elements, for each of a batch. */
typedef struct wpi_product {
    int m, n, k, batch;
    wpi_matrix a, b, c;
    wpi_scalar alpha, beta;
    int is_real_diagonal; /* a Hermitian result */
} wpi_product;

/** Solves op(a) x = b in place for `count` right-hand sides; element i of side j is
 *  b[i * element + j * side]. */
typedef struct wpi_solve {
    int size, count, batch;
    wpi_matrix a, b;
    long long element, side;
} wpi_solve;

typedef struct wpi_vector {
    void *data; /* of the first element, also where the increment is negative */
    long long inc;
} wpi_vector;

typedef enum wpi_reduction {
    WPI_REDUCE_DOT = 0,
    WPI_REDUCE_DOTC, /* the first vector conjugated */
    WPI_REDUCE_ASUM,
    WPI_REDUCE_NRM2,
    WPI_REDUCE_AMAX,
    WPI_REDUCE_AMIN
} wpi_reduction;

/** A block's share of a reduction. NRM2: re = sum of squares of x / im. */
typedef struct wpi_partial {
    double re, im;
    long long index;
} wpi_partial;

#define WPI_PARTIALS 64 /* blocks of a reduction, at most */

/** Launches of a type's kernels, which return the error of the launch. */
typedef struct wpi_blas_launches {
    cudaError_t (*axpy)(cudaStream_t, long long n, wpi_scalar alpha, wpi_vector x, wpi_vector y);
    cudaError_t (*scal)(cudaStream_t, long long n, wpi_scalar alpha, int is_real, wpi_vector x);
    cudaError_t (*copy)(cudaStream_t, long long n, wpi_vector x, wpi_vector y);
    cudaError_t (*swap)(cudaStream_t, long long n, wpi_vector x, wpi_vector y);
    cudaError_t (*rot)(cudaStream_t, long long n, wpi_vector x, wpi_vector y, wpi_scalar c,
                       wpi_scalar s, int is_real);
    /** (x, y) = (h11 x + h12 y, h21 x + h22 y). */
    cudaError_t (*rotm)(cudaStream_t, long long n, wpi_vector x, wpi_vector y, double h11,
                        double h12, double h21, double h22);
    /** `result` is in device memory: the type's, of ASUM and NRM2 its real type's, else an int. */
    cudaError_t (*reduce)(cudaStream_t, wpi_reduction, long long n, wpi_vector x, wpi_vector y,
                          wpi_partial *partials, void *result);
    /** y = alpha op(a) x + beta y; op(a) has m rows and n columns. */
    cudaError_t (*gemv)(cudaStream_t, int m, int n, wpi_scalar alpha, wpi_matrix a, wpi_vector x,
                        wpi_scalar beta, wpi_vector y);
    /** a += alpha x y^T, or with y conjugated, in the triangle of `a`. */
    cudaError_t (*ger)(cudaStream_t, int m, int n, wpi_scalar alpha, wpi_vector x, wpi_vector y,
                       int is_conjugated, wpi_matrix a, int is_alpha_conjugated);
    cudaError_t (*solve)(cudaStream_t, const wpi_solve *);
    /** c = alpha op(a) + beta op(b). */
    cudaError_t (*geam)(cudaStream_t, int m, int n, wpi_scalar alpha, wpi_matrix a, wpi_scalar beta,
                        wpi_matrix b, wpi_matrix c);
    /** c = diag(x) a, or a diag(x). */
    cudaError_t (*dgmm)(cudaStream_t, int m, int n, int is_left, wpi_matrix a, wpi_vector x,
                        wpi_matrix c);
    /** LU factors in place; pivots count from 1, NULL: none. info: the first zero pivot, or 0. */
    cudaError_t (*getrf)(cudaStream_t, int n, wpi_matrix a, int *pivots, int *info, int batch);
    /** Swaps the rows of b as the pivots say, forwards or back. */
    cudaError_t (*permute)(cudaStream_t, int n, int nrhs, const int *pivots, int is_back,
                           wpi_matrix b, int batch);
    cudaError_t (*identity)(cudaStream_t, int n, wpi_matrix a, int batch);
} wpi_blas_launches;

extern const wpi_blas_launches wpi_blas[WPI_BLAS_TYPES];
/** Half, bfloat16: only axpy, scal and reduce (DOT, NRM2); factors are float. */
extern const wpi_blas_launches wpi_blas_halves[2];

/** A launch of wpi_blas_type's product kernel. */
cudaError_t wpi_blas_product(cudaStream_t stream, wpi_blas_type type, const wpi_product *product);
/** The same by the kernel that is fast on the CPU device. */
cudaError_t wpi_blas_cpu_product(cudaStream_t stream, wpi_blas_type type,
                                 const wpi_product *product);

#ifdef __cplusplus
}
#endif
#endif
