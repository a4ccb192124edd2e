// SPDX-License-Identifier: Apache-2.0
/* Specialisations as nvcc accepts them: for one side of functions for both, and members of partial ones whose
 * definitions have default arguments. */
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

enum class kind { ROWS, COLUMNS };

template <typename T, kind K>
struct table {
    T cells[6];
    int find(T wanted, int first, int width);
};

template <typename T>
struct table<T, kind::ROWS> {
    T cells[6];
    BOTH int find(T wanted, int first, int width);
};

template <typename T>
BOTH int table<T, kind::ROWS>::find(T wanted, int first = int(sizeof(T[1])) / 4 - 1, int width = 3) {
    for (int i = first; i < 6; i++)
        if (cells[i] == wanted) return i / width;
    return -1;
}

__global__ void find_all(table<int, kind::ROWS> t, int *out) { out[threadIdx.x] = t.find((int)threadIdx.x, 0, 3); }

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
    table<int, kind::ROWS> t = {{0, 5, 1, 2, 4, 3}};
    find_all<<<1, n>>>(t, in);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        CHECK_EQ(in[i], i > 5 ? -1 : i == 0 || i == 5 || i == 1 ? 0 : 1);
    CHECK_EQ(t.find(3, 0, 2), 2);
    return check_done();
}
