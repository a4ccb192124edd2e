/* SPDX-License-Identifier: Apache-2.0 */
/* What the GPU says of itself. */
#include <cuda_runtime.h>
#include <stdio.h>

static int cores_of_an_sm(const struct cudaDeviceProp *p) {
    return p->major == 3 ? 192 : p->major == 5 ? 128 : p->major == 6 && p->minor == 0 ? 64 : 0;
}

int main(void) {
    struct cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) return 1;
    printf("cores %d\n", p.multiProcessorCount * cores_of_an_sm(&p));
    printf("memory_gb %.3f\n", (double)p.totalGlobalMem / (1 << 30));
    printf("clock_mhz %.3f\n", p.clockRate / 1000.0);
    return 0;
}
