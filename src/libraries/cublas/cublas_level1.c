/* SPDX-License-Identifier: Apache-2.0 */
/* Level 1: vectors. Calls with n <= 0 do nothing; reductions then give 0. */
#include "libraries/cublas/cublas_handle.h"

#define VECTOR(pointer, inc) wpi_cublas_vector(type, n, pointer, inc)

static cublasStatus_t axpy(cublasHandle_t handle, wpi_blas_type type, int n, const void *alpha,
                           const void *x, int incx, void *y, int incy) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || x == NULL || y == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const wpi_scalar factor = wpi_cublas_scalar(handle, type, alpha);
    if (wpi_cublas_is(factor, 0)) return CUBLAS_STATUS_SUCCESS;
    return wpi_cublas_status(
        wpi_blas[type].axpy(handle->stream, n, factor, VECTOR(x, incx), VECTOR(y, incy)));
}

static cublasStatus_t copy(cublasHandle_t handle, wpi_blas_type type, int n, const void *x,
                           int incx, void *y, int incy) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (x == NULL || y == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    return wpi_cublas_status(
        wpi_blas[type].copy(handle->stream, n, VECTOR(x, incx), VECTOR(y, incy)));
}

static cublasStatus_t swap(cublasHandle_t handle, wpi_blas_type type, int n, void *x, int incx,
                           void *y, int incy) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (x == NULL || y == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    return wpi_cublas_status(
        wpi_blas[type].swap(handle->stream, n, VECTOR(x, incx), VECTOR(y, incy)));
}

static cublasStatus_t scal(cublasHandle_t handle, wpi_blas_type type, bool is_real, int n,
                           const void *alpha, void *x, int incx) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || x == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const wpi_scalar factor = is_real ? wpi_cublas_real_scalar(handle, type, alpha)
                                      : wpi_cublas_scalar(handle, type, alpha);
    return wpi_cublas_status(
        wpi_blas[type].scal(handle->stream, n, factor, is_real, VECTOR(x, incx)));
}

static cublasStatus_t rot(cublasHandle_t handle, wpi_blas_type type, bool is_real, int n, void *x,
                          int incx, void *y, int incy, const void *c, const void *s) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (x == NULL || y == NULL || c == NULL || s == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const wpi_scalar sine =
        is_real ? wpi_cublas_real_scalar(handle, type, s) : wpi_cublas_scalar(handle, type, s);
    return wpi_cublas_status(wpi_blas[type].rot(handle->stream, n, VECTOR(x, incx), VECTOR(y, incy),
                                                wpi_cublas_real_scalar(handle, type, c), sine,
                                                is_real));
}

/* Bytes of a reduction's result. */
static size_t result_bytes(wpi_blas_type type, wpi_reduction op) {
    switch (op) {
    case WPI_REDUCE_DOT:
    case WPI_REDUCE_DOTC: return wpi_cublas_element_bytes(type);
    case WPI_REDUCE_ASUM:
    case WPI_REDUCE_NRM2: return type == WPI_BLAS_S || type == WPI_BLAS_C ? 4 : 8;
    default: return sizeof(int);
    }
}

static cublasStatus_t reduce(cublasHandle_t handle, wpi_blas_type type, wpi_reduction op, int n,
                             const void *x, int incx, const void *y, int incy, void *result) {
    const bool is_dot = op == WPI_REDUCE_DOT || op == WPI_REDUCE_DOTC;
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (result == NULL || (n > 0 && (x == NULL || (is_dot && y == NULL))))
        return CUBLAS_STATUS_INVALID_VALUE;
    const bool is_host = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    void *to = is_host ? (void *)(handle->partials + WPI_PARTIALS) : result;
    const size_t bytes = result_bytes(type, op);
    cudaError_t error = cudaSuccess;
    if (n <= 0 || (!is_dot && incx <= 0))
        error = cudaMemsetAsync(to, 0, bytes, handle->stream);
    else
        error = wpi_blas[type].reduce(handle->stream, op, n, VECTOR(x, incx), VECTOR(y, incy),
                                      handle->partials, to);
    if (error == cudaSuccess && is_host)
        error = cudaMemcpyAsync(result, to, bytes, cudaMemcpyDeviceToHost, handle->stream);
    if (error == cudaSuccess && is_host) error = cudaStreamSynchronize(handle->stream);
    return wpi_cublas_status(error);
}

/* ---- by type ---- */

#define VECTOR_CALLS(X, T)                                                                         \
    WP_API cublasStatus_t cublas##X##axpy_v2(cublasHandle_t handle, int n, const T *alpha,         \
                                             const T *x, int incx, T *y, int incy) {               \
        return axpy(handle, WPI_BLAS_##X, n, alpha, x, incx, y, incy);                             \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##copy_v2(cublasHandle_t handle, int n, const T *x, int incx,   \
                                             T *y, int incy) {                                     \
        return copy(handle, WPI_BLAS_##X, n, x, incx, y, incy);                                    \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##swap_v2(cublasHandle_t handle, int n, T *x, int incx, T *y,   \
                                             int incy) {                                           \
        return swap(handle, WPI_BLAS_##X, n, x, incx, y, incy);                                    \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x,   \
                                             int incx) {                                           \
        return scal(handle, WPI_BLAS_##X, false, n, alpha, x, incx);                               \
    }

VECTOR_CALLS(S, float)
VECTOR_CALLS(D, double)
VECTOR_CALLS(C, cuComplex)
VECTOR_CALLS(Z, cuDoubleComplex)

WP_API cublasStatus_t cublasCsscal_v2(cublasHandle_t handle, int n, const float *alpha,
                                      cuComplex *x, int incx) {
    return scal(handle, WPI_BLAS_C, true, n, alpha, x, incx);
}

WP_API cublasStatus_t cublasZdscal_v2(cublasHandle_t handle, int n, const double *alpha,
                                      cuDoubleComplex *x, int incx) {
    return scal(handle, WPI_BLAS_Z, true, n, alpha, x, incx);
}

#define DOT(name, X, T, op)                                                                        \
    WP_API cublasStatus_t name(cublasHandle_t handle, int n, const T *x, int incx, const T *y,     \
                               int incy, T *result) {                                              \
        return reduce(handle, WPI_BLAS_##X, op, n, x, incx, y, incy, result);                      \
    }

DOT(cublasSdot_v2, S, float, WPI_REDUCE_DOT)
DOT(cublasDdot_v2, D, double, WPI_REDUCE_DOT)
DOT(cublasCdotu_v2, C, cuComplex, WPI_REDUCE_DOT)
DOT(cublasCdotc_v2, C, cuComplex, WPI_REDUCE_DOTC)
DOT(cublasZdotu_v2, Z, cuDoubleComplex, WPI_REDUCE_DOT)
DOT(cublasZdotc_v2, Z, cuDoubleComplex, WPI_REDUCE_DOTC)

#define REDUCTION(name, X, T, R, op)                                                               \
    WP_API cublasStatus_t name(cublasHandle_t handle, int n, const T *x, int incx, R *result) {    \
        return reduce(handle, WPI_BLAS_##X, op, n, x, incx, NULL, 0, result);                      \
    }

REDUCTION(cublasSnrm2_v2, S, float, float, WPI_REDUCE_NRM2)
REDUCTION(cublasDnrm2_v2, D, double, double, WPI_REDUCE_NRM2)
REDUCTION(cublasScnrm2_v2, C, cuComplex, float, WPI_REDUCE_NRM2)
REDUCTION(cublasDznrm2_v2, Z, cuDoubleComplex, double, WPI_REDUCE_NRM2)
REDUCTION(cublasSasum_v2, S, float, float, WPI_REDUCE_ASUM)
REDUCTION(cublasDasum_v2, D, double, double, WPI_REDUCE_ASUM)
REDUCTION(cublasScasum_v2, C, cuComplex, float, WPI_REDUCE_ASUM)
REDUCTION(cublasDzasum_v2, Z, cuDoubleComplex, double, WPI_REDUCE_ASUM)
REDUCTION(cublasIsamax_v2, S, float, int, WPI_REDUCE_AMAX)
REDUCTION(cublasIdamax_v2, D, double, int, WPI_REDUCE_AMAX)
REDUCTION(cublasIcamax_v2, C, cuComplex, int, WPI_REDUCE_AMAX)
REDUCTION(cublasIzamax_v2, Z, cuDoubleComplex, int, WPI_REDUCE_AMAX)
REDUCTION(cublasIsamin_v2, S, float, int, WPI_REDUCE_AMIN)
REDUCTION(cublasIdamin_v2, D, double, int, WPI_REDUCE_AMIN)
REDUCTION(cublasIcamin_v2, C, cuComplex, int, WPI_REDUCE_AMIN)
REDUCTION(cublasIzamin_v2, Z, cuDoubleComplex, int, WPI_REDUCE_AMIN)

#define ROTATION(name, X, T, C, S, is_real)                                                        \
    WP_API cublasStatus_t name(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy,       \
                               const C *c, const S *s) {                                           \
        return rot(handle, WPI_BLAS_##X, is_real, n, x, incx, y, incy, c, s);                      \
    }

ROTATION(cublasSrot_v2, S, float, float, float, true)
ROTATION(cublasDrot_v2, D, double, double, double, true)
ROTATION(cublasCrot_v2, C, cuComplex, float, cuComplex, false)
ROTATION(cublasCsrot_v2, C, cuComplex, float, float, true)
ROTATION(cublasZrot_v2, Z, cuDoubleComplex, double, cuDoubleComplex, false)
ROTATION(cublasZdrot_v2, Z, cuDoubleComplex, double, double, true)

/* ---- types named by arguments: those of one type throughout ---- */

/* The type if all are one that vectors have. */
static bool is_one_type(cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType execution,
                        wpi_blas_type *out) {
    if (a != b || b != c || c != execution) return false;
    switch (a) {
    case CUDA_R_32F: *out = WPI_BLAS_S; return true;
    case CUDA_R_64F: *out = WPI_BLAS_D; return true;
    case CUDA_C_32F: *out = WPI_BLAS_C; return true;
    case CUDA_C_64F: *out = WPI_BLAS_Z; return true;
    default: return false;
    }
}

WP_API cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha,
                                   cudaDataType alphaType, const void *x, cudaDataType xType,
                                   int incx, void *y, cudaDataType yType, int incy,
                                   cudaDataType executiontype) {
    wpi_blas_type type;
    if (!is_one_type(alphaType, xType, yType, executiontype, &type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return axpy(handle, type, n, alpha, x, incx, y, incy);
}

WP_API cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha,
                                   cudaDataType alphaType, void *x, cudaDataType xType, int incx,
                                   cudaDataType executionType) {
    wpi_blas_type type;
    if (!is_one_type(alphaType, xType, xType, executionType, &type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return scal(handle, type, false, n, alpha, x, incx);
}

WP_API cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType,
                                  int incx, const void *y, cudaDataType yType, int incy,
                                  void *result, cudaDataType resultType,
                                  cudaDataType executionType) {
    wpi_blas_type type;
    if (!is_one_type(xType, yType, resultType, executionType, &type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return reduce(handle, type, WPI_REDUCE_DOT, n, x, incx, y, incy, result);
}

WP_API cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType,
                                   int incx, const void *y, cudaDataType yType, int incy,
                                   void *result, cudaDataType resultType,
                                   cudaDataType executionType) {
    wpi_blas_type type;
    if (!is_one_type(xType, yType, resultType, executionType, &type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return reduce(handle, type, WPI_REDUCE_DOTC, n, x, incx, y, incy, result);
}

WP_API cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType xType,
                                   int incx, void *result, cudaDataType resultType,
                                   cudaDataType executionType) {
    wpi_blas_type type;
    if (!is_one_type(xType, resultType, executionType, executionType, &type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return reduce(handle, type, WPI_REDUCE_NRM2, n, x, incx, NULL, 0, result);
}
