/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: work of one stream runs in order; events order streams; asynchronous copies, sets and
 * kernels in many streams at once; priorities; queries. */
#include "check.h"

__global__ void step(int *data, int n, int factor, int add)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] = data[i] * factor + add;
}

__global__ void wait_for_host(volatile int *go, int *seen)
{
    while (*go == 0)
        ;
    *seen = 1;
}

int main(void)
{
    const int n = 20000, count = 6;
    cudaStream_t streams[count];
    int *device[count], *host;
    CUDA_OK(cudaMallocHost((void **)&host, count * n * sizeof(int)));
    for (int i = 0; i < count * n; i++)
        host[i] = i % 100;
    for (int s = 0; s < count; s++) {
        CUDA_OK(s % 2 ? cudaStreamCreate(&streams[s]) : cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        CUDA_OK(cudaMalloc((void **)&device[s], n * sizeof(int)));
    }
    for (int s = 0; s < count; s++) {
        CUDA_OK(cudaMemcpyAsync(device[s], host + s * n, n * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
        for (int k = 0; k < 10; k++) /* not commutative: the order shows */
            step<<<4, 64, 0, streams[s]>>>(device[s], n, k % 2 ? 3 : -2, s + k);
        CUDA_OK(cudaMemsetAsync(device[s], 0, 10 * sizeof(int), streams[s]));
        step<<<4, 64, 0, streams[s]>>>(device[s], n, 1, 1);
        CUDA_OK(cudaMemcpyAsync(host + s * n, device[s], n * sizeof(int), cudaMemcpyDeviceToHost, streams[s]));
    }
    for (int s = 0; s < count; s++) {
        CUDA_OK(cudaStreamSynchronize(streams[s]));
        CUDA_OK(cudaStreamQuery(streams[s]));
        for (int i = 0; i < n; i++) {
            int e = (s * n + i) % 100;
            for (int k = 0; k < 10; k++)
                e = e * (k % 2 ? 3 : -2) + s + k;
            CHECK_EQ(host[s * n + i], i < 10 ? 1 : e + 1);
        }
    }

    /* a chain across streams by events */
    cudaEvent_t event;
    CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CUDA_OK(cudaMemset(device[0], 0, n * sizeof(int)));
    CUDA_OK(cudaDeviceSynchronize());
    int e = 0;
    for (int k = 0; k < 60; k++) {
        int s = k % count;
        if (k > 0)
            CUDA_OK(cudaStreamWaitEvent(streams[s], event, 0));
        step<<<3, 128, 0, streams[s]>>>(device[0], n, k % 3 ? 1 : -1, k);
        CUDA_OK(cudaEventRecord(event, streams[s])); /* waits already queued mean the earlier record */
        e = e * (k % 3 ? 1 : -1) + k;
    }
    CUDA_OK(cudaEventSynchronize(event));
    CUDA_OK(cudaEventQuery(event));
    CUDA_OK(cudaMemcpy(host, device[0], n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK_EQ(host[i], e);

    /* a launch returns before its kernel ends, and queries say so */
    int *seen = check_managed<int>(1);
    volatile int *go;
    CUDA_OK(cudaHostAlloc((void **)&go, 4, cudaHostAllocMapped));
    *go = 0;
    wait_for_host<<<1, 1, 0, streams[0]>>>(go, seen);
    CUDA_OK(cudaEventRecord(event, streams[0]));
    CHECK_ERROR(cudaStreamQuery(streams[0]), cudaErrorNotReady);
    CHECK_ERROR(cudaEventQuery(event), cudaErrorNotReady);
    CUDA_OK(cudaGetLastError()); /* an answer, no error */
    CUDA_OK(cudaMemcpyAsync(host, device[1], 400, cudaMemcpyDeviceToHost, streams[2])); /* not held up */
    CUDA_OK(cudaStreamSynchronize(streams[2]));
    *go = 1;
    CUDA_OK(cudaStreamSynchronize(streams[0]));
    CHECK_EQ(*seen, 1);

    int least = 0, greatest = 0;
    CUDA_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest <= least);
    cudaStream_t urgent;
    CUDA_OK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    unsigned flags = 0;
    CUDA_OK(cudaStreamGetFlags(urgent, &flags));
    CHECK_EQ(flags, (unsigned)cudaStreamNonBlocking);
    CUDA_OK(cudaStreamDestroy(urgent));
    for (int s = 0; s < count; s++) {
        step<<<1, 32, 0, streams[s]>>>(device[s], n, 1, 1);
        CUDA_OK(cudaStreamDestroy(streams[s])); /* the work still completes */
    }
    CUDA_OK(cudaDeviceSynchronize());
    for (int s = 0; s < count; s++)
        CUDA_OK(cudaFree(device[s]));
    CUDA_OK(cudaFreeHost(host));
    CUDA_OK(cudaEventDestroy(event));
    return check_done();
}
