/* SPDX-License-Identifier: Apache-2.0 */
/* How often each byte occurs: counted per block in shared memory first, or at once in global memory. */
#include "device.h"

__global__ void histogram_shared(unsigned n, const unsigned char *text, unsigned *total) {
    __shared__ unsigned count[BENCH_BINS];
    count[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&count[text[i]], 1u);
    }
    __syncthreads();
    atomicAdd(&total[threadIdx.x], count[threadIdx.x]);
}

__global__ void histogram_global(unsigned n, const unsigned char *text, unsigned *total) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&total[text[i]], 1u);
    }
}

static void prepare(void) {
    device_set(device.output, 0, device.output_bytes);
    device_wait();
}

static void run_shared(void) {
    LAUNCH(histogram_shared, dim3(BENCH_GRID_STRIDE), dim3(BENCH_BINS),
           ((unsigned)device.n, (const unsigned char *)device.input[0], (unsigned *)device.output));
    device_wait();
}

static void run_global(void) {
    LAUNCH(histogram_global, dim3(BENCH_GRID_STRIDE), dim3(BENCH_THREADS),
           ((unsigned)device.n, (const unsigned char *)device.input[0], (unsigned *)device.output));
    device_wait();
}

bench_case histogram_shared_case = {"histogram_shared", prepare, run_shared};
bench_case histogram_global_case = {"histogram_global", prepare, run_global};
