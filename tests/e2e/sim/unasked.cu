/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated time passes: while the host polls memory without a call, while several threads wait for different work at
 * once, for kernels that one thread has launched and another waits for, beside host functions. */
// DEVICES: sim:k80 sim:gtx1080ti
#include <pthread.h>

#include "../check.h"

enum { THREADS = 4, ROUNDS = 12, COUNT = 640 };

__global__ void set(volatile int *flag, int value)
{
    *flag = value;
}

/* Long, with words that have to be fetched from running threads, and barriers. */
__global__ void turn(int *values, int steps)
{
    __shared__ int seen[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        seen[threadIdx.x] = values[i];
        __syncthreads();
        values[i] = seen[(threadIdx.x + 1) % blockDim.x] + 1;
        __syncthreads();
    }
}

static void looks_at_memory(void)
{
    int *flag;
    CUDA_OK(cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped));
    for (int round = 1; round <= 2; round++) {
        set<<<1, 1>>>(flag, round);
        while (*(volatile int *)flag != round)
            ;
    }
    CUDA_OK(cudaFreeHost(flag));
}

typedef struct worker {
    int number;
    int calls;
    int *values;
    cudaStream_t own, foreign; /* another thread waits for its commands there */
} worker;

static void note_call(void *object)
{
    ((worker *)object)->calls++;
}

static void *work(void *object)
{
    worker *w = (worker *)object;
    cudaEvent_t event;
    CUDA_OK(cudaEventCreate(&event));
    for (int r = 0; r < ROUNDS; r++) {
        turn<<<COUNT / 64, 64, 0, w->own>>>(w->values, 20 + 7 * w->number);
        CUDA_OK(cudaLaunchHostFunc(w->own, note_call, w));
        turn<<<COUNT / 64, 64, 0, w->foreign>>>(w->values + COUNT, 30);
        CUDA_OK(cudaEventRecord(event, w->own));
        if (r % 3 == 0)
            while (cudaEventQuery(event) == cudaErrorNotReady)
                ;
        else
            CUDA_OK(r % 3 == 1 ? cudaEventSynchronize(event) : cudaStreamSynchronize(w->own));
        CHECK(w->calls == r + 1);
    }
    CUDA_OK(cudaEventDestroy(event));
    return NULL;
}

static void threads_wait_at_once(void)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    static int values[2 * COUNT];
    for (int t = 0; t < THREADS; t++) {
        worker *w = &workers[t];
        *w = (worker){t};
        CUDA_OK(cudaMalloc((void **)&w->values, sizeof values));
        CUDA_OK(cudaMemset(w->values, 0, sizeof values));
        CUDA_OK(cudaStreamCreateWithFlags(&w->own, cudaStreamNonBlocking));
        CUDA_OK(cudaStreamCreateWithFlags(&w->foreign, cudaStreamNonBlocking));
    }
    CUDA_OK(cudaDeviceSynchronize());
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, work, &workers[t]) == 0);
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
    for (int t = 0; t < THREADS; t++) {
        worker *w = &workers[t];
        CUDA_OK(cudaStreamSynchronize(w->foreign));
        CUDA_OK(cudaMemcpy(values, w->values, sizeof values, cudaMemcpyDeviceToHost));
        for (int i = 0; i < COUNT; i++) {
            CHECK(values[i] == ROUNDS * (20 + 7 * t));
            CHECK(values[COUNT + i] == ROUNDS * 30);
        }
    }
}

int main(void)
{
    threads_wait_at_once();
    looks_at_memory();
    return check_done();
}
