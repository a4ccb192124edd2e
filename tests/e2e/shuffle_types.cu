/* SPDX-License-Identifier: Apache-2.0 */
/* Shuffles of every type: 32 and 64 bit, signed, unsigned, float, double, half. */
#include "check.h"
#include <cuda_fp16.h>

template <class T> __global__ void forms(const T *in, T *out)
{
    int lane = threadIdx.x;
    T v = in[lane];
    out[lane] = __shfl_sync(0xffffffffu, v, 31 - lane);
    out[32 + lane] = __shfl_up_sync(0xffffffffu, v, 3);
    out[64 + lane] = __shfl_down_sync(0xffffffffu, v, 5, 16);
    out[96 + lane] = __shfl_xor_sync(0xffffffffu, v, 9);
}

template <class T> static void check_type(T scale, T offset)
{
    T *in = check_managed<T>(32), *out = check_managed<T>(128);
    for (int i = 0; i < 32; i++)
        in[i] = (T)i * scale + offset;
    forms<T><<<1, 32>>>(in, out);
    KERNEL_OK();
    for (int i = 0; i < 32; i++) {
        CHECK_EQ(out[i], in[31 - i]);
        CHECK_EQ(out[32 + i], in[i >= 3 ? i - 3 : i]);
        CHECK_EQ(out[64 + i], in[i % 16 + 5 < 16 ? i + 5 : i]);
        CHECK_EQ(out[96 + i], in[i ^ 9]);
    }
}

__global__ void halves(float *out)
{
    int lane = threadIdx.x;
    __half h = __float2half(lane * 0.5f);
    out[lane] = __half2float(__shfl_xor_sync(0xffffffffu, h, 1));
    __half2 p = __floats2half2_rn(lane * 1.0f, lane * -2.0f);
    p = __shfl_down_sync(0xffffffffu, p, 1);
    out[32 + lane] = __low2float(p);
    out[64 + lane] = __high2float(p);
}

int main(void)
{
    check_type<int>(-3, 7);
    check_type<unsigned>(0x7000001u, 5);
    check_type<long>(-0x100000001L, 3);
    check_type<unsigned long>(0x123456789abUL, 1);
    check_type<long long>(-0x1000000001LL, -9);
    check_type<unsigned long long>(0x800000001ull, 77);
    check_type<float>(0.37f, -2.5f);
    check_type<double>(1.0 / 3, 1e100);
    float *out = check_managed<float>(96);
    halves<<<1, 32>>>(out);
    KERNEL_OK();
    for (int i = 0; i < 32; i++) {
        int next = i < 31 ? i + 1 : i;
        CHECK_EQ(out[i], (i ^ 1) * 0.5f);
        CHECK_EQ(out[32 + i], (float)next);
        CHECK_EQ(out[64 + i], next * -2.0f);
    }
    return check_done();
}
