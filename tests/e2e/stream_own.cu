/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that reads what it has written, in data that a launch streams, with every size of the
 * buffers. */
#include <string.h>
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

/* Odd lanes jump, and get new data, between an even lane's write and its read. */
__global__ void take_turns(int *a, int part, int rest, int *out) {
    const int t = threadIdx.x, first = t * part;
    int sum = 0;
    for (int i = first; i < first + part; i++) {
        a[i] = a[i] * 3 + 1;
        ((char *)a)[4 * (long)i] = 5;
        sum += __ballot_sync(~0u, true) == 1; // lanes meet
        if (t % 2 == 1) sum += a[blockDim.x * part + (i * 1009 + t) % rest];
        sum += __ballot_sync(~0u, true) == 1; // lanes meet
        sum += a[i];
    }
    out[t] = sum;
}

static void lanes_take_turns(unsigned slots) {
    enum { THREADS = 64, PART = 50, REST = 4000, COUNT = THREADS * PART + REST };
    int *host = (int *)malloc(COUNT * sizeof(int)), *device, *mapped, *out;
    streamingOptions options = {};
    for (int i = 0; i < COUNT; i++)
        host[i] = (int)(i * 2654435761u >> 3);
    CUDA_OK(cudaMallocManaged(&device, COUNT * sizeof(int)));
    CUDA_OK(cudaMallocManaged(&out, 2 * THREADS * sizeof(int)));
    memcpy(device, host, COUNT * sizeof(int));
    options.slots = slots;
    CUDA_OK(streamingSetOptions(&options));
    CUDA_OK(streamingMalloc(&mapped, COUNT * sizeof(int)));
    CUDA_OK(streamingMap(mapped, host, COUNT * sizeof(int)));
    take_turns<<<1, THREADS>>>(device, PART, REST, out);
    take_turns<<<1, THREADS>>>(mapped, PART, REST, out + THREADS);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    CHECK(memcmp(host, device, COUNT * sizeof(int)) == 0);
    CHECK(memcmp(out, out + THREADS, THREADS * sizeof(int)) == 0);
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaFree(device));
    CUDA_OK(cudaFree(out));
    free(host);
}

/* What a thread writes through one parameter it may read through another. */
__global__ void add_up(int *out, const int *in, long part) {
    const long first = ((long)blockIdx.x * blockDim.x + threadIdx.x) * part;
    for (long i = first; i < first + part; i++)
        out[i] += in[i] * 3;
}

__global__ void add_up_bytes(int *out, const unsigned char *in, long part) {
    const long first = ((long)blockIdx.x * blockDim.x + threadIdx.x) * part;
    for (long i = first; i < first + part; i++)
        out[i] += in[i * 4 + 1] * 3;
}

__global__ void add_up_followed(int *out, const int *in, long part) {
    const long first = ((long)blockIdx.x * blockDim.x + threadIdx.x) * part;
    for (long i = first; i < first + part; i++)
        out[i] += in[first + (in[i] & 1)];
}

static void launch(int kernel, int *data, long ahead, unsigned blocks, unsigned threads,
                   long part) {
    if (kernel == 0)
        add_up<<<blocks, threads>>>(data + ahead, data, part);
    else if (kernel == 1)
        add_up_bytes<<<blocks, threads>>>(data + ahead, (unsigned char *)data, part);
    else
        add_up_followed<<<blocks, threads>>>(data + ahead, data, part);
}

/* A thread's part is read from its first element on, and written from so many later. */
static void aliases(int kernel, long ahead, unsigned slots) {
    enum { BLOCKS = 3, THREADS = 40, PART = 60 };
    const long step = PART + 2 * ahead, count = BLOCKS * THREADS * step + ahead;
    const size_t bytes = (size_t)count * sizeof(int);
    int *host = (int *)malloc(bytes), *device, *mapped;
    streamingOptions options = {};
    for (long i = 0; i < count; i++)
        host[i] = (int)(i * 2654435761u >> 3);
    CUDA_OK(cudaMallocManaged(&device, bytes));
    memcpy(device, host, bytes);
    options.slots = slots;
    CUDA_OK(streamingSetOptions(&options));
    CUDA_OK(streamingMalloc(&mapped, bytes));
    CUDA_OK(streamingMap(mapped, host, bytes));
    /* One thread where parts overlap, as others would race with it. */
    const unsigned blocks = ahead == 0 ? BLOCKS : 1, threads = ahead == 0 ? THREADS : 1;
    launch(kernel, device, ahead, blocks, threads, PART);
    launch(kernel, mapped, ahead, blocks, threads, PART);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    CHECK(memcmp(host, device, bytes) == 0);
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaFree(device));
    free(host);
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
    for (int kernel = 0; kernel < 3; kernel++)
        for (long ahead = 0; ahead < 8; ahead += 3)
            for (unsigned slots = 0; slots < 8; slots += 7)
                aliases(kernel, ahead, slots);
    lanes_take_turns(0);
    lanes_take_turns(3);
    return check_done();
}
