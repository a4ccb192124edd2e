/* SPDX-License-Identifier: Apache-2.0 */
/* Masks that differ from lane to lane, or lack the lane, and shuffles from lanes that are not there: undefined, but
 * GPUs answer. And more warp operations in a row, by diverged warps, than a warp has turns. */
// DEVICES: cpu sim (PTX leaves undefined what a lane gets that its mask lacks)
#include "check.h"

__device__ unsigned lanes_below()
{
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

__global__ void ranks(unsigned *out)
{
    const unsigned lt = lanes_below(), odd = threadIdx.x & 1, t = threadIdx.x;
    out[t] = __popc(__ballot_sync(lt, odd) & lt);
    out[64 + t] = __popc(__ballot_sync(lt | 1u << (t & 31), odd) & lt); /* with itself */
}

/* Sums over fewer lanes than the distances reach. */
__global__ void short_sums(int *out)
{
    int all = threadIdx.x + 1, some = all;
    for (int offset = 16; offset > 0; offset /= 2)
        all += __shfl_down_sync(0xffffffffu, all, offset);
    if (threadIdx.x < 3)
        for (int offset = 16; offset > 0; offset /= 2)
            some += __shfl_down_sync(0x7u, some, offset);
    if (threadIdx.x == 0) {
        out[0] = all;
        out[1] = some;
    }
}

__global__ void many(int *out, int rounds)
{
    int value = threadIdx.x;
    if (threadIdx.x < 40) /* the second warp is split */
        value += __popc(__activemask()) - 8;
    __syncwarp();
    for (int i = 0; i < rounds; i++) {
        value += __shfl_xor_sync(0xffffffffu, value, 1 << (i % 5));
        value &= 0xffff;
        if (value % 7 == 3)
            value++;
    }
    out[threadIdx.x] = value;
}

static void expect_many(int *value, int rounds)
{
    for (int i = 0; i < 64; i++)
        value[i] = i + (i < 32 ? 24 : 0);
    for (int round = 0; round < rounds; round++) {
        int next[64];
        for (int i = 0; i < 64; i++) {
            next[i] = (value[i] + value[i ^ (1 << (round % 5))]) & 0xffff;
            if (next[i] % 7 == 3)
                next[i]++;
        }
        memcpy(value, next, sizeof next);
    }
}

int main(void)
{
    unsigned *out = check_managed<unsigned>(128);
    ranks<<<1, 64>>>(out);
    KERNEL_OK();
    for (int i = 0; i < 128; i++)
        CHECK_EQ(out[i], (unsigned)(i % 32) / 2);
    short_sums<<<1, 20>>>((int *)out);
    KERNEL_OK();
    CHECK_EQ(out[0], 210u);
    CHECK_EQ(out[1], 6u);
    int *values = check_managed<int>(64);
    for (int rounds = 1; rounds < 200; rounds += 11) {
        int expected[64];
        many<<<1, 64>>>(values, rounds);
        KERNEL_OK();
        expect_many(expected, rounds);
        for (int i = 0; i < 64; i++)
            CHECK_EQ(values[i], expected[i]);
    }
    return check_done();
}
