/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that reads what it has written, in data that a launch streams, with every size of the buffers. */
#include <warpage/stream.h>

#include "check.h"

__global__ void update(int *a, long count, int rounds) {
    const long threads = (long)gridDim.x * blockDim.x;
    const long thread = (long)blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++)
        for (long i = thread; i < count; i += threads)
            a[i] = a[i] * 3 + r;
    for (long i = thread; i + threads < count; i += threads) {
        a[i] += 1;
        a[i + threads] += a[i];
        if (a[i] & 1) a[i] = 7;
    }
}

static void run(long count, unsigned blocks, unsigned threads, unsigned slots, unsigned sets) {
    const size_t bytes = (size_t)count * sizeof(int);
    int *host = (int *)malloc(bytes), *expected = (int *)malloc(bytes), *device, *mapped;
    streamingOptions options = {};
    for (long i = 0; i < count; i++)
        host[i] = (int)(i * 2654435761u >> 3);
    CUDA_OK(cudaMalloc(&device, bytes));
    CUDA_OK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    update<<<blocks, threads>>>(device, count, 3);
    CUDA_OK(cudaMemcpy(expected, device, bytes, cudaMemcpyDeviceToHost));
    options.slots = slots;
    options.blocks = sets;
    CUDA_OK(streamingSetOptions(&options));
    CUDA_OK(streamingMalloc(&mapped, bytes));
    CUDA_OK(streamingMap(mapped, host, bytes));
    update<<<blocks, threads>>>(mapped, count, 3);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    long different = 0;
    for (long i = 0; i < count; i++)
        different += host[i] != expected[i];
    CHECK_EQ(different, 0L);
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaFree(device));
    free(host);
    free(expected);
}

int main(void) {
    run(3000, 2, 64, 0, 0);
    run(1000, 1, 33, 1, 0);
    run(1999, 5, 40, 7, 2);
    run(1, 1, 1, 1, 1);
    return check_done();
}
