/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finite differences in the time domain: waves between conducting walls, on a plane.
 *
 * The magnetic field hz lies in the middle of the cells, the electric field on their edges: ex has
 * one column more than cells, ey one row more.
 *
 *        ── ey(y,x) ──
 *       │             │
 *    ex(y,x)  hz(y,x)  ex(y,x+1)        hz follows from the four edges around it, an edge from
 *       │             │                 the two cells at its sides
 *        ── ey(y+1,x) ─
 *
 * A time step is three launches: ey, ex, hz. The first row of ey is driven by a source; all other
 * edges at the border stay zero. Every multiply-add is a fused one by name, so all devices and the
 * serial check agree to the bit. Arrays, constants and launches are those of PolyBench's kernel of
 * this name.
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

/* ---- one cell of each kernel, for the kernels and the check ---------------------------------- */

static __host__ __device__ __forceinline__ void next_ey(const float *source, uint64_t step,
                                                        float *ey, const float *hz, uint32_t side,
                                                        uint32_t y, uint32_t x) {
    size_t at = (size_t)y * side + x;
    ey[at] = y == 0 ? source[step] : fmaf(-0.5f, hz[at] - hz[at - side], ey[at]);
}

static __host__ __device__ __forceinline__ void next_ex(float *ex, const float *hz, uint32_t side,
                                                        uint32_t y, uint32_t x) {
    size_t at = (size_t)y * side + x;
    size_t edge = at + y; /* the rows of ex are longer by one */
    ex[edge] = fmaf(-0.5f, hz[at] - hz[at - 1], ex[edge]);
}

static __host__ __device__ __forceinline__ void next_hz(const float *ex, const float *ey, float *hz,
                                                        uint32_t side, uint32_t y, uint32_t x) {
    size_t at = (size_t)y * side + x;
    size_t edge = at + y;
    float curl = ex[edge + 1] - ex[edge] + ey[at + side] - ey[at];
    hz[at] = fmaf(-0.7f, curl, hz[at]);
}

/* ---- the kernels: a thread a cell ------------------------------------------------------------ */

static __device__ __forceinline__ uint32_t thread_x(void) {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ uint32_t thread_y(void) {
    return blockIdx.y * blockDim.y + threadIdx.y;
}

__global__ void step_ey(const float *source, uint64_t step, float *ey, const float *hz,
                        uint32_t side) {
    if (thread_y() < side && thread_x() < side) {
        next_ey(source, step, ey, hz, side, thread_y(), thread_x());
    }
}

__global__ void step_ex(float *ex, const float *hz, uint32_t side) {
    if (thread_y() < side && thread_x() < side && thread_x() > 0) {
        next_ex(ex, hz, side, thread_y(), thread_x());
    }
}

__global__ void step_hz(const float *ex, const float *ey, float *hz, uint32_t side) {
    if (thread_y() < side && thread_x() < side) {
        next_hz(ex, ey, hz, side, thread_y(), thread_x());
    }
}

/* ---- input, check, output ---- */

/* The fields on side x side cells, on the host. */
typedef struct fields {
    float *ex; /* side rows of side + 1 */
    float *ey; /* side + 1 rows of side */
    float *hz; /* side rows of side */
    uint32_t side;
} fields;

static size_t edge_count(size_t side) {
    return side * (side + 1);
}

/* A few round pulses in hz; no electric field yet. */
static void generate(fields f, uint64_t seed) {
    enum { PULSES = 5 };
    app_random random = {seed, 0};
    memset(f.ex, 0, edge_count(f.side) * sizeof *f.ex);
    memset(f.ey, 0, edge_count(f.side) * sizeof *f.ey);
    memset(f.hz, 0, (size_t)f.side * f.side * sizeof *f.hz);
    for (int pulse = 0; pulse < PULSES; pulse++) {
        double centre_x = app_random_unit(&random) * f.side;
        double centre_y = app_random_unit(&random) * f.side;
        double radius = 2.0 + app_random_unit(&random) * f.side / 8.0;
        double height = app_random_unit(&random) < 0.5 ? -1.0 : 1.0;
        double first_y = fmax(0.0, ceil(centre_y - radius));
        double first_x = fmax(0.0, ceil(centre_x - radius));
        for (uint32_t y = (uint32_t)first_y; y < f.side && y < centre_y + radius; y++) {
            for (uint32_t x = (uint32_t)first_x; x < f.side && x < centre_x + radius; x++) {
                double away = ((x - centre_x) * (x - centre_x) + (y - centre_y) * (y - centre_y)) /
                              (radius * radius);
                double rest = away < 1.0 ? 1.0 - away : 0.0;
                f.hz[(size_t)y * f.side + x] += (float)(height * rest * rest);
            }
        }
    }
}

/* What drives the first row of ey at each step: a wave of 40 steps. */
static void generate_source(float *source, uint64_t steps) {
    for (uint64_t step = 0; step < steps; step++) {
        source[step] = (float)sin((double)step * (6.283185307179586 / 40.0));
    }
}

static fields serial_steps(uint32_t side, uint64_t seed, const float *source, uint64_t steps) {
    fields f;
    f.side = side;
    f.ex = (float *)app_allocate(edge_count(side), sizeof(float), "the check");
    f.ey = (float *)app_allocate(edge_count(side), sizeof(float), "the check");
    f.hz = (float *)app_allocate((size_t)side * side, sizeof(float), "the check");
    generate(f, seed);
    for (uint64_t step = 0; step < steps; step++) {
        for (uint32_t y = 0; y < side; y++) {
            for (uint32_t x = 0; x < side; x++) {
                next_ey(source, step, f.ey, f.hz, side, y, x);
            }
        }
        for (uint32_t y = 0; y < side; y++) {
            for (uint32_t x = 1; x < side; x++) {
                next_ex(f.ex, f.hz, side, y, x);
            }
        }
        for (uint32_t y = 0; y < side; y++) {
            for (uint32_t x = 0; x < side; x++) {
                next_hz(f.ex, f.ey, f.hz, side, y, x);
            }
        }
    }
    return f;
}

static bool check(fields result, uint64_t seed, const float *source, uint64_t steps) {
    fields expected = serial_steps(result.side, seed, source, steps);
    size_t count = (size_t)result.side * result.side;
    double largest = app_floats_difference(result.hz, expected.hz, count);
    largest = fmax(largest, app_floats_difference(result.ex, expected.ex, edge_count(result.side)));
    largest = fmax(largest, app_floats_difference(result.ey, expected.ey, edge_count(result.side)));
    printf("check      fields of %s cells against %s serial steps: %s, largest difference %g\n",
           app_count(count), app_count(steps), largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(expected.ex);
    free(expected.ey);
    free(expected.hz);
    return largest == 0.0;
}

static void print_result(const float *hz, uint32_t side, uint64_t seed, uint64_t steps) {
    size_t count = (size_t)side * side;
    float lowest = INFINITY;
    float highest = -INFINITY;
    double squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        lowest = fminf(lowest, hz[i]);
        highest = fmaxf(highest, hz[i]);
        squares += (double)hz[i] * (double)hz[i];
    }
    printf("plane      %s x %s cells, seed %llu\n", app_count(side), app_count(side),
           (unsigned long long)seed);
    printf("after      %s steps: magnetic field %.4f to %.4f, root mean square %.5f\n\n",
           app_count(steps), (double)lowest, (double)highest, sqrt(squares / (double)count));
    app_picture(stdout, hz, side, side);
    putchar('\n');
}

int main(int argc, char **argv) {
    const app_program program = {"fdtd-2d", "electromagnetic waves in two dimensions (FDTD)",
                                 "cells of the plane, or bytes such as 1GiB", NULL,
                                 "fdtd-2d --size 1M --iterations 200 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t steps = 60;
    const app_option options[] = {
        {"--iterations", APP_OPTION_COUNT, &steps, "N", 1, 1e9, "time steps"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    uint64_t cells = app_size_items(common.size, 12.0, 512 * 512, 1, (uint64_t)MAX_SIDE * MAX_SIDE);
    uint32_t side = (uint32_t)sqrt((double)cells);

    app_device device;
    app_array source;
    app_array ex;
    app_array ey;
    app_array hz;
    app_device_open(&device, common.memory);
    app_array_create(&device, &source, steps, sizeof(float), "source", APP_ROLE_INPUT);
    app_array_create(&device, &ex, edge_count(side), sizeof(float), "field ex", APP_ROLE_UPDATED);
    app_array_create(&device, &ey, edge_count(side), sizeof(float), "field ey", APP_ROLE_UPDATED);
    app_array_create(&device, &hz, (size_t)side * side, sizeof(float), "field hz",
                     APP_ROLE_UPDATED);
    fields on_host = {(float *)ex.host, (float *)ey.host, (float *)hz.host, side};
    generate_source((float *)source.host, steps);
    generate(on_host, common.seed);
    app_array_to_device(&device, &source);
    app_array_to_device(&device, &ex);
    app_array_to_device(&device, &ey);
    app_array_to_device(&device, &hz);

    dim3 threads(BLOCK_WIDTH, BLOCK_HEIGHT);
    dim3 blocks((side + BLOCK_WIDTH - 1) / BLOCK_WIDTH, (side + BLOCK_HEIGHT - 1) / BLOCK_HEIGHT);
    for (uint64_t step = 0; step < steps; step++) {
        app_kernels_begin(&device);
        step_ey<<<blocks, threads>>>((const float *)source.device, step, (float *)ey.device,
                                     (const float *)hz.device, side);
        step_ex<<<blocks, threads>>>((float *)ex.device, (const float *)hz.device, side);
        step_hz<<<blocks, threads>>>((const float *)ex.device, (const float *)ey.device,
                                     (float *)hz.device, side);
        app_kernels_end(&device, "a time step", 3);
    }
    app_array_to_host(&device, &hz);
    if (common.check) {
        app_array_to_host(&device, &ex);
        app_array_to_host(&device, &ey);
    }

    print_result(on_host.hz, side, common.seed, steps);
    app_device_report(&device, (double)side * (double)side * (double)steps, "cells");
    bool is_right = !common.check || check(on_host, common.seed, (const float *)source.host, steps);
    app_array_free(&device, &source);
    app_array_free(&device, &ex);
    app_array_free(&device, &ey);
    app_array_free(&device, &hz);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
