/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stencil: heat in a box, a Jacobi step at a time.
 *
 * A cell's next value follows from its own and its six neighbours'; the cells at the box's faces
 * keep theirs. A thread has a column of cells: it marches along z and keeps the cell below, its own
 * and the one above in registers, so that each is read once by it:
 *
 *         z │    above ──┐
 *           │     here ──┼── west, east, north, south: from memory, read by other threads, too
 *           └──  below ──┘
 *
 * Two arrays take turns, as in Parboil's benchmark of this name.
 * The multiply-add is a fused one by name, so all devices and the serial check agree to the bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/picture.h"
#include "common/points.h"
#include "common/random.h"
#include "common/report.h"

#define BLOCK_WIDTH 32
#define BLOCK_HEIGHT 8
#define MAX_SIDE (65535u * BLOCK_HEIGHT) /* rows of blocks that a grid can have */
#define OWN_WEIGHT 0.25f
#define NEIGHBOUR_WEIGHT 0.125f

/* A box of width x width x depth cells; x is next to x + 1 in memory, a plane follows another. */
typedef struct box {
    uint32_t width;
    uint32_t depth;
} box;

static __host__ __device__ __forceinline__ size_t plane_count(box b) {
    return (size_t)b.width * b.width;
}

static __host__ __device__ __forceinline__ float next_value(const float *from, box b, size_t at,
                                                            float below, float here, float above) {
    float sum =
        above + below + from[at + b.width] + from[at - b.width] + from[at + 1] + from[at - 1];
    return fmaf(NEIGHBOUR_WEIGHT, sum, OWN_WEIGHT * here);
}

/* All cells of a column but its ends. */
static __device__ __forceinline__ void march(const float *from, float *to, box b, uint32_t x,
                                             uint32_t y) {
    size_t plane = plane_count(b);
    size_t at = plane + (size_t)y * b.width + x;
    float below = from[at - plane];
    float here = from[at];
    for (uint32_t z = 1; z + 1 < b.depth; z++, at += plane) {
        float above = from[at + plane];
        to[at] = next_value(from, b, at, below, here, above);
        below = here;
        here = above;
    }
}

__global__ void step_columns(const float *from, float *to, box b) {
    uint32_t x = blockIdx.x * BLOCK_WIDTH + threadIdx.x + 1;
    uint32_t y = blockIdx.y * BLOCK_HEIGHT + threadIdx.y + 1;
    if (x + 1 < b.width && y + 1 < b.width) {
        march(from, to, b, x, y);
    }
}

/* ---- input, check, output -------------------------------------------------------------------- */

/* Random values, the middle of the box warmer than its faces. */
static void generate(float *cells, box b, uint64_t seed) {
    app_random random = {seed, 0};
    for (uint32_t z = 0; z < b.depth; z++) {
        for (uint32_t y = 0; y < b.width; y++) {
            for (uint32_t x = 0; x < b.width; x++) {
                double away_x = (2.0 * x + 1.0) / b.width - 1.0;
                double away_y = (2.0 * y + 1.0) / b.width - 1.0;
                double away_z = (2.0 * z + 1.0) / b.depth - 1.0;
                double rest =
                    (1.0 - away_x * away_x) * (1.0 - away_y * away_y) * (1.0 - away_z * away_z);
                *cells++ = (float)(rest + 0.2 * app_random_unit(&random));
            }
        }
    }
}

/* Plane by plane, as the cells lie. */
static void serial_step(const float *from, float *to, box b) {
    size_t plane = plane_count(b);
    for (uint32_t z = 1; z + 1 < b.depth; z++) {
        for (uint32_t y = 1; y + 1 < b.width; y++) {
            for (uint32_t x = 1; x + 1 < b.width; x++) {
                size_t at = z * plane + (size_t)y * b.width + x;
                to[at] = next_value(from, b, at, from[at - plane], from[at], from[at + plane]);
            }
        }
    }
}

static bool check(const float *result, box b, uint64_t steps, uint64_t seed) {
    size_t count = plane_count(b) * b.depth;
    float *cells[2];
    for (int i = 0; i < 2; i++) {
        cells[i] = (float *)app_allocate(count, sizeof *cells[i], "the check");
        generate(cells[i], b, seed);
    }
    for (uint64_t step = 0; step < steps; step++) {
        serial_step(cells[step % 2], cells[(step + 1) % 2], b);
    }
    double largest = app_floats_difference(result, cells[steps % 2], count);
    printf("check      %s cells against %s serial steps: %s, largest difference %g\n",
           app_count(count), app_count(steps), largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(cells[0]);
    free(cells[1]);
    return largest == 0.0;
}

static void print_result(const float *cells, box b, uint64_t steps, uint64_t seed) {
    size_t count = plane_count(b) * b.depth;
    double sum = 0.0;
    float lowest = INFINITY;
    float highest = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        sum += (double)cells[i];
        lowest = fminf(lowest, cells[i]);
        highest = fmaxf(highest, cells[i]);
    }
    printf("box        %s x %s x %s cells, seed %llu\n", app_count(b.width), app_count(b.width),
           app_count(b.depth), (unsigned long long)seed);
    printf("after      %s steps: %.6g to %.6g, mean %.6g; the middle plane\n\n", app_count(steps),
           (double)lowest, (double)highest, sum / (double)count);
    app_picture(stdout, cells + b.depth / 2 * plane_count(b), b.width, b.width);
    putchar('\n');
}

int main(int argc, char **argv) {
    const app_program program = {"stencil", "7-point heat stencil in three dimensions",
                                 "cells of the box, or bytes such as 1GiB", NULL,
                                 "stencil --size 4M --depth 64 --iterations 10 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t steps = 10;
    uint64_t depth = 32;
    const app_option options[] = {
        {"--iterations", APP_OPTION_COUNT, &steps, "N", 1, 1e9, "time steps"},
        {"--depth", APP_OPTION_COUNT, &depth, "N", 3, 1e6, "planes of the box, which are square"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    uint64_t max_cells = (uint64_t)MAX_SIDE * MAX_SIDE * depth;
    uint64_t cell_count =
        app_size_items(common.size, 2.0 * sizeof(float), 512 * 1024, 9 * depth, max_cells);
    box b = {(uint32_t)sqrt((double)(cell_count / depth)), (uint32_t)depth};
    size_t count = plane_count(b) * b.depth;

    app_device device;
    app_array cells[2];
    app_device_open(&device, common.memory);
    for (int i = 0; i < 2; i++) {
        app_array_create(&device, &cells[i], count, sizeof(float), "the box", APP_ROLE_UPDATED);
        generate((float *)cells[i].host, b, common.seed);
        app_array_to_device(&device, &cells[i]);
    }

    dim3 threads(BLOCK_WIDTH, BLOCK_HEIGHT);
    dim3 blocks((b.width - 2 + BLOCK_WIDTH - 1) / BLOCK_WIDTH,
                (b.width - 2 + BLOCK_HEIGHT - 1) / BLOCK_HEIGHT);
    app_kernels_begin(&device);
    for (uint64_t step = 0; step < steps; step++) {
        step_columns<<<blocks, threads>>>((const float *)cells[step % 2].device,
                                          (float *)cells[(step + 1) % 2].device, b);
    }
    app_kernels_end(&device, "step_columns", steps);
    app_array *last = &cells[steps % 2];
    app_array_to_host(&device, last);

    print_result((const float *)last->host, b, steps, common.seed);
    app_device_report(&device, (double)count * (double)steps, "cells");
    bool is_right = !common.check || check((const float *)last->host, b, steps, common.seed);
    app_array_free(&device, &cells[0]);
    app_array_free(&device, &cells[1]);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
