/* SPDX-License-Identifier: Apache-2.0 */
/* Warp operations inside branches: warp-uniform ones, partial masks in both arms of a divergent
 * branch, loops in which lanes leave one by one, partial warps at the end of a block. */
#include "check.h"

#define ALL 0xffffffffu

__global__ void uniform_branch(int *out)
{
    int t = threadIdx.x, lane = t % 32, warp = t / 32, v = t;
    if (warp % 2)
        v = __shfl_xor_sync(ALL, v, 1) * 2;
    else if (warp == 2)
        v = __shfl_sync(ALL, v, 5) + 1;
    out[t] = v + lane;
}

__global__ void both_arms(int *out)
{
    int lane = threadIdx.x, v;
    unsigned even = 0x55555555u, odd = 0xaaaaaaaau;
    if (lane % 2 == 0)
        v = __shfl_sync(even, lane * 10, (lane + 2) % 32);
    else
        v = __shfl_sync(odd, lane * 100, (lane + 2) % 32);
    __syncwarp();
    int quarter = 0;
    if (lane < 8) {
        for (int d = 4; d > 0; d /= 2)
            v += __shfl_down_sync(0xffu, v, d, 8);
        quarter = __ballot_sync(0xffu, v % 20 == 0);
    } else if (lane < 24) {
        quarter = __any_sync(0x00ffff00u, lane == 20) + 2 * __all_sync(0x00ffff00u, lane > 8);
    }
    __syncwarp();
    out[lane] = v * 1000 + quarter;
}

__global__ void leaving_loop(int *out)
{
    int lane = threadIdx.x, sum = 0;
    unsigned mask = ALL;
    for (int i = 0; i < 32; i++) {
        bool stays = lane >= i;
        mask = __ballot_sync(mask, stays);
        if (!stays)
            break;
        sum += __shfl_sync(mask, lane, 31) + __popc(mask) * 100;
    }
    out[lane] = sum;
}

__global__ void last_warp_is_short(int *out)
{
    int t = threadIdx.x;
    unsigned mask = __ballot_sync(ALL, t < 50);
    if (t < 50) {
        int s = t;
        for (int d = 16; d > 0; d /= 2) {
            int other = __shfl_down_sync(mask, s, d);
            if (t % 32 + d < 32 && t + d < 50)
                s += other;
        }
        out[t] = s;
    }
}

__global__ void early_exit(int *out)
{
    int lane = threadIdx.x;
    if (lane >= 20)
        return;
    int v = __shfl_xor_sync(0xfffffu, lane, 1);
    __syncwarp(0xfffffu);
    out[lane] = v * 100 + __popc(__ballot_sync(0xfffffu, v > 4));
}

/* the operation sits in a function called from two places by different lanes */
__device__ __noinline__ int group_sum(unsigned mask, int v)
{
    int sum = 0;
    for (int lane = 0; lane < 32; lane++)
        if (mask >> lane & 1)
            sum += __shfl_sync(mask, v, lane);
    return sum;
}

__global__ void called_from_both(int *out)
{
    int lane = threadIdx.x;
    if (lane < 12)
        out[lane] = group_sum(0xfffu, lane);
    else
        out[lane] = group_sum(0xfffff000u, lane * 2) + 1;
}

int main(void)
{
    int *out = check_managed<int>(128);
    uniform_branch<<<1, 128>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 128; t++)
        CHECK_EQ(out[t], (t / 32 % 2 ? (t ^ 1) * 2 : t / 32 == 2 ? 64 + 5 + 1 : t) + t % 32);
    both_arms<<<1, 32>>>(out);
    KERNEL_OK();
    int v[32], low[8];
    for (int l = 0; l < 32; l++)
        v[l] = (l + 2) % 32 * (l % 2 ? 100 : 10);
    for (int d = 4; d > 0; d /= 2) {
        for (int l = 0; l < 8; l++)
            low[l] = v[l] + v[l + d < 8 ? l + d : l];
        memcpy(v, low, sizeof low);
    }
    int ballot = 0;
    for (int l = 0; l < 8; l++)
        ballot |= (v[l] % 20 == 0) << l;
    for (int l = 0; l < 32; l++)
        CHECK_EQ(out[l], v[l] * 1000 + (l < 8 ? ballot : l < 24 ? 1 : 0));
    leaving_loop<<<1, 32>>>(out);
    KERNEL_OK();
    for (int l = 0; l < 32; l++) {
        int e = 0;
        for (int i = 0; i <= l; i++)
            e += 31 + (32 - i) * 100;
        CHECK_EQ(out[l], e);
    }
    last_warp_is_short<<<1, 64>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 31 * 16);
    CHECK_EQ(out[32], (32 + 49) * 9);
    early_exit<<<1, 32>>>(out);
    KERNEL_OK();
    for (int l = 0; l < 20; l++)
        CHECK_EQ(out[l], (l ^ 1) * 100 + 15);
    called_from_both<<<1, 32>>>(out);
    KERNEL_OK();
    for (int l = 0; l < 32; l++)
        CHECK_EQ(out[l], l < 12 ? 66 : (496 - 66) * 2 + 1);
    return check_done();
}
