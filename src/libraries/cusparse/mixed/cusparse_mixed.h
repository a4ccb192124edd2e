/* SPDX-License-Identifier: Apache-2.0 */
/** Products of mixed types: which there are, and their calls. */
#ifndef WP_LIBRARIES_CUSPARSE_MIXED_H
#define WP_LIBRARIES_CUSPARSE_MIXED_H

#include "libraries/cusparse/cusparse_handle.h"
#include "libraries/cusparse/mixed/mixed_shared.h"

/** The types of a call's operands and of its sums. */
typedef struct wpi_cusparse_types {
    cudaDataType a, b, c, compute;
} wpi_cusparse_types;

/** Whether there are kernels for such a mix. */
bool wpi_cusparse_is_mix(const wpi_cusparse_types *types, wpi_sparse_mix *out);
/** Bytes of the program's buffer for a product; 0 if it needs none. */
size_t wpi_cusparse_mix_bytes(wpi_sparse_mix mix, const wpi_sparse_product *product);
/** Queues the product; INVALID_VALUE if a buffer is needed and NULL. */
cusparseStatus_t wpi_cusparse_mix_product(cusparseHandle_t handle, wpi_sparse_mix mix,
                                          wpi_sparse_product *product, const void *alpha,
                                          const void *beta, void *buffer);
cusparseStatus_t wpi_cusparse_mix_sampled(cusparseHandle_t handle, wpi_sparse_mix mix,
                                          wpi_sparse_sampled *sampled, const void *alpha,
                                          const void *beta);

#endif
