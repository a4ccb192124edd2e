/* SPDX-License-Identifier: Apache-2.0 */
/** Atomic functions: kept for programs that name this header; cuda_runtime.h brings them. */
#ifndef WARPAGE_CUDA_SM_35_ATOMIC_FUNCTIONS_H
#define WARPAGE_CUDA_SM_35_ATOMIC_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
