/* SPDX-License-Identifier: Apache-2.0 */
/** What the kernels of several programs share. Device code only. */
#ifndef APP_KERNEL_H
#define APP_KERNEL_H

#include <cuda_runtime.h>
#include <stdint.h>

/** The thread's number in a one-dimensional grid; 64 bits, as arrays may be that long. */
static __device__ __forceinline__ uint64_t app_thread(void) {
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/** The sum of `value` over a block of THREADS (a power of two) threads, valid in thread 0.
 *  A tree in shared memory: the order of additions is fixed, so is the result. All threads of
 *  the block call it; `partial` has THREADS entries. */
static __device__ __forceinline__ double app_block_sum(double value, double *partial,
                                                       unsigned threads) {
    unsigned thread = threadIdx.x;
    partial[thread] = value;
    __syncthreads();
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        if (thread < half) {
            partial[thread] += partial[thread + half];
        }
        __syncthreads();
    }
    double sum = partial[0];
    __syncthreads(); /* partial may be used again */
    return sum;
}

#endif
