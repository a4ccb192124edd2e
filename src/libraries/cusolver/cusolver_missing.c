/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without an implementation: each logs its name once. */
#include "libraries/cuda_library.h"
#include "libraries/cusolver/cusolver_handle.h"

#define WP_CUSOLVER_MISSING(name)                                                                  \
    WP_API cusolverStatus_t name(void);                                                            \
    WP_API cusolverStatus_t name(void) {                                                           \
        static atomic_bool is_said;                                                                \
        wpi_library_missing("cusolver", #name, "CUSOLVER_STATUS_NOT_SUPPORTED", &is_said);         \
        return CUSOLVER_STATUS_NOT_SUPPORTED;                                                      \
    }
#include "warpage/cuda/wp/cusolver_missing.h"
