// ENV: WARPAGE_WORKERS=4
/* SPDX-License-Identifier: Apache-2.0 */
/* Grid barriers one after the other, with more workers than processors: those that are still to wake up
 * after one do not count as waiting at the next. */
#include "check.h"
#include <cooperative_groups.h>

__global__ void count(int *rounds_of, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == 0)
            rounds_of[blockIdx.x]++;
        cooperative_groups::this_grid().sync();
    }
}

int main(void)
{
    int *rounds_of = check_managed<int>(8), rounds = 2000;
    void *args[] = {&rounds_of, &rounds};
    for (int b = 0; b < 8; b++)
        rounds_of[b] = 0;
    CUDA_OK(cudaLaunchCooperativeKernel((void *)count, dim3(8), dim3(32), args, 0, 0));
    CUDA_OK(cudaDeviceSynchronize());
    for (int b = 0; b < 8; b++)
        CHECK_EQ(rounds_of[b], rounds);
    return check_done();
}
