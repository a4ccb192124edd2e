/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without an implementation: each logs its name once. */
#include "libraries/cuda_library.h"
#include "libraries/cusparse/cusparse_handle.h"

#define WP_CUSPARSE_MISSING(name)                                                                  \
    WPI_LIBRARY_MISSING("cusparse", cusparseStatus_t, CUSPARSE_STATUS_NOT_SUPPORTED, name)
#include "warpage/cuda/wp/cusparse_missing.h"
