/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory of several allocations, which different things happen to: one is walked through, one is prefetched and never used, one
 * comes back to the host, one lies where another one was. */
#include "../check.h"

enum { PAGE = 4096, PAGES = 700 };

__managed__ unsigned char variable[8 * PAGE];

__global__ void walk(unsigned char *walked, unsigned char *shared, int pages)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pages) return;
    walked[(size_t)i * PAGE] += 3;
    shared[(size_t)(i % 64) * PAGE] = 1;
    if (i < 8) variable[i * PAGE] += 1;
}

__global__ void scatter(unsigned char *scattered, int pages)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    scattered[(size_t)(i * 2654435761u % pages) * PAGE] += 1;
}

int main(void)
{
    unsigned char *walked, *unused, *shared, *scattered;
    CUDA_OK(cudaMallocManaged((void **)&walked, PAGES * PAGE));
    CUDA_OK(cudaMallocManaged((void **)&unused, 100 * PAGE));
    CUDA_OK(cudaMallocManaged((void **)&shared, 64 * PAGE));
    memset(walked, 1, PAGES * PAGE);
    memset(unused, 1, 100 * PAGE);
    CUDA_OK(cudaMemPrefetchAsync(unused, 100 * PAGE, 0, 0));
    walk<<<PAGES / 64 + 1, 64>>>(walked, shared, PAGES);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(shared[0], 1);
    CUDA_OK(cudaMemPrefetchAsync(shared, 64 * PAGE, cudaCpuDeviceId, 0));
    CUDA_OK(cudaFree(walked));
    CUDA_OK(cudaMallocManaged((void **)&scattered, 3 * PAGES * PAGE)); /* from where the first one was */
    memset(scattered, 1, 3 * PAGES * PAGE);
    for (int i = 0; i < 3; i++)
        scatter<<<64, 64>>>(scattered, 3 * PAGES);
    CUDA_OK(cudaDeviceSynchronize());
    return check_done();
}
