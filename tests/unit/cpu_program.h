/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels written by hand in the two forms of base/abi.h, as a program of the CPU device. One test
 * file includes this; a test opens a device with as many workers as it names.
 */
#ifndef WP_TEST_CPU_PROGRAM_H
#define WP_TEST_CPU_PROGRAM_H

#include "base/abi.h"
#include "device/device.h"
#include "wp_test.h"

#define ARG(block, index, type) (*(type *)(block)->args[index])
#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* Region `s` of a kernel; what led there and flags. */
#define REGION(fn, stop_op, stop_flags) {.run = (fn), .stop = (stop_op), .flags = (stop_flags)}
#define PLAIN_BARRIER(fn) REGION(fn, WP_STOP_BARRIER, WP_CPU_REGION_PLAIN)

static const wp_cpu_param pointer_params[8] = {{8, 8}, {8, 8}, {8, 8}, {8, 8},
                                               {8, 8}, {8, 8}, {8, 8}, {8, 8}};

/* A kernel in region form that takes `count` pointers (or 8-byte values), with `frame` bytes of
 * frame a thread. */
#define REGION_KERNEL(kernel_name, region_array, count, frame, kernel_flags)                       \
    {.name = (kernel_name),                                                                        \
     .regions = (region_array),                                                                    \
     .region_count = COUNT_OF(region_array),                                                       \
     .params = pointer_params,                                                                     \
     .param_count = (count),                                                                       \
     .frame_bytes = (frame),                                                                       \
     .flags = (kernel_flags)}
#define FIBER_KERNEL(kernel_name, function, count, kernel_flags)                                   \
    {.name = (kernel_name),                                                                        \
     .thread = (function),                                                                         \
     .params = pointer_params,                                                                     \
     .param_count = (count),                                                                       \
     .flags = (kernel_flags)}

static inline wp_device *open_device(const char *workers) {
    wp_device *device;
    wp_error err = {0};
    setenv("WARPAGE_WORKERS", workers, 1);
    assert_status_ok(wp_device_open("cpu", &device, &err), &err);
    return device;
}

/* Registers `kernels` as the code of an image and loads it. Storage lives to the end of the
 * program. */
static inline wp_module *load_kernels(wp_device *device, const wp_cpu_kernel *kernels,
                                      uint32_t count) {
    static uint64_t id = 1000;
    wp_error err = {0};
    wp_cpu_code *code = calloc(1, sizeof *code);
    wp_image_header *image = calloc(1, sizeof *image);
    assert_true(code != NULL && image != NULL);
    *code = (wp_cpu_code){.abi_version = WP_ABI_VERSION,
                          .isa = WP_CPU_ISA_BASELINE,
                          .image_id = ++id,
                          .kernels = kernels,
                          .kernel_count = count};
    memcpy(image->magic, WP_IMAGE_MAGIC, sizeof image->magic);
    image->abi_version = WP_ABI_VERSION;
    image->id = id;
    image->size_bytes = sizeof *image;
    wp_cpu_code_register(code);
    wp_module *module;
    assert_status_ok(wp_module_load(device, image, &module, &err), &err);
    free(image);
    return module; /* `code` stays registered */
}

static inline wp_kernel *find_kernel(wp_module *module, const char *name) {
    wp_kernel *kernel;
    wp_error err = {0};
    assert_status_ok(wp_module_find_kernel(module, name, &kernel, &err), &err);
    return kernel;
}

static inline wp_status launch(wp_queue *queue, wp_kernel *kernel, uint32_t blocks,
                               uint32_t threads, void **args, wp_error *err) {
    const wp_launch l = {
        .kernel = kernel, .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .args = args};
    return wp_queue_launch(queue, &l, err);
}

/* A device with one kernel, run once, waited for; returns the status of the wait. */
static inline wp_status run_once(const char *workers, const wp_cpu_kernel *code, uint32_t blocks,
                                 uint32_t threads, void **args, wp_error *err) {
    wp_device *device = open_device(workers);
    wp_module *module = load_kernels(device, code, 1);
    wp_kernel *kernel = find_kernel(module, code->name);
    wp_status status = launch(wp_device_default_queue(device), kernel, blocks, threads, args, err);
    if (status == WP_STATUS_OK) status = wp_device_wait(device, err);
    wp_module_unload(module);
    wp_device_close(device);
    return status;
}

static inline void *allocate(wp_device *device, size_t size_bytes) {
    void *memory;
    wp_error err = {0};
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_DEVICE, size_bytes, 0, &memory, &err), &err);
    return memory;
}

#endif
