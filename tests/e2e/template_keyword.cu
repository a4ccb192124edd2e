/* SPDX-License-Identifier: Apache-2.0 */
/* Templates that depend on a parameter, without the word `template`: nvcc accepts them. */
#include <memory>
#include "check.h"

template <typename T> struct vector_of {
    template <int N> struct sized {
        T data[N];
    };
    template <typename U> __host__ __device__ U converted(int i) const { return (U)values[i]; }
    T values[4];
};

template <typename T, typename Allocator> struct table {
    using other = typename std::allocator_traits<Allocator>::rebind_alloc<T>;
    typename vector_of<T>::sized<4> slots;
    __device__ T sum(const vector_of<T> &from)
    {
        T total = 0;
        for (int i = 0; i < 4; i++)
            total += slots.data[i] * (T)from.converted<float>(i);
        return total;
    }
};

template <typename T> __global__ void fill(T *out, vector_of<T> from)
{
    table<T, std::allocator<char>> t;
    for (int i = 0; i < 4; i++)
        t.slots.data[i] = (T)(i + threadIdx.x);
    out[threadIdx.x] = t.sum(from);
}

int main()
{
    int *out = check_managed<int>(32);
    vector_of<int> from = {{1, 2, 3, 4}};
    fill<<<1, 32>>>(out, from);
    KERNEL_OK();
    for (int i = 0; i < 32; i++)
        CHECK_EQ(out[i], 20 + 10 * i);
    static_assert(sizeof(table<int, std::allocator<char>>::other) > 0, "");
    return check_done();
}
