/* SPDX-License-Identifier: Apache-2.0 */
/* Generic pointers: one function works on global, shared, constant and local memory; queries of the
 * space; __nanosleep, __builtin_expect, __builtin_assume, alignment hints. */
#include "check.h"

__constant__ int fixed[32] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
__device__ int global_table[32];

__device__ __noinline__ int sum_of(const int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i];
    return s;
}

__device__ __noinline__ void add_to(int *p, int v) { atomicAdd(p, v); }
__device__ __noinline__ void add_plainly(int *p, int v) { *p += v; } /* atomics do not reach local memory */

__global__ void all_spaces(int *out, const int *in)
{
    __shared__ int tile[32];
    int local[32], t = threadIdx.x;
    tile[t] = t * 2;
    global_table[t] = t * 3;
    for (int i = 0; i < 32; i++)
        local[i] = i + t;
    __syncthreads();
    const int *choices[5] = {in, tile, fixed, local, global_table};
    out[t] = sum_of(choices[t % 5], 16);
    __nanosleep(20);
    if (__builtin_expect(t < 32, 1)) {
        const int *p = (const int *)__builtin_assume_aligned(tile, 4);
        out[32 + t] = p[31 - t];
    }
    out[64 + t] = (__isGlobal(in) ? 1 : 0) + (__isShared(tile) ? 2 : 0) + (__isGlobal(tile) ? 4 : 0)
                  + (__isLocal(local) ? 8 : 0) + (__isShared(in) ? 16 : 0)
                  + (__isClusterShared(tile) ? 32 : 0) + (__isClusterShared(in) ? 64 : 0);
    __syncthreads();
    add_to(t % 2 ? &tile[0] : &global_table[0], 1);
    add_plainly(&local[3], t);
    __syncthreads();
    if (t == 0) {
        out[96] = tile[0];
        out[97] = global_table[0];
    }
    out[98 + t] = local[3];
}

int main(void)
{
    int *out = check_managed<int>(130), *in = check_managed<int>(32);
    for (int i = 0; i < 32; i++)
        in[i] = i * i;
    all_spaces<<<1, 32>>>(out, in);
    KERNEL_OK();
    for (int t = 0; t < 32; t++) {
        const int sums[5] = {1240, 240, 120, 120 + 16 * t, 360};
        CHECK_EQ(out[t], sums[t % 5]);
        CHECK_EQ(out[32 + t], (31 - t) * 2);
        CHECK_EQ(out[64 + t], 1 + 2 + 8 + 32);
        CHECK_EQ(out[98 + t], 3 + 2 * t);
    }
    CHECK_EQ(out[96], 16);
    CHECK_EQ(out[97], 16);
    return check_done();
}
