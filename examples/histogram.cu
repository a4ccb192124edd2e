/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the bytes of a file: per block in shared memory, then in all.
 *     wpcc histogram.cu -o histogram && ./histogram histogram.cu */
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void count_bytes(const unsigned char *text, int n, unsigned *total) {
    __shared__ unsigned count[256];
    count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&count[text[i]], 1u);
    }
    __syncthreads();
    atomicAdd(&total[threadIdx.x], count[threadIdx.x]);
}

int main(int argc, char **argv) {
    static unsigned char text[1 << 20];
    unsigned total[256];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: histogram FILE\n");
        return 2;
    }
    int n = (int)fread(text, 1, sizeof text, file);
    fclose(file);

    unsigned char *device_text;
    unsigned *device_total;
    cudaMalloc(&device_text, sizeof text);
    cudaMalloc(&device_total, sizeof total);
    cudaMemcpy(device_text, text, n, cudaMemcpyHostToDevice);
    cudaMemset(device_total, 0, sizeof total);
    count_bytes<<<16, 256>>>(device_text, n, device_total);
    if (cudaMemcpy(total, device_total, sizeof total, cudaMemcpyDeviceToHost) != cudaSuccess) {
        fprintf(stderr, "histogram: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    for (int c = '!'; c <= '~'; c++) {
        if (total[c] != 0) {
            printf("%c %u\n", c, total[c]);
        }
    }
    return 0;
}
