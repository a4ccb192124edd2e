/* SPDX-License-Identifier: Apache-2.0 */
/** Device functions on double: kept for programs that name it; cuda_runtime.h has them. */
#ifndef WARPAGE_CUDA_DEVICE_DOUBLE_FUNCTIONS_H
#define WARPAGE_CUDA_DEVICE_DOUBLE_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
