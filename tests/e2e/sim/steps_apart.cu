/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that rely on each other through shared memory that is not volatile, in a loop that some of them leave early:
 * one that has run far ahead does not keep the others waiting. */
#include "../check.h"

__global__ void follow(const int *in, int *out, int n) {
    __shared__ int latest[8];
    const int t = threadIdx.x;
    int sum = 0;
    if (t % 32 == 0) latest[t / 32] = 0;
    __syncthreads();
    for (int i = t; i < n; i++) {
        if (in[i] % 13 == 5) latest[t / 32] = i;
        if (in[i] % 3 == 0) i += latest[t / 32] & 1;
        sum += in[i % n];
    }
    out[t] = sum;
}

int main() {
    enum { COUNT = 100, THREADS = 64 };
    int *in = check_managed<int>(COUNT), *out = check_managed<int>(THREADS);
    for (int i = 0; i < COUNT; i++)
        in[i] = i * 7919 % 1009;
    follow<<<1, THREADS>>>(in, out, COUNT);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK(out[0] != 0);
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(out));
    return check_done();
}
