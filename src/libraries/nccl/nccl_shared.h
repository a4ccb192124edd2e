/* SPDX-License-Identifier: Apache-2.0 */
/** What NCCL's host code and its kernels share: the reduction of arrays of all ranks. */
#ifndef WP_LIBRARIES_NCCL_SHARED_H
#define WP_LIBRARIES_NCCL_SHARED_H

#include "warpage/cuda/nccl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WPI_NCCL_RANKS_MAX 16

typedef enum wpi_nccl_op {
    WPI_NCCL_SUM = 0,
    WPI_NCCL_PROD,
    WPI_NCCL_MAX,
    WPI_NCCL_MIN,
    WPI_NCCL_AVG,
    WPI_NCCL_SCALED_SUM /* each array is multiplied by its factor */
} wpi_nccl_op;

/** out[i] = sources[0][i] op … op sources[ranks - 1][i], in this order. `out` may be a source.
 *  All is in memory of the device that reduces. */
typedef struct wpi_nccl_reduction {
    ncclDataType_t type;
    wpi_nccl_op op;
    int ranks;
    size_t count;
    void *out;
    const void *sources[WPI_NCCL_RANKS_MAX];
    const void *factors[WPI_NCCL_RANKS_MAX]; /* SCALED_SUM; of `type` */
} wpi_nccl_reduction;

cudaError_t wpi_nccl_reduce(const wpi_nccl_reduction *reduction, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
