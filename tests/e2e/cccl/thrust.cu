/* SPDX-License-Identifier: Apache-2.0 */
/* Thrust's algorithms on vectors of device memory, compared with the C++ standard library's. */
#include "check.h"
#include <algorithm>
#include <numeric>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <vector>

struct is_even {
    __host__ __device__ bool operator()(int x) const {
        return x % 2 == 0;
    }
};

#ifdef __CUDA_ARCH__
#define BOTH_SIDES __host__ __device__
#else
#define BOTH_SIDES /* on the host's side a function of the host alone */
#endif

struct smaller_first {
    BOTH_SIDES bool operator()(const int2 &a, const int2 &b) {
        return a.x < b.x;
    }
};

template <class V> static long differences(const V &got, const std::vector<int> &expected) {
    thrust::host_vector<int> h = got;
    long wrong = (long)h.size() != (long)expected.size();
    for (size_t i = 0; i < h.size() && i < expected.size(); i++)
        wrong += h[i] != expected[i];
    return wrong;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 20000;
    std::vector<int> values(n), expected(n);
    unsigned seed = 1;
    for (int &x : values) {
        seed = seed * 1664525u + 1013904223u;
        x = (int)(seed >> 16) - 32768;
    }
    thrust::device_vector<int> d(values.begin(), values.end()), e(n), keys(d), order(n);
    CHECK_EQ(thrust::reduce(d.begin(), d.end(), 0), std::accumulate(values.begin(), values.end(), 0));

    thrust::transform(d.begin(), d.end(), e.begin(), thrust::negate<int>());
    std::transform(values.begin(), values.end(), expected.begin(), std::negate<int>());
    CHECK_EQ(differences(e, expected), 0L);

    thrust::inclusive_scan(d.begin(), d.end(), e.begin());
    std::partial_sum(values.begin(), values.end(), expected.begin());
    CHECK_EQ(differences(e, expected), 0L);

    std::vector<int> even;
    std::copy_if(values.begin(), values.end(), std::back_inserter(even), is_even());
    e.resize(n);
    e.resize(thrust::copy_if(d.begin(), d.end(), e.begin(), is_even()) - e.begin());
    CHECK_EQ(differences(e, even), 0L);

    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0);
    thrust::copy(numbers.begin(), numbers.end(), order.begin());
    thrust::stable_sort_by_key(keys.begin(), keys.end(), order.begin());
    std::stable_sort(numbers.begin(), numbers.end(),
                     [&](int a, int b) { return values[a] < values[b]; });
    CHECK_EQ(differences(order, numbers), 0L);

    thrust::host_vector<int2> pairs(100);
    for (int i = 0; i < 100; i++)
        pairs[i] = make_int2(i * 37 % 101, i);
    thrust::device_vector<int2> device_pairs = pairs;
    thrust::sort(pairs.begin(), pairs.end(), smaller_first());
    thrust::sort(device_pairs.begin(), device_pairs.end(), smaller_first());
    for (int i = 0; i < 100; i++)
        CHECK_EQ(((int2)device_pairs[i]).y, pairs[i].y);

    std::sort(values.begin(), values.end());
    CHECK_EQ(differences(keys, values), 0L);
    thrust::sort(d.begin(), d.end());
    CHECK_EQ(differences(d, values), 0L);
    return check_done();
}
