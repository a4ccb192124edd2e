// SPDX-License-Identifier: Apache-2.0
/* alignas and lists of attributes behind __shared__ and its like, which nvcc accepts: static, dynamic, on several lines,
 * in templates, of types, of functions. */
#include "check.h"

enum { N = 64 };

struct pair {
    double a, b;
};

template <typename T, int ALIGNMENT> __global__ void reverse(T *data, int *errors) {
    __shared__ alignas(ALIGNMENT) char first[3];
    static __shared__ alignas(alignof(float4))
        T copy[N];
    extern __shared__ alignas(16) unsigned char dynamic[];
    const __shared__ alignas(pair) int *place;
    copy[threadIdx.x] = data[threadIdx.x];
    dynamic[threadIdx.x] = (unsigned char)threadIdx.x;
    if (threadIdx.x == 0) {
        first[0] = 1;
        place = errors;
    }
    __syncthreads();
    data[threadIdx.x] = copy[N - 1 - threadIdx.x];
    if ((size_t)first % ALIGNMENT != 0 || (size_t)copy % alignof(float4) != 0 || (size_t)dynamic % 16 != 0 ||
        place != errors || first[0] != 1 || dynamic[N - 1 - threadIdx.x] != N - 1 - threadIdx.x)
        atomicAdd(errors, 1);
}

/* Two buffers of 16 KiB, of which a xor of the address gives the other. */
__global__ void exchange(int *errors) {
    __shared__ char before[5];
    __shared__ __align__(16384) char buffers[32768];
    before[0] = 1;
    buffers[16384] = 7;
    unsigned address;
    int value;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(address) : "l"(buffers));
    asm volatile("ld.shared.s8 %0, [%1];" : "=r"(value) : "r"(address ^ 16384));
    if (value != 7 || before[0] != 1) atomicAdd(errors, 1);
}

__device__ alignas(32) int variable[3];

struct counted {
    int count;
    __device__ [[nodiscard]] bool is_empty() const { return count == 0; }
    __host__ __device__
    [[nodiscard, maybe_unused]] int twice() const { return 2 * count; }
};

__global__ void count(int *out) {
    const counted c{(int)threadIdx.x};
    out[threadIdx.x] = c.is_empty() ? -1 : c.twice();
}

template <typename T, int ALIGNMENT> static void check(void) {
    T *data;
    int *errors;
    CUDA_OK(cudaMallocManaged(&data, N * sizeof *data));
    CUDA_OK(cudaMallocManaged(&errors, sizeof *errors));
    *errors = 0;
    for (int i = 0; i < N; i++)
        data[i] = (T)i;
    reverse<T, ALIGNMENT><<<1, N, N>>>(data, errors);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(*errors, 0);
    for (int i = 0; i < N; i++)
        CHECK_EQ((int)data[i], N - 1 - i);
    CUDA_OK(cudaFree(errors));
    CUDA_OK(cudaFree(data));
}

int main(void) {
    void *address;
    check<float, 64>();
    check<double, 8>();
    check<char, 1>();
    int *errors;
    CUDA_OK(cudaMallocManaged(&errors, sizeof *errors));
    *errors = 0;
    exchange<<<4, 1>>>(errors);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(*errors, 0);
    CUDA_OK(cudaFree(errors));
    CUDA_OK(cudaGetSymbolAddress(&address, variable));
    CHECK_EQ((size_t)address % 32, 0);
    int *counts = check_managed<int>(32);
    count<<<1, 32>>>(counts);
    KERNEL_OK();
    for (int i = 0; i < 32; i++)
        CHECK_EQ(counts[i], i == 0 ? -1 : counted{i}.twice());
    return check_done();
}
