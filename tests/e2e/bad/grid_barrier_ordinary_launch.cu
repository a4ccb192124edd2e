// STAGE: run
// EXIT: 3
// ENV: WARPAGE_DEVICE=sim:k80
// STDERR: kernel k: reached a grid barrier, but was not launched with cudaLaunchCooperativeKernel
/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier of the grid needs a launch that promises that all blocks are there. */
#include <cooperative_groups.h>
#include <stdio.h>
__global__ void k(int *out)
{
    out[0] = 1;
    cooperative_groups::this_grid().sync();
    out[1] = 2;
}
int main(void)
{
    int *p;
    cudaMalloc((void **)&p, 8);
    k<<<2, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess ? 3 : 0;
}
