/* SPDX-License-Identifier: Apache-2.0 */
/* Ballot, any, all, match_any, match_all, activemask, over full and partial masks. */
#include "check.h"

__global__ void votes(const unsigned *keys, unsigned *out)
{
    int lane = threadIdx.x;
    unsigned k = keys[lane], all = 0xffffffffu;
    unsigned *o = out + lane * 12;
    int pred;
    o[0] = __ballot_sync(all, k & 1);
    o[1] = __any_sync(all, k == keys[7]) * 2 + __any_sync(all, k > 1000);
    o[2] = __all_sync(all, k < 1000) * 2 + __all_sync(all, k & 1);
    o[3] = __match_any_sync(all, k % 5);
    o[4] = __match_any_sync(all, (unsigned long long)(k % 3) << 40);
    o[5] = __match_any_sync(all, (k % 4) * 0.5f);
    o[6] = __match_all_sync(all, 42, &pred);
    o[7] = pred;
    o[8] = __match_all_sync(all, k % 5, &pred);
    o[9] = pred;
    o[10] = __match_any_sync(all, (double)(k % 2));
    unsigned mask = __ballot_sync(all, k % 3 == 0);
    o[11] = 0;
    if (k % 3 == 0)
        o[11] = __match_any_sync(mask, k % 2) ^ __match_all_sync(mask, k % 3, &pred);
}

/* one atomic for all lanes that are there: the usual aggregated increment */
__device__ int aggregated_increment(int *counter)
{
    unsigned active = __activemask();
    int lane = threadIdx.x % 32, leader = __ffs(active) - 1, base = 0;
    if (lane == leader)
        base = atomicAdd(counter, __popc(active));
    base = __shfl_sync(active, base, leader);
    return base + __popc(active & ((1u << lane) - 1));
}

__global__ void filter(const int *in, int n, int *out, int *count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] % 3 == 0)
            out[aggregated_increment(count)] = in[i];
}

int main(void)
{
    unsigned *keys = check_managed<unsigned>(32), *out = check_managed<unsigned>(32 * 12);
    uint32_t seed = 7;
    for (int i = 0; i < 32; i++)
        keys[i] = check_random(&seed) % 60;
    votes<<<1, 32>>>(keys, out);
    KERNEL_OK();
    unsigned odd = 0, m3 = 0;
    for (int i = 0; i < 32; i++) {
        odd |= (keys[i] & 1) << i;
        m3 |= (unsigned)(keys[i] % 3 == 0) << i;
    }
    for (int i = 0; i < 32; i++) {
        unsigned e5 = 0, e3 = 0, e4 = 0, e2 = 0;
        for (int j = 0; j < 32; j++) {
            e5 |= (unsigned)(keys[j] % 5 == keys[i] % 5) << j;
            e3 |= (unsigned)(keys[j] % 3 == keys[i] % 3) << j;
            e4 |= (unsigned)(keys[j] % 4 == keys[i] % 4) << j;
            e2 |= (unsigned)(keys[j] % 2 == keys[i] % 2) << j;
        }
        unsigned *o = out + i * 12;
        CHECK_EQ(o[0], odd);
        CHECK_EQ(o[1], 2u);
        CHECK_EQ(o[2], 2u);
        CHECK_EQ(o[3], e5);
        CHECK_EQ(o[4], e3);
        CHECK_EQ(o[5], e4);
        CHECK_EQ(o[6], 0xffffffffu);
        CHECK_EQ(o[7], 1u);
        CHECK_EQ(o[8], 0u);
        CHECK_EQ(o[9], 0u);
        CHECK_EQ(o[10], e2);
        CHECK_EQ(o[11], keys[i] % 3 == 0 ? (e2 & m3) ^ m3 : 0u);
    }
    const int n = 5000;
    int *in = check_managed<int>(n), *kept = check_managed<int>(n), *count = check_managed<int>(1);
    long long sum = 0, kept_sum = 0;
    int expected = 0;
    for (int i = 0; i < n; i++) {
        in[i] = (int)(check_random(&seed) % 100000);
        expected += in[i] % 3 == 0;
        sum += in[i] % 3 == 0 ? in[i] : 0;
    }
    filter<<<7, 96>>>(in, n, kept, count);
    KERNEL_OK();
    CHECK_EQ(*count, expected);
    for (int i = 0; i < expected; i++) {
        CHECK(kept[i] % 3 == 0);
        kept_sum += kept[i];
    }
    CHECK_EQ(kept_sum, sum);
    return check_done();
}
