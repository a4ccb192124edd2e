// SPDX-License-Identifier: Apache-2.0
// DEVICES: sim:gtx1080ti
// host_memory KIND read|chase|write: a kernel on memory of a kind; host_memory.sh knows what it takes.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int words = 1 << 16, lines = 32, line_words = 32, rounds = 4;

__global__ void read(const int *from, int *sum)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (from[i] < 0) *sum = i;
}

__global__ void write(int *to)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Each line says which comes next.
__global__ void chase(const int *from, int *end)
{
    int at = 0;
    for (int i = 0; i < rounds * lines; i++)
        at = from[at];
    *end = at;
}

static int *obtain(const char *kind)
{
    const size_t bytes = words * sizeof(int);
    int *memory = nullptr;
    if (!strcmp(kind, "device")) {
        cudaMalloc(&memory, bytes);
    } else if (!strcmp(kind, "managed")) {
        cudaMallocManaged(&memory, bytes);
    } else if (!strcmp(kind, "pinned")) {
        cudaHostAlloc(&memory, bytes, cudaHostAllocMapped);
    } else if (!strcmp(kind, "registered")) {
        memory = static_cast<int *>(aligned_alloc(4096, bytes));
        if (cudaHostRegister(memory, bytes, cudaHostRegisterMapped) != cudaSuccess) return nullptr;
    } else if (!strcmp(kind, "pageable")) {
        memory = static_cast<int *>(aligned_alloc(4096, bytes));
    }
    return memory;
}

int main(int count, char **arguments)
{
    int *memory = count == 3 ? obtain(arguments[1]) : nullptr, *end;
    if (!memory || cudaMalloc(&end, sizeof(int)) != cudaSuccess) return 2;
    int *next = static_cast<int *>(calloc(words, sizeof(int)));
    for (int i = 0; i < lines; i++)
        next[i * line_words] = (i * 7 + 7) % lines * line_words;
    if (!strcmp(arguments[1], "device"))
        cudaMemcpy(memory, next, words * sizeof(int), cudaMemcpyHostToDevice);
    else
        memcpy(memory, next, words * sizeof(int));
    for (int i = 0; i < 2; i++) { // the first one fills caches and TLBs
        if (!strcmp(arguments[2], "read")) read<<<words / 256, 256>>>(memory, end);
        if (!strcmp(arguments[2], "write")) write<<<words / 256, 256>>>(memory);
        if (!strcmp(arguments[2], "chase")) chase<<<1, 1>>>(memory, end);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
