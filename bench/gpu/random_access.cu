/* SPDX-License-Identifier: Apache-2.0 */
/* Random reads of 8 bytes over tables of growing size, up to 90% of the memory that is free: what the GPU's
 * caches and address translation make of them.   random_access [MiB of the smallest table: 1024, or half of
 * that memory if it is less] [… of the largest: as much as there is] */
#include "gpu.h"

#define READS 64 /* a thread, four at a time */

__host__ __device__ static inline unsigned long long value_at(unsigned long long i) {
    return i * 0x9e3779b97f4a7c15u + 1;
}

__device__ static inline unsigned long long next(unsigned long long x) {
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

__global__ void fill(unsigned long long *table, size_t count) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        table[i] = value_at(i);
}

/* Counts values that are not what was written there, and the blocks that looked. */
__global__ void gather(const unsigned long long *table, size_t count, unsigned seed,
                       unsigned *wrong, unsigned *looked) {
    unsigned long long x =
        value_at(seed + (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 2654435761u) | 1;
    unsigned mine = 0;
    for (int i = 0; i < READS; i += 4) {
        unsigned long long at[4], got[4];
        for (int k = 0; k < 4; k++) {
            x = next(x);
            at[k] = __umul64hi(x, count); /* below `count` */
        }
        for (int k = 0; k < 4; k++)
            got[k] = table[at[k]];
        for (int k = 0; k < 4; k++)
            mine += got[k] != value_at(at[k]);
    }
    if (mine != 0) atomicAdd(wrong, mine);
    if (threadIdx.x == 0) atomicAdd(looked, 1u);
}

/* The largest table that there is, from *most downwards: what is free may be in pieces. */
static unsigned long long *allocate(size_t least, size_t *most) {
    unsigned long long *table;
    while (*most > least && cudaMalloc(&table, *most) != cudaSuccess) {
        (void)cudaGetLastError();
        *most = (*most / 16 * 15) >> 20 << 20;
        if (*most < least) *most = least;
    }
    if (*most == least) CHECK(cudaMalloc(&table, least));
    return table;
}

int main(int argc, char **argv) {
    size_t free_bytes, total_bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    const size_t room = (free_bytes / 10 * 9) >> 20 << 20;
    size_t least = argument(argc, argv, 1, room >> 21 < 1024 ? room >> 21 : 1024) << 20;
    size_t most = argument(argc, argv, 2, 0) << 20;
    if (most == 0 || most > room) most = room;
    if (least == 0 || least > most) {
        fprintf(stderr, "only %zu MiB are free\n", free_bytes >> 20);
        return 1;
    }
    unsigned *wrong, *looked, counted[2], launches = 0;
    CHECK(cudaMalloc(&wrong, sizeof counted));
    looked = wrong + 1;
    unsigned long long *table = allocate(least, &most);
    CHECK(cudaMemset(wrong, 0, sizeof counted));
    const int blocks = properties.multiProcessorCount * 32;
    const size_t threads = (size_t)blocks * 256;
    fill<<<blocks, 256>>>(table, most / 8);
    CHECK(cudaDeviceSynchronize());
    timer t;
    for (size_t bytes = least;; bytes = bytes * 2 < most ? bytes * 2 : most) {
        double rates[REPEATS];
        gather<<<blocks, 256>>>(table, bytes / 8, 1, wrong, looked);
        launches += 1 + REPEATS;
        for (int i = 0; i < REPEATS; i++) {
            t.start();
            gather<<<blocks, 256>>>(table, bytes / 8, 100u + (unsigned)i, wrong, looked);
            rates[i] = (double)threads * READS / t.stop() * 1e-9;
        }
        CHECK(cudaGetLastError());
        char what[64];
        snprintf(what, sizeof what, "random reads over %zu MiB", bytes >> 20);
        report(what, "billion/s", rates, REPEATS);
        if (bytes == most) break;
    }
    CHECK(cudaMemcpy(counted, wrong, sizeof counted, cudaMemcpyDeviceToHost));
    if (counted[0] != 0 || counted[1] != launches * (unsigned)blocks) {
        fprintf(stderr, "%u reads were wrong; %u of %u blocks ran\n", counted[0], counted[1],
                launches * (unsigned)blocks);
        return 1;
    }
    puts("PASS");
    return 0;
}
