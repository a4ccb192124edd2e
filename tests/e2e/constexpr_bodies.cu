// SPDX-License-Identifier: Apache-2.0
// FLAGS: -std=c++17
// Templates' functions that are constexpr with a variable in them that no constant can have: nvcc and gcc take them for
// ordinary functions.
#include <vector>

#include "check.h"

struct counted {
    int value;
    __host__ __device__ counted(int start) : value(start) {}
    __host__ __device__ ~counted() { value = 0; }
};

template <class T>
class numbers
{
public:
    __host__ constexpr T sum(T outer) const
    {
        if constexpr (sizeof(T) > 1) {
            std::vector<T> all; // with a { in its comment
            for (T i = 0; i < outer; i++) {
                all.push_back(i);
            }
            T total = 0;
            for (T i : all)
                total += i;
            return total;
        }
        return 0;
    }
    __host__ __device__ static constexpr T twice(T value)
    {
        counted half(value);
        return half.value * 2;
    }
    __host__ __device__ constexpr T none() const { return 0; }
};

template <class T>
constexpr T last_of(T count)
{
    std::vector<T> all(count, '}' - '{');
    return all.back();
}

__global__ void twice(int *out) { out[threadIdx.x] = numbers<int>::twice(threadIdx.x); }

int main()
{
    int *out = check_managed<int>(32);
    twice<<<1, 32>>>(out);
    KERNEL_OK();
    for (int i = 0; i < 32; i++)
        CHECK_EQ(out[i], 2 * i);
    static_assert(numbers<int>().none() == 0, "still a constant");
    CHECK_EQ(numbers<int>().sum(10), 45);
    CHECK_EQ(last_of(3), 2);
    const auto count = [](auto outer) constexpr { return outer + 1; };
    CHECK_EQ(count(3), 4);
    return check_done();
}
