// SPDX-License-Identifier: Apache-2.0
// What a program's own clocks say about a kernel: run by simulated_clock.sh.
#include <chrono>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

__global__ void add(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

static double microseconds()
{
    timeval now;
    gettimeofday(&now, NULL);
    return 1e6 * now.tv_sec + now.tv_usec;
}

static double nanoseconds(clockid_t clock)
{
    timespec now;
    clock_gettime(clock, &now);
    return 1e9 * now.tv_sec + now.tv_nsec;
}

int main()
{
    using steady = std::chrono::steady_clock;
    const int n = 1 << 20;
    float *x, ms = 0;
    cudaEvent_t first, last;
    cudaEventCreate(&first);
    cudaEventCreate(&last);
    if (cudaMalloc(&x, n * sizeof *x) != cudaSuccess || cudaMemset(x, 0, n * sizeof *x) != cudaSuccess) return 1;
    cudaDeviceSynchronize();

    const double at[] = {microseconds(), nanoseconds(CLOCK_MONOTONIC)};
    const clock_t ticks = clock();
    const steady::time_point begin = steady::now();
    cudaEventRecord(first);
    add<<<n / 256, 256>>>(x, n);
    cudaEventRecord(last);
    cudaDeviceSynchronize();
    const std::chrono::duration<double, std::micro> took = steady::now() - begin;
    cudaEventElapsedTime(&ms, first, last);
    printf("event %.1f chrono %.1f gettimeofday %.1f monotonic %.1f clock %.1f\n", 1e3 * ms, took.count(),
           microseconds() - at[0], (nanoseconds(CLOCK_MONOTONIC) - at[1]) / 1e3,
           1e6 / CLOCKS_PER_SEC * (double)(clock() - ticks));

    // A loop that waits for a moment ends; the day is today's.
    const steady::time_point until = steady::now() + std::chrono::milliseconds(10);
    while (steady::now() < until) {}
    printf("day %ld\n", (long)(time(NULL) / 86400));
    return cudaGetLastError() != cudaSuccess;
}
