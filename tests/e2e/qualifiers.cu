/* SPDX-License-Identifier: Apache-2.0 */
/* Function and variable qualifiers in their usual combinations. */
#include "check.h"

__device__ int device_value = 11;
static __device__ unsigned counter;
__device__ const float table[4] = {1.5f, 2.5f, 3.5f, 4.5f};
__constant__ int constant_value = 7;
static __constant__ double constants[3] = {0.25, 0.5, 0.75};
__device__ __constant__ short both = -5;
__device__ volatile int volatile_value = 3;
__device__ int matrix[3][5];
__device__ struct { int a; char b[3]; } record = {42, {'x', 'y', 'z'}};

__host__ __device__ int twice(int x) { return 2 * x; }
__device__ __forceinline__ int plus_one(int x) { return x + 1; }
__device__ __noinline__ int times_three(int x) { return 3 * x; }
static __inline__ __device__ int minus(int a, int b) { return a - b; }
inline __host__ __device__ int where()
{
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__ >= 300 ? 1 : -1;
#else
    return 2;
#endif
}
__host__ int host_only(int x) { return x - 1; }

extern "C" __global__ void c_kernel(int *out) { out[0] = 99; }

__global__ void __launch_bounds__(128) bounded(int *__restrict__ out, const int *__restrict__ in)
{
    out[threadIdx.x] = in[threadIdx.x] + 1;
}

__global__ void __launch_bounds__(256, 2) bounded_twice(int *out) { out[threadIdx.x] = threadIdx.x; }

static __global__ void all(int *out, double *reals)
{
    int i = 0;
    out[i++] = device_value;
    out[i++] = constant_value;
    out[i++] = both;
    out[i++] = volatile_value;
    out[i++] = twice(21);
    out[i++] = plus_one(41);
    out[i++] = times_three(14);
    out[i++] = minus(50, 8);
    out[i++] = where();
    out[i++] = record.a + record.b[2];
    out[i++] = (int)atomicAdd(&counter, 5u);
    out[i++] = (int)counter;
    matrix[2][4] = 17;
    out[i++] = matrix[2][4] + matrix[0][0];
    device_value = 12;
    for (int k = 0; k < 4; k++)
        reals[k] = table[k];
    for (int k = 0; k < 3; k++)
        reals[4 + k] = constants[k];
}

/* Declarations of one function that name different sides: it has all of them. */
namespace sides {
__host__ __device__ int defined_plain(int v);
template <typename T> __host__ __device__ T *defined_for_device(T *p, int n);
template <typename T> T declared_plain(T const &v);
}
int sides::defined_plain(int v) { return 3 * v; }
template <typename T> __device__ T *sides::defined_for_device(T *p, int n) { return p + n; }
template <typename T> __host__ __device__ T sides::declared_plain(T const &v) { return v + 1; }

__global__ void all_sides(int *out)
{
    *sides::defined_for_device(out, 1) = sides::defined_plain(5) + sides::declared_plain(100);
}

int main(void)
{
    int *out = check_managed<int>(256);
    int *in = check_managed<int>(256);
    double *reals = check_managed<double>(7);
    all<<<1, 1>>>(out, reals);
    KERNEL_OK();
    const int expected[] = {11, 7, -5, 3, 42, 42, 42, 42, 1, 42 + 'z', 0, 5, 17};
    for (int i = 0; i < 13; i++)
        CHECK_EQ(out[i], expected[i]);
    const double expected_reals[] = {1.5, 2.5, 3.5, 4.5, 0.25, 0.5, 0.75};
    for (int i = 0; i < 7; i++)
        CHECK_EQ(reals[i], expected_reals[i]);
    all<<<1, 1>>>(out, reals);
    KERNEL_OK();
    CHECK_EQ(out[0], 12); /* device variables keep their values between launches */
    CHECK_EQ(out[10], 5);
    CHECK_EQ(where(), 2);
    CHECK_EQ(twice(4), 8);
    CHECK_EQ(host_only(4), 3);
    c_kernel<<<1, 1>>>(out);
    for (int i = 0; i < 256; i++)
        in[i] = i * i;
    KERNEL_OK();
    CHECK_EQ(out[0], 99);
    bounded<<<1, 128>>>(out, in);
    KERNEL_OK();
    for (int i = 0; i < 128; i++)
        CHECK_EQ(out[i], i * i + 1);
    bounded_twice<<<1, 256>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[255], 255);
    all_sides<<<1, 1>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[1], 116);
    CHECK_EQ(*sides::defined_for_device(out, 1) + sides::defined_plain(1) + sides::declared_plain(1), 121);
    return check_done();
}
