/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts by the width and more: everything is shifted out, as PTX says. */
#include "check.h"

#define N 70

__global__ void shift(const int *by, unsigned *left, unsigned *right, int *arithmetic, unsigned long long *wide)
{
    int t = threadIdx.x;
    left[t] = 0xdeadbeefu << by[t];
    right[t] = 0xdeadbeefu >> by[t];
    arithmetic[t] = (int)0xdeadbeef >> by[t];
    wide[t] = 0x123456789abcdef1ull << by[t];
}

int main(void)
{
    int *by = check_managed<int>(N), *arithmetic = check_managed<int>(N);
    unsigned *left = check_managed<unsigned>(N), *right = check_managed<unsigned>(N);
    unsigned long long *wide = check_managed<unsigned long long>(N);
    for (int i = 0; i < N; i++)
        by[i] = i;
    shift<<<1, N>>>(by, left, right, arithmetic, wide);
    KERNEL_OK();
    for (int i = 0; i < N; i++) {
        CHECK_EQ(left[i], i < 32 ? 0xdeadbeefu << i : 0u);
        CHECK_EQ(right[i], i < 32 ? 0xdeadbeefu >> i : 0u);
        CHECK_EQ(arithmetic[i], (int)0xdeadbeef >> (i < 32 ? i : 31));
        CHECK_EQ(wide[i], i < 64 ? 0x123456789abcdef1ull << i : 0ull);
    }
    return check_done();
}
