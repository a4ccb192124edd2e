/* SPDX-License-Identifier: Apache-2.0 */
/* __managed__ variables whose pages move: pages that the host wrote, unused pages, pages that the host takes back. */
#include "../check.h"

enum { PAGE_WORDS = 1024, TABLE = 8, RESULT = 64, TOUCHED = 10 }; /* pages */

__managed__ int result[RESULT * PAGE_WORDS];
__managed__ int table[TABLE * PAGE_WORDS] = {5};
__device__ int plain[PAGE_WORDS] = {7}; /* of the device: it never moves */

__global__ void fill(void)
{
    const int page = blockIdx.x * blockDim.x + threadIdx.x;
    result[page * PAGE_WORDS] += table[page % TABLE * PAGE_WORDS] + plain[page];
}

__global__ void by_pointer(int *all)
{
    const int page = blockIdx.x * blockDim.x + threadIdx.x;
    all[page * PAGE_WORDS] += 100;
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "plain";
    CHECK_EQ(table[0], 5);
    if (strcmp(how, "before") == 0)
        for (int i = 0; i < TOUCHED; i++) /* before anything of CUDA */
            result[i * PAGE_WORDS] = 0;
    if (strcmp(how, "prefetch") == 0) CUDA_OK(cudaMemPrefetchAsync(table, sizeof table, 0, 0));
    if (strcmp(how, "stays") == 0)
        CUDA_OK(cudaMemAdvise(table, sizeof table, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    if (strcmp(how, "reset") == 0) {
        fill<<<1, RESULT>>>();
        CUDA_OK(cudaDeviceReset());
        memset(result, 0, sizeof result);
    }
    fill<<<1, RESULT>>>();
    KERNEL_OK();
    for (int i = 0; i < TOUCHED; i++)
        CHECK_EQ(result[i * PAGE_WORDS], (i % TABLE == 0 ? 5 : 0) + (i == 0 ? 7 : 0));
    by_pointer<<<1, RESULT>>>(result);
    KERNEL_OK();
    if (strcmp(how, "end") == 0)
        for (int i = 0; i < RESULT; i++)
            CHECK_EQ(result[i * PAGE_WORDS] >= 100, 1);
    int *address = NULL;
    CUDA_OK(cudaGetSymbolAddress((void **)&address, result));
    CHECK(address == result);
    return check_done();
}
