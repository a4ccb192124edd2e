/* SPDX-License-Identifier: Apache-2.0 */
/** Functions of host and device: for programs that include this header; cuda_runtime.h declares
 * them. */
#ifndef WARPAGE_CUDA_COMMON_FUNCTIONS_H
#define WARPAGE_CUDA_COMMON_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
