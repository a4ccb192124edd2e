/* SPDX-License-Identifier: Apache-2.0 */
/** threadIdx and its kin: provided for programs that include this header; cuda_runtime.h declares
 * them. */
#ifndef WARPAGE_CUDA_DEVICE_LAUNCH_PARAMETERS_H
#define WARPAGE_CUDA_DEVICE_LAUNCH_PARAMETERS_H
#include "cuda_runtime.h"
#endif
