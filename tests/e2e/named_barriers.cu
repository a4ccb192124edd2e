/* SPDX-License-Identifier: Apache-2.0 */
/* Named barriers by inline PTX: producer and consumer warps with bar.sync and bar.arrive, parts of a
 * block that synchronise among themselves, barrier.red. */
#include "check.h"

__device__ void wait_at(int barrier, int threads)
{
    asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

__device__ void arrive_at(int barrier, int threads)
{
    asm volatile("bar.arrive %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

/* warps 0-1 produce, warps 2-3 consume, one buffer: barrier 1 is "full", 2 is "empty" */
__global__ void pipeline(const int *in, int rounds, int *out)
{
    __shared__ int buffer[64];
    int t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        for (int r = 0; r < rounds; r++) {
            wait_at(2, 128);
            buffer[t] = in[r * 64 + t] * 2;
            arrive_at(1, 128);
        }
    } else {
        arrive_at(2, 128);
        for (int r = 0; r < rounds; r++) {
            wait_at(1, 128);
            out[r * 64 + t] = buffer[63 - t] + 1;
            if (r + 1 < rounds)
                arrive_at(2, 128);
        }
    }
}

/* each half of the block reduces on its own, in a different number of steps */
__global__ void halves(int *out)
{
    __shared__ int tile[256];
    int t = threadIdx.x, half = t / 128, u = t % 128, *mine = tile + half * 128;
    mine[u] = u + half * 1000;
    for (int repeat = 0; repeat <= half * 2; repeat++) {
        if (half)
            asm volatile("bar.sync 4, 128;" ::: "memory");
        else
            asm volatile("bar.sync 3, 128;" ::: "memory");
        int v = mine[(u + 1) % 128];
        wait_at(3 + half, 128);
        mine[u] = v;
    }
    __syncthreads(); /* barrier 0 still is the whole block's */
    out[t] = tile[255 - t];
}

__global__ void zero_is_syncthreads(int *out)
{
    __shared__ int tile[96];
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync 0;" ::: "memory");
    int v = tile[95 - threadIdx.x];
    asm volatile("barrier.sync 0;" ::: "memory");
    tile[threadIdx.x] = v * 2;
    __syncthreads();
    out[threadIdx.x] = tile[(threadIdx.x + 1) % 96];
}

__global__ void votes(int *out)
{
    unsigned count, p = threadIdx.x % 3 == 0;
    asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0; bar.red.popc.u32 %0, 1, 96, q; }"
                 : "=r"(count) : "r"(p) : "memory");
    out[threadIdx.x] = (int)count;
}

int main(void)
{
    const int rounds = 20;
    int *in = check_managed<int>(rounds * 64), *out = check_managed<int>(rounds * 64);
    for (int i = 0; i < rounds * 64; i++)
        in[i] = i * 5 % 777;
    pipeline<<<1, 128>>>(in, rounds, out);
    KERNEL_OK();
    for (int i = 0; i < rounds * 64; i++)
        CHECK_EQ(out[i], in[i / 64 * 64 + 63 - i % 64] * 2 + 1);
    halves<<<1, 256>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 256; t++) {
        int from = 255 - t, half = from / 128;
        CHECK_EQ(out[t], (from % 128 + (half ? 3 : 1)) % 128 + half * 1000);
    }
    zero_is_syncthreads<<<1, 96>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 96; t++)
        CHECK_EQ(out[t], (95 - (t + 1) % 96) * 2);
    votes<<<2, 96>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 96; t++)
        CHECK_EQ(out[t], 32);
    return check_done();
}
