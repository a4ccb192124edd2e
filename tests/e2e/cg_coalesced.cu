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
    return check_done();
}
