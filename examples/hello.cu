/* SPDX-License-Identifier: Apache-2.0 */
/* Eight threads say hello.    wpcc hello.cu -o hello && ./hello */
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void hello(void) {
    printf("hello from thread %d of block %d\n", (int)threadIdx.x, (int)blockIdx.x);
}

int main(void) {
    hello<<<2, 4>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
