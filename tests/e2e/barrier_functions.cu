/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers inside device functions: inlined, not inlined, nested calls, in loops, in recursion, in members. */
#include "check.h"

__device__ __forceinline__ int rotate_inlined(int *tile, int v)
{
    tile[threadIdx.x] = v;
    __syncthreads();
    int r = tile[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    return r;
}

__device__ __noinline__ int rotate_called(int *tile, int v)
{
    tile[threadIdx.x] = v;
    __syncthreads();
    int r = tile[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    return r;
}

__device__ __noinline__ int rotate_many(int *tile, int v, int times)
{
    for (int i = 0; i < times; i++)
        v = i & 1 ? rotate_inlined(tile, v) + 1 : rotate_called(tile, v) + 10;
    return v;
}

__device__ __noinline__ int rotate_deep(int *tile, int v, int depth)
{
    if (depth == 0)
        return v;
    v = rotate_called(tile, v);
    int local[4] = {v, v + 1, v + 2, v + 3};
    v = rotate_deep(tile, v + 100, depth - 1);
    __syncthreads();
    return v + local[depth % 4] - local[0];
}

struct team {
    int *tile;
    __device__ int total(int v)
    {
        tile[threadIdx.x] = v;
        __syncthreads();
        int s = 0;
        for (unsigned i = 0; i < blockDim.x; i++)
            s += tile[i];
        __syncthreads();
        return s;
    }
};

__global__ void run(int *out, int times)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    int a = rotate_inlined(tile, t);
    int b = rotate_called(tile, t * 2);
    int c = rotate_many(tile, t, times);
    int d = rotate_deep(tile, t, times);
    team mates = {tile};
    int e = mates.total(t);
    out[t * 5 + 0] = a;
    out[t * 5 + 1] = b;
    out[t * 5 + 2] = c;
    out[t * 5 + 3] = d;
    out[t * 5 + 4] = e;
}

int main(void)
{
    int *out = check_managed<int>(64 * 5);
    run<<<1, 64>>>(out, 5);
    KERNEL_OK();
    int deep = 500;
    for (int depth = 1; depth <= 5; depth++)
        deep += depth % 4;
    for (int t = 0; t < 64; t++) {
        CHECK_EQ(out[t * 5 + 0], (t + 1) % 64);
        CHECK_EQ(out[t * 5 + 1], (t + 1) % 64 * 2);
        CHECK_EQ(out[t * 5 + 2], (t + 5) % 64 + 32);
        CHECK_EQ(out[t * 5 + 3], (t + 5) % 64 + deep);
        CHECK_EQ(out[t * 5 + 4], 2016);
    }
    return check_done();
}
