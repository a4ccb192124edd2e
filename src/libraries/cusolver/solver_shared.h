/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What cuSOLVER's host code and its kernels share. Matrices are stored by columns; a launch works
 * on a batch, a block a matrix.
 */
#ifndef WP_LIBRARIES_SOLVER_SHARED_H
#define WP_LIBRARIES_SOLVER_SHARED_H

#include "warpage/cuda/cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WPI_SOLVER_TYPES 4 /* float, double, and their complex numbers */

/** Matrix b is at data + b * stride, or at pointers[b]. */
typedef struct wpi_solver_matrix {
    void *data;
    void *const *pointers;
    long long ld, stride;
} wpi_solver_matrix;

/** What all kernels take; `info` gets a number for each matrix, LAPACK's. */
typedef struct wpi_solver_call {
    wpi_solver_matrix a, b;
    int m, n, columns; /* of A; right-hand sides */
    int is_upper, is_transposed, is_conjugated, is_right, has_vectors;
    int is_unit;  /* a triangle whose diagonal is 1 and not read */
    void *pivots; /* may be NULL; int, or int64_t */
    int has_wide_pivots;
    void *tau, *values, *work;
    long long work_stride; /* elements a matrix */
    int *info, batch;
} wpi_solver_call;

/** The first `count` singular values, in descending order; U is m x u_columns, V^T is vt_rows x n,
 * either may be NULL. `is_v`: V, not V^T. */
typedef struct wpi_solver_svd {
    wpi_solver_matrix a;
    int m, n, count, u_columns, vt_rows, is_v;
    void *values, *u, *vt, *work;
    long long ldu, ldvt, values_stride, u_stride, vt_stride, work_stride;
    int *info, batch;
} wpi_solver_svd;

/** A system whose entries lie in a band: element (i, j) is at a[i * width + j - i + below], with
 * room for what reflectors fill. The solution replaces x. */
typedef struct wpi_solver_band {
    void *a, *x, *v; /* v: below + 1 elements */
    int n, below, above, width;
    int is_definite; /* only the lower triangle is there */
    double tolerance;
    int *singularity; /* gets the first place without a pivot, or -1 */
} wpi_solver_band;

/** The eigenvalues of a general matrix, which is overwritten, and its vectors (NULL: none), of
 * LAPACK's form: those of a real matrix are real, two columns a pair. */
typedef struct wpi_solver_general {
    void *a, *values, *left, *right, *work;
    long long lda, ld_left, ld_right;
    int n;
    int has_real_values; /* n real parts, then n imaginary parts */
    int *info;           /* eigenvalues that were not found */
} wpi_solver_general;

typedef cudaError_t (*wpi_solver_general_launch)(cudaStream_t, const wpi_solver_general *);

extern const wpi_solver_general_launch wpi_solver_geev[WPI_SOLVER_TYPES];

/** Launches for one element type. */
typedef struct wpi_solver_launches {
    cudaError_t (*potrf)(cudaStream_t, const wpi_solver_call *);
    cudaError_t (*potrs)(cudaStream_t, const wpi_solver_call *);
    cudaError_t (*potri)(cudaStream_t,
                         const wpi_solver_call *); /* A, an inverse factor's product */
    cudaError_t (*getrf)(cudaStream_t, const wpi_solver_call *);
    cudaError_t (*getrs)(cudaStream_t, const wpi_solver_call *);
    cudaError_t (*geqrf)(cudaStream_t, const wpi_solver_call *);
    cudaError_t (*ormqr)(cudaStream_t, const wpi_solver_call *); /* b = Q b, … */
    cudaError_t (*orgqr)(cudaStream_t,
                         const wpi_solver_call *); /* A = Q, from `columns` reflectors */
    cudaError_t (*upper)(cudaStream_t, const wpi_solver_call *);     /* b = R^-1 b */
    cudaError_t (*transpose)(cudaStream_t, const wpi_solver_call *); /* b = A^T */
    cudaError_t (*trtri)(cudaStream_t, const wpi_solver_call *);
    cudaError_t (*syev)(cudaStream_t, const wpi_solver_call *);
    /* A x = w B x, where B has its triangular factor: A becomes the matrix of the usual problem;
     * its vectors become x. */
    cudaError_t (*sygst)(cudaStream_t, const wpi_solver_call *);
    cudaError_t (*back)(cudaStream_t, const wpi_solver_call *);
    cudaError_t (*band)(cudaStream_t, const wpi_solver_band *);
    cudaError_t (*gesvd)(cudaStream_t, const wpi_solver_svd *);
} wpi_solver_launches;

extern const wpi_solver_launches wpi_solver[WPI_SOLVER_TYPES];

/** Elements of `work` that a matrix needs. */
#define WPI_SOLVER_EIGEN_WORK(n) (4LL * (n))
#define WPI_SOLVER_SVD_WORK(n) ((long long)(n) * (n) + 2LL * (n))
/** … complex elements. */
#define WPI_SOLVER_GENERAL_WORK(n) (4LL * (n) * (n))

#ifdef __cplusplus
}
#endif
#endif
