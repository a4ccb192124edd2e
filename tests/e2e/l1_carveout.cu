/* SPDX-License-Identifier: Apache-2.0 */
// DEVICES: cpu cuda sim:v100 sim:p100
/* A kernel's preferred share of shared memory leaves L1 less: reads of 48 KiB that were in L1 are not any more. GPUs
 * with a fixed L1, and processors, take the preference and do without. */
#include <cstdlib>
#include <cstring>

#include "check.h"

enum { WORDS = 12 << 10, THREADS = 256, ROUNDS = 8 };

__global__ void sum(const unsigned *words, unsigned *out) {
    unsigned total = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = threadIdx.x; i < WORDS; i += THREADS)
            total += words[i ^ round];
    out[threadIdx.x] = total;
}

static float time_of(const unsigned *words, unsigned *out, int carveout) {
    float ms = 0;
    cudaEvent_t began, ended;
    CUDA_OK(cudaEventCreate(&began));
    CUDA_OK(cudaEventCreate(&ended));
    CUDA_OK(cudaFuncSetAttribute(sum, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
    sum<<<1, THREADS>>>(words, out);
    CUDA_OK(cudaEventRecord(began));
    sum<<<1, THREADS>>>(words, out);
    CUDA_OK(cudaEventRecord(ended));
    CUDA_OK(cudaEventSynchronize(ended));
    CUDA_OK(cudaEventElapsedTime(&ms, began, ended));
    CUDA_OK(cudaEventDestroy(began));
    CUDA_OK(cudaEventDestroy(ended));
    return ms;
}

static bool is_like(float ms, float other_ms) {
    return ms > 0.97f * other_ms && ms < 1.03f * other_ms;
}

int main() {
    static unsigned host[WORDS];
    unsigned *words, *out, results[THREADS];
    cudaDeviceProp device;
    for (int i = 0; i < WORDS; i++)
        host[i] = (unsigned)i * 2654435761u;
    CUDA_OK(cudaGetDeviceProperties(&device, 0));
    CUDA_OK(cudaMalloc(&words, sizeof host));
    CUDA_OK(cudaMalloc(&out, sizeof results));
    CUDA_OK(cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice));
    const float by_default = time_of(words, out, cudaSharedmemCarveoutDefault);
    const float most_l1 = time_of(words, out, cudaSharedmemCarveoutMaxL1);
    const float most_shared = time_of(words, out, cudaSharedmemCarveoutMaxShared);
    const float again = time_of(words, out, cudaSharedmemCarveoutDefault);
    CUDA_OK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) {
        unsigned total = 0;
        for (int round = 0; round < ROUNDS; round++)
            for (int i = t; i < WORDS; i += THREADS)
                total += host[i ^ round];
        CHECK_EQ(results[t], total);
    }
    const char *spec = getenv("WARPAGE_DEVICE");
    if (spec != NULL && strcmp(spec, "sim:v100") == 0) {
        CHECK(is_like(by_default, most_l1));
        CHECK(most_shared > 1.2f * most_l1);
        CHECK(is_like(again, by_default));
    } else if (spec != NULL && strcmp(spec, "sim:p100") == 0) {
        CHECK(is_like(most_shared, most_l1));
    }
    return check_done();
}
