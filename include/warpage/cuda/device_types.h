/* SPDX-License-Identifier: Apache-2.0 */
/** Rounding modes, by CUDA's names. */
#ifndef WARPAGE_CUDA_DEVICE_TYPES_H
#define WARPAGE_CUDA_DEVICE_TYPES_H

#define __DEVICE_TYPES_H__

#include "host_defines.h"

enum cudaRoundMode {
    cudaRoundNearest = 0,
    cudaRoundZero = 1,
    cudaRoundPosInf = 2,
    cudaRoundMinInf = 3
};

#endif
