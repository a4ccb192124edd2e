/* SPDX-License-Identifier: Apache-2.0 */
/* Lambdas, concepts and declarations of nvcc's C++ with Thrust. Needs -std=c++20 -extended-lambda. */
#include "check.h"
#include <cuda/std/type_traits>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

template <class T> concept number = cuda::std::is_arithmetic_v<T>;

template <number T> __device__ T twice(T x) {
    return x + x;
}

__device__ int never_called(const char *, ...);

int main() {
    const int n = 1000;
    thrust::host_vector<int> h(n);
    for (int i = 0; i < n; i++)
        h[i] = i / 3;
    thrust::device_vector<int> d = h;
    const auto end = thrust::unique(d.begin(), d.end());
    CHECK_EQ((int)(end - d.begin()), 334);
    const int k = 5;
    thrust::transform(d.begin(), end, d.begin(), [k] __device__(int x) { return twice(x) + k; });
    CHECK_EQ((int)d[333], 671);
    thrust::transform(d.begin(), end, d.begin(), [k] __host__ __device__(int x) { return x + k; });
    CHECK_EQ((int)d[333], 676);
    return check_done();
}
