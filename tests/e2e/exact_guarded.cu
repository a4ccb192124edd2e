/* SPDX-License-Identifier: Apache-2.0 */
/* What holds only under a guard (a difference of pointers is a multiple of 4, an index is not negative) does not hold
 * for the same expression outside of it, however far the compiler moves either. */
#include "check.h"

#define N 64

__global__ void plain(long *rounded, long *words, unsigned long *wide, const char *a, const char *b, const int *flags,
                      const unsigned *x)
{
    int t = threadIdx.x;
    long distance = b + t - a;
    words[t] = 0;
    if (flags[t]) words[t] = (const int *)(b + t) - (const int *)a;
    rounded[t] = (distance >> 2) << 2;
    unsigned long product = 0;
    if (flags[t] && (int)x[t] >= 0) product = (unsigned long)(long)(int)x[t] * 3;
    wide[t] = (unsigned long)x[t] * 3 + product;
}

__global__ void turns(long *rounded, long *words, const char *a, const char *b, const int *flags)
{
    __shared__ long seen[N];
    int t = threadIdx.x;
    long distance = b + t - a, sum = 0;
    for (int i = 0; i < 4; i++) {
        seen[t] = flags[t] ? (const int *)(b + t) - (const int *)a : 0;
        __syncthreads();
        sum += (distance >> 2) << 2;
        if (flags[t]) words[t] = seen[t] + i;
        __syncthreads();
    }
    rounded[t] = sum;
}

int main(void)
{
    enum { APART = 8, EVERY = 4 };
    long *rounded = check_managed<long>(N), *words = check_managed<long>(N);
    unsigned long *wide = check_managed<unsigned long>(N);
    char *bytes = check_managed<char>(APART + N);
    int *flags = check_managed<int>(N);
    unsigned *x = check_managed<unsigned>(N);
    for (unsigned t = 0; t < N; t++) {
        flags[t] = t % EVERY == 0; /* only there the difference is one of ints, and x is not negative */
        x[t] = flags[t] ? t : 0x80000000u + t;
    }
    plain<<<1, N>>>(rounded, words, wide, bytes, bytes + APART, flags, x);
    KERNEL_OK();
    for (int t = 0; t < N; t++) {
        CHECK_EQ(rounded[t], (APART + t) / 4 * 4);
        CHECK_EQ(words[t], flags[t] ? (APART + t) / 4 : 0);
        CHECK_EQ(wide[t], (unsigned long)x[t] * (flags[t] ? 6 : 3));
    }
    turns<<<1, N>>>(rounded, words, bytes, bytes + APART, flags);
    KERNEL_OK();
    for (int t = 0; t < N; t++) {
        CHECK_EQ(rounded[t], (APART + t) / 4 * 4 * 4);
        if (flags[t]) CHECK_EQ(words[t], (APART + t) / 4 + 3);
    }
    return check_done();
}
