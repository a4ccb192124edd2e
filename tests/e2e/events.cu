/* SPDX-License-Identifier: Apache-2.0 */
/* Events: elapsed time, states before and after recording, the errors of wrong use. */
#include "check.h"
#include <time.h>

static void CUDART_CB nap(void *)
{
    struct timespec t = {0, 30000000};
    nanosleep(&t, NULL);
}

int main(void)
{
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
    CUDA_OK(cudaEventRecord(a, stream));
    CUDA_OK(cudaLaunchHostFunc(stream, nap, NULL));
    CUDA_OK(cudaEventRecord(b, stream));
    CHECK_ERROR(cudaEventElapsedTime(&ms, a, b), cudaErrorNotReady);
    CUDA_OK(cudaEventSynchronize(b));
    CUDA_OK(cudaEventElapsedTime(&ms, a, b));
    CHECK(ms >= 29.0f && ms < 5000.0f);
    CUDA_OK(cudaEventElapsedTime(&ms, b, a)); /* backwards is negative */
    CHECK(ms <= -29.0f);
    CUDA_OK(cudaEventRecord(untimed, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CHECK_ERROR(cudaEventElapsedTime(&ms, a, untimed), cudaErrorInvalidResourceHandle);
    CUDA_OK(cudaEventRecord(a)); /* again, in the default stream */
    CUDA_OK(cudaEventRecord(b, 0));
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaEventElapsedTime(&ms, a, b));
    CHECK(ms >= 0.0f && ms < 1000.0f);
    CUDA_OK(cudaEventDestroy(a));
    CUDA_OK(cudaEventDestroy(b));
    CUDA_OK(cudaEventDestroy(untimed));
    CUDA_OK(cudaStreamDestroy(stream));
    cudaGetLastError();
    return check_done();
}
