// STAGE: run
// EXIT: 3
// STDERR: invalid argument
/* SPDX-License-Identifier: Apache-2.0 */
/* A launch that asks for 10 MiB of dynamic shared memory. */
#include <stdio.h>
__global__ void k(int *out)
{
    extern __shared__ int tile[];
    *out = tile[0];
}
int main(void)
{
    k<<<1, 32, 10 << 20>>>(0);
    cudaError_t error = cudaGetLastError();
    fprintf(stderr, "k: %s\n", cudaGetErrorString(error));
    return error == cudaErrorInvalidValue ? 3 : 0;
}
