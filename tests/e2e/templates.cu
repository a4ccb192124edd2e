/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: kernels over types, sizes, functions and functors; specialisation; overloads. */
#include "check.h"

template <class T, int N> struct vec {
    T v[N];
    __host__ __device__ T dot(const vec &o) const
    {
        T s = 0;
        for (int i = 0; i < N; i++)
            s += v[i] * o.v[i];
        return s;
    }
};

struct add {
    template <class T> __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
struct larger {
    template <class T> __host__ __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

template <class T> __device__ const char *name_of(T) { return "other"; }
template <> __device__ const char *name_of<float>(float) { return "float"; }

__device__ int pick(int) { return 1; }
__device__ int pick(unsigned) { return 2; }
__device__ int pick(double) { return 3; }

template <class T, int N, class Op> __global__ void fold(const T *in, T *out, Op op)
{
    T r = in[threadIdx.x * N];
#pragma unroll
    for (int i = 1; i < N; i++)
        r = op(r, in[threadIdx.x * N + i]);
    out[threadIdx.x] = r;
}

template <int N> struct power {
    template <class T> static __device__ T of(T x) { return x * power<N - 1>::of(x); }
};
template <> struct power<0> {
    template <class T> static __device__ T of(T) { return T(1); }
};

template <class T, int N> __global__ void dots(const vec<T, N> *a, vec<T, N> b, T *out)
{
    out[threadIdx.x] = a[threadIdx.x].dot(b);
}

template <bool flag> __global__ void choose(int *out) { *out = flag ? 10 : 20; }

__device__ int square(int x) { return x * x; }
template <int (*f)(int)> __global__ void apply(int *data) { data[threadIdx.x] = f(data[threadIdx.x]); }

__global__ void names(int *out)
{
    out[0] = name_of(1.0f)[0];
    out[1] = name_of(1)[0];
    out[2] = pick(1) * 100 + pick(1u) * 10 + pick(1.0);
    out[3] = power<5>::of(3);
}

template <class... Ts> __device__ int count_all(Ts... values) { return (int)sizeof...(values); }
template <class T> __device__ T sum_all(T v) { return v; }
template <class T, class... Ts> __device__ T sum_all(T v, Ts... rest) { return v + sum_all<T>(rest...); }
__global__ void packs(int *out)
{
    out[0] = count_all(1, 2.0, 'c', 4u);
    out[1] = sum_all(1, 2, 3, 4, 5);
}

int main(void)
{
    int *ints = check_managed<int>(64), *out = check_managed<int>(64);
    double *reals = check_managed<double>(64), *reals_out = check_managed<double>(64);
    for (int i = 0; i < 64; i++) {
        ints[i] = i * 37 % 50;
        reals[i] = i * 37 % 50 + 0.5;
    }
    fold<int, 4><<<1, 16>>>(ints, out, add());
    fold<double, 8, larger><<<1, 8>>>(reals, reals_out, larger());
    KERNEL_OK();
    for (int t = 0; t < 16; t++)
        CHECK_EQ(out[t], ints[4 * t] + ints[4 * t + 1] + ints[4 * t + 2] + ints[4 * t + 3]);
    for (int t = 0; t < 8; t++) {
        double best = 0;
        for (int i = 0; i < 8; i++)
            best = larger()(best, reals[8 * t + i]);
        CHECK_EQ(reals_out[t], best);
    }
    vec<int, 3> *vectors = check_managed<vec<int, 3> >(5), b = {{1, -2, 3}};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            vectors[i].v[k] = i + k;
    dots<int, 3><<<1, 5>>>(vectors, b, out);
    KERNEL_OK();
    for (int i = 0; i < 5; i++)
        CHECK_EQ(out[i], vectors[i].dot(b));
    choose<true><<<1, 1>>>(out);
    choose<false><<<1, 1>>>(out + 1);
    apply<square><<<1, 64>>>(ints);
    names<<<1, 1>>>(out + 2);
    packs<<<1, 1>>>(out + 6);
    KERNEL_OK();
    const int expected[] = {10, 20, 'f', 'o', 123, 243, 4, 15};
    for (int i = 0; i < 8; i++)
        CHECK_EQ(out[i], expected[i]);
    CHECK_EQ(ints[3], 111 % 50 * (111 % 50));
    return check_done();
}
