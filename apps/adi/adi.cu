/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alternating directions, implicit: how heat spreads on a plane whose walls are kept at zero.
 *
 * A step of time is two launches. Each takes one direction implicitly, line by line, a thread a
 * line, and the other one explicitly, from the field before:
 *
 *     sweep_columns   field -> half     a thread goes down its column and up again: threads next to
 *                                       each other are at items next to each other
 *     sweep_rows      half -> field     ... along its row and back: they are a row apart
 *
 * With `--columns by-rows` the first of them is two launches for each row, as in PolyBench's kernel
 * of this name: go_down, go_up.
 *
 * There and back is Thomas's way to solve three diagonals: going there finds two numbers an item,
 * slope and base, such that item = slope * next item + base; coming back has the next item. As
 * there both are arrays of the size of the field. Every multiply-add is a fused one by name, so all
 * devices and the serial check agree to the bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel.h"
#include "common/memory.h"
#include "common/picture.h"
#include "common/points.h"
#include "common/random.h"
#include "common/report.h"

enum { START_DISCS, START_WAVE };
enum { COLUMNS_AT_ONCE, COLUMNS_BY_ROWS };

/* A line of items: where it begins, how far apart its items are, and how far the next line is. */
typedef struct line {
    size_t start;
    size_t step;
    size_t across;
    bool has_before; /* there is a line before it; else the wall */
    bool has_after;
} line;

static __host__ __device__ __forceinline__ line line_of_column(uint64_t column, uint64_t side) {
    line l = {(size_t)column, (size_t)side, 1, column > 0, column + 1 < side};
    return l;
}

static __host__ __device__ __forceinline__ line line_of_row(uint64_t row, uint64_t side) {
    line l = {(size_t)(row * side), 1, (size_t)side, row > 0, row + 1 < side};
    return l;
}

/* An item's slope and base, from those of the one before it. */
static __host__ __device__ __forceinline__ void eliminate(const float *from, size_t at, line l,
                                                          float rate, float *slope, float *base) {
    float before = l.has_before ? from[at - l.across] : 0.0f;
    float after = l.has_after ? from[at + l.across] : 0.0f;
    float known = fmaf(rate, before + after, fmaf(-2.0f * rate, from[at], from[at]));
    float pivot = fmaf(-rate, *slope, fmaf(2.0f, rate, 1.0f));
    *slope = rate / pivot;
    *base = fmaf(rate, *base, known) / pivot;
}

/* (1 + 2 rate) to[i] - rate (to[i-1] + to[i+1]) = from[i] + rate (from before - 2 from[i] + from
 * after), for all i of the line. */
static __host__ __device__ __forceinline__ void solve_line(const float *from, float *to,
                                                           float *slope, float *base, line l,
                                                           uint64_t side, float rate) {
    float slope_before = 0.0f;
    float base_before = 0.0f;
    for (uint64_t i = 0; i < side; i++) {
        size_t at = l.start + i * l.step;
        eliminate(from, at, l, rate, &slope_before, &base_before);
        slope[at] = slope_before;
        base[at] = base_before;
    }
    float next = 0.0f;
    for (uint64_t i = side; i-- > 0;) {
        size_t at = l.start + i * l.step;
        next = fmaf(slope[at], next, base[at]);
        to[at] = next;
    }
}

__global__ void sweep_columns(const float *field, float *half, float *slope, float *base,
                              uint64_t side, float rate) {
    uint64_t column = app_thread();
    if (column < side) {
        solve_line(field, half, slope, base, line_of_column(column, side), side, rate);
    }
}

__global__ void sweep_rows(float *field, const float *half, float *slope, float *base,
                           uint64_t side, float rate) {
    uint64_t row = app_thread();
    if (row < side) {
        solve_line(half, field, slope, base, line_of_row(row, side), side, rate);
    }
}

/* ---- the same a launch a row ---- */

/* Down the columns as far as one row, the one above being done: PolyBench's kernels of columns. */
__global__ void go_down(const float *from, float *slope, float *base, uint64_t row, uint64_t side,
                        float rate) {
    uint64_t column = app_thread();
    if (column < side) {
        size_t at = (size_t)(row * side + column);
        line l = line_of_column(column, side);
        float slope_before = row > 0 ? slope[at - side] : 0.0f;
        float base_before = row > 0 ? base[at - side] : 0.0f;
        eliminate(from, at, l, rate, &slope_before, &base_before);
        slope[at] = slope_before;
        base[at] = base_before;
    }
}

/* Up again, the one below being done. */
__global__ void go_up(float *to, const float *slope, const float *base, uint64_t row,
                      uint64_t side) {
    uint64_t column = app_thread();
    if (column < side) {
        size_t at = (size_t)(row * side + column);
        float next = row + 1 < side ? to[at + side] : 0.0f;
        to[at] = fmaf(slope[at], next, base[at]);
    }
}

static void sweep_columns_by_rows(const float *field, float *half, float *slope, float *base,
                                  uint64_t side, float rate, unsigned threads) {
    unsigned blocks = app_blocks(side, threads);
    for (uint64_t row = 0; row < side; row++) {
        go_down<<<blocks, threads>>>(field, slope, base, row, side, rate);
    }
    for (uint64_t row = side; row-- > 0;) {
        go_up<<<blocks, threads>>>(half, slope, base, row, side);
    }
}

/* ---- input, check, output ---- */

static const double pi = 3.14159265358979323846;

/* Discs of different heat, or one swelling as high as 1 that keeps its form while it sinks. */
static void generate(float *field, size_t side, int start, uint64_t seed) {
    enum { DISCS = 6 };
    struct {
        double x, y, radius, heat;
    } disc[DISCS];
    app_random random = {seed, 0};
    for (int i = 0; i < DISCS; i++) {
        disc[i].x = app_random_unit(&random) * (double)side;
        disc[i].y = app_random_unit(&random) * (double)side;
        disc[i].radius = (0.05 + 0.15 * app_random_unit(&random)) * (double)side;
        disc[i].heat = 1.0 + app_random_unit(&random);
    }
    for (size_t y = 0; y < side; y++) {
        for (size_t x = 0; x < side; x++) {
            double heat = 0.0;
            if (start == START_WAVE) {
                double wave = pi / ((double)side + 1.0);
                heat = sin(wave * ((double)x + 1.0)) * sin(wave * ((double)y + 1.0));
            } else {
                for (int i = 0; i < DISCS; i++) {
                    double away_x = (double)x - disc[i].x;
                    double away_y = (double)y - disc[i].y;
                    bool is_in =
                        away_x * away_x + away_y * away_y < disc[i].radius * disc[i].radius;
                    heat += is_in ? disc[i].heat : 0.0;
                }
            }
            field[y * side + x] = (float)heat;
        }
    }
}

static bool check(const float *field, size_t side, int start, uint64_t seed, uint64_t steps,
                  float rate) {
    size_t count = side * side;
    float *expected = (float *)app_allocate(count, sizeof *expected, "the check");
    float *half = (float *)app_allocate(count, sizeof *half, "the check");
    float *slope = (float *)app_allocate(count, sizeof *slope, "the check");
    float *base = (float *)app_allocate(count, sizeof *base, "the check");
    generate(expected, side, start, seed);
    for (uint64_t step = 0; step < steps; step++) {
        for (size_t i = 0; i < side; i++) {
            solve_line(expected, half, slope, base, line_of_column(i, side), side, rate);
        }
        for (size_t i = 0; i < side; i++) {
            solve_line(half, expected, slope, base, line_of_row(i, side), side, rate);
        }
    }
    double largest = app_floats_difference(field, expected, count);
    printf("check      %s items against %s serial steps: %s, largest difference %g\n",
           app_count(count), app_count(steps), largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(expected);
    free(half);
    free(slope);
    free(base);
    return largest == 0.0;
}

static void print_result(const float *field, size_t side, int start, uint64_t seed, uint64_t steps,
                         float rate) {
    size_t count = side * side;
    double sum = 0.0;
    float hottest = 0.0f;
    for (size_t i = 0; i < count; i++) {
        sum += (double)field[i];
        hottest = fmaxf(hottest, field[i]);
    }
    printf("plane      %s x %s items, seed %llu\n", app_count(side), app_count(side),
           (unsigned long long)seed);
    printf("after      %s steps: at most %.6f, on average %.6f\n", app_count(steps),
           (double)hottest, sum / (double)count);
    if (start == START_WAVE) {
        /* Of the centre, in exact arithmetic: each half step multiplies the wave by the same. */
        double tilt = sin(0.5 * pi / ((double)side + 1.0));
        double sunk = 4.0 * (double)rate * tilt * tilt;
        double height = pow((1.0 - sunk) / (1.0 + sunk), 2.0 * (double)steps);
        size_t middle = side / 2;
        double top = sin(pi * ((double)middle + 1.0) / ((double)side + 1.0));
        printf("wave       %.5f high in the middle, by theory %.5f\n",
               (double)field[middle * side + middle], height * top * top);
    }
    putchar('\n');
    app_picture(stdout, field, side, side);
    putchar('\n');
}

int main(int argc, char **argv) {
    const app_program program = {"adi", "heat in two dimensions, alternating direction implicit",
                                 "items of the square plane, or bytes such as 64MiB", NULL,
                                 "adi --size 1M --iterations 10 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t steps = 4;
    double rate = 1.0;
    int start = START_DISCS;
    int columns = COLUMNS_AT_ONCE;
    /* Two warps: a plane has few lines, and small blocks bring them to more multiprocessors. */
    uint64_t block = 64;
    const app_option options[] = {
        {"--iterations", APP_OPTION_COUNT, &steps, "N", 1, 1e9, "time steps"},
        {"--rate", APP_OPTION_REAL, &rate, "X", 0, 1000, "diffusion rate per half step"},
        {"--start", APP_OPTION_CHOICE, &start, "discs|wave", 0, 0, "initial temperatures"},
        {"--columns", APP_OPTION_CHOICE, &columns, "at-once|by-rows", 0, 0,
         "launches: one, or two for each row"},
        {"--block", APP_OPTION_COUNT, &block, "N", 1, 1024, "threads per block"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    uint64_t items = app_size_items(common.size, 16.0, 256 * 256, 1, UINT64_C(1) << 40);
    size_t side = (size_t)sqrt((double)items);
    size_t count = side * side;

    app_device device;
    app_array field;
    app_array half;
    app_array slope;
    app_array base;
    app_device_open(&device, common.memory);
    app_array_create(&device, &field, count, sizeof(float), "the field", APP_ROLE_UPDATED);
    app_array_create(&device, &half, count, sizeof(float), "the field between", APP_ROLE_STATE);
    app_array_create(&device, &slope, count, sizeof(float), "slopes", APP_ROLE_STATE);
    app_array_create(&device, &base, count, sizeof(float), "bases", APP_ROLE_STATE);
    generate((float *)field.host, side, start, common.seed);
    app_array_to_device(&device, &field);

    unsigned threads = (unsigned)block;
    unsigned blocks = app_blocks(side, threads);
    for (uint64_t step = 0; step < steps; step++) {
        app_kernels_begin(&device);
        if (columns == COLUMNS_BY_ROWS) {
            sweep_columns_by_rows((const float *)field.device, (float *)half.device,
                                  (float *)slope.device, (float *)base.device, side, (float)rate, threads);
        } else {
            sweep_columns<<<blocks, threads>>>((const float *)field.device, (float *)half.device,
                                               (float *)slope.device, (float *)base.device, side,
                                               (float)rate);
        }
        sweep_rows<<<blocks, threads>>>((float *)field.device, (const float *)half.device,
                                        (float *)slope.device, (float *)base.device, side,
                                        (float)rate);
        app_kernels_end(&device, "a time step", columns == COLUMNS_BY_ROWS ? 2 * side + 1 : 2);
    }
    app_array_to_host(&device, &field);

    const float *result = (const float *)field.host;
    print_result(result, side, start, common.seed, steps, (float)rate);
    app_device_report(&device, (double)count * (double)steps, "items");
    bool is_right = !common.check || check(result, side, start, common.seed, steps, (float)rate);
    app_array_free(&device, &field);
    app_array_free(&device, &half);
    app_array_free(&device, &slope);
    app_array_free(&device, &base);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
