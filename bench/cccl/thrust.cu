/* SPDX-License-Identifier: Apache-2.0 */
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include "primitives.h"

template <class T> static std::vector<T> copy_back(const thrust::device_vector<T> &from) {
    std::vector<T> to(from.size());
    thrust::copy(from.begin(), from.end(), to.begin());
    return to;
}

template <class T> static void measure(const char *type, size_t count, int rounds) {
    const thrust::device_vector<T> in = random_numbers<T>(count);
    thrust::device_vector<T> out(count);
    T sum = 0;
    double ms = fastest_ms(rounds, [] {}, [&] { sum = thrust::reduce(in.begin(), in.end(), T(0)); });
    print_row(type, "reduce", ms, (uint64_t)sum);
    ms = fastest_ms(rounds, [] {}, [&] {
        thrust::inclusive_scan(in.begin(), in.end(), out.begin());
        cudaDeviceSynchronize();
    });
    print_row(type, "scan", ms, sum_of(copy_back(out)));
    const auto restore = [&] {
        out = in;
        cudaDeviceSynchronize();
    };
    ms = fastest_ms(rounds, restore, [&] {
        thrust::sort(out.begin(), out.end());
        cudaDeviceSynchronize();
    });
    print_row(type, "sort", ms, sum_of(copy_back(out)));
}

int main(int, char **arguments) {
    const size_t count = std::strtoull(arguments[1], nullptr, 10);
    const int rounds = std::atoi(arguments[2]);
    measure<uint32_t>("uint32", count, rounds);
    measure<uint64_t>("uint64", count, rounds);
}
