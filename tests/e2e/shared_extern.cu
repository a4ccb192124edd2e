/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic shared memory: its size from the launch, several arrays carved from it, beside static
 * arrays, and in templates by the wrapper structure whose specialisations name one array a type. */
#include "check.h"

extern __shared__ int ints[];
extern __shared__ __align__(16) unsigned char bytes[];
extern __shared__ int sized[32]; /* the launch gives the size of these, too */
extern __shared__ __align__(8) float table [4][8];

/* Both are the launch's memory. */
__global__ void with_sizes(int *out) {
    const int t = threadIdx.x;
    extern __shared__ int inside[64];
    sized[t] = t;
    __syncthreads();
    out[t] = inside[63 - t] + 100;
    __syncthreads();
    if (t < 32) table[t / 8][t % 8] = 0.5f * t;
    __syncthreads();
    out[64 + t] = (int)(2 * ((float *)sized)[t % 32]);
}

__global__ void scan(const int *in, int *out)
{
    unsigned t = threadIdx.x, n = blockDim.x;
    ints[t] = in[t];
    __syncthreads();
    for (unsigned step = 1; step < n; step *= 2) {
        int left = t >= step ? ints[t - step] : 0;
        __syncthreads();
        ints[t] += left;
        __syncthreads();
    }
    out[t] = ints[t];
}

/* doubles first, then floats, then shorts: the usual carving */
__global__ void several(int n, double *result)
{
    __shared__ int fixed[8];
    double *d = (double *)bytes;
    float *f = (float *)&d[n];
    short *s = (short *)&f[n];
    int t = threadIdx.x;
    d[t] = t * 0.5;
    f[t] = t * 2.0f;
    s[t] = (short)(t - 5);
    if (t < 8)
        fixed[t] = 100 + t;
    __syncthreads();
    int o = n - 1 - t;
    result[t] = d[o] + f[o] + s[o] + fixed[o % 8];
}

template <class T> struct shared_memory;
template <> struct shared_memory<int> {
    __device__ int *get() { extern __shared__ int s_int[]; return s_int; }
};
template <> struct shared_memory<float> {
    __device__ float *get() { extern __shared__ float s_float[]; return s_float; }
};
template <> struct shared_memory<double> {
    __device__ double *get() { extern __shared__ double s_double[]; return s_double; }
};

template <class T> __global__ void sum(const T *in, T *out)
{
    shared_memory<T> wrapper;
    T *data = wrapper.get();
    unsigned t = threadIdx.x;
    data[t] = in[t];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            data[t] += data[t + half];
        __syncthreads();
    }
    if (t == 0)
        *out = data[0];
}

template <class T> static void check_sum(void)
{
    T *in = check_managed<T>(256), *out = check_managed<T>(1);
    for (int i = 0; i < 256; i++)
        in[i] = (T)(i + 1);
    sum<T><<<1, 256, 256 * sizeof(T)>>>(in, out);
    KERNEL_OK();
    CHECK_EQ(*out, (T)(256 * 257 / 2));
}

int main(void)
{
    int *in = check_managed<int>(512), *out = check_managed<int>(512);
    for (int n = 1; n <= 512; n = n * 3 + 1) {
        for (int i = 0; i < n; i++)
            in[i] = i * 7 % 13;
        scan<<<1, n, n * sizeof(int)>>>(in, out);
        KERNEL_OK();
        for (int i = 0, total = 0; i < n; i++) {
            total += in[i];
            CHECK_EQ(out[i], total);
        }
    }
    double *result = check_managed<double>(200);
    several<<<1, 200, 200 * (8 + 4 + 2)>>>(200, result);
    KERNEL_OK();
    for (int t = 0; t < 200; t++) {
        int o = 199 - t;
        CHECK_EQ(result[t], o * 0.5 + o * 2.0 + (o - 5) + 100 + o % 8);
    }
    int *both = check_managed<int>(128);
    with_sizes<<<1, 64, 64 * sizeof(int)>>>(both);
    KERNEL_OK();
    for (int t = 0; t < 64; t++) {
        CHECK_EQ(both[t], 163 - t);
        CHECK_EQ(both[64 + t], t % 32);
    }
    check_sum<int>();
    check_sum<float>();
    check_sum<double>();
    return check_done();
}
