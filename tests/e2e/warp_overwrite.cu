// SPDX-License-Identifier: Apache-2.0
// All lanes of a warp store one value to one place, and then one lane another value there, with no __syncwarp in
// between: the later line wins on hardware. In blocks that are a row and in blocks that are a column.
#include "check.h"

#define THREADS 256

template <bool IS_COLUMN> __device__ int thread() { return IS_COLUMN ? threadIdx.y : threadIdx.x; }
template <bool IS_COLUMN> __device__ int threads() { return IS_COLUMN ? blockDim.y : blockDim.x; }

template <typename T> __device__ T sum_of_warp(T value)
{
    for (int distance = 1; distance < 32; distance *= 2)
        value += __shfl_down_sync(~0u, value, distance);
    return __shfl_sync(~0u, value, 0);
}

/* Sums of warps, their sum in the last thread's place, then less than nothing of it. Where there is nothing to do, the
 * first thread reads that place without a barrier, as all places are 0. */
template <bool IS_COLUMN, typename T> __global__ void total(const T *in, T *out, int count)
{
    extern __shared__ char room[];
    T *part = (T *)room, sum = 0;
    const int t = thread<IS_COLUMN>(), last = threads<IS_COLUMN>() - 1;
    part[t] = 0;
    if (count != 0) {
        for (int i = t; i < count; i += threads<IS_COLUMN>())
            sum += in[i];
        __syncthreads();
        sum = sum_of_warp(sum);
        part[t / 32] = sum;
        __syncthreads();
        if (t / 32 == 0) {
            T all = 0;
            for (int i = t; i <= last / 32; i += 32)
                all += part[i];
            part[last] = sum_of_warp(all);
        }
    }
    if (t == 0)
        part[last] = -part[last];
    __syncwarp();
    if (t == 0)
        *out = part[last];
}

template <typename T> static void check_totals()
{
    const int count = 1000;
    T *in = check_managed<T>(count), *out = check_managed<T>(1), expected = 0;
    for (int i = 0; i < count; i++) {
        in[i] = (T)(i % 7);
        expected -= in[i];
    }
    total<false><<<1, THREADS, THREADS * sizeof(T)>>>(in, out, count);
    KERNEL_OK();
    CHECK_EQ(*out, expected);
    total<true><<<1, dim3(1, THREADS), THREADS * sizeof(T)>>>(in, out, count);
    KERNEL_OK();
    CHECK_EQ(*out, expected);
}

int main()
{
    check_totals<int>();
    check_totals<long long>();
    return check_done();
}
