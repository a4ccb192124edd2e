/* SPDX-License-Identifier: Apache-2.0 */
#include <execution>
#include <numeric>

#include "primitives.h"

template <class T> static void measure(const char *type, size_t count, int rounds) {
    const std::vector<T> in = random_numbers<T>(count);
    std::vector<T> out(count);
    T sum = 0;
    constexpr auto parallel = std::execution::par_unseq;
    double ms = fastest_ms(rounds, [] {}, [&] { sum = std::reduce(parallel, in.begin(), in.end(), T(0)); });
    print_row(type, "reduce", ms, (uint64_t)sum);
    ms = fastest_ms(rounds, [] {}, [&] { std::inclusive_scan(parallel, in.begin(), in.end(), out.begin()); });
    print_row(type, "scan", ms, sum_of(out));
    ms = fastest_ms(rounds, [&] { out = in; }, [&] { std::sort(parallel, out.begin(), out.end()); });
    print_row(type, "sort", ms, sum_of(out));
}

int main(int, char **arguments) {
    const size_t count = std::strtoull(arguments[1], nullptr, 10);
    const int rounds = std::atoi(arguments[2]);
    measure<uint32_t>("uint32", count, rounds);
    measure<uint64_t>("uint64", count, rounds);
}
