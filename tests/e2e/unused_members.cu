/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc finds out that a template's own class lacks a member where the function is used; functions of headers that
 * were read before go on meaning what they did. */
#include <vector>

#include "check.h"

template <typename T> struct pair {
    T low, high;
    __host__ __device__ pair swapped() const
    {
        return pair{high, low};
    }
    __host__ __device__ static pair unused(T value)
    {
        pair p;
        p.set_both({value, value});
        return p;
    }
};

__global__ void swap(pair<int> *pairs)
{
    pairs[threadIdx.x] = pairs[threadIdx.x].swapped();
}

int main(void)
{
    enum { COUNT = 64 };
    pair<int> *pairs = check_managed<pair<int>>(COUNT);
    std::vector<int> lows(COUNT), highs(COUNT), wanted(COUNT);
    for (int i = 0; i < COUNT; i++)
        pairs[i] = pair<int>{i, wanted[i] = 3 * i};
    swap<<<1, COUNT>>>(pairs);
    KERNEL_OK();
    for (int i = 0; i < COUNT; i++) {
        lows[i] = pairs[i].low;
        highs[i] = pairs[i].high;
    }
    CHECK(lows == wanted);
    CHECK(highs != wanted);
    return check_done();
}
