/* SPDX-License-Identifier: Apache-2.0 */
/* Level 1: vectors. Calls with n <= 0 do nothing; reductions then give 0. */
#include <math.h>
#include <string.h>

#include "libraries/cublas/cublas_handle.h"

#define VECTOR(pointer, inc) wpi_cublas_vector(type, n, pointer, inc)

static const wpi_blas_launches *launches_of(wpi_blas_type type) {
    return type < WPI_BLAS_TYPES ? &wpi_blas[type] : &wpi_blas_halves[type == WPI_BLAS_B];
}

static cublasStatus_t axpy(cublasHandle_t handle, wpi_blas_type type, int n, const void *alpha,
                           const void *x, int incx, void *y, int incy) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || x == NULL || y == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const wpi_scalar factor = wpi_cublas_scalar(handle, type, alpha);
    if (wpi_cublas_is(factor, 0)) return CUBLAS_STATUS_SUCCESS;
    return wpi_cublas_status(
        launches_of(type)->axpy(handle->stream, n, factor, VECTOR(x, incx), VECTOR(y, incy)));
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
        launches_of(type)->scal(handle->stream, n, factor, is_real, VECTOR(x, incx)));
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
    case WPI_REDUCE_NRM2:
        if (type == WPI_BLAS_H || type == WPI_BLAS_B) return 2;
        return type == WPI_BLAS_S || type == WPI_BLAS_C ? 4 : 8;
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
        error = launches_of(type)->reduce(handle->stream, op, n, VECTOR(x, incx), VECTOR(y, incy),
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

/* ---- making rotations: on the host, in double precision ---- */

/* `count` numbers of the type, of which `handle` says where they are, as doubles; and back. */
static cudaError_t move_numbers(cublasHandle_t handle, wpi_blas_type type, int count, void *at,
                                double *numbers, bool is_back) {
    float singles[5] = {0};
    const bool is_single = type == WPI_BLAS_S || type == WPI_BLAS_C;
    const size_t bytes = (size_t)count * (is_single ? sizeof *singles : sizeof *numbers);
    void *here = is_single ? (void *)singles : (void *)numbers;
    const bool is_device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
    for (int i = 0; i < count && is_back && is_single; i++)
        singles[i] = (float)numbers[i];
    if (!is_device) {
        memcpy(is_back ? at : here, is_back ? here : at, bytes);
    } else {
        cudaError_t error = cudaMemcpyAsync(
            is_back ? at : here, is_back ? here : at, bytes,
            is_back ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, handle->stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(handle->stream);
        if (error != cudaSuccess) return error;
    }
    for (int i = 0; i < count && !is_back && is_single; i++)
        numbers[i] = (double)singles[i];
    return cudaSuccess;
}

#define READ(count, at, numbers)                                                                   \
    CUBLAS_TRY(wpi_cublas_status(move_numbers(handle, type, count, at, numbers, false)))
#define WRITE(count, at, numbers)                                                                  \
    CUBLAS_TRY(wpi_cublas_status(move_numbers(handle, type, count, at, numbers, true)))

/* The rotation that takes (a, b) to (r, 0); a becomes r, and b what c and s can be had from. */
static cublasStatus_t rotg(cublasHandle_t handle, wpi_blas_type type, void *a, void *b, void *c,
                           void *s) {
    double first = 0, second = 0, cosine = 1, sine = 0, r = 0, code = 0;
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (a == NULL || b == NULL || c == NULL || s == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    READ(1, a, &first);
    READ(1, b, &second);
    const bool is_first = fabs(first) > fabs(second);
    if (first != 0 || second != 0) {
        r = copysign(hypot(first, second), is_first ? first : second);
        cosine = first / r;
        sine = second / r;
        code = is_first ? sine : cosine != 0 ? 1 / cosine : 1;
    }
    WRITE(1, a, &r);
    WRITE(1, b, &code);
    WRITE(1, c, &cosine);
    WRITE(1, s, &sine);
    return CUBLAS_STATUS_SUCCESS;
}

/* The same of complex numbers; c is real, and b stays. */
static cublasStatus_t rotg_complex(cublasHandle_t handle, wpi_blas_type type, void *a,
                                   const void *b, void *c, void *s) {
    double first[2] = {0}, second[2] = {0}, cosine = 0, sine[2] = {1, 0};
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (a == NULL || b == NULL || c == NULL || s == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    READ(2, a, first);
    READ(2, (void *)b, second);
    const double size = hypot(first[0], first[1]), other = hypot(second[0], second[1]);
    double r[2] = {second[0], second[1]};
    if (size != 0) {
        const double whole = hypot(size, other), re = first[0] / size, im = first[1] / size;
        cosine = size / whole;
        sine[0] = (re * second[0] + im * second[1]) / whole;
        sine[1] = (im * second[0] - re * second[1]) / whole;
        r[0] = re * whole;
        r[1] = im * whole;
    }
    WRITE(2, a, r);
    WRITE(1, c, &cosine);
    WRITE(2, s, sine);
    return CUBLAS_STATUS_SUCCESS;
}

/* A modified rotation's flag and matrix as cuBLAS passes them: the ones that the flag implies are
 * not stored. */
enum { FLAG, H11, H21, H12, H22, ROTM_NUMBERS };

static void fill_implied(double *h) {
    if (h[FLAG] == 0) h[H11] = h[H22] = 1;
    if (h[FLAG] == 1) h[H12] = 1, h[H21] = -1;
    if (h[FLAG] == -2) h[H11] = h[H22] = 1, h[H12] = h[H21] = 0;
}

static cublasStatus_t rotm(cublasHandle_t handle, wpi_blas_type type, int n, void *x, int incx,
                           void *y, int incy, const void *param) {
    double h[ROTM_NUMBERS] = {0};
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (x == NULL || y == NULL || param == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    READ(ROTM_NUMBERS, (void *)param, h);
    fill_implied(h);
    return wpi_cublas_status(wpi_blas[type].rotm(handle->stream, n, VECTOR(x, incx),
                                                 VECTOR(y, incy), h[H11], h[H12], h[H21], h[H22]));
}

/* Keeps a factor within 1/4096² to 4096², by steps of 4096 which its row of h takes over. */
static void rescale(double *factor, double *h, int left, int right, double *x) {
    static const double step = 4096;
    while (*factor != 0 && (fabs(*factor) <= 1 / (step * step) || fabs(*factor) >= step * step)) {
        const double by = fabs(*factor) < 1 ? step : 1 / step;
        fill_implied(h);
        h[FLAG] = -1;
        *factor *= by * by;
        h[left] /= by;
        h[right] /= by;
        if (x != NULL) *x /= by;
    }
}

/* The modified rotation that takes (√d1 x1, √d2 y1) to (…, 0), by Lawson, Hanson, Kincaid and
 * Krogh, "Basic linear algebra subprograms for Fortran usage", 1979. */
static cublasStatus_t rotmg(cublasHandle_t handle, wpi_blas_type type, void *d1, void *d2, void *x1,
                            const void *y1, void *param) {
    double a = 0, b = 0, x = 0, y = 0, h[ROTM_NUMBERS] = {0};
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (d1 == NULL || d2 == NULL || x1 == NULL || y1 == NULL || param == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    READ(1, d1, &a);
    READ(1, d2, &b);
    READ(1, x1, &x);
    READ(1, (void *)y1, &y);
    const double p1 = a * x, p2 = b * y, q1 = p1 * x, q2 = p2 * y;
    bool is_void = a < 0;
    if (!is_void && p2 == 0) {
        h[FLAG] = -2;
    } else if (!is_void && fabs(q1) > fabs(q2)) {
        h[H21] = -y / x;
        h[H12] = p2 / p1;
        const double u = 1 - h[H12] * h[H21];
        is_void = u <= 0;
        a /= u;
        b /= u;
        x *= u;
    } else if (!is_void) {
        is_void = q2 < 0;
        h[FLAG] = 1;
        h[H11] = p1 / p2;
        h[H22] = x / y;
        const double u = 1 + h[H11] * h[H22], kept = a;
        a = b / u;
        b = kept / u;
        x = y * u;
    }
    if (is_void) {
        a = b = x = 0;
        memset(h, 0, sizeof h);
        h[FLAG] = -1;
    } else if (h[FLAG] != -2) {
        rescale(&a, h, H11, H12, &x);
        rescale(&b, h, H21, H22, NULL);
    }
    WRITE(1, d1, &a);
    WRITE(1, d2, &b);
    WRITE(1, x1, &x);
    WRITE(ROTM_NUMBERS, param, h);
    return CUBLAS_STATUS_SUCCESS;
}

#define MODIFIED_ROTATIONS(X, T)                                                                   \
    WP_API cublasStatus_t cublas##X##rotg_v2(cublasHandle_t handle, T *a, T *b, T *c, T *s) {      \
        return rotg(handle, WPI_BLAS_##X, a, b, c, s);                                             \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##rotm_v2(cublasHandle_t handle, int n, T *x, int incx, T *y,   \
                                             int incy, const T *param) {                           \
        return rotm(handle, WPI_BLAS_##X, n, x, incx, y, incy, param);                             \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##rotmg_v2(cublasHandle_t handle, T *d1, T *d2, T *x1,          \
                                              const T *y1, T *param) {                             \
        return rotmg(handle, WPI_BLAS_##X, d1, d2, x1, y1, param);                                 \
    }

MODIFIED_ROTATIONS(S, float)
MODIFIED_ROTATIONS(D, double)

WP_API cublasStatus_t cublasCrotg_v2(cublasHandle_t handle, cuComplex *a, cuComplex *b, float *c,
                                     cuComplex *s) {
    return rotg_complex(handle, WPI_BLAS_C, a, b, c, s);
}

WP_API cublasStatus_t cublasZrotg_v2(cublasHandle_t handle, cuDoubleComplex *a, cuDoubleComplex *b,
                                     double *c, cuDoubleComplex *s) {
    return rotg_complex(handle, WPI_BLAS_Z, a, b, c, s);
}

/* ---- types named by arguments: one type throughout, or 16-bit floats with sums in float ---- */

/* The type of vectors and result, all of type `a`; `factor` is of the execution type. */
static bool is_one_type(cudaDataType factor, cudaDataType a, cudaDataType b, cudaDataType execution,
                        wpi_blas_type *out) {
    const bool is_half = a == CUDA_R_16F || a == CUDA_R_16BF;
    if (a != b || factor != execution || execution != (is_half ? CUDA_R_32F : a)) return false;
    switch (a) {
    case CUDA_R_32F: *out = WPI_BLAS_S; return true;
    case CUDA_R_64F: *out = WPI_BLAS_D; return true;
    case CUDA_C_32F: *out = WPI_BLAS_C; return true;
    case CUDA_C_64F: *out = WPI_BLAS_Z; return true;
    case CUDA_R_16F: *out = WPI_BLAS_H; return true;
    case CUDA_R_16BF: *out = WPI_BLAS_B; return true;
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

static cublasStatus_t dot_of(cublasHandle_t handle, wpi_reduction op, int n, const void *x,
                             cudaDataType xType, int incx, const void *y, cudaDataType yType,
                             int incy, void *result, cudaDataType resultType,
                             cudaDataType executionType) {
    wpi_blas_type type;
    if (resultType != xType || !is_one_type(executionType, xType, yType, executionType, &type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return reduce(handle, type, op, n, x, incx, y, incy, result);
}

WP_API cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType,
                                  int incx, const void *y, cudaDataType yType, int incy,
                                  void *result, cudaDataType resultType,
                                  cudaDataType executionType) {
    return dot_of(handle, WPI_REDUCE_DOT, n, x, xType, incx, y, yType, incy, result, resultType,
                  executionType);
}

WP_API cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType,
                                   int incx, const void *y, cudaDataType yType, int incy,
                                   void *result, cudaDataType resultType,
                                   cudaDataType executionType) {
    return dot_of(handle, WPI_REDUCE_DOTC, n, x, xType, incx, y, yType, incy, result, resultType,
                  executionType);
}

/* The result is real, and the execution type too. */
WP_API cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType xType,
                                   int incx, void *result, cudaDataType resultType,
                                   cudaDataType executionType) {
    wpi_blas_type type = WPI_BLAS_C;
    if (xType == CUDA_C_32F || xType == CUDA_C_64F) {
        if (xType == CUDA_C_64F) type = WPI_BLAS_Z;
        if (resultType != (xType == CUDA_C_32F ? CUDA_R_32F : CUDA_R_64F) ||
            executionType != resultType)
            return CUBLAS_STATUS_NOT_SUPPORTED;
    } else if (!is_one_type(executionType, xType, resultType, executionType, &type)) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    return reduce(handle, type, WPI_REDUCE_NRM2, n, x, incx, NULL, 0, result);
}
