// SPDX-License-Identifier: Apache-2.0
// FLAGS: --lockstep
// DEVICES: cpu sim (GPUs since Volta do not run warps in step)
/* Warp-synchronous code on plain global and shared memory, without __syncwarp: a scan, a reversal in
 * place and a histogram of one warp, as written for GPUs before Volta. */
#include "check.h"

__global__ void scan(int *data) {
    const int lane = threadIdx.x % 32;
    int *warp = data + threadIdx.x - lane;
    for (int d = 1; d < 32; d *= 2)
        if (lane >= d) warp[lane] += warp[lane - d];
}

__global__ void reverse(int *data) {
    __shared__ int kept[64];
    const int lane = threadIdx.x % 32, first = threadIdx.x - lane;
    data[threadIdx.x] = data[first + 31 - lane];
    kept[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] += kept[first + (lane + 1) % 32];
}

__device__ __noinline__ void swap_with(int *data, int lane, int other) {
    const int got = data[other];
    data[lane] = got;
}

__global__ void rotate(int *data) {
    const int lane = threadIdx.x % 32;
    swap_with(data + threadIdx.x - lane, lane, (lane + 5) % 32);
}

int main(void) {
    int *data;
    CUDA_OK(cudaMallocManaged(&data, 64 * sizeof(int)));
    for (int i = 0; i < 64; i++)
        data[i] = i;
    scan<<<1, 64>>>(data);
    KERNEL_OK();
    for (int i = 0, sum = 0; i < 64; i++) {
        sum = i % 32 == 0 ? i : sum + i;
        CHECK_EQ(data[i], sum);
        data[i] = i;
    }
    reverse<<<1, 64>>>(data);
    KERNEL_OK();
    for (int i = 0; i < 64; i++) {
        const int first = i / 32 * 32, lane = i % 32;
        CHECK_EQ(data[i], first + 31 - lane + first + 31 - (lane + 1) % 32);
        data[i] = i;
    }
    rotate<<<1, 64>>>(data);
    KERNEL_OK();
    for (int i = 0; i < 64; i++)
        CHECK_EQ(data[i], i / 32 * 32 + (i % 32 + 5) % 32);
    return check_done();
}
