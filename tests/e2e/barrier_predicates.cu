/* SPDX-License-Identifier: Apache-2.0 */
/* __syncthreads_count, _and and _or: the value, the barrier they are, loops that end by them. */
#include "check.h"

__global__ void once(int limit, int *out)
{
    int t = threadIdx.x;
    out[t * 3 + 0] = __syncthreads_count(t < limit);
    out[t * 3 + 1] = __syncthreads_and(t < limit) != 0;
    out[t * 3 + 2] = __syncthreads_or(t == limit) != 0;
}

__global__ void until_all_agree(const int *work, int *rounds_out, int *seen_out)
{
    __shared__ int tile[100];
    int left = work[threadIdx.x], rounds = 0, seen = 0;
    while (__syncthreads_or(left > 0)) {
        tile[threadIdx.x] = left;
        int busy = __syncthreads_count(left > 0);
        seen += tile[99 - threadIdx.x] > 0 ? busy : 0;
        if (left > 0)
            left--;
        rounds++;
    }
    rounds_out[threadIdx.x] = rounds;
    seen_out[threadIdx.x] = seen;
}

int main(void)
{
    int *out = check_managed<int>(3 * 100), *work = check_managed<int>(100), *seen = check_managed<int>(100);
    const int limits[] = {0, 1, 50, 99, 100, 101};
    for (int l = 0; l < 6; l++) {
        once<<<1, 100>>>(limits[l], out);
        KERNEL_OK();
        for (int t = 0; t < 100; t++) {
            CHECK_EQ(out[t * 3 + 0], limits[l] < 100 ? limits[l] : 100);
            CHECK_EQ(out[t * 3 + 1], limits[l] >= 100);
            CHECK_EQ(out[t * 3 + 2], limits[l] < 100);
        }
    }
    uint32_t seed = 99;
    int most = 0;
    for (int t = 0; t < 100; t++) {
        work[t] = (int)(check_random(&seed) % 20);
        most = work[t] > most ? work[t] : most;
    }
    until_all_agree<<<1, 100>>>(work, out, seen);
    KERNEL_OK();
    for (int t = 0; t < 100; t++) {
        int e = 0;
        for (int r = 0; r < work[99 - t]; r++)
            for (int k = 0; k < 100; k++)
                e += work[k] > r;
        CHECK_EQ(out[t], most);
        CHECK_EQ(seen[t], e);
    }
    return check_done();
}
