/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The state behind a cublasHandle_t, and what every call does with it:
 *
 *     CUBLAS_TRY(wpi_cublas_enter(handle));
 *     if (bad) return CUBLAS_STATUS_INVALID_VALUE;
 *     return wpi_cublas_status(wpi_blas[type].axpy(handle->stream, …));
 *
 * Thread rule: a handle is used by one thread at a time, as with CUDA's library.
 */
#ifndef WP_LIBRARIES_CUBLAS_HANDLE_H
#define WP_LIBRARIES_CUBLAS_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "libraries/cublas/blas_shared.h"
#include "warpage/cuda/cublas_v2.h"
#include "warpage/error.h"

struct cublasContext {
    uint64_t magic;
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasAtomicsMode_t atomics_mode;
    cublasMath_t math_mode;
    int sm_count;
    cublasEmulationStrategy_t emulation; /* settings without effect: wide types are used as such */
    cudaEmulationSpecialValuesSupport special_values;
    cudaEmulationMantissaControl mantissa_control;
    int max_mantissa_bits, mantissa_offset_bits, *mantissa_bits;
    wpi_partial *partials; /* device memory: WPI_PARTIALS, then one for a result */
    bool is_on_host;       /* the device is the host's processor: its BLAS may be used */
};

#define CUBLAS_TRY(expression)                                                                     \
    do {                                                                                           \
        const cublasStatus_t cublas_try = (expression);                                            \
        if (cublas_try != CUBLAS_STATUS_SUCCESS) return cublas_try;                                \
    } while (0)

/** NOT_INITIALIZED if `handle` is not one. */
cublasStatus_t wpi_cublas_enter(cublasHandle_t handle);
cublasStatus_t wpi_cublas_status(cudaError_t error);

/** A factor of the type; by value in pointer mode HOST. */
wpi_scalar wpi_cublas_scalar(cublasHandle_t handle, wpi_blas_type type, const void *value);
/** … of the type's real type. */
wpi_scalar wpi_cublas_real_scalar(cublasHandle_t handle, wpi_blas_type type, const void *value);
/** The value of a factor, fetched if it is on the device: real, or `is_complex`. */
cublasStatus_t wpi_cublas_read(cublasHandle_t handle, wpi_blas_type type, bool is_complex,
                               const void *value, wpi_scalar *out);
/** A factor that is known. */
wpi_scalar wpi_cublas_constant(double value);
/** True if the factor is a value, and this one. */
bool wpi_cublas_is(wpi_scalar scalar, double value);
size_t wpi_cublas_element_bytes(wpi_blas_type type);
/** Reading begins at the last element where the increment is negative. */
wpi_vector wpi_cublas_vector(wpi_blas_type type, int n, const void *x, int inc);

static inline bool wpi_cublas_is_op(cublasOperation_t op) {
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG;
}
static inline bool wpi_cublas_is_fill(cublasFillMode_t uplo) {
    return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER;
}
static inline wpi_triangle wpi_cublas_triangle(cublasFillMode_t uplo) {
    return uplo == CUBLAS_FILL_MODE_LOWER ? WPI_TRIANGLE_LOWER : WPI_TRIANGLE_UPPER;
}
static inline int wpi_at_least_1(int n) {
    return n > 1 ? n : 1;
}

/** A general matrix. The cast: operands are never written. */
static inline wpi_matrix wpi_cublas_matrix(const void *data, int ld, cublasOperation_t op) {
    return (wpi_matrix){.data = (void *)(uintptr_t)data, .ld = ld, .op = (wpi_op)op};
}

/** The product, by the host's BLAS where that is faster and there. */
cublasStatus_t wpi_cublas_product(cublasHandle_t handle, wpi_blas_type type,
                                  const wpi_product *product);

/** Queues the product on the host's BLAS. False if there is none, or it lacks this product. */
bool wpi_host_blas_product(cudaStream_t stream, wpi_blas_type type, const wpi_product *product,
                           cudaError_t *error);

#endif
