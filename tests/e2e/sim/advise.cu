/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for which it is known what helps. */
#include "../check.h"

enum { WORDS = 1 << 19, STRIDE = 512, ROUNDS = 4 }; /* 2 MiB of words; 2 KiB */

/* A word of 2 KiB: a 64th of the sectors. */
__global__ void read_sparsely(const unsigned *cold, unsigned *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = cold[(size_t)i * STRIDE];
}

__global__ void read_all(const unsigned *hot, unsigned *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    unsigned sum = 0;
    for (int k = i; k < WORDS; k += threads)
        sum += hot[k];
    sums[i] = sum;
}

static unsigned *table_of_ones(void)
{
    unsigned *table;
    CUDA_OK(cudaMallocManaged((void **)&table, WORDS * sizeof *table));
    for (int i = 0; i < WORDS; i++)
        table[i] = 1;
    return table;
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "both"; /* sparse, stream, both, device */
    const int threads = WORDS / STRIDE;
    const int is_sparse = strcmp(what, "sparse") == 0 || strcmp(what, "both") == 0;
    const int is_stream = strcmp(what, "stream") == 0 || strcmp(what, "both") == 0;
    unsigned *sums, first = 0;
    const unsigned *cold = is_sparse ? table_of_ones() : nullptr, *hot = is_stream ? table_of_ones() : nullptr;
    CUDA_OK(cudaMalloc((void **)&sums, threads * sizeof *sums));
    if (is_sparse) {
        read_sparsely<<<threads / 64, 64>>>(cold, sums);
        CUDA_OK(cudaMemcpy(&first, sums, sizeof first, cudaMemcpyDeviceToHost));
        CHECK_EQ(first, 1u);
    }
    if (is_stream) {
        for (int round = 0; round < ROUNDS; round++)
            read_all<<<threads / 64, 64>>>(hot, sums);
        CUDA_OK(cudaMemcpy(&first, sums, sizeof first, cudaMemcpyDeviceToHost));
        CHECK_EQ(first, (unsigned)STRIDE);
    }
    return check_done();
}
