/* SPDX-License-Identifier: Apache-2.0 */
/** Types of a product's sums that allow less exact operands than they name. */
#ifndef WP_LIBRARIES_COMPUTE_TYPE_H
#define WP_LIBRARIES_COMPUTE_TYPE_H

#include "warpage/cuda/cublas_api.h"

/** The type without the permission: operands are not rounded here. */
static inline cublasComputeType_t wpi_cublas_plain_compute(cublasComputeType_t compute) {
    switch (compute) {
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return CUBLAS_COMPUTE_32F;
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return CUBLAS_COMPUTE_64F;
    default: return compute;
    }
}

#endif
