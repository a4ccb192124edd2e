// FLAGS: --default-stream per-thread -Xcompiler -pthread -lpthread
/* SPDX-License-Identifier: Apache-2.0 */
/* With per-thread default streams, kernels of two host threads run side by side: each waits for the other. */
#include "check.h"
#include <pthread.h>

__global__ void meet(volatile int *mine, volatile int *other, int *seen)
{
    *mine = 1;
    __threadfence();
    while (*other == 0)
        ;
    *seen = *other;
}

static int *flags, *seen;

static void *second(void *)
{
    meet<<<1, 1>>>(flags + 1, flags, seen + 1);
    return (void *)(intptr_t)cudaStreamSynchronize(0);
}

int main(void)
{
    CUDA_OK(cudaHostAlloc((void **)&flags, 2 * sizeof(int), cudaHostAllocDefault));
    seen = check_managed<int>(2);
    flags[0] = flags[1] = 1;
    meet<<<1, 1>>>(flags, flags + 1, seen); /* loads the code */
    CUDA_OK(cudaDeviceSynchronize());
    flags[0] = flags[1] = 0;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, second, NULL) == 0);
    meet<<<1, 1>>>(flags, flags + 1, seen);
    CUDA_OK(cudaStreamSynchronize(0));
    void *error;
    pthread_join(thread, &error);
    CHECK_EQ((int)(intptr_t)error, (int)cudaSuccess);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(seen[0], 1);
    CHECK_EQ(seen[1], 1);
    return check_done();
}
