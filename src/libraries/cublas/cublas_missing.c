/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without an implementation: each logs its name once. */
#include "libraries/cublas/cublas_handle.h"
#include "libraries/cuda_library.h"

#define WP_CUBLAS_MISSING(name)                                                                    \
    WPI_LIBRARY_MISSING("cublas", cublasStatus_t, CUBLAS_STATUS_NOT_SUPPORTED, name)
#include "warpage/cuda/wp/cublas_missing.h"
