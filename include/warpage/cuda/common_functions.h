/* SPDX-License-Identifier: Apache-2.0 */
/** Functions of host and device: kept for programs that name it; cuda_runtime.h has them. */
#ifndef WARPAGE_CUDA_COMMON_FUNCTIONS_H
#define WARPAGE_CUDA_COMMON_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
