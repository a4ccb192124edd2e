/* SPDX-License-Identifier: Apache-2.0 */
/* Counts that kernels add to by wp_word_sum32 and wp_word_sum64, which a worker of the CPU device may keep for the
 * time of a launch: few and many words, of both widths in one launch, sums that leave 32 bits, and a launch that
 * reads what the one before it counted. An address outside of all memory is the error that it is without sums. */
#include <stdlib.h>
#include <string.h>
#include <warpage/shared_words.h>
#include "check.h"

enum { THREADS = 128, BLOCKS = 200, ROUNDS = 20 };

__device__ static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Half of the counts go to 16 words, the others to all; both arrays are used, as words of 4 and of 8 bytes. */
__global__ void count(uint32_t *shorts, uint64_t *longs, uint32_t words, uint64_t step)
{
    uint64_t state = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t random = next_random(&state);
        const uint32_t at = (uint32_t)(random >> 1) % (random & 1 ? words : 16u);
        wp_word_sum32(&shorts[at], (uint32_t)step);
        wp_word_sum64(&longs[at], step);
    }
}

static void serial(uint32_t *shorts, uint64_t *longs, uint32_t words, uint64_t step)
{
    for (uint64_t thread = 0; thread < THREADS * BLOCKS; thread++) {
        uint64_t state = thread;
        for (int i = 0; i < ROUNDS; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const uint64_t random = state >> 33;
            const uint32_t at = (uint32_t)(random >> 1) % (random & 1 ? words : 16u);
            shorts[at] += (uint32_t)step;
            longs[at] += step;
        }
    }
}

/* Doubles each count, by the value that the launch before has left. */
__global__ void twice(uint64_t *longs, uint32_t words)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words) wp_word_sum64(&longs[i], wp_word_load64(&longs[i]));
}

static void try_words(uint32_t words, uint64_t step)
{
    uint32_t *shorts, *expected32 = (uint32_t *)calloc(words, 4), *got32 = (uint32_t *)malloc(words * 4);
    uint64_t *longs, *expected64 = (uint64_t *)calloc(words, 8), *got64 = (uint64_t *)malloc(words * 8);
    CUDA_OK(cudaMalloc((void **)&shorts, words * 4));
    CUDA_OK(cudaMalloc((void **)&longs, words * 8));
    CUDA_OK(cudaMemset(shorts, 0, words * 4));
    CUDA_OK(cudaMemset(longs, 0, words * 8));
    count<<<BLOCKS, THREADS>>>(shorts, longs, words, step);
    twice<<<(words + 63) / 64, 64>>>(longs, words);
    CUDA_OK(cudaMemcpy(got32, shorts, words * 4, cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(got64, longs, words * 8, cudaMemcpyDeviceToHost));
    serial(expected32, expected64, words, step);
    for (uint32_t i = 0; i < words; i++) {
        CHECK_EQ(got32[i], expected32[i]);
        CHECK_EQ(got64[i], 2 * expected64[i]);
    }
    CUDA_OK(cudaFree(shorts));
    CUDA_OK(cudaFree(longs));
    free(expected32);
    free(got32);
    free(expected64);
    free(got64);
}

int main(void)
{
    try_words(16, 1);
    try_words(16, UINT64_C(0x123456789));
    try_words(100000, 3);
    count<<<1, 1>>>((uint32_t *)((uintptr_t)1 << 45), (uint64_t *)((uintptr_t)1 << 46), 16, 1);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    CUDA_OK(cudaDeviceReset());
    return check_done();
}
