// STAGE: run
// EXIT: 3
// ENV: WARPAGE_DEVICE=sim:k80
// STDERR: waits at the grid barrier, where 2 of 4 CTAs are
/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that have ended do not arrive at the grid's barrier. */
#include <cooperative_groups.h>
__global__ void k(void)
{
    if (blockIdx.x % 2 != 0) cooperative_groups::this_grid().sync();
}
int main(void)
{
    void *none[] = {0};
    if (cudaLaunchCooperativeKernel((void *)k, dim3(4), dim3(32), none, 0, 0) != cudaSuccess) return 1;
    return cudaDeviceSynchronize() != cudaSuccess ? 3 : 0;
}
