/* SPDX-License-Identifier: Apache-2.0 */
/* coalesced_threads: the lanes that took a branch are a group; aggregated atomics; labelled partitions. */
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ int take_number(int *counter)
{
    cg::coalesced_group g = cg::coalesced_threads();
    int base = 0;
    if (g.thread_rank() == 0)
        base = atomicAdd(counter, (int)g.size());
    return g.shfl(base, 0) + (int)g.thread_rank();
}

__global__ void keep(const int *in, int n, int *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 50)
        out[take_number(count)] = in[i];
}

__global__ void branch(int *out)
{
    int lane = threadIdx.x;
    if (lane % 3 == 1) {
        cg::coalesced_group g = cg::coalesced_threads();
        int sum = lane;
        for (int i = 0; i < (int)g.size(); i++)
            sum += g.shfl(lane, i) * 100;
        unsigned high = g.ballot(lane > 15);
        g.sync();
        out[lane] = sum + (g.any(lane == 31) ? 1000000 : 0) + (int)__popc(high) * 10000000;
    } else {
        out[lane] = -1;
    }
}

__global__ void partition(int *out)
{
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int rank = (int)tile.thread_rank();
    const cg::coalesced_group named = cg::binary_partition<8>(tile, rank < 3);
    const cg::coalesced_group half = cg::binary_partition(named, rank % 2 == 0);
    const cg::coalesced_group third = cg::labeled_partition(tile, rank % 3);
    out[threadIdx.x] = (int)(named.size() * 100 + half.size() * 10 + third.size());
}

int main(void)
{
    const int n = 1999;
    int *in = check_managed<int>(n), *out = check_managed<int>(n), *count = check_managed<int>(1);
    uint32_t seed = 8;
    int expected = 0;
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        in[i] = (int)(check_random(&seed) % 100);
        expected += in[i] > 50;
        sum += in[i] > 50 ? in[i] : 0;
    }
    keep<<<16, 128>>>(in, n, out, count);
    KERNEL_OK();
    CHECK_EQ(*count, expected);
    for (int i = 0; i < expected; i++) {
        CHECK(out[i] > 50);
        sum -= out[i];
    }
    CHECK_EQ(sum, 0LL);
    branch<<<1, 32>>>(out);
    KERNEL_OK();
    int lanes = 0, high = 0;
    for (int l = 1; l < 32; l += 3) {
        lanes += l;
        high += l > 15;
    }
    for (int l = 0; l < 32; l++)
        CHECK_EQ(out[l], l % 3 == 1 ? l + lanes * 100 + 1000000 + high * 10000000 : -1);
    partition<<<1, 32>>>(out);
    KERNEL_OK();
    for (int i = 0; i < 32; i++) {
        const int rank = i % 8;
        const int half = rank < 3 ? (rank % 2 == 0 ? 2 : 1) : (rank % 2 == 0 ? 2 : 3);
        CHECK_EQ(out[i], (rank < 3 ? 300 : 500) + half * 10 + (rank % 3 < 2 ? 3 : 2));
    }
    return check_done();
}
