/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program as wpcc would make it, by hand: kernels in region form, variables, an image, and the
 * registration calls of clang's constructor. A test of the CUDA runtime includes this once and
 * calls the API as any program does.
 *
 * Kernels, by the address of their host stub:
 *     stub_add            (int *data, int value, int count)   data[i] += value
 *     stub_shared_size    (unsigned *out)                     dynamic shared bytes of the launch
 *     stub_wait           (atomic_int *gate)                  until *gate is not 0
 *     stub_fault          (int *address)                      *address = 1
 *     stub_trap           ()                                  __trap()
 *     stub_print          (int value)                         printf("value %d\n", value)
 *     stub_read           (int *out)   {managed, constant[0], constant[1], device}
 *     stub_set_managed    (int value)                         managed = value
 *     stub_fetch          (float *out, int count)   out[i] = the texture reference at i
 *     stub_limited        ()                        __launch_bounds__(64)
 *     stub_gone           ()                        is registered but has no code
 *
 * PROGRAM_WITHOUT_VARIABLES, defined before, leaves the variables out: for several devices.
 */
#ifndef WP_TEST_CUDA_PROGRAM_H
#define WP_TEST_CUDA_PROGRAM_H

#include <stdatomic.h>

#include "cudart/entry.h"
#include "device/device.h"
#include "warpage/cuda/cuda_runtime_api.h"
#include "wp_test.h"

#define PROGRAM_ID 0x7e57c0deu

static char stub_add, stub_shared_size, stub_wait, stub_fault, stub_trap, stub_print, stub_read,
    stub_set_managed, stub_fetch, stub_limited, stub_gone;

/* What host code sees of the variables. */
static int host_counter, host_table[4], host_managed, host_missing;
static struct textureReference host_texture;

/* What kernel code sees. */
static int device_counter = 7, device_table[4] = {10, 11, 12, 13}, managed_start = 5;
static int *managed_cell = &managed_start;
static uint64_t device_texture;

#define ARGUMENT(block, index, type) (*(type *)(block)->args[index])

static uint32_t global_thread(const wp_cpu_block *block, uint32_t thread) {
    return block->block_idx[0] * block->thread_count + thread;
}

static uint32_t run_add(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    int *data = ARGUMENT(block, 0, int *);
    for (uint32_t t = first; t < outer; t++) {
        const uint32_t i = global_thread(block, t);
        if (i < (uint32_t)ARGUMENT(block, 2, int)) data[i] += ARGUMENT(block, 1, int);
    }
    return WP_STATE_EXIT;
}

static uint32_t run_shared_size(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)outer;
    if (first == 0) *ARGUMENT(block, 0, uint32_t *) = block->shared_dynamic_bytes;
    return WP_STATE_EXIT;
}

/* As compiled: the loop yields before each repetition. */
static uint32_t run_wait(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    return atomic_load(ARGUMENT(block, 0, atomic_int *)) == 0 ? 1 : WP_STATE_EXIT;
}

__attribute__((no_sanitize("address", "undefined"))) static uint32_t
run_fault(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    *ARGUMENT(block, 0, volatile int *) = 1;
    return WP_STATE_EXIT;
}

static uint32_t run_trap(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)block, (void)first, (void)outer;
    wp_rt_trap();
    return WP_STATE_EXIT;
}

static uint32_t run_print(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)outer;
    const int packed = ARGUMENT(block, 0, int);
    if (first == 0) (void)wp_rt_vprintf("value %d\n", &packed);
    return WP_STATE_EXIT;
}

static uint32_t run_read(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    int *out = ARGUMENT(block, 0, int *);
    out[0] = *managed_cell;
    out[1] = device_table[0];
    out[2] = device_table[1];
    out[3] = device_counter;
    return WP_STATE_EXIT;
}

static uint32_t run_set_managed(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    *managed_cell = ARGUMENT(block, 0, int);
    return WP_STATE_EXIT;
}

static uint32_t run_fetch(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    float *out = ARGUMENT(block, 0, float *);
    for (uint32_t t = first; t < outer; t++) {
        const uint32_t i = global_thread(block, t);
        if (i >= (uint32_t)ARGUMENT(block, 1, int)) continue;
        uint32_t bits[4];
        wp_rt_tex(device_texture, WP_TEX_1D_FETCH, 0, 0, 0, (int32_t)i, bits);
        memcpy(&out[i], &bits[0], sizeof out[i]);
    }
    return WP_STATE_EXIT;
}

static uint32_t run_nothing(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)block, (void)first, (void)outer;
    return WP_STATE_EXIT;
}

static const wp_cpu_param pointer_int_int[] = {{8, 8}, {4, 4}, {4, 4}};
static const wp_cpu_param pointer_only[] = {{8, 8}};
static const wp_cpu_param int_only[] = {{4, 4}};
static const wp_cpu_param pointer_int[] = {{8, 8}, {4, 4}};

#define PROGRAM_REGION(name) static const wp_cpu_region region_##name[] = {{.run = run_##name}};
PROGRAM_REGION(add)
PROGRAM_REGION(shared_size)
PROGRAM_REGION(fault)
PROGRAM_REGION(trap)
PROGRAM_REGION(print)
PROGRAM_REGION(read)
PROGRAM_REGION(set_managed)
PROGRAM_REGION(fetch)
PROGRAM_REGION(nothing)

static const wp_cpu_region region_wait[] = {{.run = run_wait}, {.run = run_wait, .stop = WP_STOP_YIELD}};

#define PROGRAM_KERNEL(kernel_name, body, kernel_params, count)                                    \
    {.name = kernel_name,                                                                          \
     .regions = region_##body,                                                                     \
     .params = kernel_params,                                                                      \
     .region_count = 1,                                                                            \
     .param_count = count,                                                                         \
     .register_estimate = 16}

static const wp_cpu_kernel program_kernels[] = {
    PROGRAM_KERNEL("k_add", add, pointer_int_int, 3),
    PROGRAM_KERNEL("k_shared_size", shared_size, pointer_only, 1),
    {.name = "k_wait",
     .regions = region_wait,
     .params = pointer_only,
     .region_count = 2,
     .param_count = 1,
     .register_estimate = 16,
     .flags = WP_CPU_KERNEL_SPINS},
    PROGRAM_KERNEL("k_fault", fault, pointer_only, 1),
    PROGRAM_KERNEL("k_trap", trap, NULL, 0),
    PROGRAM_KERNEL("k_print", print, int_only, 1),
    PROGRAM_KERNEL("k_read", read, pointer_only, 1),
    PROGRAM_KERNEL("k_set_managed", set_managed, int_only, 1),
    PROGRAM_KERNEL("k_fetch", fetch, pointer_int, 2),
    {.name = "k_limited",
     .regions = region_nothing,
     .region_count = 1,
     .shared_static_bytes = 1024,
     .local_bytes = 24,
     .register_estimate = 20,
     .max_threads = 64},
};

static const wp_cpu_variable program_variables[] = {
    {.name = "v_counter", .address = &device_counter, .size_bytes = 4, .kind = WP_VARIABLE_DEVICE},
    {.name = "v_table", .address = device_table, .size_bytes = 16, .kind = WP_VARIABLE_CONSTANT},
    {.name = "v_managed", .address = &managed_cell, .size_bytes = 4, .kind = WP_VARIABLE_MANAGED},
    {.name = "v_texture", .address = &device_texture, .size_bytes = 8, .kind = WP_VARIABLE_TEXTURE},
};

static const wp_cpu_code program_code = {
    .abi_version = WP_ABI_VERSION,
    .isa = WP_CPU_ISA_BASELINE,
    .image_id = PROGRAM_ID,
    .kernels = program_kernels,
    .variables = program_variables,
    .kernel_count = sizeof program_kernels / sizeof program_kernels[0],
#if !defined(PROGRAM_WITHOUT_VARIABLES) /* further devices have copies, which wpcc compiles */
    .variable_count = sizeof program_variables / sizeof program_variables[0]
#endif
};

static const wp_image_header program_image = {.magic = WP_IMAGE_MAGIC,
                                              .abi_version = WP_ABI_VERSION,
                                              .id = PROGRAM_ID,
                                              .size_bytes = sizeof(wp_image_header)};

static wpi_fatbin program_fatbin = {WPI_FATBIN_MAGIC, 1, &program_image, NULL};
static void **program_handle;

static void register_function(void **handle, const char *stub, const char *name) {
    __cudaRegisterFunction(handle, stub, NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
}

__attribute__((constructor)) static void register_program(void) {
    wp_cpu_code_register(&program_code);
    program_handle = __cudaRegisterFatBinary(&program_fatbin);
    register_function(program_handle, &stub_add, "k_add");
    register_function(program_handle, &stub_shared_size, "k_shared_size");
    register_function(program_handle, &stub_wait, "k_wait");
    register_function(program_handle, &stub_fault, "k_fault");
    register_function(program_handle, &stub_trap, "k_trap");
    register_function(program_handle, &stub_print, "k_print");
    register_function(program_handle, &stub_read, "k_read");
    register_function(program_handle, &stub_set_managed, "k_set_managed");
    register_function(program_handle, &stub_fetch, "k_fetch");
    register_function(program_handle, &stub_limited, "k_limited");
    register_function(program_handle, &stub_gone, "k_gone");
    __cudaRegisterVar(program_handle, (char *)&host_counter, NULL, "v_counter", 0, 4, 0, 0);
    __cudaRegisterVar(program_handle, (char *)host_table, NULL, "v_table", 0, 16, 1, 0);
    __cudaRegisterVar(program_handle, (char *)&host_managed, NULL, "v_managed", 0, 4, 0, 0);
    __cudaRegisterVar(program_handle, (char *)&host_missing, NULL, "v_missing", 0, 4, 0, 0);
    __cudaRegisterTexture(program_handle, &host_texture, NULL, "v_texture", cudaTextureType1D, 0,
                          0);
    __cudaRegisterFatBinaryEnd(program_handle);
}

__attribute__((destructor)) static void unregister_program(void) {
    __cudaUnregisterFatBinary(program_handle);
}

/* ---- shorthand ---- */

#define assert_cuda(call, expected)                                                                \
    do {                                                                                           \
        const cudaError_t program_got = (call), program_wanted = (expected);                       \
        if (program_got != program_wanted)                                                         \
            fail_msg("%s: %s, expected %s", #call, cudaGetErrorName(program_got),                  \
                     cudaGetErrorName(program_wanted));                                            \
    } while (0)

#define assert_ok(call) assert_cuda(call, cudaSuccess)

static inline dim3 dim(unsigned x) {
    return (dim3){x, 1, 1};
}

/** stub_add over `count` elements. */
static inline cudaError_t launch_add(int *data, int value, int count, cudaStream_t stream) {
    void *args[] = {&data, &value, &count};
    return cudaLaunchKernel(&stub_add, dim((unsigned)(count + 63) / 64), dim(64), args, 0, stream);
}

/** stub_wait on `gate`, which must be memory that kernels can read. */
static inline cudaError_t launch_wait(atomic_int *gate, cudaStream_t stream) {
    void *args[] = {&gate};
    return cudaLaunchKernel(&stub_wait, dim(1), dim(1), args, 0, stream);
}

/** Before each test: no error, no memory, no streams of the one before. */
static inline int start_over(void **state) {
    (void)state;
    return cudaDeviceReset() == cudaSuccess ? 0 : -1;
}

#endif
