/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a base class that depends on a parameter, called without `this->`: nvcc finds them. */
#include "check.h"

template <typename T> struct counter {
    __host__ __device__ T next(T step) { return value += step; }
    T value;
};

template <typename T> struct view : counter<T> {
    __host__ __device__ T twice(T step) { return next(step) + next(step); }
};

__global__ void count(int *out)
{
    view<int> v;
    v.value = 10;
    out[0] = v.twice(3);
}

int main(void)
{
    int *out = check_managed<int>(1);
    count<<<1, 1>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 13 + 16);
    view<long> on_host;
    on_host.value = 0;
    CHECK_EQ(on_host.twice(1), 3L);
    return check_done();
}
