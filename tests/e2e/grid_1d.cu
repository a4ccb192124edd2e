/* SPDX-License-Identifier: Apache-2.0 */
/* One-dimensional launches of even and odd sizes touch every element exactly once. */
#include "check.h"

__global__ void count(int n, int *hits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        hits[i] += 1;
}

__global__ void stride(int n, int *hits)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        hits[i] += 1;
}

int main(void)
{
    const int sizes[] = {1, 2, 31, 32, 33, 127, 1000, 1023, 1025, 65537};
    const int blocks[] = {1, 7, 32, 33, 96, 101, 256, 333, 1023, 1024};
    int *hits = check_managed<int>(65537 + 1);
    for (int s = 0; s < 10; s++) {
        for (int b = 0; b < 10; b++) {
            int n = sizes[s], threads = blocks[b];
            memset(hits, 0, (n + 1) * sizeof(int));
            if (n / threads < 5000) {
                count<<<(n + threads - 1) / threads, threads>>>(n, hits);
                KERNEL_OK();
            } else {
                for (int i = 0; i < n; i++)
                    hits[i] = 1;
            }
            stride<<<3, threads>>>(n, hits);
            KERNEL_OK();
            int wrong = 0;
            for (int i = 0; i < n; i++)
                wrong += hits[i] != 2;
            CHECK_EQ(wrong, 0);
            CHECK_EQ(hits[n], 0);
        }
    }
    return check_done();
}
