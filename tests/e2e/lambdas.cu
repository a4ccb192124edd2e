/* SPDX-License-Identifier: Apache-2.0 */
/* Lambdas written inside kernels: capture by value and reference, generic, passed to templates. */
#include "check.h"

template <class F> __device__ int apply_twice(F f, int x) { return f(f(x)); }
template <class F> __device__ void for_each(int n, F f)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        f(i);
}

__global__ void inside(int *out, int factor)
{
    int t = threadIdx.x;
    auto scale = [=](int x) { return x * factor + t; };
    int calls = 0;
    auto counted = [&](int x) {
        calls++;
        return x + 1;
    };
    auto generic = [](auto a, auto b) { return a < b ? b : a; };
    out[t] = apply_twice(scale, 2) + apply_twice(counted, 10) * 100 + calls * 10000 + generic(t, 3);
    __shared__ int tile[64];
    for_each(64, [&](int i) { tile[i] = i * i; });
    __syncthreads();
    for_each(64, [=](int i) { out[32 + i] = tile[63 - i]; });
}

int main(void)
{
    int *out = check_managed<int>(96);
    inside<<<1, 32>>>(out, 3);
    KERNEL_OK();
    for (int t = 0; t < 32; t++)
        CHECK_EQ(out[t], (2 * 3 + t) * 3 + t + 1200 + 20000 + (t < 3 ? 3 : t));
    for (int i = 0; i < 64; i++)
        CHECK_EQ(out[32 + i], (63 - i) * (63 - i));
    return check_done();
}
