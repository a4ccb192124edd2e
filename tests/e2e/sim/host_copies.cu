/* SPDX-License-Identifier: Apache-2.0 */
/* A page-locked buffer of 64 MiB is filled and copied to the device; how it is filled is the argument. Prints the
 * simulated nanoseconds from the filling to the end of the copy. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/host.h>

static const size_t bytes = (size_t)64 << 20;
static char *from, *pinned, *device;

static void declare(void)
{
    const wp_host_work work = {bytes, bytes};
    wp_error err = WP_ERROR_INIT;
    if (wp_device_host_work(wp_cudart_device(), &work, &err) != WP_STATUS_OK) exit(1);
}

static void by_loop(char *to, const char *source, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] = source[i];
}

static void *copy_half(void *half)
{
    memcpy(pinned + (size_t)half * (bytes / 2), from, bytes / 2);
    return NULL;
}

static void CUDART_CB host_function(void *) { memcpy(pinned, from, bytes); }

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "memcpy";
    cudaEvent_t first, last;
    float ms;
    from = (char *)malloc(bytes);
    cudaMallocHost(&pinned, bytes);
    cudaMalloc(&device, bytes);
    cudaEventCreate(&first);
    cudaEventCreate(&last);
    memset(from, 1, bytes);
    cudaEventRecord(first, 0);
    if (strcmp(how, "memcpy") == 0) {
        memcpy(pinned, from, bytes);
    } else if (strcmp(how, "pieces") == 0) {
        for (size_t at = 0; at < bytes; at += 1024) memmove(pinned + at, from + at, 1024);
    } else if (strcmp(how, "threads") == 0) {
        pthread_t helpers[2];
        for (size_t i = 0; i < 2; i++) pthread_create(&helpers[i], NULL, copy_half, (void *)i);
        for (size_t i = 0; i < 2; i++) pthread_join(helpers[i], NULL);
    } else if (strcmp(how, "function") == 0) {
        cudaLaunchHostFunc(0, host_function, NULL);
    } else if (strcmp(how, "declared") == 0) {
        by_loop(pinned, from, bytes);
        declare();
    } else if (strcmp(how, "both") == 0) {
        memcpy(pinned, from, bytes);
        declare();
    } else {
        by_loop(pinned, from, bytes);
    }
    cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, 0);
    if (strcmp(how, "again") == 0) { /* what came from the device is not the host's work */
        cudaMemcpy(pinned, device, bytes, cudaMemcpyDeviceToHost);
        cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, 0);
    }
    cudaEventRecord(last, 0);
    if (cudaEventSynchronize(last) != cudaSuccess) return 1;
    cudaEventElapsedTime(&ms, first, last);
    printf("%.0f\n", 1e6 * (double)ms);
    return 0;
}
