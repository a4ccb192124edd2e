/* SPDX-License-Identifier: Apache-2.0 */
/* Level 2: a matrix and vectors. */
#include "libraries/cublas/cublas_handle.h"

static bool is_turned(cublasOperation_t op) {
    return op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

static cublasStatus_t gemv(cublasHandle_t handle, wpi_blas_type type, cublasOperation_t trans,
                           int m, int n, const void *alpha, const void *A, int lda, const void *x,
                           int incx, const void *beta, void *y, int incy) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_op(trans) || m < 0 || n < 0 || lda < wpi_at_least_1(m) || incx == 0 ||
        incy == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    const int rows = is_turned(trans) ? n : m, columns = is_turned(trans) ? m : n;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || A == NULL || x == NULL || beta == NULL || y == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    return wpi_cublas_status(wpi_blas[type].gemv(
        handle->stream, rows, columns, wpi_cublas_scalar(handle, type, alpha),
        wpi_cublas_matrix(A, lda, trans), wpi_cublas_vector(type, columns, x, incx),
        wpi_cublas_scalar(handle, type, beta), wpi_cublas_vector(type, rows, y, incy)));
}

/* symv and hemv. */
static cublasStatus_t symv(cublasHandle_t handle, wpi_blas_type type, wpi_shape shape,
                           cublasFillMode_t uplo, int n, const void *alpha, const void *A, int lda,
                           const void *x, int incx, const void *beta, void *y, int incy) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_fill(uplo) || n < 0 || lda < wpi_at_least_1(n) || incx == 0 || incy == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || A == NULL || x == NULL || beta == NULL || y == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    wpi_matrix a = wpi_cublas_matrix(A, lda, CUBLAS_OP_N);
    a.shape = shape;
    a.triangle = wpi_cublas_triangle(uplo);
    return wpi_cublas_status(wpi_blas[type].gemv(
        handle->stream, n, n, wpi_cublas_scalar(handle, type, alpha), a,
        wpi_cublas_vector(type, n, x, incx), wpi_cublas_scalar(handle, type, beta),
        wpi_cublas_vector(type, n, y, incy)));
}

/* ---- triangular matrices ---- */

static cublasStatus_t check_triangular(cublasHandle_t handle, cublasFillMode_t uplo,
                                       cublasOperation_t trans, cublasDiagType_t diag, int n,
                                       const void *A, int lda, void *x, int incx) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_fill(uplo) || !wpi_cublas_is_op(trans) || (unsigned)diag > 1 || n < 0 ||
        lda < wpi_at_least_1(n) || incx == 0 || (n > 0 && (A == NULL || x == NULL)))
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

static wpi_matrix triangular(cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                             const void *A, int lda) {
    wpi_matrix a = wpi_cublas_matrix(A, lda, trans);
    a.shape = WPI_SHAPE_TRIANGULAR;
    a.triangle = wpi_cublas_triangle(uplo);
    a.is_unit = diag == CUBLAS_DIAG_UNIT;
    return a;
}

/* The product is made of a copy of x. */
static cublasStatus_t trmv(cublasHandle_t handle, wpi_blas_type type, cublasFillMode_t uplo,
                           cublasOperation_t trans, cublasDiagType_t diag, int n, const void *A,
                           int lda, void *x, int incx) {
    CUBLAS_TRY(check_triangular(handle, uplo, trans, diag, n, A, lda, x, incx));
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    void *kept = NULL;
    if (cudaMalloc(&kept, (size_t)n * wpi_cublas_element_bytes(type)) != cudaSuccess)
        return CUBLAS_STATUS_ALLOC_FAILED;
    const wpi_vector from = wpi_cublas_vector(type, n, x, incx), copy = {kept, 1};
    cudaError_t error = wpi_blas[type].copy(handle->stream, n, from, copy);
    if (error == cudaSuccess)
        error = wpi_blas[type].gemv(handle->stream, n, n, wpi_cublas_constant(1),
                                    triangular(uplo, trans, diag, A, lda), copy,
                                    wpi_cublas_constant(0), from);
    const cudaError_t freed = cudaFree(kept);
    return wpi_cublas_status(error != cudaSuccess ? error : freed);
}

#define SOLVED 32 /* rows that a launch solves */

/* Blocks of rows in turn: one is solved, then its part is subtracted from those that follow. */
static cublasStatus_t trsv(cublasHandle_t handle, wpi_blas_type type, cublasFillMode_t uplo,
                           cublasOperation_t trans, cublasDiagType_t diag, int n, const void *A,
                           int lda, void *x, int incx) {
    CUBLAS_TRY(check_triangular(handle, uplo, trans, diag, n, A, lda, x, incx));
    const wpi_matrix whole = triangular(uplo, trans, diag, A, lda);
    const bool is_forward = (uplo == CUBLAS_FILL_MODE_LOWER) != is_turned(trans);
    const wpi_vector v = wpi_cublas_vector(type, n, x, incx);
    const size_t bytes = wpi_cublas_element_bytes(type);
    cudaError_t error = cudaSuccess;
    for (int done = 0; done < n && error == cudaSuccess; done += SOLVED) {
        const int size = n - done < SOLVED ? n - done : SOLVED, rest = n - done - size;
        const int first = is_forward ? done : rest, next = is_forward ? done + size : 0;
        char *at = (char *)v.data + (long long)first * v.inc * (long long)bytes;
        wpi_solve solve = {
            .size = size, .count = 1, .batch = 1, .a = whole, .b = {.data = at}, .element = v.inc};
        solve.a.offset = first + (long long)first * lda;
        error = wpi_blas[type].solve(handle->stream, &solve);
        if (error != cudaSuccess || rest == 0) continue;
        wpi_matrix part = wpi_cublas_matrix(A, lda, trans);
        part.offset =
            is_turned(trans) ? first + (long long)next * lda : next + (long long)first * lda;
        error = wpi_blas[type].gemv(
            handle->stream, rest, size, wpi_cublas_constant(-1), part, (wpi_vector){at, v.inc},
            wpi_cublas_constant(1),
            (wpi_vector){(char *)v.data + (long long)next * v.inc * (long long)bytes, v.inc});
    }
    return wpi_cublas_status(error);
}

/* ---- sums with products of vectors ---- */

static cublasStatus_t ger(cublasHandle_t handle, wpi_blas_type type, bool is_conjugated, int m,
                          int n, const void *alpha, const void *x, int incx, const void *y,
                          int incy, void *A, int lda) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (m < 0 || n < 0 || incx == 0 || incy == 0 || lda < wpi_at_least_1(m))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || x == NULL || y == NULL || A == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    return wpi_cublas_status(
        wpi_blas[type].ger(handle->stream, m, n, wpi_cublas_scalar(handle, type, alpha),
                           wpi_cublas_vector(type, m, x, incx), wpi_cublas_vector(type, n, y, incy),
                           is_conjugated, wpi_cublas_matrix(A, lda, CUBLAS_OP_N), false));
}

/* syr, her (y == NULL), syr2, her2. */
static cublasStatus_t syr(cublasHandle_t handle, wpi_blas_type type, wpi_shape shape, bool has_two,
                          cublasFillMode_t uplo, int n, const void *alpha, const void *x, int incx,
                          const void *y, int incy, void *A, int lda) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_fill(uplo) || n < 0 || incx == 0 || (has_two && incy == 0) ||
        lda < wpi_at_least_1(n))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || x == NULL || (has_two && y == NULL) || A == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    const bool is_hermitian = shape == WPI_SHAPE_HERMITIAN;
    wpi_matrix a = wpi_cublas_matrix(A, lda, CUBLAS_OP_N);
    a.shape = shape;
    a.triangle = wpi_cublas_triangle(uplo);
    const wpi_vector u = wpi_cublas_vector(type, n, x, incx);
    const wpi_vector v = has_two ? wpi_cublas_vector(type, n, y, incy) : u;
    /* The factor of her is real: a pointer to it must not be read as a complex number. */
    wpi_scalar factor;
    if (is_hermitian && !has_two)
        CUBLAS_TRY(wpi_cublas_read(handle, type, false, alpha, &factor));
    else
        factor = wpi_cublas_scalar(handle, type, alpha);
    cudaError_t error =
        wpi_blas[type].ger(handle->stream, n, n, factor, u, v, is_hermitian, a, false);
    if (error == cudaSuccess && has_two)
        error =
            wpi_blas[type].ger(handle->stream, n, n, factor, v, u, is_hermitian, a, is_hermitian);
    return wpi_cublas_status(error);
}

/* ---- by type ---- */

#define MATRIX_CALLS(X, T)                                                                         \
    WP_API cublasStatus_t cublas##X##gemv_v2(                                                      \
        cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha, const T *A,  \
        int lda, const T *x, int incx, const T *beta, T *y, int incy) {                            \
        return gemv(handle, WPI_BLAS_##X, trans, m, n, alpha, A, lda, x, incx, beta, y, incy);     \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##trmv_v2(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                             cublasOperation_t trans, cublasDiagType_t diag,       \
                                             int n, const T *A, int lda, T *x, int incx) {         \
        return trmv(handle, WPI_BLAS_##X, uplo, trans, diag, n, A, lda, x, incx);                  \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##trsv_v2(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                             cublasOperation_t trans, cublasDiagType_t diag,       \
                                             int n, const T *A, int lda, T *x, int incx) {         \
        return trsv(handle, WPI_BLAS_##X, uplo, trans, diag, n, A, lda, x, incx);                  \
    }

MATRIX_CALLS(S, float)
MATRIX_CALLS(D, double)
MATRIX_CALLS(C, cuComplex)
MATRIX_CALLS(Z, cuDoubleComplex)

#define SYMV(name, X, T, shape)                                                                    \
    WP_API cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t uplo, int n,                \
                               const T *alpha, const T *A, int lda, const T *x, int incx,          \
                               const T *beta, T *y, int incy) {                                    \
        return symv(handle, WPI_BLAS_##X, WPI_SHAPE_##shape, uplo, n, alpha, A, lda, x, incx,      \
                    beta, y, incy);                                                                \
    }

SYMV(cublasSsymv_v2, S, float, SYMMETRIC)
SYMV(cublasDsymv_v2, D, double, SYMMETRIC)
SYMV(cublasCsymv_v2, C, cuComplex, SYMMETRIC)
SYMV(cublasZsymv_v2, Z, cuDoubleComplex, SYMMETRIC)
SYMV(cublasChemv_v2, C, cuComplex, HERMITIAN)
SYMV(cublasZhemv_v2, Z, cuDoubleComplex, HERMITIAN)

#define GER(name, X, T, is_conjugated)                                                             \
    WP_API cublasStatus_t name(cublasHandle_t handle, int m, int n, const T *alpha, const T *x,    \
                               int incx, const T *y, int incy, T *A, int lda) {                    \
        return ger(handle, WPI_BLAS_##X, is_conjugated, m, n, alpha, x, incx, y, incy, A, lda);    \
    }

GER(cublasSger_v2, S, float, false)
GER(cublasDger_v2, D, double, false)
GER(cublasCgeru_v2, C, cuComplex, false)
GER(cublasCgerc_v2, C, cuComplex, true)
GER(cublasZgeru_v2, Z, cuDoubleComplex, false)
GER(cublasZgerc_v2, Z, cuDoubleComplex, true)

#define SYR(name, X, T, F, shape)                                                                  \
    WP_API cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t uplo, int n,                \
                               const F *alpha, const T *x, int incx, T *A, int lda) {              \
        return syr(handle, WPI_BLAS_##X, WPI_SHAPE_##shape, false, uplo, n, alpha, x, incx, NULL,  \
                   0, A, lda);                                                                     \
    }
#define SYR2(name, X, T, shape)                                                                    \
    WP_API cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t uplo, int n,                \
                               const T *alpha, const T *x, int incx, const T *y, int incy, T *A,   \
                               int lda) {                                                          \
        return syr(handle, WPI_BLAS_##X, WPI_SHAPE_##shape, true, uplo, n, alpha, x, incx, y,      \
                   incy, A, lda);                                                                  \
    }

SYR(cublasSsyr_v2, S, float, float, SYMMETRIC)
SYR(cublasDsyr_v2, D, double, double, SYMMETRIC)
SYR(cublasCsyr_v2, C, cuComplex, cuComplex, SYMMETRIC)
SYR(cublasZsyr_v2, Z, cuDoubleComplex, cuDoubleComplex, SYMMETRIC)
SYR(cublasCher_v2, C, cuComplex, float, HERMITIAN)
SYR(cublasZher_v2, Z, cuDoubleComplex, double, HERMITIAN)
SYR2(cublasSsyr2_v2, S, float, SYMMETRIC)
SYR2(cublasDsyr2_v2, D, double, SYMMETRIC)
SYR2(cublasCsyr2_v2, C, cuComplex, SYMMETRIC)
SYR2(cublasZsyr2_v2, Z, cuDoubleComplex, SYMMETRIC)
SYR2(cublasCher2_v2, C, cuComplex, HERMITIAN)
SYR2(cublasZher2_v2, Z, cuDoubleComplex, HERMITIAN)
