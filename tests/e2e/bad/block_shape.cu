// SPDX-License-Identifier: Apache-2.0
// STAGE: run
// EXIT: 1
// STDERR: set\(int\*\): a block of 2000 x 1 x 1 cannot be launched: a block has at most this many threads: 1024
/* A launch that is refused names its kernel as the source does. */
#include <stdio.h>

__global__ void set(int *to)
{
    *to = 1;
}

int main()
{
    int *to;
    cudaMalloc(&to, sizeof *to);
    set<<<1, 2000>>>(to);
    return cudaGetLastError() == cudaErrorInvalidConfiguration;
}
