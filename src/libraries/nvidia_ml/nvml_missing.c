/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without an implementation: each logs its name once. */
#include "libraries/cuda_library.h"
#include "warpage/cuda/nvml.h"
#include "warpage/error.h"

#define WP_NVML_MISSING(name)                                                                      \
    WPI_LIBRARY_MISSING("nvml", nvmlReturn_t, NVML_ERROR_NOT_SUPPORTED, name)
#include "warpage/cuda/wp/nvml_missing.h"
