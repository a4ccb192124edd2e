/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One kernel over records in host memory that need not fit the GPU, in several ways:
 *
 *     variant           data reach the kernel by
 *     serial, threads   (no GPU) one thread of the host; one for each processor
 *     single            a buffer on the device: copy, kernel, copy back, again
 *     double            two buffers, two streams: one is copied while the other is computed on
 *     direct            the same, without staging: all records are page-locked for it
 *     full              warpage/stream.h: one launch over all
 *     zerocopy          the kernel reads host memory over the link
 *     managed           cudaMallocManaged: pages move on demand
 *     prefetch          the same, prefetched a buffer's size at a time
 *
 * `single` and `double` stage through page-locked memory. On a simulated GPU what the host copies
 * is declared as host work (warpage/host.h), so that all pay by the same model. All failures end
 * the program with one sentence. Thread rule: one thread.
 */
#ifndef APP_STREAMING_H
#define APP_STREAMING_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#define APP_STREAMING_VARIANTS "serial|threads|single|double|direct|full|zerocopy|managed|prefetch"
enum {
    APP_STREAMING_SERIAL,
    APP_STREAMING_THREADS,
    APP_STREAMING_SINGLE,
    APP_STREAMING_DOUBLE,
    APP_STREAMING_DIRECT,
    APP_STREAMING_FULL,
    APP_STREAMING_ZEROCOPY,
    APP_STREAMING_MANAGED,
    APP_STREAMING_PREFETCH
};

typedef struct app_streaming {
    void *records; /* host memory */
    uint64_t count;
    uint32_t record_bytes;
    bool is_written; /* the kernel changes records: they come back */
    /** Starts the kernel over `count` records at `records`, an address of the device's. */
    void (*launch)(void *object, void *records, uint64_t count, cudaStream_t stream);
    /** Does the same on the host for records [first, outer). */
    void (*on_host)(void *object, void *records, uint64_t first, uint64_t outer);
    void *object;
    uint64_t buffer_bytes;  /* of device memory for buffers of single, double, direct and full */
    uint64_t slots;         /* full: reads of a thread in a chunk; 0: default */
    bool without_patterns;  /* full */
} app_streaming;

/** What a run took. Times in seconds: of the host's clock, and between two events on the device
 *  (0 for serial and threads). */
typedef struct app_streaming_times {
    double wall_s, device_s;
    uint64_t to_device_bytes, to_host_bytes; /* copies; full: data, addresses, values */
} app_streaming_times;

/** Once over all records, which then hold the result. Adds to `times`. */
void app_streaming_run(const app_streaming *job, int variant, app_streaming_times *times);
/** Prints times and rates to stderr. */
void app_streaming_report(const app_streaming *job, int variant, const app_streaming_times *times);

#endif
