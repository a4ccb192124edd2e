/* SPDX-License-Identifier: Apache-2.0 */
/** Loads with hints: kept for programs that name this header; cuda_runtime.h brings them. */
#ifndef WARPAGE_CUDA_SM_35_INTRINSICS_H
#define WARPAGE_CUDA_SM_35_INTRINSICS_H
#include "cuda_runtime.h"
#endif
