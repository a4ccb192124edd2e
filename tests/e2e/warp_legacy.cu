/* SPDX-License-Identifier: Apache-2.0 */
/* The forms without _sync: __shfl*, __ballot, __any, __all. The lanes that are there take part. */
#include "check.h"

__global__ void forms(int *out)
{
    int lane = threadIdx.x % 32, *o = out + threadIdx.x * 8;
    o[0] = __shfl(lane * 3, 4);
    o[1] = __shfl_up(lane, 2);
    o[2] = __shfl_down(lane, 2, 8);
    o[3] = __shfl_xor(lane, 16);
    o[4] = (int)__ballot(lane % 3 == 0);
    o[5] = __any(lane == 31) + 2 * __any(lane == 32);
    o[6] = __all(lane < 32) + 2 * __all(lane < 31);
    o[7] = (int)(__shfl((double)lane * 0.5, 7) * 2) + (int)(__shfl(lane + 0.25f, 1) * 4);
}

__global__ void in_branch(int *out)
{
    int lane = threadIdx.x;
    if (lane < 10)
        out[lane] = (int)__ballot(1) + __any(lane == 20);
    else
        out[lane] = (int)__ballot(lane % 2);
}

__global__ void warp_sum(int *out)
{
    int v = threadIdx.x;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down(v, d);
    if (threadIdx.x % 32 == 0)
        out[threadIdx.x / 32] = v;
}

int main(void)
{
    int *out = check_managed<int>(64 * 8);
    forms<<<1, 64>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 64; t++) {
        int lane = t % 32, *o = out + t * 8;
        CHECK_EQ(o[0], 12);
        CHECK_EQ(o[1], lane < 2 ? lane : lane - 2);
        CHECK_EQ(o[2], lane % 8 < 6 ? lane + 2 : lane);
        CHECK_EQ(o[3], lane ^ 16);
        CHECK_EQ(o[4], (int)0x49249249);
        CHECK_EQ(o[5], 1);
        CHECK_EQ(o[6], 1);
        CHECK_EQ(o[7], 7 + 5);
    }
    in_branch<<<1, 32>>>(out);
    KERNEL_OK();
    for (int lane = 0; lane < 32; lane++)
        CHECK_EQ(out[lane], lane < 10 ? 0x3ff : (int)0xaaaaa800);
    warp_sum<<<1, 128>>>(out);
    KERNEL_OK();
    for (int w = 0; w < 4; w++)
        CHECK_EQ(out[w], w * 1024 + 496);
    return check_done();
}
