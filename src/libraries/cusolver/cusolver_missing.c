/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without an implementation: each logs its name once. */
#include "libraries/cuda_library.h"
#include "libraries/cusolver/cusolver_handle.h"

#define WP_CUSOLVER_MISSING(name)                                                                  \
    WPI_LIBRARY_MISSING("cusolver", cusolverStatus_t, CUSOLVER_STATUS_NOT_SUPPORTED, name)
#include "warpage/cuda/wp/cusolver_missing.h"
