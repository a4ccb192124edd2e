/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The state behind a cusolverDnHandle_t. Thread rule: a handle is used by one thread at a time, as
 * with CUDA's library.
 */
#ifndef WP_LIBRARIES_CUSOLVER_HANDLE_H
#define WP_LIBRARIES_CUSOLVER_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "libraries/cusolver/solver_shared.h"
#include "warpage/cuda/cusolverDn.h"
#include "warpage/error.h"

struct cusolverDnContext {
    uint64_t magic;
    cudaStream_t stream;
};

#define CUSOLVER_TRY(expression)                                                                   \
    do {                                                                                           \
        const cusolverStatus_t cusolver_try = (expression);                                        \
        if (cusolver_try != CUSOLVER_STATUS_SUCCESS) return cusolver_try;                          \
    } while (0)

/** NOT_INITIALIZED if `handle` is not one. */
cusolverStatus_t wpi_cusolver_enter(cusolverDnHandle_t handle);
cusolverStatus_t wpi_cusolver_status(cudaError_t error);
/** NOT_SUPPORTED, with a message. */
cusolverStatus_t wpi_cusolver_refuse(const char *what);

/** Of an element: `type` is 0 of float, 1 of double, 2 and 3 of their complex numbers. */
static inline size_t wpi_cusolver_real_bytes(int type) {
    return type % 2 == 0 ? sizeof(float) : sizeof(double);
}
static inline size_t wpi_cusolver_bytes(int type) {
    return type / 2 == 0 ? wpi_cusolver_real_bytes(type) : 2 * wpi_cusolver_real_bytes(type);
}

/** Factors with row exchanges; `pivots` are int, or int64_t. */
cusolverStatus_t wpi_cusolver_lu(cusolverDnHandle_t handle, int type, int m, int n, void *a,
                                 int lda, void *pivots, bool is_wide, int *info);
cusolverStatus_t wpi_cusolver_lu_solve(cusolverDnHandle_t handle, int type, cublasOperation_t trans,
                                       int n, int columns, const void *a, int lda,
                                       const void *pivots, bool is_wide, void *b, int ldb,
                                       int *info);
/** The inverse of a triangular matrix, in place. */
cusolverStatus_t wpi_cusolver_triangle(cusolverDnHandle_t handle, int type, cublasFillMode_t uplo,
                                       bool is_unit, int n, void *a, int lda, int *info);

#endif
