// SPDX-License-Identifier: Apache-2.0
// The values of tiles and of coalesced threads, reduced into an atomic object.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

/* What the functions use of cuda::atomic_ref<int>. */
struct atomic_int {
    int *at;
    __device__ int load() const { return *(volatile int *)at; }
    __device__ void store(int value) { atomicExch(at, value); }
    __device__ bool compare_exchange_weak(int &there, int value)
    {
        const int found = atomicCAS(at, there, value);
        const bool is_done = found == there;
        there = found;
        return is_done;
    }
};

__global__ void reduce_all(int *out)
{
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto four = cg::tiled_partition<4>(cg::this_thread_block());
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomic_int sum{out}, least{out + 1}, last{out + 2}, odd{out + 3};
    cg::reduce_update_async(warp, sum, t, cg::plus<int>());
    cg::reduce_update_async(four, least, t * 3 % 97 - 40, cg::less<int>());
    if (t < 32)
        cg::reduce_store_async(warp, last, t, cg::greater<int>());
    if (t % 2 == 1)
        cg::reduce_update_async(cg::coalesced_threads(), odd, 1, cg::plus<int>());
}

int main()
{
    const int threads = 128, blocks = 3;
    int *out = check_managed<int>(4), sum = 0, least = 0;
    for (int i = 0; i < 4; i++)
        out[i] = 0;
    reduce_all<<<blocks, threads>>>(out);
    KERNEL_OK();
    for (int t = 0; t < threads * blocks; t++) {
        sum += t;
        least = t * 3 % 97 - 40 < least ? t * 3 % 97 - 40 : least;
    }
    CHECK_EQ(out[0], sum);
    CHECK_EQ(out[1], least);
    CHECK_EQ(out[2], 31);
    CHECK_EQ(out[3], threads * blocks / 2);
    return check_done();
}
