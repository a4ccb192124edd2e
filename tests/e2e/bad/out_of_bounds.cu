// STAGE: run
// EXIT: 3
// STDERR: an illegal memory access was encountered
/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that writes far outside of all memory: CUDA's error, and the program lives on to report it. */
#include <stdio.h>
__global__ void k(int *out) { out[(size_t)threadIdx.x << 36] = 1; }
int main(void)
{
    int *p;
    cudaMalloc((void **)&p, 4);
    k<<<1, 64>>>(p);
    cudaError_t error = cudaDeviceSynchronize();
    fprintf(stderr, "k: %s\n", cudaGetErrorString(error));
    return error == cudaErrorIllegalAddress ? 3 : 0;
}
