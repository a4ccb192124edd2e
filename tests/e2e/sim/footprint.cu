/* SPDX-License-Identifier: Apache-2.0 */
/* Reads each page of 3 MiB and 4 KiB of managed memory, in order. */
// DEVICES: sim:gtx1080ti
#include "../check.h"

enum { PAGE_WORDS = 1024, PAGES = 3 * 256 + 1 };

__global__ void read_pages(const volatile unsigned *words, unsigned *sum)
{
    unsigned s = 0;
    for (unsigned page = 0; page < PAGES; page++)
        s += words[page * PAGE_WORDS];
    *sum = s;
}

int main(void)
{
    unsigned *words, *sum, total;
    CUDA_OK(cudaMallocManaged((void **)&words, sizeof *words * PAGE_WORDS * PAGES));
    CUDA_OK(cudaMalloc((void **)&sum, sizeof *sum));
    for (unsigned i = 0; i < PAGE_WORDS * PAGES; i++)
        words[i] = i;
    read_pages<<<1, 1>>>(words, sum);
    CUDA_OK(cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost));
    printf("sum: %u\n", total);
    return 0;
}
