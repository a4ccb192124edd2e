// FLAGS: --default-stream per-thread -Xcompiler -pthread -lpthread
/* SPDX-License-Identifier: Apache-2.0 */
/* With per-thread default streams, kernels of two host threads run side by side: each waits for the other. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

__global__ void meet(volatile int *mine, volatile int *other, int *seen)
{
    *mine = 1;
    __threadfence();
    while (*other == 0)
        ;
    *seen = *other;
}

static int *flags, *seen;

/* The pause gives the other thread's wait time to begin first. */
static void *second(void *pause_us)
{
    usleep(*(useconds_t *)pause_us);
    meet<<<1, 1>>>(flags + 1, flags, seen + 1);
    return (void *)(intptr_t)cudaStreamSynchronize(0);
}

static void meet_second(useconds_t pause_us)
{
    flags[0] = flags[1] = seen[0] = seen[1] = 0;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, second, &pause_us) == 0);
    meet<<<1, 1>>>(flags, flags + 1, seen);
    CUDA_OK(cudaStreamSynchronize(0));
    void *error;
    pthread_join(thread, &error);
    CHECK_EQ((int)(intptr_t)error, (int)cudaSuccess);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(seen[0], 1);
    CHECK_EQ(seen[1], 1);
}

int main(void)
{
    CUDA_OK(cudaHostAlloc((void **)&flags, 2 * sizeof(int), cudaHostAllocDefault));
    seen = check_managed<int>(2);
    flags[0] = flags[1] = 1;
    meet<<<1, 1>>>(flags, flags + 1, seen); /* loads the code */
    CUDA_OK(cudaDeviceSynchronize());
    meet_second(0);
    meet_second(50 * 1000);
    return check_done();
}
