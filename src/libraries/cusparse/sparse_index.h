/* SPDX-License-Identifier: Apache-2.0 */
/** Indices of either width, in kernels. */
#ifndef WP_LIBRARIES_SPARSE_INDEX_H
#define WP_LIBRARIES_SPARSE_INDEX_H

#include "libraries/cusparse/sparse_shared.h"

static __device__ long long index_of(wpi_indices s, long long i) {
    return (s.is_long ? ((const long long *)s.data)[i] : ((const int *)s.data)[i]) - s.base;
}

#endif
