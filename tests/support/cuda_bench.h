/* SPDX-License-Identifier: Apache-2.0 */
/** A CUDA device on the stand-in for the driver, and a program with two kernels, a table and a
 * managed variable. */
#ifndef CUDA_BENCH_H
#define CUDA_BENCH_H

#include "device/cuda/libcuda.h"
#include "device/device.h"
#include "fake_driver.h"
#include "ptx_image.h"

static const fake_cuda_hooks *fake;

#define PROGRAM_ID 0xc0deu
static const char program[] = ".version 6.3\n"
                              ".target sm_70\n"
                              ".address_size 64\n"
                              ".visible .global .align 4 .u32 counter;\n"
                              ".visible .const .align 4 .b8 table[64];\n"
                              ".visible .global .align 8 .u64 wp_managed_total;\n"
                              ".visible .entry mix(\n"
                              "\t.param .u64 mix_param_0,\n"
                              "\t.param .align 8 .b8 mix_param_1[24],\n"
                              "\t.param .u16 mix_param_2\n"
                              ")\n"
                              "{\n"
                              "\tret;\n"
                              "}\n"
                              ".visible .entry bare()\n"
                              "{\n"
                              "\tret;\n"
                              "}\n";
static wp_image_header *image;

/* The host's side of the managed variable: pages of its own, as wpcc gives them. */
static _Alignas(4096) int total[1024] = {7, 8, 9};
static void *total_cell = total;
static const wp_cpu_variable variables[] = {{.name = "total",
                                             .address = &total_cell,
                                             .size_bytes = sizeof total,
                                             .kind = WP_VARIABLE_MANAGED}};
static const wp_cpu_code code = {.abi_version = WP_ABI_VERSION,
                                 .image_id = PROGRAM_ID,
                                 .variables = variables,
                                 .variable_count = 1};

static inline wp_device *open_fake(void) {
    wp_device *device;
    wp_error err = {0};
    assert_status_ok(wp_device_open("cuda:0", &device, &err), &err);
    return device;
}

static inline void close_clean(wp_device *device) {
    wp_device_close(device);
    assert_no_misuse(fake);
    assert_u64(fake->left(), 0);
    assert_u64(fake->live(FAKE_CONTEXT), 0);
    wpi_memory_entry entry;
    assert_false(wpi_memory_map_next(wpi_memory_map_global(), NULL, &entry));
}

static inline int set_up(void **state) {
    (void)state;
    fake = fake_driver_use();
    wp_cpu_code_register(&code);
    image = make_ptx_image(program, 70, PROGRAM_ID);
    return 0;
}

static inline int tear_down(void **state) {
    (void)state;
    free(image);
    return 0;
}

#endif
