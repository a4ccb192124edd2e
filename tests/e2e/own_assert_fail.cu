/* SPDX-License-Identifier: Apache-2.0 */
/* A program that declares __assert_fail itself, for the host and the device, because NDEBUG leaves it undeclared:
 * libcu++'s headers do so. */
// FLAGS: -DNDEBUG
#include <cassert>
extern "C" __host__ __device__ void __assert_fail(const char *expression, const char *file, unsigned int line,
                                                  const char *function) noexcept;
#include "check.h"

__global__ void at_most(int *out, const int *in, int n, int most)
{
    const int i = threadIdx.x;
    assert(in == nullptr); /* NDEBUG: nothing */
    if (in[i] > most)
        __assert_fail("in[i] <= most", __FILE__, __LINE__, __func__);
    if (i < n)
        out[i] = in[i] + 1;
}

/* the host's function is called on the host, although __LINE__ is an int */
template <class T> __host__ __device__ T positive(T value)
{
    return value > 0 ? value : (__assert_fail("value > 0", __FILE__, __LINE__, __func__), value);
}

int main()
{
    CHECK_EQ(positive(3), 3);
    const int n = 64;
    int *in = check_managed<int>(n), *out = check_managed<int>(n);
    for (int i = 0; i < n; i++)
        in[i] = i;
    at_most<<<1, n>>>(out, in, n, n);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        CHECK_EQ(out[i], i + 1);
    at_most<<<1, n>>>(out, in, n, n - 2);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorAssert);
    cudaDeviceReset(); /* the error stays until then */
    cudaGetLastError();
    return check_done();
}
