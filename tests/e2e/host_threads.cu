// FLAGS: -Xcompiler -pthread -lpthread
/* SPDX-License-Identifier: Apache-2.0 */
/* Several host threads use the device at once; each has its own last error and its own device choice. */
#include "check.h"
#include <pthread.h>

__global__ void step(int *data, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * 3 + k;
}

struct worker {
    pthread_t thread;
    int number, wrong, error_seen;
};

static void *work(void *arg)
{
    worker *me = (worker *)arg;
    const int n = 700;
    int *d, host[n];
    cudaStream_t stream;
    me->wrong = cudaGetLastError() != cudaSuccess;
    if (cudaSetDevice(0) != cudaSuccess || cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        me->wrong++;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < n; i++)
            host[i] = i + me->number;
        if (cudaMalloc((void **)&d, sizeof host) != cudaSuccess)
            me->wrong++;
        cudaMemcpyAsync(d, host, sizeof host, cudaMemcpyHostToDevice, stream);
        for (int k = 0; k < 4; k++)
            step<<<(n + 63) / 64, 64, 0, stream>>>(d, n, k + me->number);
        cudaMemcpyAsync(host, d, sizeof host, cudaMemcpyDeviceToHost, stream);
        if (cudaStreamSynchronize(stream) != cudaSuccess)
            me->wrong++;
        for (int i = 0; i < n; i++) {
            int e = i + me->number;
            for (int k = 0; k < 4; k++)
                e = e * 3 + k + me->number;
            me->wrong += host[i] != e;
        }
        cudaFree(d);
        if (me->number % 2)
            cudaSetDevice(-1); /* an error of this thread alone */
        cudaError_t last = cudaGetLastError();
        me->error_seen += last == cudaErrorInvalidDevice;
        me->wrong += last != cudaSuccess && last != cudaErrorInvalidDevice;
    }
    cudaStreamDestroy(stream);
    return NULL;
}

int main(void)
{
    worker workers[6];
    CUDA_OK(cudaFree(0));
    for (int w = 0; w < 6; w++) {
        workers[w].number = w;
        workers[w].error_seen = 0;
        CHECK(pthread_create(&workers[w].thread, NULL, work, &workers[w]) == 0);
    }
    for (int w = 0; w < 6; w++) {
        pthread_join(workers[w].thread, NULL);
        CHECK_EQ(workers[w].wrong, 0);
        CHECK_EQ(workers[w].error_seen, w % 2 ? 20 : 0);
    }
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);
    return check_done();
}
