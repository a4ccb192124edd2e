/* SPDX-License-Identifier: Apache-2.0 */
/** Surface accesses: provided for programs that include this header; cuda_runtime.h declares them.
 */
#ifndef WARPAGE_CUDA_SURFACE_INDIRECT_FUNCTIONS_H
#define WARPAGE_CUDA_SURFACE_INDIRECT_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
