/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The device library of NVIDIA GPUs: the functions that kernels call, as nvptxlib_*.c and the
 * devicelib_*.c of all devices define them, compiled to nvptx64 bitcode. wpcc links what a kernel
 * needs into its PTX. The `__nv_*` functions have the names and meaning of
 * device/devicelib/devicelib.h, so that a kernel computes the same on a GPU and on the CPU; the
 * `__wp_*` ones are those of include/warpage/cuda/wp/symbols.h.
 *
 * Everything here is inlined or folded once its arguments are known. Functions have no state.
 */
#ifndef WP_DEVICE_CUDA_NVPTXLIB_H
#define WP_DEVICE_CUDA_NVPTXLIB_H

#include <stdint.h>

#include "device/devicelib/devicelib_define.h"

#define WP_CONVERGENT __attribute__((convergent))

#endif
