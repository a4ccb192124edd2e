/* SPDX-License-Identifier: Apache-2.0 */
/* What thrust.cu and parallel.cpp share: numbers, clock, and the form of a row. */
#ifndef BENCH_PRIMITIVES_H
#define BENCH_PRIMITIVES_H
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <class T> std::vector<T> random_numbers(size_t count) {
    std::vector<T> numbers(count);
    uint64_t state = 88172645463325252u;
    for (T &number : numbers) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        number = (T)(state >> 8); /* 56 random bits, or as many as the type has */
    }
    return numbers;
}

/* Milliseconds of the fastest of `rounds` calls; `prepare` is not timed. */
template <class Prepare, class Run> double fastest_ms(int rounds, Prepare prepare, Run run) {
    double best = 1e300;
    for (int round = 0; round < rounds; round++) {
        prepare();
        const auto start = std::chrono::steady_clock::now();
        run();
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count());
    }
    return best;
}

/* What both programs print, and compare their results by: an order-dependent sum. */
template <class Vector> uint64_t sum_of(const Vector &numbers) {
    uint64_t sum = 0;
    for (const auto &number : numbers)
        sum = sum * 31 + (uint64_t)number;
    return sum;
}

inline void print_row(const char *type, const char *what, double ms, uint64_t sum) {
    std::printf("%s,%s,%.3f,%016llx\n", type, what, ms, (unsigned long long)sum);
}
#endif
