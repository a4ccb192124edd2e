/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One code path for three ways to give a kernel its data.
 *
 *     mode       input arrays                       state and updated arrays
 *     copy       cudaMalloc + copies                cudaMalloc + copies
 *     managed    cudaMallocManaged, pages move      cudaMallocManaged
 *     zerocopy   cudaHostAlloc(mapped), kernels     cudaMalloc + copies (kernels update them at
 *                read over the link                 random and with atomics: they stay near)
 *
 * Local arrays are cudaMalloc'ed in every mode.
 *
 * A program fills `array.host`, calls app_array_to_device, launches kernels on `array.device`,
 * calls app_array_to_host and reads `array.host`. Where both are the same memory the calls only
 * wait for the kernels. All failures of the CUDA runtime end the program with one sentence.
 * Thread rule: one thread. Sizes are in bytes, times in seconds.
 */
#ifndef APP_MEMORY_H
#define APP_MEMORY_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/options.h"

/** What a program does with an array. */
typedef enum app_role {
    APP_ROLE_INPUT = 0, /* written by the host, only read by kernels */
    APP_ROLE_STATE,     /* written by kernels */
    APP_ROLE_UPDATED,   /* written by the host first, then by kernels */
    APP_ROLE_LOCAL      /* written and read by kernels alone */
} app_role;

typedef struct app_array {
    void *host;   /* NULL for state and local arrays in device memory until app_array_to_host */
    void *device; /* valid in kernels */
    size_t size_bytes;
    const char *name;
    bool is_shared; /* host and device see the same memory: nothing to copy */
    bool is_pinned; /* host came from cudaHostAlloc */
} app_array;

/** Time and traffic of one run, and the mode. */
typedef struct app_device {
    app_memory_mode mode;
    cudaEvent_t copy_start;
    cudaEvent_t copy_stop;
    cudaEvent_t kernels_start;
    cudaEvent_t kernels_stop;
    double load_s; /* reading or generating the input, set by app_device_open */
    double to_device_s; /* between cudaEvents around the copies, as to_host_s */
    double to_host_s;
    double kernels_s; /* between cudaEvents around the launches */
    uint64_t launches;
    uint64_t to_device_bytes;
    uint64_t to_host_bytes;
    uint64_t allocated_bytes; /* sum over the arrays now alive */
    uint64_t peak_bytes;
} app_device;

/** Prepares the current CUDA device. Call it after the input was read: the time since app_start
 *  is reported as "load". */
void app_device_open(app_device *device, int mode);

/** An array of `count` items, whose content is undefined; see app_array_fill. */
void app_array_create(app_device *device, app_array *array, size_t count, size_t item_bytes,
                      const char *name, app_role role);
/** An input array whose content is *memory (malloc'ed), which it takes: *memory becomes NULL. */
void app_array_take(app_device *device, app_array *array, void **memory, size_t count,
                    size_t item_bytes, const char *name);
/** Frees; a zeroed array is allowed. */
void app_array_free(app_device *device, app_array *array);

void app_array_to_device(app_device *device, app_array *array);
/** Afterwards array->host holds what the kernels wrote. */
void app_array_to_host(app_device *device, app_array *array);
/** Sets every byte on the device. */
void app_array_fill(app_device *device, app_array *array, int byte);
/** Copies a few bytes (counters) in either direction. */
void app_array_read(app_device *device, const app_array *array, size_t offset_bytes, void *to,
                    size_t size_bytes);
void app_array_write(app_device *device, app_array *array, size_t offset_bytes, const void *from,
                     size_t size_bytes);
/** What the kernels wrote at `offset_bytes`, for the host to read: the array itself where it is
 *  shared, else a copy in `buffer`, which has room for it. Valid until the next launch. */
const void *app_array_view(app_device *device, const app_array *array, size_t offset_bytes,
                           void *buffer, size_t size_bytes);

/** Around a group of launches: measures them and reports their failure, by name. */
void app_kernels_begin(app_device *device);
void app_kernels_end(app_device *device, const char *name, uint64_t launches);

/** Ends the program if `result` is an error: "cudaMalloc of rank (2.0 MiB): out of memory". */
void app_cuda_check(cudaError_t result, const char *what, const char *name, size_t size_bytes);

/** Prints the table of phases to stderr: `work` units were done by the kernels. */
void app_device_report(const app_device *device, double work, const char *unit);
void app_device_close(app_device *device);

/** Blocks of `threads` that cover `count` items; fails if a grid cannot be that large. */
unsigned app_blocks(uint64_t count, unsigned threads);

#endif
