/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of n floats: a block adds twice as many as it has threads by a tree in shared memory, and
 * the blocks' sums are summed in the same way until one is left. */
#include "device.h"

#define PER_BLOCK (2 * BENCH_THREADS)

__global__ void reduce(unsigned n, const float *x, float *sums) {
    __shared__ float part[BENCH_THREADS];
    unsigned t = threadIdx.x, i = blockIdx.x * PER_BLOCK + t;
    float mine = i < n ? x[i] : 0.0f;
    if (i + BENCH_THREADS < n) {
        mine += x[i + BENCH_THREADS];
    }
    part[t] = mine;
    __syncthreads();
    for (unsigned half = BENCH_THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = part[0];
    }
}

static void run(void) {
    unsigned left = (unsigned)device.n;
    const float *from = (const float *)device.input[0];
    for (int turn = 0; left > 1; turn ^= 1) {
        const unsigned blocks = (left + PER_BLOCK - 1) / PER_BLOCK;
        float *to = (float *)(blocks == 1 ? device.output : device.scratch[turn]);
        LAUNCH(reduce, dim3(blocks), dim3(BENCH_THREADS), (left, from, to));
        from = to;
        left = blocks;
    }
    device_wait();
}

bench_case reduction_case = {"reduction", NULL, run};
