/* SPDX-License-Identifier: Apache-2.0 */
/* Tens of thousands of small launches, in one stream and in several, with copies between. */
#include "check.h"

__global__ void add(int *at, int v) { *at += v; }
__global__ void wide(int *v) { v[threadIdx.x] += threadIdx.x; }

int main(void)
{
    int *d, host = 0;
    CUDA_OK(cudaMalloc(&d, 512));
    CUDA_OK(cudaMemset(d, 0, 512));
    long long e = 0;
    for (int i = 0; i < 20000; i++) {
        add<<<1, 1>>>(d, i % 7);
        e += i % 7;
    }
    CUDA_OK(cudaMemcpy(&host, d, 4, cudaMemcpyDeviceToHost));
    CHECK_EQ(host, e);
    for (int i = 0; i < 500; i++) { /* with a wait each */
        add<<<1, 1>>>(d, 1);
        CUDA_OK(cudaMemcpy(&host, d, 4, cudaMemcpyDeviceToHost));
        CHECK_EQ(host, e + i + 1);
    }
    cudaStream_t streams[8];
    for (int s = 0; s < 8; s++)
        CUDA_OK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    CUDA_OK(cudaMemset(d, 0, 512));
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 8000; i++)
        add<<<1, 1, 0, streams[i % 8]>>>(d + i % 8 * 16, 1);
    CUDA_OK(cudaDeviceSynchronize());
    int all[128];
    CUDA_OK(cudaMemcpy(all, d, 512, cudaMemcpyDeviceToHost));
    for (int s = 0; s < 8; s++)
        CHECK_EQ(all[s * 16], 1000);
    CUDA_OK(cudaMemset(d, 0, 512));
    for (int i = 0; i < 1000; i++)
        wide<<<1, 128>>>(d);
    CUDA_OK(cudaMemcpy(all, d, 512, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 128; t++)
        CHECK_EQ(all[t], 1000 * t);
    for (int s = 0; s < 8; s++)
        CUDA_OK(cudaStreamDestroy(streams[s]));
    return check_done();
}
