/* SPDX-License-Identifier: Apache-2.0 */
/* Fourier transforms in two precisions, from one text. */
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cufft/fft_shared.h"

#define BLOCK 256
#define BLOCKS_MAX 65535

#define FOR_EACH(i, count)                                                                         \
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (count);              \
         i += (long long)gridDim.x * blockDim.x)

static cudaError_t launch(const void *kernel, long long items, cudaStream_t stream, void **arguments) {
    const long long blocks = (items + BLOCK - 1) / BLOCK;
    return cudaLaunchKernel(kernel, dim3((unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX)), dim3(BLOCK), arguments, 0,
                            stream);
}

#define NAME(x) x##_single
#define REAL float
#define COMPLEX float2
#define SINCOSPI sincospif
#include "libraries/cufft/fft_precision.h"
#undef NAME
#undef REAL
#undef COMPLEX
#undef SINCOSPI

#define NAME(x) x##_double
#define REAL double
#define COMPLEX double2
#define SINCOSPI sincospi
#include "libraries/cufft/fft_precision.h"
