/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions and scans of a warp and of a block built from shuffles and shared memory. */
#include "check.h"

#define ALL 0xffffffffu

__device__ int warp_sum(int v)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor_sync(ALL, v, d);
    return v;
}

__device__ int warp_scan(int v)
{
    int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        int left = __shfl_up_sync(ALL, v, d);
        if (lane >= d)
            v += left;
    }
    return v;
}

__global__ void block_scan(const int *in, int *scan, int *sums)
{
    __shared__ int totals[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int inclusive = warp_scan(in[i]);
    if (lane == 31)
        totals[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        int t = lane < blockDim.x / 32 ? totals[lane] : 0;
        totals[lane] = warp_scan(t);
    }
    __syncthreads();
    scan[i] = inclusive + (warp > 0 ? totals[warp - 1] : 0);
    int sum = warp_sum(in[i]);
    if (lane == 0)
        atomicAdd(&sums[blockIdx.x], sum);
}

__global__ void warp_min_with_index(const float *in, int *where)
{
    float v = in[threadIdx.x];
    int at = threadIdx.x;
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_down_sync(ALL, v, d);
        int other_at = __shfl_down_sync(ALL, at, d);
        if (other < v || (other == v && other_at < at)) {
            v = other;
            at = other_at;
        }
    }
    if (threadIdx.x % 32 == 0)
        where[threadIdx.x / 32] = at;
}

int main(void)
{
    const int threads = 512, blocks = 6;
    int *in = check_managed<int>(threads * blocks), *scan = check_managed<int>(threads * blocks);
    int *sums = check_managed<int>(blocks);
    uint32_t seed = 31337;
    for (int i = 0; i < threads * blocks; i++)
        in[i] = (int)(check_random(&seed) % 201) - 100;
    block_scan<<<blocks, threads>>>(in, scan, sums);
    KERNEL_OK();
    for (int b = 0; b < blocks; b++) {
        int sum = 0;
        for (int t = 0; t < threads; t++) {
            sum += in[b * threads + t];
            CHECK_EQ(scan[b * threads + t], sum);
        }
        CHECK_EQ(sums[b], sum);
    }
    float *f = check_managed<float>(128);
    for (int i = 0; i < 128; i++)
        f[i] = (float)(check_random(&seed) % 50);
    warp_min_with_index<<<1, 128>>>(f, sums);
    KERNEL_OK();
    for (int w = 0; w < 4; w++) {
        int best = w * 32;
        for (int i = w * 32; i < w * 32 + 32; i++)
            best = f[i] < f[best] ? i : best;
        CHECK_EQ(sums[w], best);
    }
    return check_done();
}
