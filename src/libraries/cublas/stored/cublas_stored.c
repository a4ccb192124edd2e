/* SPDX-License-Identifier: Apache-2.0 */
/* Level 2 of packed and banded matrices, and of batches; inverses of batches of small matrices. */
#include "libraries/cublas/cublas_handle.h"
#include "libraries/cublas/stored/stored_shared.h"

#define OK CUBLAS_STATUS_SUCCESS
#define INVALID CUBLAS_STATUS_INVALID_VALUE

/* The cast: operands are never written. */
static void *address(const void *data) {
    return (void *)(uintptr_t)data;
}

static wpi_stored_vector vector(const void *x, int inc) {
    return (wpi_stored_vector){.data = address(x), .inc = inc};
}

/* A matrix of n rows and columns, one triangle of which is stored, packed or with `k` diagonals. */
static wpi_stored triangle(wpi_shape shape, cublasFillMode_t uplo, int n, const void *a) {
    return (wpi_stored){.data = address(a),
                        .storage = WPI_STORED_PACKED,
                        .rows = n,
                        .columns = n,
                        .shape = shape,
                        .triangle = wpi_cublas_triangle(uplo)};
}
static wpi_stored band(wpi_shape shape, cublasFillMode_t uplo, int n, int k, const void *a,
                       int lda) {
    wpi_stored s = triangle(shape, uplo, n, a);
    s.storage = WPI_STORED_BAND;
    s.ld = lda;
    *(uplo == CUBLAS_FILL_MODE_LOWER ? &s.below : &s.above) = k;
    return s;
}

static cublasStatus_t product(cublasHandle_t handle, wpi_blas_type type, wpi_stored a,
                              const void *alpha, wpi_stored_vector x, const void *beta,
                              wpi_stored_vector y, int batch) {
    const bool is_across = a.op == WPI_OP_T || a.op == WPI_OP_C;
    const wpi_stored_product p = {.a = a,
                                  .x = x,
                                  .y = y,
                                  .alpha = wpi_cublas_scalar(handle, type, alpha),
                                  .beta = wpi_cublas_scalar(handle, type, beta),
                                  .rows = is_across ? a.columns : a.rows,
                                  .columns = is_across ? a.rows : a.columns,
                                  .batch = batch};
    return wpi_cublas_status(wpi_blas_stored[type].product(handle->stream, &p));
}

static cublasStatus_t gbmv(cublasHandle_t handle, wpi_blas_type type, cublasOperation_t trans,
                           int m, int n, int kl, int ku, const void *alpha, const void *A, int lda,
                           const void *x, int incx, const void *beta, void *y, int incy) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_op(trans) || m < 0 || n < 0 || kl < 0 || ku < 0 || lda < kl + ku + 1 ||
        incx == 0 || incy == 0)
        return INVALID;
    if (m == 0 || n == 0) return OK;
    if (alpha == NULL || A == NULL || x == NULL || beta == NULL || y == NULL) return INVALID;
    const wpi_stored a = {.data = address(A),
                          .storage = WPI_STORED_BAND,
                          .rows = m,
                          .columns = n,
                          .ld = lda,
                          .below = kl,
                          .above = ku,
                          .op = (wpi_op)trans};
    return product(handle, type, a, alpha, vector(x, incx), beta, vector(y, incy), 1);
}

/* spmv, hpmv, sbmv, hbmv; `k` and `lda` are of bands. */
static cublasStatus_t mirrored(cublasHandle_t handle, wpi_blas_type type, wpi_shape shape,
                               bool is_band, cublasFillMode_t uplo, int n, int k, const void *alpha,
                               const void *A, int lda, const void *x, int incx, const void *beta,
                               void *y, int incy) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_fill(uplo) || n < 0 || k < 0 || (is_band && lda < k + 1) || incx == 0 ||
        incy == 0)
        return INVALID;
    if (n == 0) return OK;
    if (alpha == NULL || A == NULL || x == NULL || beta == NULL || y == NULL) return INVALID;
    const wpi_stored a = is_band ? band(shape, uplo, n, k, A, lda) : triangle(shape, uplo, n, A);
    return product(handle, type, a, alpha, vector(x, incx), beta, vector(y, incy), 1);
}

/* tbmv, tpmv, tbsv, tpsv. The product is made of a copy of x. */
static cublasStatus_t triangular(cublasHandle_t handle, wpi_blas_type type, bool is_band,
                                 bool is_system, cublasFillMode_t uplo, cublasOperation_t trans,
                                 cublasDiagType_t diag, int n, int k, const void *A, int lda,
                                 void *x, int incx) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_fill(uplo) || !wpi_cublas_is_op(trans) || (unsigned)diag > 1 || n < 0 ||
        k < 0 || (is_band && lda < k + 1) || incx == 0 || (n > 0 && (A == NULL || x == NULL)))
        return INVALID;
    if (n == 0) return OK;
    wpi_stored a = is_band ? band(WPI_SHAPE_TRIANGULAR, uplo, n, k, A, lda)
                           : triangle(WPI_SHAPE_TRIANGULAR, uplo, n, A);
    a.op = (wpi_op)trans;
    a.is_unit = diag == CUBLAS_DIAG_UNIT;
    const wpi_stored_vector v = vector(x, incx);
    if (is_system) return wpi_cublas_status(wpi_blas_stored[type].solve(handle->stream, &a, &v));
    void *kept = NULL;
    if (cudaMalloc(&kept, (size_t)n * wpi_cublas_element_bytes(type)) != cudaSuccess)
        return CUBLAS_STATUS_ALLOC_FAILED;
    cudaError_t error = wpi_blas[type].copy(handle->stream, n, wpi_cublas_vector(type, n, x, incx),
                                            (wpi_vector){kept, 1});
    const wpi_stored_product p = {.a = a,
                                  .x = vector(kept, 1),
                                  .y = v,
                                  .alpha = wpi_cublas_constant(1),
                                  .beta = wpi_cublas_constant(0),
                                  .rows = n,
                                  .columns = n,
                                  .batch = 1};
    if (error == cudaSuccess) error = wpi_blas_stored[type].product(handle->stream, &p);
    const cudaError_t freed = cudaFree(kept);
    return wpi_cublas_status(error != cudaSuccess ? error : freed);
}

/* spr, hpr (y == NULL), spr2, hpr2. */
static cublasStatus_t update(cublasHandle_t handle, wpi_blas_type type, wpi_shape shape,
                             bool has_two, cublasFillMode_t uplo, int n, const void *alpha,
                             const void *x, int incx, const void *y, int incy, void *AP) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_fill(uplo) || n < 0 || incx == 0 || (has_two && incy == 0)) return INVALID;
    if (n == 0) return OK;
    if (alpha == NULL || x == NULL || (has_two && y == NULL) || AP == NULL) return INVALID;
    wpi_stored_update u = {.a = triangle(shape, uplo, n, AP), .x = vector(x, incx)};
    if (has_two) u.y = vector(y, incy);
    /* The factor of hpr is real: a pointer to it must not be read as a complex number. */
    if (shape == WPI_SHAPE_HERMITIAN && !has_two)
        CUBLAS_TRY(wpi_cublas_read(handle, type, false, alpha, &u.alpha));
    else
        u.alpha = wpi_cublas_scalar(handle, type, alpha);
    return wpi_cublas_status(wpi_blas_stored[type].update(handle->stream, &u));
}

/* Between a packed triangle and one of a whole matrix. */
static cublasStatus_t repack(cublasHandle_t handle, wpi_blas_type type, cublasFillMode_t uplo,
                             int n, const void *packed, const void *A, int lda, bool is_unpacked) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_fill(uplo) || n < 0 || lda < wpi_at_least_1(n)) return INVALID;
    if (n == 0) return OK;
    if (packed == NULL || A == NULL) return INVALID;
    const wpi_stored a = triangle(WPI_SHAPE_TRIANGULAR, uplo, n, packed);
    wpi_stored whole = triangle(WPI_SHAPE_TRIANGULAR, uplo, n, A);
    whole.storage = WPI_STORED_FULL;
    whole.ld = lda;
    return wpi_cublas_status(is_unpacked ? wpi_blas_stored[type].copy(handle->stream, &a, &whole)
                                         : wpi_blas_stored[type].copy(handle->stream, &whole, &a));
}

static cublasStatus_t gemv_batch(cublasHandle_t handle, wpi_blas_type type, wpi_stored a, int m,
                                 int n, cublasOperation_t trans, int lda, const void *alpha,
                                 wpi_stored_vector x, const void *beta, wpi_stored_vector y,
                                 int batch) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_op(trans) || m < 0 || n < 0 || lda < wpi_at_least_1(m) || x.inc == 0 ||
        y.inc == 0 || batch < 0)
        return INVALID;
    if (m == 0 || n == 0 || batch == 0) return OK;
    if (alpha == NULL || beta == NULL) return INVALID;
    a.rows = m, a.columns = n, a.ld = lda, a.op = (wpi_op)trans;
    return product(handle, type, a, alpha, x, beta, y, batch);
}

static cublasStatus_t invert(cublasHandle_t handle, wpi_blas_type type, int n, void *const *from,
                             int lda, void *const *to, int lda_inverse, int *info, int batch) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n < 0 || n > WPI_STORED_INVERSE_MAX || lda < wpi_at_least_1(n) ||
        lda_inverse < wpi_at_least_1(n) || batch < 0)
        return INVALID;
    if (n == 0 || batch == 0) return OK;
    if (from == NULL || to == NULL || info == NULL) return INVALID;
    const wpi_stored_inverse v = {.n = n,
                                  .ld = lda,
                                  .ld_inverse = lda_inverse,
                                  .batch = batch,
                                  .from = from,
                                  .to = to,
                                  .info = info};
    return wpi_cublas_status(wpi_blas_stored[type].invert(handle->stream, &v));
}

/* ---- by type ---- */

#define CALLS(X, T)                                                                                \
    WP_API cublasStatus_t cublas##X##gbmv_v2(cublasHandle_t handle, cublasOperation_t trans,       \
                                             int m, int n, int kl, int ku, const T *alpha,         \
                                             const T *A, int lda, const T *x, int incx,            \
                                             const T *beta, T *y, int incy) {                      \
        return gbmv(handle, WPI_BLAS_##X, trans, m, n, kl, ku, alpha, A, lda, x, incx, beta, y,    \
                    incy);                                                                         \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##tbmv_v2(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                             cublasOperation_t trans, cublasDiagType_t diag,       \
                                             int n, int k, const T *A, int lda, T *x, int incx) {  \
        return triangular(handle, WPI_BLAS_##X, true, false, uplo, trans, diag, n, k, A, lda, x,   \
                          incx);                                                                   \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##tbsv_v2(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                             cublasOperation_t trans, cublasDiagType_t diag,       \
                                             int n, int k, const T *A, int lda, T *x, int incx) {  \
        return triangular(handle, WPI_BLAS_##X, true, true, uplo, trans, diag, n, k, A, lda, x,    \
                          incx);                                                                   \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##tpmv_v2(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                             cublasOperation_t trans, cublasDiagType_t diag,       \
                                             int n, const T *AP, T *x, int incx) {                 \
        return triangular(handle, WPI_BLAS_##X, false, false, uplo, trans, diag, n, 0, AP, 0, x,   \
                          incx);                                                                   \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##tpsv_v2(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                             cublasOperation_t trans, cublasDiagType_t diag,       \
                                             int n, const T *AP, T *x, int incx) {                 \
        return triangular(handle, WPI_BLAS_##X, false, true, uplo, trans, diag, n, 0, AP, 0, x,    \
                          incx);                                                                   \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##tpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n,    \
                                           const T *AP, T *A, int lda) {                           \
        return repack(handle, WPI_BLAS_##X, uplo, n, AP, A, lda, true);                            \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##trttp(cublasHandle_t handle, cublasFillMode_t uplo, int n,    \
                                           const T *A, int lda, T *AP) {                           \
        return repack(handle, WPI_BLAS_##X, uplo, n, AP, A, lda, false);                           \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##gemvBatched(                                                  \
        cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha,              \
        const T *const Aarray[], int lda, const T *const xarray[], int incx, const T *beta,        \
        T *const yarray[], int incy, int batchCount) {                                             \
        return gemv_batch(                                                                         \
            handle, WPI_BLAS_##X, (wpi_stored){.array = (void *const *)Aarray}, m, n, trans, lda,  \
            alpha, (wpi_stored_vector){.array = (void *const *)xarray, .inc = incx}, beta,         \
            (wpi_stored_vector){.array = (void *const *)yarray, .inc = incy}, batchCount);         \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##gemvStridedBatched(                                           \
        cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha, const T *A,  \
        int lda, long long int strideA, const T *x, int incx, long long int stridex,               \
        const T *beta, T *y, int incy, long long int stridey, int batchCount) {                    \
        return gemv_batch(                                                                         \
            handle, WPI_BLAS_##X, (wpi_stored){.data = address(A), .stride = strideA}, m, n,       \
            trans, lda, alpha,                                                                     \
            (wpi_stored_vector){.data = address(x), .stride = stridex, .inc = incx}, beta,         \
            (wpi_stored_vector){.data = y, .stride = stridey, .inc = incy}, batchCount);           \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##matinvBatched(cublasHandle_t handle, int n,                   \
                                                   const T *const A[], int lda, T *const Ainv[],   \
                                                   int lda_inv, int *info, int batchSize) {        \
        return invert(handle, WPI_BLAS_##X, n, (void *const *)A, lda, (void *const *)Ainv,         \
                      lda_inv, info, batchSize);                                                   \
    }

CALLS(S, float)
CALLS(D, double)
CALLS(C, cuComplex)
CALLS(Z, cuDoubleComplex)

/* SY: the letters before the call's own, s or h. F: the type of spr's factor. */
#define MIRRORED(X, SY, T, F, form)                                                                \
    WP_API cublasStatus_t cublas##X##SY##bmv_v2(                                                   \
        cublasHandle_t handle, cublasFillMode_t uplo, int n, int k, const T *alpha, const T *A,    \
        int lda, const T *x, int incx, const T *beta, T *y, int incy) {                            \
        return mirrored(handle, WPI_BLAS_##X, WPI_SHAPE_##form, true, uplo, n, k, alpha, A, lda,   \
                        x, incx, beta, y, incy);                                                   \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##SY##pmv_v2(cublasHandle_t handle, cublasFillMode_t uplo,      \
                                                int n, const T *alpha, const T *AP, const T *x,    \
                                                int incx, const T *beta, T *y, int incy) {         \
        return mirrored(handle, WPI_BLAS_##X, WPI_SHAPE_##form, false, uplo, n, 0, alpha, AP, 0,   \
                        x, incx, beta, y, incy);                                                   \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##SY##pr_v2(cublasHandle_t handle, cublasFillMode_t uplo,       \
                                               int n, const F *alpha, const T *x, int incx,        \
                                               T *AP) {                                            \
        return update(handle, WPI_BLAS_##X, WPI_SHAPE_##form, false, uplo, n, alpha, x, incx,      \
                      NULL, 0, AP);                                                                \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##SY##pr2_v2(cublasHandle_t handle, cublasFillMode_t uplo,      \
                                                int n, const T *alpha, const T *x, int incx,       \
                                                const T *y, int incy, T *AP) {                     \
        return update(handle, WPI_BLAS_##X, WPI_SHAPE_##form, true, uplo, n, alpha, x, incx, y,    \
                      incy, AP);                                                                   \
    }

MIRRORED(S, s, float, float, SYMMETRIC)
MIRRORED(D, s, double, double, SYMMETRIC)
MIRRORED(C, h, cuComplex, float, HERMITIAN)
MIRRORED(Z, h, cuDoubleComplex, double, HERMITIAN)
