/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that nvcc accepts and no kernel calls, and macros of the architecture, with what the runtime says of it. */
#include "check.h"

__device__ int any_number(...);
__device__ __noinline__ int first(int n, ...) {
    return n;
}
template <class T> struct has_type {
    template <class U> __host__ __device__ static char test(typename U::type *);
    template <class U> __host__ __device__ static long test(...); /* declared, as in many traits */
    static const bool value = sizeof(test<T>(0)) == 1;
};
struct with_type {
    typedef int type;
};

/* A template that its namespace does not declare so, only another of its name. */
namespace outer {
namespace inner {
struct factor {
    int by;
};
template <typename T, int N> __device__ int scaled(T x, factor f);
}
}
template <typename T, int N>
__device__ int outer::inner::scaled(T x, int more, outer::inner::factor f)
{
    const char brace = '}'; /* } */
    return brace == '}' ? x * f.by * N + more : 0;
}

static const int archs[] = {__CUDA_ARCH_LIST__};

__global__ void arch(int *out)
{
    out[0] = has_type<with_type>::value;
    out[1] = has_type<int>::value + first(0, 4.0, out);
#ifdef __CUDA_ARCH__
    out[2] = __CUDA_ARCH__;
#endif
    out[3] = outer::inner::scaled<short, 7>(3, 5, outer::inner::factor{2});
}

int main()
{
    int *out = check_managed<int>(4);
    arch<<<1, 1>>>(out);
    KERNEL_OK();
    CHECK(out[0] == 1);
    CHECK(out[1] == 0);
    CHECK_EQ(out[3], 3 * 2 * 7 + 5);
    CHECK(sizeof(archs) == sizeof(int) && archs[0] == out[2]);
    /* The architecture that the kernel was compiled for, not the device's: libraries choose launch shapes by it. */
    cudaFuncAttributes attributes;
    CUDA_OK(cudaFuncGetAttributes(&attributes, arch));
    CHECK(attributes.ptxVersion * 10 == out[2]);
    return check_done();
}
