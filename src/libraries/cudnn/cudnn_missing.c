/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without an implementation: each logs its name once. Layers are refused where their
 * descriptor is made. */
#include "libraries/cuda_library.h"
#include "libraries/cudnn/cudnn_handle.h"

#define WP_CUDNN_MISSING(name)                                                                     \
    WPI_LIBRARY_MISSING("cudnn", cudnnStatus_t, CUDNN_STATUS_NOT_SUPPORTED, name)
#include "warpage/cuda/wp/cudnn_missing.h"
