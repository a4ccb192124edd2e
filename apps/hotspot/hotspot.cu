/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hotspot: how heat spreads on a chip, given the power that each part of it draws.
 *
 * A cell's temperature follows from its own, its four neighbours' and the power it draws; a cell at
 * the border has itself as the missing neighbour. A block computes several time steps at once on a
 * tile in shared memory; the tile's rim (the halo) shrinks by one cell a step:
 *
 *     ┌────────────────┐   TILE x TILE cells are loaded,
 *     │ halo           │   step 1 computes all but the outermost ring, step 2 all but two, ...
 *     │   ┌────────┐   │   and the inner part, TILE - 2 * steps wide, is written.
 *     │   │ written│   │
 *     │   └────────┘   │
 *     └────────────────┘
 *
 * Steps go from one of two arrays of temperatures to the other and back, and the first one holds
 * the start.
 * Every multiply-add is a fused one by name, so all devices and the serial check agree to the bit.
 * Units: temperatures in kelvin, power in watts; a chip of 16 mm x 16 mm, 0.5 mm thick, as in
 * Rodinia's benchmark of this name.
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

#define TILE 16
#define MAX_STEPS_PER_LAUNCH 6

/* What a time step needs: the step over the cell's heat capacity, and the conductances. */
typedef struct chip {
    float step_over_capacity;
    float conductance_x;
    float conductance_y;
    float conductance_z;
    float ambient;
} chip;

static __host__ __device__ __forceinline__ float next_temperature(chip c, float here, float north,
                                                                  float south, float west,
                                                                  float east, float power) {
    float flow = fmaf(fmaf(-2.0f, here, north + south), c.conductance_y, power);
    flow = fmaf(fmaf(-2.0f, here, west + east), c.conductance_x, flow);
    flow = fmaf(c.ambient - here, c.conductance_z, flow);
    return fmaf(c.step_over_capacity, flow, here);
}

__global__ void spread_heat(chip c, const float *power, const float *from, float *to, int width,
                            int height, int steps) {
    __shared__ float tile[2][TILE][TILE];
    int tx = (int)threadIdx.x;
    int ty = (int)threadIdx.y;
    int inner = TILE - 2 * steps;
    /* The cell of this thread; outside the chip where the halo hangs over its border. */
    int x = (int)blockIdx.x * inner + tx - steps;
    int y = (int)blockIdx.y * inner + ty - steps;
    bool is_cell = x >= 0 && x < width && y >= 0 && y < height;
    size_t place = (size_t)y * (size_t)width + (size_t)x;
    float cell_power = 0.0f;
    if (is_cell) {
        tile[0][ty][tx] = from[place];
        cell_power = power[place];
    }
    __syncthreads();

    int now = 0;
    for (int step = 1; step <= steps; step++) {
        bool is_computed =
            is_cell && tx >= step && tx < TILE - step && ty >= step && ty < TILE - step;
        if (is_computed) {
            float here = tile[now][ty][tx];
            float north = y > 0 ? tile[now][ty - 1][tx] : here;
            float south = y < height - 1 ? tile[now][ty + 1][tx] : here;
            float west = x > 0 ? tile[now][ty][tx - 1] : here;
            float east = x < width - 1 ? tile[now][ty][tx + 1] : here;
            tile[1 - now][ty][tx] = next_temperature(c, here, north, south, west, east, cell_power);
        }
        now = 1 - now;
        __syncthreads();
    }
    if (is_cell && tx >= steps && tx < TILE - steps && ty >= steps && ty < TILE - steps) {
        to[place] = tile[now][ty][tx];
    }
}

static chip make_chip(uint64_t width, uint64_t height) {
    const double chip_width_m = 0.016;
    const double chip_height_m = 0.016;
    const double thickness_m = 0.0005;
    const double heat_w_s_per_m3_k = 1.75e6; /* silicon */
    const double conductivity_w_per_m_k = 100.0;
    const double capacity_factor = 0.5;
    const double max_power_density = 3.0e6;
    const double precision_k = 0.001;
    double cell_width_m = chip_width_m / (double)width;
    double cell_height_m = chip_height_m / (double)height;
    double capacity =
        capacity_factor * heat_w_s_per_m3_k * thickness_m * cell_width_m * cell_height_m;
    double max_slope = max_power_density / (capacity_factor * thickness_m * heat_w_s_per_m3_k);
    double step_s = precision_k / max_slope;
    double x = 2.0 * conductivity_w_per_m_k * thickness_m * cell_height_m / cell_width_m;
    double y = 2.0 * conductivity_w_per_m_k * thickness_m * cell_width_m / cell_height_m;
    double z = conductivity_w_per_m_k * cell_width_m * cell_height_m / thickness_m;
    /* Small cells: in a longer step more heat would flow than there is, and temperatures swing. */
    double longest_step_s = capacity / (2.0 * x + 2.0 * y + z);
    if (step_s > longest_step_s) {
        step_s = longest_step_s;
    }
    chip c;
    c.step_over_capacity = (float)(step_s / capacity);
    c.conductance_x = (float)x;
    c.conductance_y = (float)y;
    c.conductance_z = (float)z;
    c.ambient = 80.0f;
    return c;
}

/* Warm background, and units of the chip that draw much power. */
static void generate(float *temperature, float *power, uint64_t side, uint64_t seed) {
    enum { UNITS = 12 };
    uint64_t low_x[UNITS];
    uint64_t low_y[UNITS];
    uint64_t size[UNITS];
    app_random random = {seed, 0};
    for (int u = 0; u < UNITS; u++) {
        low_x[u] = (uint64_t)(app_random_unit(&random) * (double)side);
        low_y[u] = (uint64_t)(app_random_unit(&random) * (double)side);
        size[u] = 1 + (uint64_t)(app_random_unit(&random) * (double)side / 5.0);
    }
    /* A cell's power shrinks with its area, so that the chip draws about the same at any size. */
    double cell_power = 100.0 / ((double)side * (double)side);
    for (uint64_t y = 0; y < side; y++) {
        for (uint64_t x = 0; x < side; x++) {
            double heat = 0.2;
            for (int u = 0; u < UNITS; u++) {
                heat += x - low_x[u] < size[u] && y - low_y[u] < size[u] ? 2.0 : 0.0;
            }
            temperature[y * side + x] = (float)(323.0 + 5.0 * app_random_unit(&random));
            power[y * side + x] = (float)(heat * cell_power);
        }
    }
}

static float *serial_heat(chip c, const float *power, const float *start, int64_t width,
                          int64_t height, uint64_t steps) {
    size_t count = (size_t)(width * height);
    float *from = (float *)app_allocate(count, sizeof *from, "the check");
    float *to = (float *)app_allocate(count, sizeof *to, "the check");
    memcpy(from, start, count * sizeof *from);
    for (uint64_t step = 0; step < steps; step++) {
        for (int64_t y = 0; y < height; y++) {
            for (int64_t x = 0; x < width; x++) {
                int64_t i = y * width + x;
                float here = from[i];
                to[i] = next_temperature(c, here, y > 0 ? from[i - width] : here,
                                         y < height - 1 ? from[i + width] : here,
                                         x > 0 ? from[i - 1] : here,
                                         x < width - 1 ? from[i + 1] : here, power[i]);
            }
        }
        float *swap = from;
        from = to;
        to = swap;
    }
    free(to);
    return from;
}

static bool check(chip c, const float *power, const float *start, const float *result,
                  int64_t width, int64_t height, uint64_t steps) {
    float *expected = serial_heat(c, power, start, width, height, steps);
    double largest = app_floats_difference(result, expected, (size_t)(width * height));
    printf("check      temperatures of %s cells against %s serial steps: %s, largest difference "
           "%g K\n",
           app_count((uint64_t)(width * height)), app_count(steps),
           largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(expected);
    return largest == 0.0;
}

static void print_result(const char *title, const float *result, int64_t width, int64_t height,
                         uint64_t steps) {
    double sum = 0.0;
    float coldest = INFINITY;
    float hottest = -INFINITY;
    int64_t hottest_at = 0;
    for (int64_t i = 0; i < width * height; i++) {
        sum += (double)result[i];
        coldest = result[i] < coldest ? result[i] : coldest;
        if (result[i] > hottest) {
            hottest = result[i];
            hottest_at = i;
        }
    }
    printf("chip       %s: %s x %s cells\n", title, app_count((uint64_t)width),
           app_count((uint64_t)height));
    printf("after      %s steps: %.3f to %.3f K, mean %.3f K, hottest at column %s, row %s\n\n",
           app_count(steps), (double)coldest, (double)hottest, sum / (double)(width * height),
           app_count((uint64_t)(hottest_at % width)), app_count((uint64_t)(hottest_at / width)));
    app_picture(stdout, result, (size_t)width, (size_t)height);
    putchar('\n');
}

static uint64_t exact_side(uint64_t count, const char *path) {
    uint64_t side = (uint64_t)(sqrt((double)count) + 0.5);
    if (side * side != count || count == 0) {
        app_fail("%s holds %s numbers, which is not a square", path, app_count(count));
    }
    return side;
}

int main(int argc, char **argv) {
    const app_program program = {"hotspot", "temperatures on a chip, from its power map",
                                 "cells of the generated chip, or bytes such as 1GiB",
                                 "start temperatures, N x N numbers (also .zst), with --power",
                                 "hotspot --size 1M --iterations 200 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    const char *power_path = NULL;
    uint64_t steps = 60;
    uint64_t steps_per_launch = 2;
    const app_option options[] = {
        {"--power", APP_OPTION_TEXT, &power_path, "FILE", 0, 0,
         "power of each cell, as many values as --input has"},
        {"--iterations", APP_OPTION_COUNT, &steps, "N", 1, 1e9, "time steps"},
        {"--steps-per-launch", APP_OPTION_COUNT, &steps_per_launch, "N", 1, MAX_STEPS_PER_LAUNCH,
         "time steps computed in one tile"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);

    float *temperature = NULL;
    float *power = NULL;
    uint64_t side = 0;
    char title[64];
    if ((common.input != NULL) != (power_path != NULL)) {
        app_fail_usage("--input and --power go together: temperatures and power of the same cells");
    }
    if (common.input != NULL) {
        uint64_t count;
        uint64_t power_count;
        temperature = app_floats_read(common.input, &count);
        power = app_floats_read(power_path, &power_count);
        side = exact_side(count, common.input);
        if (power_count != count) {
            app_fail("%s holds %s numbers, but %s holds %s; both need one per cell", power_path,
                     app_count(power_count), common.input, app_count(count));
        }
        const char *slash = strrchr(common.input, '/');
        snprintf(title, sizeof title, "%.60s", slash != NULL ? slash + 1 : common.input);
    } else {
        uint64_t cells = app_size_items(common.size, 12.0, 512 * 512, 1, UINT64_C(1) << 60);
        side = (uint64_t)sqrt((double)cells);
        temperature = (float *)app_allocate(side * side, sizeof(float), "temperatures");
        power = (float *)app_allocate(side * side, sizeof(float), "power");
        generate(temperature, power, side, common.seed);
        snprintf(title, sizeof title, "generated, seed %llu", (unsigned long long)common.seed);
    }
    if (side / (TILE - 2 * steps_per_launch) >= 65535) {
        app_fail("%s x %s cells need more rows of blocks than the 65,535 a grid can have; use a "
                 "smaller --size or --steps-per-launch 1",
                 app_count(side), app_count(side));
    }
    size_t count = side * side;
    chip c = make_chip(side, side);

    app_device device;
    app_array power_array;
    app_array heat[2];
    app_device_open(&device, common.memory);
    app_array_create(&device, &heat[0], count, sizeof(float), "temperatures", APP_ROLE_UPDATED);
    app_array_create(&device, &heat[1], count, sizeof(float), "next temperatures", APP_ROLE_STATE);
    app_array_take(&device, &power_array, (void **)&power, count, sizeof(float), "power");
    memcpy(heat[0].host, temperature, count * sizeof *temperature);
    app_array_to_device(&device, &heat[0]);
    app_array_to_device(&device, &power_array);

    int now = 0; /* which of the two has the temperatures */
    for (uint64_t done = 0; done < steps;) {
        int launch_steps = (int)(steps - done < steps_per_launch ? steps - done : steps_per_launch);
        unsigned inner = (unsigned)(TILE - 2 * launch_steps);
        unsigned blocks = ((unsigned)side + inner - 1) / inner;
        app_kernels_begin(&device);
        spread_heat<<<dim3(blocks, blocks), dim3(TILE, TILE)>>>(
            c, (const float *)power_array.device, (const float *)heat[now].device,
            (float *)heat[1 - now].device, (int)side, (int)side, launch_steps);
        app_kernels_end(&device, "spread_heat", 1);
        done += (uint64_t)launch_steps;
        now = 1 - now;
    }
    app_array_to_host(&device, &heat[now]);

    const float *temperatures = (const float *)heat[now].host;
    print_result(title, temperatures, (int64_t)side, (int64_t)side, steps);
    app_device_report(&device, (double)count * (double)steps, "cells");
    bool is_right =
        !common.check || check(c, (const float *)power_array.host, temperature, temperatures,
                               (int64_t)side, (int64_t)side, steps);
    free(temperature);
    app_array_free(&device, &power_array);
    app_array_free(&device, &heat[0]);
    app_array_free(&device, &heat[1]);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
