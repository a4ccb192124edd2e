// STAGE: run
// EXIT: 3
// STDERR: invalid configuration argument
/* SPDX-License-Identifier: Apache-2.0 */
/* A launch with 2000 threads in a block, in a program that reports errors as programs do. */
#include <stdio.h>
__global__ void k(int *out) { *out = 1; }
int main(void)
{
    k<<<1, 2000>>>(0);
    cudaError_t error = cudaGetLastError();
    fprintf(stderr, "k: %s\n", cudaGetErrorString(error));
    return error == cudaErrorInvalidConfiguration ? 3 : 0;
}
