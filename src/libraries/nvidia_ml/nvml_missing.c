/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without an implementation: each logs its name once. */
#include "libraries/cuda_library.h"
#include "warpage/cuda/nvml.h"
#include "warpage/error.h"

#define WP_NVML_MISSING(name)                                                                      \
    WP_API nvmlReturn_t name(void);                                                                \
    WP_API nvmlReturn_t name(void) {                                                               \
        static atomic_bool is_said;                                                                \
        wpi_library_missing("nvml", #name, "NVML_ERROR_NOT_SUPPORTED", &is_said);                  \
        return NVML_ERROR_NOT_SUPPORTED;                                                           \
    }
#include "warpage/cuda/wp/nvml_missing.h"
