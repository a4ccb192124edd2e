/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with barriers and shared memory of their own, over data that a launch streams: a histogram that is kept over
 * all chunks, and barriers within the loop over the data. */
#include <warpage/stream.h>

#include "check.h"

__global__ void histogram(const unsigned char *data, long count, unsigned *out) {
    __shared__ unsigned bins[256];
    const long threads = (long)gridDim.x * blockDim.x;
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
        bins[b] = 0;
    __syncthreads();
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        atomicAdd(&bins[data[i]], 1u);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&out[b], bins[b]);
}

__global__ void tiles(const int *data, long count, int *out) {
    __shared__ int tile[256];
    int sum = 0;
    for (long t = blockIdx.x; t < count; t += gridDim.x) {
        const int *row = data + t * blockDim.x;
        tile[threadIdx.x] = row[threadIdx.x];
        __syncthreads();
        sum += tile[(threadIdx.x * 7 + 3) % blockDim.x];
        __syncthreads();
        if (threadIdx.x % 3 == 0) sum += row[(threadIdx.x + 1) % blockDim.x];
    }
    atomicAdd(out, sum);
}

static void run(long count, unsigned blocks, unsigned threads, unsigned slots) {
    const size_t bytes = (size_t)count * sizeof(int);
    unsigned char *host = (unsigned char *)malloc(bytes);
    unsigned expected[256] = {0}, got[256], *bins;
    int *device, *mapped, *sum, sums[2];
    streamingOptions options = {};
    for (size_t i = 0; i < bytes; i++) {
        host[i] = (unsigned char)(i * 2654435761u >> 13);
        if (i < (size_t)count) expected[host[i]]++;
    }
    options.slots = slots;
    CUDA_OK(streamingSetOptions(&options));
    CUDA_OK(streamingMalloc(&mapped, bytes));
    CUDA_OK(streamingMap(mapped, host, bytes));
    CUDA_OK(cudaMalloc(&bins, sizeof expected));
    CUDA_OK(cudaMemset(bins, 0, sizeof expected));
    histogram<<<blocks, threads>>>((unsigned char *)mapped, count, bins);
    KERNEL_OK();
    CUDA_OK(cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(memcmp(got, expected, sizeof got) == 0);

    CUDA_OK(cudaMalloc(&device, bytes));
    CUDA_OK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMalloc(&sum, sizeof *sum));
    for (int way = 0; way < 2; way++) {
        CUDA_OK(cudaMemset(sum, 0, sizeof *sum));
        tiles<<<blocks, threads>>>(way == 0 ? device : mapped, count / threads, sum);
        KERNEL_OK();
        CUDA_OK(cudaMemcpy(&sums[way], sum, sizeof *sum, cudaMemcpyDeviceToHost));
    }
    CHECK_EQ(sums[1], sums[0]);
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaFree(device));
    CUDA_OK(cudaFree(sum));
    CUDA_OK(cudaFree(bins));
    free(host);
}

int main(void) {
    run(6000, 4, 64, 0);
    run(1000, 3, 33, 1);
    run(1500, 3, 100, 3);
    return check_done();
}
