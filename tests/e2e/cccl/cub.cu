/* SPDX-License-Identifier: Apache-2.0 */
/* CUB: blocks, warps, and whole arrays. */
#include "check.h"
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

struct is_even {
    __host__ __device__ bool operator()(int x) const {
        return x % 2 == 0;
    }
};

__global__ void block(const int *in, int *out) {
    typedef cub::BlockReduce<int, 128> reduce;
    typedef cub::BlockScan<int, 128> scan;
    __shared__ union {
        typename reduce::TempStorage reduce;
        typename scan::TempStorage scan;
    } room;
    const int x = in[threadIdx.x];
    const int sum = reduce(room.reduce).Sum(x);
    __syncthreads();
    scan(room.scan).ExclusiveSum(x, out[threadIdx.x]);
    if (threadIdx.x == 0) out[128] = sum;
}

__global__ void warps(const int *in, int *out) {
    typedef cub::WarpReduce<int> reduce;
    __shared__ typename reduce::TempStorage room[4];
    const int warp = threadIdx.x / 32, sum = reduce(room[warp]).Sum(in[threadIdx.x]);
    if (threadIdx.x % 32 == 0) out[warp] = sum;
}

/* Calls `run` twice, as CUB wants it: for the size of its memory, and with it. */
template <class F> static void twice(F run) {
    size_t bytes = 0;
    void *room = NULL;
    CUDA_OK(run((void *)NULL, bytes));
    CUDA_OK(cudaMalloc(&room, bytes));
    CUDA_OK(run(room, bytes));
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaFree(room));
}

int main() {
    const int n = 10000, bins = 64;
    int *in = check_managed<int>(n), *out = check_managed<int>(n), *one = check_managed<int>(bins);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        in[i] = (int)(seed >> 20);
    }
    block<<<1, 128>>>(in, out);
    KERNEL_OK();
    for (int i = 0, sum = 0; i <= 128; sum += in[i++])
        CHECK_EQ(out[i], sum);
    warps<<<1, 128>>>(in, out);
    KERNEL_OK();
    for (int w = 0; w < 4; w++)
        CHECK_EQ(out[w], std::accumulate(in + 32 * w, in + 32 * (w + 1), 0));

    twice([&](void *room, size_t &bytes) {
        return cub::DeviceReduce::Sum(room, bytes, in, one, n);
    });
    CHECK_EQ(one[0], std::accumulate(in, in + n, 0));
    twice([&](void *room, size_t &bytes) {
        return cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n);
    });
    for (int i = 0, sum = 0; i < n; sum += in[i++])
        CHECK_EQ(out[i], sum);
    twice([&](void *room, size_t &bytes) {
        return cub::DeviceSelect::If(room, bytes, in, out, one, n, is_even());
    });
    std::vector<int> even;
    std::copy_if(in, in + n, std::back_inserter(even), is_even());
    CHECK_EQ(one[0], (int)even.size());
    CHECK(std::equal(even.begin(), even.end(), out));
    twice([&](void *room, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(room, bytes, in, one, bins + 1, 0, 4096, n);
    });
    std::vector<int> count(bins);
    for (int i = 0; i < n; i++)
        count[in[i] / 64]++;
    CHECK(std::equal(count.begin(), count.end(), one));
    twice([&](void *room, size_t &bytes) {
        return cub::DeviceRadixSort::SortKeys(room, bytes, in, out, n);
    });
    std::sort(in, in + n);
    CHECK(std::equal(in, in + n, out));
    return check_done();
}
