/* SPDX-License-Identifier: Apache-2.0 */
/* Inline PTX with an operand that is not there, in a branch that is discarded: nvcc does not look. */
#include "check.h"

template <int N> __device__ void twice(int &x, int y)
{
    if constexpr (N == 1)
        asm volatile("add.s32 %0, %1, %1;" : "=r"(x) : "r"(y));
    else
        asm volatile("add.s32 %0, %1, %2;" : "=r"(x) : "r"(y));
}

__global__ void add(int *out)
{
    int x;
    twice<1>(x, 21);
    *out = x;
}

int main(void)
{
    int *out = check_managed<int>(1);
    add<<<1, 1>>>(out);
    KERNEL_OK();
    CHECK_EQ(*out, 42);
    return check_done();
}
