/* SPDX-License-Identifier: Apache-2.0 */
/* All CTAs but the last read a page of managed memory; when it is there all of these have returned
 * but for the first, which reads another page of its 64 KiB. The last CTA has no place before one of
 * them ends. Prints how many cycles after the page was there the last CTA began. */
#include <stdio.h>
#include <stdlib.h>

#define CTAS (28 * 32 + 1) /* one more than the GPU holds */

__device__ long long there, begun;
__device__ int sum;

__global__ void read_pages(const volatile int *pages) {
    if (blockIdx.x == CTAS - 1) {
        begun = clock64();
        return;
    }
    const int first = pages[0];
    if (blockIdx.x == 0) {
        there = clock64() + first;
        sum = pages[15 * 1024];
    }
}

int main(void) {
    int *pages;
    if (cudaMallocManaged((void **)&pages, 65536) != cudaSuccess) return 1;
    for (int i = 0; i < 16384; i++)
        pages[i] = 0;
    read_pages<<<CTAS, 1>>>(pages);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    long long from, to;
    cudaMemcpyFromSymbol(&from, there, sizeof from);
    cudaMemcpyFromSymbol(&to, begun, sizeof to);
    printf("cycles: %lld\n", to - from);
    return 0;
}
