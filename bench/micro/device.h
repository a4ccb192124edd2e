/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The CUDA engine's cases see the device through this. Compiled as plain C++ (not as CUDA), the
 * same files become loops over blocks and threads: they are not run, run.py measures how long the
 * compilers take for the same text.
 */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include "bench.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define LAUNCH(kernel, grid, block, arguments) kernel<<<grid, block>>> arguments
#else
#define __global__ static
#define __shared__ static
#define __restrict__ __restrict
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {
    }
};
static dim3 threadIdx, blockIdx, blockDim, gridDim;
static inline void __syncthreads(void) {
}
static inline float __shfl_xor_sync(unsigned mask, float value, unsigned by) {
    (void)mask;
    (void)by;
    return value;
}
static inline unsigned atomicAdd(unsigned *p, unsigned value) {
    return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
}
static inline unsigned atomicCAS(unsigned *p, unsigned expected, unsigned value) {
    __atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
#define LAUNCH(kernel, grid, block, arguments)                                                     \
    for (gridDim = grid, blockDim = block, blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)   \
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)                                 \
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; threadIdx.y++)                         \
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)                     \
    kernel arguments
#endif

/** What the data became on the device. `scratch`: each as large as the largest of them. */
typedef struct bench_device {
    size_t n;
    void *input[BENCH_INPUTS];
    void *output;
    size_t output_bytes;
    void *scratch[2];
} bench_device;

extern bench_device device;

void device_set(void *memory, int byte, size_t bytes);
void device_write(void *memory, const void *from, size_t bytes);
void device_read(void *to, const void *memory, size_t bytes);

/** Waits for the kernels; ends the program if one failed. */
void device_wait(void);

extern bench_case empty_case, vecadd_case, sigmoid_case, gather_case, reduction_case, softmax_case,
    histogram_shared_case, histogram_global_case, sgemm_case, bfs_case, bfs_queue_case;

#endif
