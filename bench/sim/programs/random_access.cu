/* SPDX-License-Identifier: Apache-2.0 */
/* Updates at random places of a table, T[r] ^= r, as HPC Challenge's RandomAccess makes them.
 * Arguments: log2 of the table's 8-byte words, log2 of the updates. */
#include "program.h"

#define UPDATES_PER_THREAD 16u
#define POLYNOMIAL 7u

static __host__ __device__ inline uint64_t next_random(uint64_t r) {
    return (r << 1) ^ ((int64_t)r < 0 ? POLYNOMIAL : 0u);
}

static __host__ __device__ inline uint64_t first_random(uint64_t thread) {
    uint64_t x = thread + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 31)) | 1u;
}

__global__ void update(unsigned long long *table, uint64_t mask) {
    uint64_t r = first_random(blockIdx.x * (uint64_t)blockDim.x + threadIdx.x);
    for (uint32_t i = 0; i < UPDATES_PER_THREAD; i++) {
        r = next_random(r);
        atomicXor(&table[(r >> 3) & mask], (unsigned long long)r);
    }
}

int main(int argc, char **argv) {
    const int table_log2 = program_size(argc, argv, 1, 20);
    const int update_log2 = program_size(argc, argv, 2, 20);
    if (table_log2 > 33 || update_log2 < 12 || update_log2 > 36) return 2;
    const uint64_t words = (uint64_t)1 << table_log2, updates = (uint64_t)1 << update_log2;
    unsigned long long *table;
    CUDA_OK(cudaMalloc((void **)&table, words * sizeof *table));
    CUDA_OK(cudaMemset(table, 0, words * sizeof *table));
    const uint64_t threads = updates / UPDATES_PER_THREAD;
    update<<<(unsigned)(threads / 256), 256>>>(table, words - 1);
    CUDA_OK(cudaDeviceSynchronize());
    /* Each update puts its number into the table once, by XOR: so all words make what all updates make. */
    enum { CHUNK = 1 << 20 };
    unsigned long long *chunk = (unsigned long long *)malloc(CHUNK * sizeof *chunk);
    if (chunk == NULL) return 1;
    uint64_t together = 0;
    for (uint64_t at = 0; at < words; at += CHUNK) {
        const uint64_t count = words - at < CHUNK ? words - at : CHUNK;
        CUDA_OK(cudaMemcpy(chunk, table + at, count * sizeof *chunk, cudaMemcpyDeviceToHost));
        for (uint64_t i = 0; i < count; i++)
            together ^= chunk[i];
    }
    for (uint64_t t = 0; t < threads; t++) {
        uint64_t r = first_random(t);
        for (uint32_t i = 0; i < UPDATES_PER_THREAD; i++) {
            r = next_random(r);
            together ^= r;
        }
    }
    printf("%s\n", together == 0 ? "correct" : "WRONG");
    return together != 0;
}
