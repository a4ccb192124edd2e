/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of bench/gpu share: failing, timing by events, one JSON object a line. */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t check_error = (call);                                                    \
        if (check_error != cudaSuccess) {                                                          \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(check_error));                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define REPEATS 10

/* Seconds between two marks in the default stream. */
struct timer {
    cudaEvent_t first, last;
    timer() {
        CHECK(cudaEventCreate(&first));
        CHECK(cudaEventCreate(&last));
    }
    void start() { CHECK(cudaEventRecord(first)); }
    double stop() {
        float ms = 0;
        CHECK(cudaEventRecord(last));
        CHECK(cudaEventSynchronize(last));
        CHECK(cudaEventElapsedTime(&ms, first, last));
        return ms * 1e-3;
    }
};

/* The number given as an argument, or the default. */
static inline size_t argument(int argc, char **argv, int which, size_t otherwise) {
    return argc > which ? strtoull(argv[which], NULL, 10) : otherwise;
}

static inline int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* {"what": …, "unit": …, "median": …, "least": …, "most": …, "repeats": …} */
static inline void report(const char *what, const char *unit, double *values, int count) {
    qsort(values, count, sizeof values[0], compare_doubles);
    printf("{\"what\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, \"least\": %.6g, \"most\": %.6g, "
           "\"repeats\": %d}\n",
           what, unit, values[count / 2], values[0], values[count - 1], count);
}

#endif
