// STAGE: run
// EXIT: 3
// FLAGS: -arch=sm_90
// STDERR: kernel k: 2 of its blocks wait at the grid barrier for 2 that have ended or wait for their clusters
/* SPDX-License-Identifier: Apache-2.0 */
/* Of each cluster one block waits for the grid, and the other one for it. */
#include <cooperative_groups.h>
__global__ void __cluster_dims__(2) k(void)
{
    if (blockIdx.x % 2 != 0)
        cooperative_groups::this_grid().sync();
    else
        cooperative_groups::this_cluster().sync();
}
int main(void)
{
    void *none[] = {0};
    if (cudaLaunchCooperativeKernel((void *)k, dim3(4), dim3(32), none, 0, 0) != cudaSuccess) return 1;
    return cudaDeviceSynchronize() != cudaSuccess ? 3 : 0;
}
