/* SPDX-License-Identifier: Apache-2.0 */
/* libcu++: atomics, barriers, a pipeline, and parts of the standard library in kernels. */
#include "check.h"
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>

#define BLOCK 128

__global__ void atomics(int *p) {
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*p);
    r.fetch_add(2, cuda::memory_order_relaxed);
    r.fetch_max((int)threadIdx.x);
}

__global__ void barriers(int *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int mine[BLOCK];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        mine[threadIdx.x] = threadIdx.x + i;
        auto token = barrier.arrive();
        barrier.wait(cuda::std::move(token));
        out[threadIdx.x] += mine[BLOCK - 1 - threadIdx.x];
        barrier.arrive_and_wait();
    }
}

__global__ void turns(cuda::binary_semaphore<cuda::thread_scope_device> *turn, int *count) {
    turn->acquire();
    *count = *count + 1;
    turn->release();
}

__global__ void pipelines(const int *in, int *out, int n) {
    __shared__ int room[2][BLOCK];
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < n; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&room[i % 2][threadIdx.x], &in[i * BLOCK + threadIdx.x], sizeof(int), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        out[i * BLOCK + threadIdx.x] = 2 * room[i % 2][threadIdx.x];
        pipe.consumer_release();
    }
}

__global__ void standard(float *out) {
    cuda::std::array<int, 4> a = {1, 2, 3, 4};
    cuda::std::tuple<int, float> t(3, 4.5f);
    cuda::std::complex<float> c(1, 2);
    c = c * c;
    out[0] = cuda::std::get<1>(t) + a[2];
    out[1] = c.real();
    out[2] = c.imag();
    out[3] = cuda::std::numeric_limits<float>::max();
}

int main() {
    int *out = check_managed<int>(4 * BLOCK), *in = check_managed<int>(4 * BLOCK);
    float *f = check_managed<float>(4);
    out[0] = 1;
    atomics<<<4, BLOCK>>>(out);
    KERNEL_OK();
    CHECK(out[0] >= 127 && out[0] <= 1 + 2 * 4 * BLOCK);
    memset(out, 0, 4 * BLOCK * sizeof(int));
    barriers<<<1, BLOCK>>>(out);
    KERNEL_OK();
    for (int i = 0; i < BLOCK; i++)
        CHECK_EQ(out[i], 4 * (BLOCK - 1 - i) + 6);
    auto *turn = check_managed<cuda::binary_semaphore<cuda::thread_scope_device>>(1);
    new (turn) cuda::binary_semaphore<cuda::thread_scope_device>(1);
    out[0] = 0;
    turns<<<8, 1>>>(turn, out);
    KERNEL_OK();
    CHECK_EQ(out[0], 8);
    for (int i = 0; i < 4 * BLOCK; i++)
        in[i] = i;
    pipelines<<<1, BLOCK>>>(in, out, 4);
    KERNEL_OK();
    for (int i = 0; i < 4 * BLOCK; i++)
        CHECK_EQ(out[i], 2 * i);
    standard<<<1, 1>>>(f);
    KERNEL_OK();
    CHECK_EQ(f[0], 7.5f);
    CHECK_EQ(f[1], -3.0f);
    CHECK_EQ(f[2], 4.0f);
    CHECK(f[3] > 3.4e38f);
    return check_done();
}
