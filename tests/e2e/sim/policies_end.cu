/* SPDX-License-Identifier: Apache-2.0 */
/* Four small programs on managed memory, each with the check of its result: a vector is updated in order, a grid is
 * smoothed there and back, elements are gathered at random, and counters are incremented, most of them in a hot part
 * that moves. */
#include "../check.h"

enum { STEP = 256, LAUNCHES = 3 }; /* elements between two that are used: several a page */

__host__ __device__ static unsigned mix(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

__host__ __device__ static unsigned hot(unsigned i, unsigned launch, unsigned n)
{
    unsigned r = mix(i);
    return r % 4 == 0 ? r / 4 % n : r / 4 % (n / 8) + launch * (n / 8);
}

__global__ void stream(unsigned *a, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i * STEP] = a[i * STEP] * 3 + 1;
}

__global__ void sweep(unsigned *a, unsigned n, unsigned launch)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, half = n / 2;
    if (at >= half) return;
    unsigned i = launch % 2 == 0 ? at : half - 1 - at, from = launch % 2 == 0 ? 0 : half, to = half - from;
    a[(to + i) * STEP] = a[(from + i) * STEP] + a[(from + (i + 1) % half) * STEP];
}

__global__ void gather(const unsigned *a, unsigned n, unsigned launch, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[mix(i + launch * n) % n * STEP];
}

__global__ void update(unsigned *a, unsigned n, unsigned launch)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&a[hot(i, launch, n) * STEP], i);
}

int main(int argc, char **argv)
{
    const char *name = argv[1];
    size_t bytes = (size_t)atoi(argv[2]) * 1024;
    unsigned n = (unsigned)(bytes / sizeof(unsigned) / STEP), *a, *out, *expected;
    if (argc != 3) return 2;
    CUDA_OK(cudaMallocManaged((void **)&a, bytes));
    CUDA_OK(cudaMallocHost((void **)&out, n * sizeof *out)); /* leaves device memory to pages */
    expected = (unsigned *)malloc(n * sizeof *expected);
    for (unsigned i = 0; i < n; i++)
        expected[i] = a[i * STEP] = mix(i + 5);
    for (unsigned launch = 0; launch < LAUNCHES; launch++) {
        unsigned half = n / 2, from = launch % 2 == 0 ? 0 : half, grid = n / 64 + 1;
        if (strcmp(name, "stream") == 0) {
            stream<<<grid, 64>>>(a, n);
            for (unsigned i = 0; i < n; i++)
                expected[i] = expected[i] * 3 + 1;
        } else if (strcmp(name, "sweep") == 0) {
            sweep<<<grid, 64>>>(a, n, launch);
            for (unsigned i = 0; i < half; i++)
                expected[half - from + i] = expected[from + i] + expected[from + (i + 1) % half];
        } else if (strcmp(name, "gather") == 0) {
            gather<<<grid, 64>>>(a, n, launch, out);
            CUDA_OK(cudaDeviceSynchronize());
            for (unsigned i = 0; i < n; i++)
                CHECK_EQ(out[i], expected[mix(i + launch * n) % n]);
        } else {
            update<<<grid, 64>>>(a, n, launch);
            for (unsigned i = 0; i < n; i++)
                expected[hot(i, launch, n)] += i;
        }
        if (launch == 1) CUDA_OK(cudaDeviceSynchronize()); /* the host uses a part in between */
        if (launch == 1) CHECK_EQ(a[0], expected[0]);
    }
    CUDA_OK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < n; i++)
        CHECK_EQ(a[i * STEP], expected[i]);
    free(expected);
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFreeHost(out));
    return check_done();
}
