// SPDX-License-Identifier: Apache-2.0
/* Specialisations for one side of functions for both, as nvcc accepts them. */
#include "check.h"

#ifdef __CUDACC__
#define BOTH __host__ __device__
#endif

template <typename T>
inline BOTH float rounded(T value);
template <>
inline BOTH float rounded(float value) { return value; }
#ifdef __CUDA_ARCH__
template <>
inline __device__ float rounded(int value) { return __int2float_rz(value); }
#endif

template <typename T>
BOTH int half_width();
template<> __host__ int half_width<short>() { return 8; }
template<> BOTH int half_width<int>() { return 16; }

__global__ void round_all(float *out, const int *in) {
    const int i = (int)threadIdx.x;
    out[i] = rounded(in[i]) + rounded(0.25f) * (float)half_width<int>();
}

int main()
{
    const int n = 32;
    int *in = check_managed<int>(n);
    float *out = check_managed<float>(n);
    for (int i = 0; i < n; i++)
        in[i] = (1 << 24) + 1 + 2 * i; /* between two floats */
    round_all<<<1, n>>>(out, in);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        CHECK_EQ((double)out[i], (double)((1 << 24) + 2 * i + 4));
    CHECK_EQ(half_width<short>(), 8);
    return check_done();
}
