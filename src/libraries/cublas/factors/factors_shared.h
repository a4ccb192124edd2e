/* SPDX-License-Identifier: Apache-2.0 */
/** What the host code of QR factors of batches shares with its kernels. */
#ifndef WP_LIBRARIES_BLAS_FACTORS_SHARED_H
#define WP_LIBRARIES_BLAS_FACTORS_SHARED_H

#include "libraries/cublas/blas_shared.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A = Q R: the reflectors of Q stay below the diagonal, their factors in `tau` (NULL: nowhere).
 * With `c`, of m x nrhs, its first n rows become the solution of least squares. */
typedef struct wpi_qr {
    int m, n, nrhs, batch;
    void *const *a;
    void *const *tau;
    void *const *c; /* NULL: factors alone */
    int lda, ldc;
    int *info; /* the first column without a pivot, from 1, or 0; may be NULL */
} wpi_qr;

typedef cudaError_t (*wpi_qr_launch)(cudaStream_t, const wpi_qr *);

extern const wpi_qr_launch wpi_blas_qr[WPI_BLAS_TYPES];

#ifdef __cplusplus
}
#endif
#endif
