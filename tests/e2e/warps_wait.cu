/* SPDX-License-Identifier: Apache-2.0 */
/* Warps and lanes of one block that wait for each other through volatile shared memory. */
#include "check.h"

__global__ void warp_chain(int *out)
{
    __shared__ volatile int turn;
    int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x == 0)
        turn = warps - 1;
    __syncthreads();
    while (turn != warp) /* warp 0 waits longest */
        ;
    __threadfence_block();
    if (threadIdx.x % 32 == 0)
        out[warp] = out[(warp + 1) % warps] + 1;
    __threadfence_block();
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        turn = warp - 1;
}

__global__ void lane_chain(int *out) /* needs independent progress of lanes (sm_70) */
{
    __shared__ volatile int turn;
    if (threadIdx.x == 0)
        turn = 31;
    __syncthreads();
    int me = threadIdx.x;
    while (turn != me)
        ;
    out[me] = 31 - me;
    __threadfence_block();
    turn = me - 1;
}

int main(void)
{
    int *out = check_managed<int>(32);
    warp_chain<<<1, 256>>>(out);
    KERNEL_OK();
    for (int w = 0; w < 8; w++)
        CHECK_EQ(out[w], 8 - w);
    lane_chain<<<1, 32>>>(out);
    KERNEL_OK();
    for (int l = 0; l < 32; l++)
        CHECK_EQ(out[l], 31 - l);
    return check_done();
}
