/* SPDX-License-Identifier: Apache-2.0 */
/** What the programs that time the simulator share: sizes from the command line, data, verdicts. */
#ifndef BENCH_PROGRAM_H
#define BENCH_PROGRAM_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDA_OK(call)                                                                              \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The n-th argument (from 1), or what it is when it is not given. */
static inline int program_size(int argc, char **argv, int n, int otherwise) {
    const int size = argc > n ? atoi(argv[n]) : otherwise;
    if (size > 0) return size;
    fprintf(stderr, "%s: argument %d must be a positive number\n", argv[0], n);
    exit(2);
}

/* Numbers in [0, 1) that look random, the same everywhere. */
static inline float program_noise(uint32_t n) {
    n = (n ^ 61u) ^ (n >> 16);
    n *= 9u;
    n ^= n >> 4;
    n *= 0x27d4eb2du;
    n ^= n >> 15;
    return (float)(n >> 8) * 0x1p-24f;
}

static inline float *program_floats(size_t count, uint32_t seed) {
    float *data = (float *)malloc(count * sizeof *data);
    if (data == NULL) exit(1);
    for (size_t i = 0; i < count; i++)
        data[i] = program_noise((uint32_t)i + seed);
    return data;
}

static inline float *program_device(size_t count, const float *data) {
    float *copy;
    CUDA_OK(cudaMalloc((void **)&copy, count * sizeof *copy));
    if (data != NULL) CUDA_OK(cudaMemcpy(copy, data, count * sizeof *copy, cudaMemcpyHostToDevice));
    return copy;
}

/* Both in the same order of additions, but for fused ones. */
static inline int program_verdict(const float *ours, const float *expected, size_t count) {
    double worst = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double scale = fabs((double)expected[i]) + 1e-3;
        const double error = fabs((double)ours[i] - (double)expected[i]) / scale;
        worst = error <= worst ? worst : error; /* NaN is worst */
    }
    printf("%s\n", worst < 1e-3 ? "correct" : "WRONG");
    return worst < 1e-3 ? 0 : 1;
}

#endif
