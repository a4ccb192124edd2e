// FLAGS: --extended-lambda
/* SPDX-License-Identifier: Apache-2.0 */
/* Lambdas made on the host and run in kernels: __device__ and __host__ __device__, capturing by value. */
#include "check.h"

struct quartet {
    float x[4];
};

template <class F> __global__ void for_each(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        f(i);
}

template <class F> static void run(int n, F f)
{
    for_each<<<4, 64>>>(n, f);
    KERNEL_OK();
}

int main(void)
{
    const int n = 1000;
    int *a = check_managed<int>(n), *b = check_managed<int>(n), factor = 3;
    quartet weights = {{1, 2, 3, 4}};
    run(n, [=] __device__(int i) { a[i] = i * factor; });
    run(n, [=] __device__(int i) { b[i] = a[n - 1 - i] + (int)weights.x[i % 4]; });
    auto both = [=] __host__ __device__(int x) { return x * x + factor; };
    run(n, [=] __device__(int i) { a[i] = both(i % 100); });
    for (int i = 0; i < n; i++) {
        CHECK_EQ(b[i], (n - 1 - i) * 3 + i % 4 + 1);
        CHECK_EQ(a[i], both(i % 100));
    }
    return check_done();
}
