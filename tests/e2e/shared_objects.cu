/* SPDX-License-Identifier: Apache-2.0 */
/* __shared__ objects whose constructors and destructors do something: as with nvcc, neither runs, and kernels initialise
 * them. Single ones, arrays, in templates, aligned, and several on a line or in a
 * declaration. And a dynamic one that is not an array. */
#include "check.h"

struct counter {
    int value, limit;
    __host__ __device__ counter() : value(-1), limit(7) {
    }
    __host__ __device__ ~counter() {
        value = -2;
    }
    __device__ void start(int to) {
        value = 0;
        limit = to;
    }
    __device__ void add(int n) {
        atomicAdd(&value, n);
    }
};

template <class T> struct holder {
    T inner;
    __device__ holder() : inner() {
    }
};

__global__ void single(int *out) {
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ counter c; /* one */
    if (threadIdx.x == 0) c.start(100);
    __syncthreads();
    c.add((int)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) out[0] = c.value, out[1] = c.limit;
}

template <class T, int N> __global__ void several(int *out) {
    __shared__ T table[N][2]; __shared__ holder<T> other;
    static __shared__ __align__(32) counter aligned;
    if (threadIdx.x < N) table[threadIdx.x][0].start((int)threadIdx.x), table[threadIdx.x][1].start(0);
    if (threadIdx.x == 0) aligned.start(5), other.inner.start(6);
    __syncthreads();
    table[threadIdx.x % N][1].add(1);
    aligned.add(2);
    other.inner.add(3);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < N; i++)
            out[i] = table[i][1].value + 1000 * table[i][0].limit;
        out[N] = aligned.value;
        out[N + 1] = other.inner.value;
        out[N + 2] = (int)sizeof(table) / (int)sizeof(T) + (int)((size_t)&aligned % 32);
    }
}

struct tile {
    int values[64];
};

namespace named {
__global__ void together(int *out) {
    extern __shared__ __align__(16) tile dynamic;
    __shared__ holder<counter> first, pair[2], last;
    dynamic.values[threadIdx.x] = (int)threadIdx.x;
    if (threadIdx.x == 0) first.inner.start(1), pair[1].inner.start(2), last.inner.start(3);
    __syncthreads();
    first.inner.add(1), pair[1].inner.add(2), last.inner.add(3);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = first.inner.value, out[1] = pair[1].inner.value, out[2] = last.inner.value;
        out[3] = dynamic.values[63];
    }
}
} // namespace named

extern "C" __global__ void named_as_in_c(int *out) {
    extern __shared__ __align__(16) tile dynamic_too;
    dynamic_too.values[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x % 8] = dynamic_too.values[63 - threadIdx.x % 8];
}

int main() {
    int *out = check_managed<int>(8);
    single<<<1, 64>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 64 * 63 / 2);
    CHECK_EQ(out[1], 100);
    several<counter, 4><<<1, 64>>>(out);
    KERNEL_OK();
    for (int i = 0; i < 4; i++)
        CHECK_EQ(out[i], 16 + 1000 * i);
    CHECK_EQ(out[4], 128);
    CHECK_EQ(out[5], 192);
    CHECK_EQ(out[6], 8);
    several<counter, 2><<<1, 64>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 32);
    CHECK_EQ(out[4], 4);
    named::together<<<1, 64, sizeof(tile)>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 64);
    CHECK_EQ(out[1], 128);
    CHECK_EQ(out[2], 192);
    CHECK_EQ(out[3], 63);
    named_as_in_c<<<1, 64, sizeof(tile)>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[3], 60);
    return check_done();
}
