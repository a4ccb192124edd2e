/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose turns threads take side by side, in kernels where some warps do something of their own
 * before, between and after them: shuffles behind a guard, votes, phases in a loop, no barrier in between. */
#include "check.h"

#define N 20000
#define FULL 0xffffffffu

__global__ void sum_blocks(const int *x, int n, int *out)
{
    __shared__ int part[32];
    int t = threadIdx.x, s = 0, warps = (blockDim.x + 31) / 32;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
        s += x[i];
    for (int o = 16; o > 0; o >>= 1) {
        int other = __shfl_down_sync(FULL, s, o);
        if (t % 32 + o < 32 && t + o < blockDim.x)
            s += other;
    }
    if (t % 32 == 0)
        part[t / 32] = s;
    __syncthreads();
    if (t < 32) {
        s = t < warps ? part[t] : 0;
        for (int o = 16; o > 0; o >>= 1) {
            int other = __shfl_down_sync(FULL, s, o);
            if (t + o < 32 && t + o < blockDim.x)
                s += other;
        }
        if (t == 0)
            atomicAdd(out, s);
    }
}

/* Warp 0 is busy while the others go on to the next loop; nothing but that loop's values tells. */
__global__ void phases(const int *x, int n, int rounds, int *out)
{
    int t = threadIdx.x, sum = 0, extra = 0;
    for (int r = 0; r < rounds; r++) {
        if (t < 32)
            for (int o = 1; o < 32; o <<= 1)
                extra += __shfl_xor_sync(FULL, t + r, o) > 15;
        for (int i = t + r; i < n; i += blockDim.x)
            sum += x[i] * (r + 1);
        if (t >= 32 && t < 64 && __any_sync(FULL, t == 40 + r))
            extra += 100;
    }
    out[t] = sum * 7 + extra;
}

__global__ void columns_after_vote(const int *a, int w, int h, int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    unsigned small = 0;
    if (threadIdx.x < 32)
        small = __ballot_sync(FULL, threadIdx.x % 3 == 0);
    if (x < w) {
        for (int k = 0; k < h; k++)
            sum += a[k * w + x];
        out[x] = sum + __popc(small);
    }
}

__global__ void all_in_step(const int *a, int w, int h, int *out) /* shuffles of all, in a loop */
{
    int x = threadIdx.x, sum = 0;
    for (int k = 0; k < h; k++) {
        int mine = a[k * w + x];
        int left = __shfl_up_sync(FULL, mine, 1);
        sum += x % 32 ? mine - left : mine;
    }
    for (int k = 0; k < h; k++)
        sum += a[k * w + x] * k;
    out[x] = sum;
}

__global__ void two_rows(const int *x, int n, int *out)
{
    int i = blockIdx.x * 512 + threadIdx.x, mine = i < n ? x[i] : 0;
    if (i + 256 < n)
        mine += 3 * x[i + 256];
    if (threadIdx.x < 64)
        mine += __shfl_sync(FULL, mine, 0) & 1;
    out[blockIdx.x * 256 + threadIdx.x] = mine;
}

static int *x, *out;

static void check_sums(int blocks, int threads)
{
    out[0] = 0;
    sum_blocks<<<blocks, threads>>>(x, N, out);
    cudaDeviceSynchronize();
    int sum = 0;
    for (int i = 0; i < N; i++)
        sum += x[i];
    CHECK_EQ(out[0], sum);
}

static void check_phases(int threads)
{
    phases<<<1, threads>>>(x, 3000, 5, out);
    cudaDeviceSynchronize();
    for (int t = 0; t < threads; t++) {
        int sum = 0, extra = 0;
        for (int r = 0; r < 5; r++) {
            for (int o = 1; o < 32 && t < 32; o <<= 1)
                extra += (t ^ o) + r > 15;
            for (int i = t + r; i < 3000; i += threads)
                sum += x[i] * (r + 1);
            extra += t >= 32 && t < 64 ? 100 : 0;
        }
        CHECK_EQ(out[t], sum * 7 + extra);
    }
}

static void check_columns(int w, int h)
{
    columns_after_vote<<<(w + 63) / 64, 64>>>(x, w, h, out);
    cudaDeviceSynchronize();
    for (int c = 0; c < w; c++) {
        int sum = c % 64 < 32 ? 11 : 0;
        for (int k = 0; k < h; k++)
            sum += x[k * w + c];
        CHECK_EQ(out[c], sum);
    }
    all_in_step<<<1, 96>>>(x, 96, h, out);
    cudaDeviceSynchronize();
    for (int c = 0; c < 96; c++) {
        int sum = 0;
        for (int k = 0; k < h; k++)
            sum += x[k * 96 + c] * (k + 1) - (c % 32 ? x[k * 96 + c - 1] : 0);
        CHECK_EQ(out[c], sum);
    }
}

int main(void)
{
    CUDA_OK(cudaMallocManaged(&x, N * sizeof *x));
    CUDA_OK(cudaMallocManaged(&out, N * sizeof *out));
    for (int i = 0; i < N; i++)
        x[i] = i * 7919 % 1013;
    check_sums(1, 32);
    check_sums(3, 256);
    cudaFuncAttributes sums;
    CUDA_OK(cudaFuncGetAttributes(&sums, sum_blocks));
    check_sums(7, sums.maxThreadsPerBlock); // 1024, where there are registers for them
    check_sums(2, 96);
    check_sums(5, 7);
    check_phases(64);
    check_phases(256);
    check_columns(150, 90);
    check_columns(31, 1);
    check_columns(64, 0);
    two_rows<<<10, 256>>>(x, 5000, out);
    cudaDeviceSynchronize();
    for (int b = 0; b < 10; b++)
        for (int t = 0; t < 256; t++) {
            int lead = t / 32 * 32, values[2];
            for (int v = 0; v < 2; v++) {
                int i = b * 512 + (v ? t : lead);
                values[v] = (i < 5000 ? x[i] : 0) + (i + 256 < 5000 ? 3 * x[i + 256] : 0);
            }
            CHECK_EQ(out[b * 256 + t], values[1] + (t < 64 ? values[0] & 1 : 0));
        }
    CHECK_EQ(cudaGetLastError(), cudaSuccess);
    return check_done();
}
