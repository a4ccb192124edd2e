/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What cuSPARSE's host code and its kernels share. A sparse matrix is stored by lines: rows of a
 * CSR matrix, columns of a CSC one, whose product is that of the transpose. A COO matrix has the
 * line of each entry instead of the lines' offsets.
 */
#ifndef WP_LIBRARIES_SPARSE_SHARED_H
#define WP_LIBRARIES_SPARSE_SHARED_H

#include "libraries/cublas/blas_shared.h"
#include "warpage/cuda/cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WPI_SPARSE_TYPES WPI_BLAS_TYPES

/** Indices of 32 or 64 bits, less `base`. */
typedef struct wpi_indices {
    void *data;
    int is_long, base;
} wpi_indices;

typedef struct wpi_sparse {
    wpi_indices offsets; /* lines + 1; data NULL: COO */
    wpi_indices line;    /* COO: of each entry */
    wpi_indices at;      /* position in its line, of each entry */
    void *values;
    long long lines, width, count;
    long long offsets_stride, stride; /* of a batch: offsets; entries */
    int is_transposed, is_conjugated; /* what the operation makes of it */
} wpi_sparse;

/** Element (i, j) is at i * row + j * column. */
typedef struct wpi_sparse_dense {
    void *data;
    long long row, column, stride;
    int is_conjugated;
} wpi_sparse_dense;

/** C = alpha op(A) B + beta C, C of `rows` x `columns`, `batch` times. */
typedef struct wpi_sparse_product {
    wpi_sparse a;
    wpi_sparse_dense b, c;
    wpi_scalar alpha, beta;
    long long rows, columns, batch;
} wpi_sparse_product;

/** op(A) X = alpha B for `columns` right-hand sides, with one triangle of A. */
typedef struct wpi_sparse_system {
    wpi_sparse a;
    wpi_sparse_dense b, x;
    wpi_scalar alpha;
    long long columns;
    int is_lower, is_unit; /* the triangle of the lines as stored */
} wpi_sparse_system;

/** C = alpha A B + beta C at the entries of C; `depth` columns of A. */
typedef struct wpi_sparse_sampled {
    wpi_sparse_dense a, b;
    wpi_sparse c;
    wpi_scalar alpha, beta;
    long long depth;
} wpi_sparse_sampled;

/** A product of two CSR matrices, line by line: the products of line i are at starts[i] of `at` and
 * `values`, sorted and joined, `sizes[i]` of them. */
typedef struct wpi_sparse_square {
    wpi_sparse a, b;
    long long *starts, *sizes; /* lines + 1 */
    long long *at;
    void *values;
    wpi_scalar alpha;
} wpi_sparse_square;

/** C = alpha A + beta B, line by line; positions of a line ascend. C has its offsets. */
typedef struct wpi_sparse_addition {
    wpi_sparse a, b, c;
    wpi_scalar alpha, beta;
} wpi_sparse_addition;

/** A tridiagonal system's diagonals and `count` right-hand sides, which the solution replaces.
 * `work` has 3 elements a row and system. Diagonals are `step` apart where each has its own. */
typedef struct wpi_sparse_band {
    const void *lower, *middle, *upper;
    void *x, *work;
    long long rows, count, step, x_step;
} wpi_sparse_band;

/** Launches for one element type. */
typedef struct wpi_sparse_launches {
    cudaError_t (*product)(cudaStream_t, const wpi_sparse_product *);
    cudaError_t (*solve)(cudaStream_t, const wpi_sparse_system *);
    cudaError_t (*sampled)(cudaStream_t, const wpi_sparse_sampled *);
    cudaError_t (*expand)(cudaStream_t, const wpi_sparse_square *);
    cudaError_t (*collect)(cudaStream_t, const wpi_sparse_square *, const wpi_sparse *c);
    /* Of a dense matrix: the entries of each line; these with their positions. */
    cudaError_t (*count)(cudaStream_t, const wpi_sparse_dense *, long long lines, long long width,
                         long long *sizes);
    cudaError_t (*gather_lines)(cudaStream_t, const wpi_sparse_dense *, const wpi_sparse *to,
                                const long long *starts);
    cudaError_t (*spread_lines)(cudaStream_t, const wpi_sparse *, const wpi_sparse_dense *to);
    cudaError_t (*transpose)(cudaStream_t, const wpi_sparse *, const wpi_sparse *to,
                             int has_values);
    /* Vectors: y = alpha x + beta y; x = y at its positions; y = x there; their product. */
    cudaError_t (*axpby)(cudaStream_t, wpi_scalar alpha, const wpi_sparse *x, wpi_scalar beta,
                         void *y);
    cudaError_t (*gather)(cudaStream_t, const void *y, const wpi_sparse *x);
    cudaError_t (*scatter)(cudaStream_t, const wpi_sparse *x, void *y);
    cudaError_t (*dot)(cudaStream_t, const wpi_sparse *x, const void *y, int is_conjugated,
                       void *result);
    /* Incomplete factors in place; `pivot` gets the first line without one, or -1. */
    cudaError_t (*factor)(cudaStream_t, const wpi_sparse *, int is_symmetric, long long *pivot);
    cudaError_t (*add)(cudaStream_t, const wpi_sparse_addition *);
    /* The first line whose entry on the diagonal is 0 or not there, or -1. */
    cudaError_t (*pivot)(cudaStream_t, const wpi_sparse *, long long *first);
    cudaError_t (*band)(cudaStream_t, const wpi_sparse_band *, int has_pivots);
} wpi_sparse_launches;

extern const wpi_sparse_launches wpi_sparse_of[WPI_SPARSE_TYPES];

/* For all types. */

/** starts[0..count]: sums of the sizes before; sizes and starts may be the same. */
cudaError_t wpi_sparse_scan(cudaStream_t stream, const long long *sizes, long long *starts,
                            long long count);
/** Stores starts[0..count] as indices. */
cudaError_t wpi_sparse_store(cudaStream_t stream, const long long *starts, const wpi_indices *to,
                             long long count);
/** starts[0..lines]: sums of the lengths of b's lines that line i of a names. */
cudaError_t wpi_sparse_bounds(cudaStream_t stream, const wpi_sparse *a, const wpi_sparse *b,
                              long long *sizes);
/** Sizes of the lines of a sum. */
cudaError_t wpi_sparse_sum_sizes(cudaStream_t stream, const wpi_sparse *a, const wpi_sparse *b,
                                 long long *sizes);
/** Offsets of `lines` lines from the sorted line of each entry, and the way back. */
cudaError_t wpi_sparse_compress(cudaStream_t stream, const int *line, long long count, int *offsets,
                                long long lines, int base);
cudaError_t wpi_sparse_uncompress(cudaStream_t stream, const int *offsets, long long lines,
                                  int *line, int base);
/** Sorts each line's positions; sorts entries by line and position. `order` goes along. */
cudaError_t wpi_sparse_sort_lines(cudaStream_t stream, const int *offsets, long long lines, int *at,
                                  int *order, int base);
cudaError_t wpi_sparse_sort(cudaStream_t stream, int *line, int *at, int *order, long long count);
cudaError_t wpi_sparse_identity(cudaStream_t stream, int *order, long long count);

#ifdef __cplusplus
}
#endif
#endif
