/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without an implementation: each logs its name once. */
#include "libraries/cuda_library.h"
#include "libraries/cusparse/cusparse_handle.h"

#define WP_CUSPARSE_MISSING(name)                                                                  \
    WP_API cusparseStatus_t name(void);                                                            \
    WP_API cusparseStatus_t name(void) {                                                           \
        static atomic_bool is_said;                                                                \
        wpi_library_missing("cusparse", #name, "CUSPARSE_STATUS_NOT_SUPPORTED", &is_said);         \
        return CUSPARSE_STATUS_NOT_SUPPORTED;                                                      \
    }
#include "warpage/cuda/wp/cusparse_missing.h"
