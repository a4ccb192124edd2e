// SPDX-License-Identifier: Apache-2.0
// FLAGS: -use_fast_math
// -use_fast_math approximates functions, quotients and products with sums, as on GPUs. Infinities,
// NaNs and the order of sums stay.
#include <cmath>
#include <cstdio>

__global__ void nearest(const float *values, int count, float *best) {
    float least = INFINITY;
    for (int i = 0; i < count; i++)
        if (values[i] < least) least = values[i];
    *best = least;
}

__global__ void marks(const float *values, int count, int *found) {
    int i = threadIdx.x;
    if (i >= count) return;
    float value = values[i];
    found[i] = value != value ? 1 : value == INFINITY ? 2 : value < 0 ? 3 : 0;
}

/* In this order each 1 before a large number is rounded away. */
__global__ void sum(const float *values, int count, float *total) {
    float s = 0;
    for (int i = 0; i < count; i++)
        s += values[i];
    *total = s;
}

int main() {
    enum { COUNT = 4096 };
    float *values, *results;
    int *found;
    cudaMallocManaged(&values, COUNT * sizeof *values);
    cudaMallocManaged(&results, 2 * sizeof *results);
    cudaMallocManaged(&found, 4 * sizeof *found);
    nearest<<<1, 1>>>(values, 0, results);
    values[0] = NAN, values[1] = INFINITY, values[2] = -2, values[3] = 1;
    marks<<<1, 32>>>(values, 4, found);
    cudaDeviceSynchronize();
    int wrong = !std::isinf(results[0]);
    for (int i = 0; i < 4; i++)
        wrong += found[i] != (i < 3 ? i + 1 : 0);
    for (int i = 0; i < COUNT; i++)
        values[i] = i % 4 == 0 ? 1e8f : i % 4 == 2 ? -1e8f : 1.0f;
    sum<<<1, 1>>>(values, COUNT, results + 1);
    cudaDeviceSynchronize();
    wrong += results[1] != 1;
    printf("nearest %g, marks %d %d %d %d, sum %g\n", results[0], found[0], found[1], found[2],
           found[3], results[1]);
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
