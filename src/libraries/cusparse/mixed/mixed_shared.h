/* SPDX-License-Identifier: Apache-2.0 */
/** Products whose operands are narrower than their sums. */
#ifndef WP_LIBRARIES_SPARSE_MIXED_SHARED_H
#define WP_LIBRARIES_SPARSE_MIXED_SHARED_H

#include "libraries/cusparse/sparse_shared.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Types of A, B and C; sums are float but for integers and doubles in C. */
typedef enum wpi_sparse_mix {
    WPI_SPARSE_HALF = 0,   /* half, half, half */
    WPI_SPARSE_HALF_FLOAT, /* half, half, float */
    WPI_SPARSE_BFLOAT,
    WPI_SPARSE_BFLOAT_FLOAT,
    WPI_SPARSE_BYTE_INT,
    WPI_SPARSE_BYTE_FLOAT,
    WPI_SPARSE_FLOAT_DOUBLE, /* float, double, double */
    WPI_SPARSE_MIXES         /* must be last */
} wpi_sparse_mix;

typedef struct wpi_sparse_mixed_launches {
    /** `sums`: an element of sum for each of C, where wpi_sparse_needs_sums; else not used. */
    cudaError_t (*product)(cudaStream_t, const wpi_sparse_product *, void *sums);
    cudaError_t (*sampled)(cudaStream_t, const wpi_sparse_sampled *);
} wpi_sparse_mixed_launches;

extern const wpi_sparse_mixed_launches wpi_sparse_mixed[WPI_SPARSE_MIXES];

/** Several lines add to an element of C, whose type is too narrow for sums. */
static inline bool wpi_sparse_needs_sums(const wpi_sparse *a) {
    return a->offsets.data == NULL || a->is_transposed;
}

#ifdef __cplusplus
}
#endif
#endif
