/* SPDX-License-Identifier: Apache-2.0 */
/* Adds two vectors in managed memory.    wpcc vecadd.cu -o vecadd && ./vecadd */
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void add(int n, const float *a, const float *b, float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum[i] = a[i] + b[i];
    }
}

static int fail(void) {
    fprintf(stderr, "vecadd: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
}

int main(void) {
    const int n = 1 << 20;
    float *a, *b, *sum;
    if (cudaMallocManaged(&a, n * sizeof(float)) != cudaSuccess ||
        cudaMallocManaged(&b, n * sizeof(float)) != cudaSuccess ||
        cudaMallocManaged(&sum, n * sizeof(float)) != cudaSuccess) {
        return fail();
    }
    for (int i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = (float)(n - i);
    }
    add<<<(n + 255) / 256, 256>>>(n, a, b, sum);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        return fail();
    }
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += sum[i] != (float)n;
    }
    printf("%d sums, %d wrong\n", n, wrong);
    return wrong != 0;
}
