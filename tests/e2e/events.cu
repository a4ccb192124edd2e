/* SPDX-License-Identifier: Apache-2.0 */
/* Events: elapsed time, states before and after recording, the errors of wrong use. */
#include "check.h"
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* Naps once the host lets it. */
static void CUDART_CB nap(void *go)
{
    struct timespec t = {0, 30000000}, moment = {0, 100000};
    while (__atomic_load_n((int *)go, __ATOMIC_ACQUIRE) == 0)
        nanosleep(&moment, NULL);
    nanosleep(&t, NULL);
}

/* Host functions take no simulated time. */
static bool is_simulated(void)
{
    cudaDeviceProp p;
    CUDA_OK(cudaGetDeviceProperties(&p, 0));
    return strstr(p.name, "simulated") != NULL;
}

int main(void)
{
    const float nap_ms = is_simulated() ? 0.0f : 29.0f;
    cudaEvent_t a, b, untimed;
    CUDA_OK(cudaEventCreate(&a));
    CUDA_OK(cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
    CUDA_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    CUDA_OK(cudaEventQuery(a)); /* never recorded: complete */
    CUDA_OK(cudaEventSynchronize(a));
    float ms = -1;
    CHECK_ERROR(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    int go = 0;
    double start_ms = now_ms(), rounding_ms = 0.01;
    CUDA_OK(cudaEventRecord(a, stream));
    CUDA_OK(cudaLaunchHostFunc(stream, nap, &go));
    CUDA_OK(cudaEventRecord(b, stream));
    CHECK_ERROR(cudaEventElapsedTime(&ms, a, b), cudaErrorNotReady);
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    CUDA_OK(cudaEventSynchronize(b));
    CUDA_OK(cudaEventElapsedTime(&ms, a, b));
    CHECK(ms >= nap_ms && ms <= now_ms() - start_ms + rounding_ms);
    CUDA_OK(cudaEventElapsedTime(&ms, b, a)); /* backwards is negative */
    CHECK(ms <= -nap_ms);
    CUDA_OK(cudaEventRecord(untimed, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CHECK_ERROR(cudaEventElapsedTime(&ms, a, untimed), cudaErrorInvalidResourceHandle);
    start_ms = now_ms();
    CUDA_OK(cudaEventRecord(a)); /* again, in the default stream */
    CUDA_OK(cudaEventRecord(b, 0));
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaEventElapsedTime(&ms, a, b));
    CHECK(ms >= 0.0f && ms <= now_ms() - start_ms + rounding_ms);
    CUDA_OK(cudaEventDestroy(a));
    CUDA_OK(cudaEventDestroy(b));
    CUDA_OK(cudaEventDestroy(untimed));
    CUDA_OK(cudaStreamDestroy(stream));
    cudaGetLastError();
    return check_done();
}
