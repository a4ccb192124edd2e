/* SPDX-License-Identifier: Apache-2.0 */
/* A source that defines NDEBUG itself, then declares __assert_fail for the host and the device, as libcu++'s headers do
 * there: the macro assert is there before any header, and what it calls is of the same kind. */
__device__ void at_most(int value, int most)
{
    assert(value <= most);
}
#define NDEBUG
#include <cassert>
extern "C" __host__ __device__ void __assert_fail(const char *expression, const char *file, unsigned int line,
                                                  const char *function) noexcept __attribute__((__noreturn__));
#include "check.h"

__global__ void add_one(int *out, const int *in, int most)
{
    const int i = threadIdx.x;
    at_most(in[i], most);
    __syncthreads();
    assert(in == nullptr); /* NDEBUG: nothing */
    if (in[i] > most + 1)
        __assert_fail("in[i] <= most + 1", __FILE__, __LINE__, __func__);
    out[i] = in[blockDim.x - 1 - i] + 1;
}

int main()
{
    const int n = 64;
    int *in = check_managed<int>(n), *out = check_managed<int>(n);
    for (int i = 0; i < n; i++)
        in[i] = i;
    add_one<<<1, n>>>(out, in, n);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        CHECK_EQ(out[i], n - i);
    add_one<<<1, n>>>(out, in, n - 2);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorAssert);
    cudaDeviceReset(); /* the error stays until then */
    cudaGetLastError();
    return check_done();
}
