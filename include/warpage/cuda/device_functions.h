/* SPDX-License-Identifier: Apache-2.0 */
/** Device functions: provided for programs that include this header; cuda_runtime.h declares them.
 */
#ifndef WARPAGE_CUDA_DEVICE_FUNCTIONS_H
#define WARPAGE_CUDA_DEVICE_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
