/* SPDX-License-Identifier: Apache-2.0 */
/* What the GPU says of itself, beside what its report says. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

static int cores_of_an_sm(const struct cudaDeviceProp *p) {
    return p->major == 3 ? 192 : p->major == 5 ? 128 : p->major == 6 && p->minor == 0 ? 64 : 0;
}

int main(void) {
    struct cudaDeviceProp p;
    const char *path = getenv("WARPAGE_VALUES");
    FILE *out = path != NULL && path[0] != '\0' ? fopen(path, "w") : NULL;
    if (out == NULL || cudaGetDeviceProperties(&p, 0) != cudaSuccess) return 1;
    fprintf(out, "cores %d\n", p.multiProcessorCount * cores_of_an_sm(&p));
    fprintf(out, "memory_gb %.3f\n", (double)p.totalGlobalMem / (1 << 30));
    fprintf(out, "clock_mhz %.3f\n", p.clockRate / 1000.0);
    return fclose(out) == 0 ? 0 : 1;
}
