/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory whose pages move: pointers to pointers, into the middle, in structures; read and written by one thread
 * in order (the counts of paging.sh), and by many anyhow. Prints a sum that depends on every word. */
// DEVICES: sim:gtx1080ti
#include "../check.h"

enum { PAGE_WORDS = 1024, CHUNKS = 3, WORDS = CHUNKS * 512 * PAGE_WORDS };

typedef struct row {
    unsigned *words;
    struct row *next;
} row;

/* A word of each page, in order, one after the other. */
__global__ void walk_pages(const unsigned *words, unsigned *sum)
{
    unsigned s = 0, i = 0;
    while (i < WORDS) {
        s += words[i];
        i = words[i] + PAGE_WORDS; /* a word says where it is */
    }
    *sum = s;
}

__global__ void add_neighbour(unsigned *words, int stride)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    words[i] += (i * (unsigned)stride) % 97;
}

__global__ void scatter(unsigned *words, unsigned seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = (i * 2654435761u + seed) % WORDS;
    atomicAdd(&words[at], i & 15);
}

/* Rows are a list, and begin anywhere. */
__global__ void follow(row *first)
{
    for (row *r = first; r != NULL; r = r->next)
        r->words[threadIdx.x] += threadIdx.x;
}

static unsigned sum_of(const unsigned *words)
{
    unsigned sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum = sum * 31 + words[i];
    return sum;
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "all";
    unsigned *words, *sum;
    CUDA_OK(cudaMallocManaged((void **)&words, sizeof *words * WORDS));
    CUDA_OK(cudaMalloc((void **)&sum, sizeof *sum));
    for (int i = 0; i < WORDS; i++)
        words[i] = (unsigned)i;
    if (strcmp(what, "walk") == 0) {
        walk_pages<<<1, 1>>>(words, sum);
        CUDA_OK(cudaDeviceSynchronize());
        return check_done();
    }
    row *rows;
    CUDA_OK(cudaMallocManaged((void **)&rows, 64 * sizeof *rows));
    for (int i = 0; i < 64; i++)
        rows[i] = (row){words + (i * 7919) % (WORDS - 256), i < 63 ? &rows[i + 1] : NULL};
    add_neighbour<<<WORDS / 256, 256>>>(words, 5);
    scatter<<<64, 256>>>(words, 12345);
    follow<<<1, 256>>>(rows);
    CUDA_OK(cudaDeviceSynchronize());
    words[17] += 3; /* the host's turn */
    scatter<<<64, 256>>>(words, 999);
    CUDA_OK(cudaDeviceSynchronize());
    printf("sum %u\n", sum_of(words));
    CUDA_OK(cudaFree(rows));
    CUDA_OK(cudaFree(words));
    CUDA_OK(cudaMallocManaged((void **)&words, sizeof *words * WORDS)); /* where the last one was */
    add_neighbour<<<WORDS / 256, 256>>>(words, 3);
    CUDA_OK(cudaDeviceSynchronize());
    printf("sum %u\n", sum_of(words));
    return check_done();
}
