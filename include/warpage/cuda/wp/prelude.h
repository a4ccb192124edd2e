/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What has to stand before everything else in a CUDA file: the macros that say so, the device
 * declarations of the mathematical functions, and the C library headers.
 *
 * Order matters. The C++ library may declare its functions constexpr, which makes them host and
 * device functions at once; a device overload can only be declared before that.
 */
#ifndef WARPAGE_CUDA_WP_PRELUDE_H
#define WARPAGE_CUDA_WP_PRELUDE_H

#include <__clang_cuda_math_forward_declares.h>

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __NVCC__
#define __NVCC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 0

/* __assert_fail is for host and device, as libcu++ declares it where a source has defined NDEBUG.
 */
#pragma clang force_cuda_host_device begin
#include <assert.h>
#pragma clang force_cuda_host_device end
#include <cmath>
#include <cstdlib>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cuda.h"
#include "../host_defines.h"

#endif
