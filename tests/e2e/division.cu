/* SPDX-License-Identifier: Apache-2.0 */
/* Integer division never faults: by zero, and of the least integer by -1. Ordinary divisions are exact. */
#include "check.h"

#include <limits.h>

#define N 7

__global__ void divide(const int *x, const int *y, int *quotient, int *rest, unsigned *unsigned_quotient)
{
    int t = threadIdx.x;
    quotient[t] = x[t] / y[t];
    rest[t] = x[t] % y[t];
    unsigned_quotient[t] = (unsigned)x[t] / (unsigned)y[t];
}

int main(void)
{
    const int x[N] = {7, -7, 100, INT_MIN, INT_MIN, 5, 0}, y[N] = {2, 2, -9, 2, -1, 0, 0};
    int *in = check_managed<int>(2 * N), *out = check_managed<int>(2 * N);
    unsigned *u = check_managed<unsigned>(N);
    for (int i = 0; i < N; i++) {
        in[i] = x[i];
        in[N + i] = y[i];
    }
    divide<<<1, N>>>(in, in + N, out, out + N, u);
    KERNEL_OK();
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(out[i], x[i] / y[i]);
        CHECK_EQ(out[N + i], x[i] % y[i]);
        CHECK_EQ(u[i], (unsigned)x[i] / (unsigned)y[i]);
    }
    return check_done();
}
