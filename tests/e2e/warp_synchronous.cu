/* SPDX-License-Identifier: Apache-2.0 */
/* Old warp-synchronous code: the last steps of a reduction run in one warp on volatile shared memory,
 * without __syncwarp. (Real only where lanes move together, up to sm_60; old programs are full of it.) */
// WITNESS: trace
#include "check.h"

template <class T> __device__ void last_warp(volatile T *tile, int t)
{
    tile[t] += tile[t + 32];
    tile[t] += tile[t + 16];
    tile[t] += tile[t + 8];
    tile[t] += tile[t + 4];
    tile[t] += tile[t + 2];
    tile[t] += tile[t + 1];
}

template <class T> __global__ void reduce(const T *in, T *out)
{
    __shared__ T tile[256];
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 32; half >>= 1) {
        if (t < half)
            tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t < 32)
        last_warp<T>(tile, t);
    if (t == 0)
        out[blockIdx.x] = tile[0];
}

__global__ void scan(int *data) /* inclusive scan of each warp, with 16 zeros in front */
{
    __shared__ volatile int tile[4][48];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tile[warp][lane % 16] = 0;
    volatile int *mine = tile[warp] + 16;
    mine[lane] = data[threadIdx.x];
    for (int d = 1; d < 32; d *= 2)
        mine[lane] += mine[lane - d];
    data[threadIdx.x] = mine[lane];
}

__global__ void scan_by_conditions(int *data)
{
    __shared__ volatile int tile[128];
    int t = threadIdx.x, lane = t % 32;
    tile[t] = data[t];
    if (lane >= 1)
        tile[t] = tile[t - 1] + tile[t];
    if (lane >= 2)
        tile[t] = tile[t - 2] + tile[t];
    if (lane >= 4)
        tile[t] = tile[t - 4] + tile[t];
    if (lane >= 8)
        tile[t] = tile[t - 8] + tile[t];
    if (lane >= 16)
        tile[t] = tile[t - 16] + tile[t];
    data[t] = tile[t];
}

int main(void)
{
    int *in = check_managed<int>(10 * 256), *out = check_managed<int>(10);
    double *reals = check_managed<double>(10 * 256), *reals_out = check_managed<double>(10);
    for (int i = 0; i < 10 * 256; i++) {
        in[i] = i % 77;
        reals[i] = i % 77 * 0.25;
    }
    reduce<int><<<10, 256>>>(in, out);
    reduce<double><<<10, 256>>>(reals, reals_out);
    KERNEL_OK();
    for (int b = 0; b < 10; b++) {
        int sum = 0;
        for (int i = 0; i < 256; i++)
            sum += in[b * 256 + i];
        CHECK_EQ(out[b], sum);
        CHECK_EQ(reals_out[b], sum * 0.25);
    }
    int expected[128];
    for (int i = 0; i < 128; i++)
        expected[i] = (i % 32 ? expected[i - 1] : 0) + in[i];
    int *again = check_managed<int>(128);
    memcpy(again, in, 128 * sizeof(int));
    scan<<<1, 128>>>(in);
    scan_by_conditions<<<1, 128>>>(again);
    KERNEL_OK();
    for (int i = 0; i < 128; i++) {
        CHECK_EQ(in[i], expected[i]);
        CHECK_EQ(again[i], expected[i]);
    }
    return check_done();
}
