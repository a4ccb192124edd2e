// STAGE: run
// EXIT: 3
// STDERR: an illegal memory access was encountered
/* SPDX-License-Identifier: Apache-2.0 */
/* The same with an address that no x86 processor can form: another signal, the same answer. */
#include <stdio.h>
__global__ void k(int *out) { out[(size_t)threadIdx.x << 50] = 1; }
int main(void)
{
    int *p;
    cudaMalloc((void **)&p, 4);
    k<<<1, 64>>>(p);
    cudaError_t error = cudaDeviceSynchronize();
    fprintf(stderr, "k: %s\n", cudaGetErrorString(error));
    return error == cudaErrorIllegalAddress ? 3 : 0;
}
