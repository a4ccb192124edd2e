/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that stand for a pragma, as nvcc accepts: on lines of their own, inside other macros, in templates, in classes
 * and before functions, in headers' style for device code only. */
#include "check.h"

#ifdef __CUDA_ARCH__
#define UNROLL #pragma unroll
#else
#define UNROLL
#endif
#define UNROLL_BY_4 # pragma  unroll 4 // as often
#define NOT_UNROLLED UNROLL_BY_1 /* which comes later */
#define UNROLL_BY_1 #pragma unroll 1

#define NO_WARNING \
#pragma hd_warning_disable

template <class T> struct twice {
    NO_WARNING
    __host__ __device__ twice(T v) : value(2 * v) {}
    T value;
};

NO_WARNING
template <class T> __host__ __device__ T four_times(T v) { return 2 * twice<T>(v).value; }

template <int n> __device__ int sum_of(const int *x) {
    int sum = 0;
    UNROLL
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

__global__ void sums(const int *x, int n, int *out) {
    int total = 0;
    UNROLL_BY_4
    for (int i = 0; i < n; i++)
        total += x[i];
    NOT_UNROLLED
    for (int i = 0; i < n; i++)
        total += 100 * x[i];
    out[0] = total;
    out[1] = sum_of<8>(x) + sum_of<3>(x) + four_times(x[1]);
}

int main() {
    int *x = check_managed<int>(8), *out = check_managed<int>(2);
    for (int i = 0; i < 8; i++)
        x[i] = i + 1;
    sums<<<1, 1>>>(x, 8, out);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(out[0], 36 * 101);
    CHECK_EQ(out[1], 36 + 6 + 8);
    CHECK_EQ(four_times(5), 20);
    CUDA_OK(cudaFree(x));
    CUDA_OK(cudaFree(out));
    return check_done();
}
