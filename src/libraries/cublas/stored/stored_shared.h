/* SPDX-License-Identifier: Apache-2.0 */
/** What the host code of packed, banded and batched level-2 calls shares with its kernels. */
#ifndef WP_LIBRARIES_BLAS_STORED_SHARED_H
#define WP_LIBRARIES_BLAS_STORED_SHARED_H

#include "libraries/cublas/blas_shared.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wpi_storage {
    WPI_STORED_FULL = 0,
    WPI_STORED_BAND,  /* element (i, j) is at above + i - j + j * ld */
    WPI_STORED_PACKED /* the columns of a triangle, one behind the other */
} wpi_storage;

/** A matrix, or one of a batch. */
typedef struct wpi_stored {
    void *data;
    void *const *array; /* not NULL: matrices of a batch */
    long long stride;
    wpi_storage storage;
    int rows, columns, ld;
    int below, above; /* BAND: diagonals beside the main one */
    wpi_op op;
    wpi_shape shape;
    wpi_triangle triangle; /* that is stored, unless the shape is general */
    int is_unit;
} wpi_stored;

/** Vectors of a batch; reading begins at the last element where the increment is negative. */
typedef struct wpi_stored_vector {
    void *data;
    void *const *array;
    long long stride;
    long long inc;
} wpi_stored_vector;

/** y = alpha op(a) x + beta y, of `rows` and `columns` of op(a). */
typedef struct wpi_stored_product {
    wpi_stored a;
    wpi_stored_vector x, y;
    wpi_scalar alpha, beta;
    int rows, columns, batch;
} wpi_stored_product;

/** a += alpha x y^T + alpha y x^T, or only the first with y.data NULL and x in its place; of a
 * Hermitian matrix conjugated. */
typedef struct wpi_stored_update {
    wpi_stored a;
    wpi_stored_vector x, y;
    wpi_scalar alpha;
} wpi_stored_update;

/** The inverse of matrices of at most WPI_STORED_INVERSE_MAX rows; info: the first column without
 * a pivot, or 0. */
#define WPI_STORED_INVERSE_MAX 32
typedef struct wpi_stored_inverse {
    int n, ld, ld_inverse, batch;
    void *const *from, *const *to;
    int *info;
} wpi_stored_inverse;

typedef struct wpi_stored_launches {
    cudaError_t (*product)(cudaStream_t, const wpi_stored_product *);
    cudaError_t (*solve)(cudaStream_t, const wpi_stored *, const wpi_stored_vector *x);
    cudaError_t (*update)(cudaStream_t, const wpi_stored_update *);
    /* The triangle of one matrix to the other. */
    cudaError_t (*copy)(cudaStream_t, const wpi_stored *from, const wpi_stored *to);
    cudaError_t (*invert)(cudaStream_t, const wpi_stored_inverse *);
} wpi_stored_launches;

extern const wpi_stored_launches wpi_blas_stored[WPI_BLAS_TYPES];

#ifdef __cplusplus
}
#endif
#endif
