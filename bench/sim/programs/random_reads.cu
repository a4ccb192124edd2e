/* SPDX-License-Identifier: Apache-2.0 */
/* Reads at random places of a table in managed memory, which the host has written: each thread
 * reads 1024 words and keeps their sum. Arguments: log2 of the table's 8-byte words, log2 of the
 * reads. */
#include "program.h"

#define READS_PER_THREAD 1024u

static __host__ __device__ inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static __host__ __device__ inline uint64_t place(uint64_t thread, uint32_t read, uint64_t mask) {
    return mix(thread * READS_PER_THREAD + read + 0x9e3779b97f4a7c15u) & mask;
}

__global__ void sum(const uint64_t *table, uint64_t mask, uint64_t *sums) {
    const uint64_t thread = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    uint64_t own = 0;
    for (uint32_t i = 0; i < READS_PER_THREAD; i++)
        own += table[place(thread, i, mask)];
    sums[thread] = own;
}

int main(int argc, char **argv) {
    const int table_log2 = program_size(argc, argv, 1, 20);
    const int read_log2 = program_size(argc, argv, 2, 20);
    if (table_log2 > 33 || read_log2 < 18 || read_log2 > 36) return 2;
    const uint64_t words = (uint64_t)1 << table_log2;
    const uint64_t threads = ((uint64_t)1 << read_log2) / READS_PER_THREAD;
    uint64_t *table, *sums;
    CUDA_OK(cudaMallocManaged((void **)&table, words * sizeof *table));
    CUDA_OK(cudaMallocManaged((void **)&sums, threads * sizeof *sums));
    for (uint64_t i = 0; i < words; i++)
        table[i] = mix(i);
    sum<<<(unsigned)(threads / 256), 256>>>(table, words - 1, sums);
    CUDA_OK(cudaDeviceSynchronize());
    uint64_t wrong = 0;
    for (uint64_t thread = 0; thread < threads; thread++) {
        uint64_t expected = 0;
        for (uint32_t i = 0; i < READS_PER_THREAD; i++)
            expected += mix(place(thread, i, words - 1));
        wrong += sums[thread] != expected;
    }
    printf("%s\n", wrong == 0 ? "correct" : "WRONG");
    return wrong != 0;
}
