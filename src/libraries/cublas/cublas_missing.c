/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without an implementation: each logs its name once. */
#include "libraries/cublas/cublas_handle.h"
#include "libraries/cuda_library.h"

#define WP_CUBLAS_MISSING(name)                                                                    \
    WP_API cublasStatus_t name(void);                                                              \
    WP_API cublasStatus_t name(void) {                                                             \
        static atomic_bool is_said;                                                                \
        wpi_library_missing("cublas", #name, "CUBLAS_STATUS_NOT_SUPPORTED", &is_said);             \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                        \
    }
#include "warpage/cuda/wp/cublas_missing.h"
