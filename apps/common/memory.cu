/* SPDX-License-Identifier: Apache-2.0 */
/* The three memory modes behind one array, and the clock of copies and kernels. */
#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"

void app_cuda_check(cudaError_t result, const char *what, const char *name, size_t size_bytes) {
    if (result == cudaSuccess) {
        return;
    }
    if (result == cudaErrorMemoryAllocation) {
        size_t free_bytes = 0;
        size_t total_bytes = 0;
        (void)cudaMemGetInfo(&free_bytes, &total_bytes);
        app_fail("%s of %s failed: %s asked, %s of %s device memory free; use --memory managed or "
                 "zerocopy, or a smaller --size",
                 what, name, app_bytes(size_bytes), app_bytes(free_bytes), app_bytes(total_bytes));
    }
    if (size_bytes != 0) {
        app_fail("%s of %s (%s) failed: %s (%s)", what, name, app_bytes(size_bytes),
                 cudaGetErrorString(result), cudaGetErrorName(result));
    }
    app_fail("%s of %s failed: %s (%s)", what, name, cudaGetErrorString(result),
             cudaGetErrorName(result));
}

/* Copies are timed by events, as kernels are: on a simulated GPU both are simulated times. */
static void begin_copy(const app_device *device) {
    app_cuda_check(cudaEventRecord(device->copy_start, 0), "cudaEventRecord", "a timer", 0);
}

static double end_copy(const app_device *device) {
    float elapsed_ms = 0.0f;
    app_cuda_check(cudaEventRecord(device->copy_stop, 0), "cudaEventRecord", "a timer", 0);
    app_cuda_check(cudaEventSynchronize(device->copy_stop), "cudaEventSynchronize", "a timer", 0);
    app_cuda_check(cudaEventElapsedTime(&elapsed_ms, device->copy_start, device->copy_stop),
                   "cudaEventElapsedTime", "a copy", 0);
    return 1e-3 * (double)elapsed_ms;
}

void app_device_open(app_device *device, int mode) {
    memset(device, 0, sizeof *device);
    device->mode = (app_memory_mode)mode;
    device->load_s = app_seconds();
    app_cuda_check(cudaEventCreate(&device->kernels_start), "cudaEventCreate", "a timer", 0);
    app_cuda_check(cudaEventCreate(&device->kernels_stop), "cudaEventCreate", "a timer", 0);
    app_cuda_check(cudaEventCreate(&device->copy_start), "cudaEventCreate", "a timer", 0);
    app_cuda_check(cudaEventCreate(&device->copy_stop), "cudaEventCreate", "a timer", 0);
}

void app_device_close(app_device *device) {
    app_cuda_check(cudaEventDestroy(device->kernels_start), "cudaEventDestroy", "a timer", 0);
    app_cuda_check(cudaEventDestroy(device->kernels_stop), "cudaEventDestroy", "a timer", 0);
    app_cuda_check(cudaEventDestroy(device->copy_start), "cudaEventDestroy", "a timer", 0);
    app_cuda_check(cudaEventDestroy(device->copy_stop), "cudaEventDestroy", "a timer", 0);
}

void app_array_create(app_device *device, app_array *array, size_t count, size_t item_bytes,
                      const char *name, app_role role) {
    memset(array, 0, sizeof *array);
    if (item_bytes != 0 && count > SIZE_MAX / 2 / item_bytes) {
        app_fail("%s: %s items of %s are more than memory can hold; use a smaller --size", name,
                 app_count(count), app_bytes(item_bytes));
    }
    /* CUDA refuses arrays of no bytes; a graph without edges is still a graph. */
    size_t size_bytes = count * item_bytes != 0 ? count * item_bytes : 1;
    array->name = name;
    array->size_bytes = count * item_bytes;
    if (device->mode == APP_MEMORY_MANAGED && role != APP_ROLE_LOCAL) {
        app_cuda_check(cudaMallocManaged(&array->device, size_bytes, cudaMemAttachGlobal),
                       "cudaMallocManaged", name, size_bytes);
        array->host = array->device;
        array->is_shared = true;
    } else if (device->mode == APP_MEMORY_ZEROCOPY && role == APP_ROLE_INPUT) {
        app_cuda_check(cudaHostAlloc(&array->host, size_bytes, cudaHostAllocMapped),
                       "cudaHostAlloc", name, size_bytes);
        app_cuda_check(cudaHostGetDevicePointer(&array->device, array->host, 0),
                       "cudaHostGetDevicePointer", name, size_bytes);
        array->is_shared = true;
        array->is_pinned = true;
    } else {
        app_cuda_check(cudaMalloc(&array->device, size_bytes), "cudaMalloc", name, size_bytes);
        if (role == APP_ROLE_INPUT || role == APP_ROLE_UPDATED) {
            array->host = app_allocate(size_bytes, 1, name);
        }
    }
    device->allocated_bytes += array->size_bytes;
    if (device->allocated_bytes > device->peak_bytes) {
        device->peak_bytes = device->allocated_bytes;
    }
}

void app_array_take(app_device *device, app_array *array, void **memory, size_t count,
                    size_t item_bytes, const char *name) {
    app_array_create(device, array, count, item_bytes, name, APP_ROLE_INPUT);
    if (array->is_shared) {
        if (array->size_bytes != 0) {
            memcpy(array->host, *memory, array->size_bytes);
        }
        free(*memory);
    } else {
        free(array->host);
        array->host = *memory;
    }
    *memory = NULL;
}

void app_array_free(app_device *device, app_array *array) {
    if (array->device == NULL) {
        return;
    }
    if (array->is_pinned) {
        app_cuda_check(cudaFreeHost(array->host), "cudaFreeHost", array->name, 0);
    } else {
        app_cuda_check(cudaFree(array->device), "cudaFree", array->name, 0);
        if (!array->is_shared) {
            free(array->host);
        }
    }
    device->allocated_bytes -= array->size_bytes;
    memset(array, 0, sizeof *array);
}

void app_array_to_device(app_device *device, app_array *array) {
    if (array->is_shared) {
        return;
    }
    begin_copy(device);
    app_cuda_check(
        cudaMemcpy(array->device, array->host, array->size_bytes, cudaMemcpyHostToDevice),
        "cudaMemcpy to the device", array->name, array->size_bytes);
    device->to_device_s += end_copy(device);
    device->to_device_bytes += array->size_bytes;
}

void app_array_to_host(app_device *device, app_array *array) {
    if (array->is_shared) {
        app_cuda_check(cudaDeviceSynchronize(), "waiting for the kernels before use", array->name,
                       0);
        return;
    }
    if (array->host == NULL) {
        array->host = app_allocate(array->size_bytes, 1, array->name);
    }
    begin_copy(device);
    app_cuda_check(
        cudaMemcpy(array->host, array->device, array->size_bytes, cudaMemcpyDeviceToHost),
        "cudaMemcpy to the host", array->name, array->size_bytes);
    device->to_host_s += end_copy(device);
    device->to_host_bytes += array->size_bytes;
}

void app_array_fill(app_device *device, app_array *array, int byte) {
    (void)device;
    app_cuda_check(cudaMemset(array->device, byte, array->size_bytes), "cudaMemset", array->name,
                   array->size_bytes);
}

void app_array_read(app_device *device, const app_array *array, size_t offset_bytes, void *to,
                    size_t size_bytes) {
    begin_copy(device);
    app_cuda_check(cudaMemcpy(to, (const char *)array->device + offset_bytes, size_bytes,
                              cudaMemcpyDeviceToHost),
                   "cudaMemcpy to the host", array->name, size_bytes);
    device->to_host_s += end_copy(device);
    device->to_host_bytes += size_bytes;
}

void app_array_write(app_device *device, app_array *array, size_t offset_bytes, const void *from,
                     size_t size_bytes) {
    begin_copy(device);
    app_cuda_check(
        cudaMemcpy((char *)array->device + offset_bytes, from, size_bytes, cudaMemcpyHostToDevice),
        "cudaMemcpy to the device", array->name, size_bytes);
    device->to_device_s += end_copy(device);
    device->to_device_bytes += size_bytes;
}

const void *app_array_view(app_device *device, const app_array *array, size_t offset_bytes,
                           void *buffer, size_t size_bytes) {
    if (array->is_shared) {
        app_cuda_check(cudaDeviceSynchronize(), "waiting for the kernels before use", array->name,
                       0);
        return (const char *)array->host + offset_bytes;
    }
    app_array_read(device, array, offset_bytes, buffer, size_bytes);
    return buffer;
}

void app_kernels_begin(app_device *device) {
    app_cuda_check(cudaEventRecord(device->kernels_start, 0), "cudaEventRecord", "a timer", 0);
}

void app_kernels_end(app_device *device, const char *name, uint64_t launches) {
    float elapsed_ms = 0.0f;
    app_cuda_check(cudaGetLastError(), "launch", name, 0);
    app_cuda_check(cudaEventRecord(device->kernels_stop, 0), "cudaEventRecord", "a timer", 0);
    app_cuda_check(cudaEventSynchronize(device->kernels_stop), "run", name, 0);
    app_cuda_check(cudaEventElapsedTime(&elapsed_ms, device->kernels_start, device->kernels_stop),
                   "cudaEventElapsedTime", name, 0);
    device->kernels_s += 1e-3 * (double)elapsed_ms;
    device->launches += launches;
}

static void print_phase(const char *name, double seconds, const char *detail) {
    fprintf(stderr, "  %-15s %12s   %s\n", name, app_time(seconds), detail);
}

void app_device_report(const app_device *device, double work, const char *unit) {
    static const char *const modes[] = {"copy", "managed", "zerocopy"};
    struct cudaDeviceProp properties;
    char detail[128];
    int ordinal = 0;
    app_cuda_check(cudaGetDevice(&ordinal), "cudaGetDevice", "the device", 0);
    app_cuda_check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties",
                   "the device", 0);
    /* What the host does takes no simulated time. */
    const bool is_simulated = strstr(properties.name, "simulated") != NULL;
    fprintf(stderr, "\n  on %s, --memory %s, %s of data\n", properties.name, modes[device->mode],
            app_bytes(device->peak_bytes));
    print_phase("load", device->load_s,
                is_simulated ? "read or generate the input (wall clock; the rest is simulated time)"
                             : "read or generate the input");
    snprintf(detail, sizeof detail, "%-12s %s", app_bytes(device->to_device_bytes),
             app_rate((double)device->to_device_bytes, device->to_device_s, "B"));
    print_phase("copy to device", device->to_device_s, detail);
    char launches[40];
    snprintf(launches, sizeof launches, "%s launches", app_count(device->launches));
    snprintf(detail, sizeof detail, "%-12s %s", launches, app_rate(work, device->kernels_s, unit));
    print_phase("kernels", device->kernels_s, detail);
    snprintf(detail, sizeof detail, "%-12s %s", app_bytes(device->to_host_bytes),
             app_rate((double)device->to_host_bytes, device->to_host_s, "B"));
    print_phase("copy to host", device->to_host_s, detail);
    if (is_simulated) {
        print_phase("copies, kernels", device->to_device_s + device->kernels_s + device->to_host_s,
                    "");
    } else {
        print_phase("total", app_seconds(), "");
    }
}

unsigned app_blocks(uint64_t count, unsigned threads) {
    uint64_t blocks = (count + threads - 1) / threads;
    if (blocks > 0x7fffffffu) {
        app_fail("%s items need more than 2^31-1 blocks of %u threads; use a smaller --size",
                 app_count(count), threads);
    }
    return blocks != 0 ? (unsigned)blocks : 1u;
}
