/* SPDX-License-Identifier: Apache-2.0 */
/* Templates that depend on a parameter, without the words `template` and `typename`: nvcc accepts them. */
#include <memory>
#include "check.h"

template <typename T> struct vector_of {
    template <int N> struct sized {
        T data[N];
    };
    using type = T;
    template <typename U> __host__ __device__ U converted(int i) const { return (U)values[i]; }
    T values[4];
};

template <typename T, typename U> struct conversion {
    template <int N> __host__ __device__ static void run(T *to, const U *from)
    {
        for (int i = 0; i < N; i++)
            to[i] = (T)from[i];
    }
};

template <typename T, int size> __device__ void convert_all(T *to, const vector_of<T> &from)
{
    conversion<T, T>::run<size>(to, from.values);
}

struct scaled {
    template <int Factor, typename T> __device__ T operator()(T value) const { return value * Factor; }
    template <bool Adds, typename T> __device__ T moved(T value) const { return Adds ? value + 5 : value; }
    template <bool Adds> __device__ int moved(const char *) const { return 0; }
    template <int By> __device__ void move_all(int *values) const { values[0] += By; }
};

template <typename T, typename Scale, typename Allocator> struct table {
    Scale scale_;
    using other = typename std::allocator_traits<Allocator>::rebind_alloc<T>;
    using plain = conversion<
        T,
        T,
    >;
    typename vector_of<T>::sized<4> slots;
    __device__ T sum(const vector_of<T> &from)
    {
        T total = 0;
        conversion<T, T>::run<4>(slots.data, slots.data);
        T copy[4];
        int moves[2] = {0, 0};
        scale_.move_all<sizeof(T)>(moves);
        total += scale_.moved<sizeof(T) == 4>(slots.data[0]) - slots.data[0] - 5 + moves[0] - (int)sizeof(T);
        convert_all<T, 4>(copy, from);
        for (int i = 0; i < 4; i++)
            total += this->scale_.operator()<3>(slots.data[i]) * (T)(from.converted<float>(i) + (float)copy[i]);
        return total;
    }
};

template <typename Vector> __device__ auto take()
{
    __shared__ Vector::type shared;
    shared = 1;
    Vector::type one = shared;
    return Vector::type(one - 1);
}

template <typename T> __global__ void fill(T *out, vector_of<T> from)
{
    table<T, scaled, std::allocator<char>> t;
    const T zero = take<vector_of<T>>();
    for (int i = 0; i < 4; i++)
        t.slots.data[i] = (T)(i + threadIdx.x) + zero;
    out[threadIdx.x] = t.sum(from);
}

int main()
{
    int *out = check_managed<int>(32);
    vector_of<int> from = {{1, 2, 3, 4}};
    fill<<<1, 32>>>(out, from);
    KERNEL_OK();
    for (int i = 0; i < 32; i++)
        CHECK_EQ(out[i], 3 * 2 * (20 + 10 * i));
    static_assert(sizeof(table<int, scaled, std::allocator<char>>::other) > 0, "");
    return check_done();
}
