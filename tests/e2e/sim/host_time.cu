/* SPDX-License-Identifier: Apache-2.0 */
/* Host work on a simulated GPU takes the time that the host model says. */
// DEVICES: sim:gtx680@xeon-e5-quad
#include <warpage/cudart.h>
#include <warpage/host.h>
#include "../check.h"

#define WARPAGE_OK(call)                                                                           \
    do {                                                                                           \
        wp_error err = {WP_STATUS_OK};                                                             \
        if ((call) != WP_STATUS_OK) {                                                              \
            printf("line %d: %s\n", __LINE__, err.message);                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The profile's numbers: 12.8 GB/s a core, 57.6 GB/s in all, 8 ns a miss. */
static const wp_host_work copy_64_mib = {64 << 20, 64 << 20, WP_HOST_SEQUENTIAL, 0, 1};
static const double copy_ms = 3 * 67.108864 / 12.8;

static cudaEvent_t first, last;

static float between()
{
    float ms;
    CUDA_OK(cudaEventRecord(last, 0));
    CUDA_OK(cudaEventSynchronize(last));
    CUDA_OK(cudaEventElapsedTime(&ms, first, last));
    return ms;
}

static void begin()
{
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaEventRecord(first, 0));
}

#define CHECK_MS(got, expected) CHECK((got) > (expected) * 0.999 && (got) < (expected) * 1.01)

static void declare_twice(void *)
{
    WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &copy_64_mib, &err));
    WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &copy_64_mib, &err));
}

__global__ void spin(long long cycles, long long *out)
{
    const long long from = clock64();
    while (clock64() - from < cycles)
        ;
    *out = clock64();
}

int main()
{
    CUDA_OK(cudaEventCreate(&first));
    CUDA_OK(cudaEventCreate(&last));

    begin(); /* a host thread */
    WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &copy_64_mib, &err));
    CHECK_MS(between(), copy_ms);

    begin(); /* a queue: one after the other, though there are four cores */
    WARPAGE_OK(wp_queue_host_work(wp_cudart_queue(0), &copy_64_mib, &err));
    WARPAGE_OK(wp_queue_host_work(wp_cudart_queue(0), &copy_64_mib, &err));
    CHECK_MS(between(), 2 * copy_ms);

    begin(); /* a host function, both of whose pieces count */
    CUDA_OK(cudaLaunchHostFunc(0, declare_twice, NULL));
    CHECK_MS(between(), 2 * copy_ms);

    cudaStream_t other;
    CUDA_OK(cudaStreamCreate(&other));
    begin(); /* two queues at a time */
    WARPAGE_OK(wp_queue_host_work(wp_cudart_queue(0), &copy_64_mib, &err));
    WARPAGE_OK(wp_queue_host_work(wp_cudart_queue(other), &copy_64_mib, &err));
    CHECK(between() < 2.01 * copy_ms);

    long long *out; /* a host thread works while a kernel runs: 20 ms and 15.7 ms take 20 */
    CUDA_OK(cudaMalloc(&out, sizeof *out));
    begin();
    spin<<<1, 1>>>(20 * 1020000, out);
    WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &copy_64_mib, &err));
    CHECK_MS(between(), 20.0);

    begin(); /* random reads: a million misses, ten at a time */
    const wp_host_work gather = {8 << 20, 0, WP_HOST_RANDOM, 8, 1};
    WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &gather, &err));
    CHECK_MS(between(), 1.048576 * 8);

    CUDA_OK(cudaStreamDestroy(other));
    CUDA_OK(cudaFree(out));
    return check_done();
}
