/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetch and advice in their spellings: by device number (to CUDA 12), by location with _v2 (12.2 on)
 * and by location under the old name (13). They move nothing that a program could see. */
#include "check.h"

__global__ void add(int *v, int n, int a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] += a;
}

int main(void)
{
    const int n = 100000;
    int *v = check_managed<int>(n), rounds = 0;
    for (int i = 0; i < n; i++)
        v[i] = i;
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    cudaMemLocation gpu, cpu;
    gpu.type = cudaMemLocationTypeDevice;
    gpu.id = 0;
    cpu.type = cudaMemLocationTypeHost;
    cpu.id = 0;
#if CUDART_VERSION < 13000
    CUDA_OK(cudaMemAdvise(v, n * sizeof(int), cudaMemAdviseSetPreferredLocation, 0));
    CUDA_OK(cudaMemAdvise(v, n * sizeof(int), cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
    CUDA_OK(cudaMemPrefetchAsync(v, n * sizeof(int), 0, stream));
    add<<<(n + 255) / 256, 256, 0, stream>>>(v, n, 1);
    rounds++;
    CUDA_OK(cudaMemPrefetchAsync(v, n * sizeof(int), cudaCpuDeviceId));
    CUDA_OK(cudaMemAdvise_v2(v, n * sizeof(int), cudaMemAdviseSetReadMostly, gpu));
    CUDA_OK(cudaMemPrefetchAsync_v2(v, n * sizeof(int), gpu, 0, stream));
    add<<<(n + 255) / 256, 256, 0, stream>>>(v, n, 1);
    rounds++;
    CUDA_OK(cudaMemPrefetchAsync_v2(v, n * sizeof(int), cpu, 0, stream));
#endif
    CUDA_OK(cudaMemAdvise(v, n * sizeof(int), cudaMemAdviseUnsetReadMostly, gpu));
    CUDA_OK(cudaMemPrefetchAsync(v, n * sizeof(int), gpu, 0, stream));
    add<<<(n + 255) / 256, 256, 0, stream>>>(v, n, 1);
    rounds++;
    CUDA_OK(cudaMemPrefetchAsync(v, n * sizeof(int), cpu, 0, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        CHECK_EQ(v[i], i + rounds);
    int preferred = 99;
    CUDA_OK(cudaMemRangeGetAttribute(&preferred, sizeof preferred, cudaMemRangeAttributeReadMostly, v, n * sizeof(int)));
    CHECK_EQ(preferred, 0);
    int host = 0;
    CHECK_ERROR(cudaMemPrefetchAsync(&host, sizeof host, gpu, 0, stream), cudaErrorInvalidValue);
    cudaGetLastError();
    CUDA_OK(cudaStreamDestroy(stream));
    return check_done();
}
