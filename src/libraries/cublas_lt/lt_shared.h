/* SPDX-License-Identifier: Apache-2.0 */
/** What cuBLASLt's host code and its kernel share. */
#ifndef WP_LIBRARIES_LT_SHARED_H
#define WP_LIBRARIES_LT_SHARED_H

#include "warpage/cuda/cuda_runtime_api.h"
#include "warpage/cuda/library_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Matrices of a batch: element (i, j) is at i * row + j * column. */
typedef struct wpi_lt_matrix {
    void *data;
    cudaDataType type;
    long long row, column, stride; /* elements */
} wpi_lt_matrix;

typedef enum wpi_lt_activation { WPI_LT_NONE = 0, WPI_LT_RELU, WPI_LT_GELU } wpi_lt_activation;

/** D = activation(alpha sum + beta C + bias), of m x n elements, for each of a batch. */
typedef struct wpi_lt_epilogue {
    int m, n, batch;
    wpi_lt_matrix sum, c, d;
    const void *bias; /* of the rows; NULL: none */
    cudaDataType bias_type;
    long long bias_stride;
    wpi_lt_activation activation;
    cudaDataType scale_type;
    const void *alpha, *beta; /* in device memory; NULL: the values */
    double alpha_value, beta_value;
} wpi_lt_epilogue;

/** Launches the kernel. */
cudaError_t wpi_lt_finish(cudaStream_t stream, const wpi_lt_epilogue *e);

#ifdef __cplusplus
}
#endif
#endif
