/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atax: y = A^T (A x), for a matrix of single precision, rows one after the other.
 *
 *             columns                 multiply_rows      a thread a row:    t = A x
 *           ┌──────────┐              multiply_columns   a thread a column: y = A^T t
 *      rows │ A        │
 *           └──────────┘
 *
 * Threads next to each other read items a row apart in the first launch, items next to each other
 * in the second: the same matrix the wrong way and the right way. Launches and blocks are those of
 * PolyBench's kernel of this name. Sums go from the first product to the last, each multiply-add a
 * fused one by name, so all devices and the serial check agree to the bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel.h"
#include "common/memory.h"
#include "common/points.h"
#include "common/random.h"
#include "common/report.h"

#define THREADS 256

__global__ void multiply_rows(const float *a, const float *x, float *t, uint64_t rows,
                              uint64_t columns) {
    uint64_t row = app_thread();
    if (row < rows) {
        float sum = 0.0f;
        for (uint64_t column = 0; column < columns; column++) {
            sum = fmaf(a[row * columns + column], x[column], sum);
        }
        t[row] = sum;
    }
}

__global__ void multiply_columns(const float *a, const float *t, float *y, uint64_t rows,
                                 uint64_t columns) {
    uint64_t column = app_thread();
    if (column < columns) {
        float sum = 0.0f;
        for (uint64_t row = 0; row < rows; row++) {
            sum = fmaf(a[row * columns + column], t[row], sum);
        }
        y[column] = sum;
    }
}

/* Values of either sign, small enough for sums of a row to stay of the order of 1. */
static void generate(float *items, uint64_t count, uint64_t terms, uint64_t seed) {
    double scale = 2.0 / sqrt((double)terms);
    app_random random = {seed, 0};
    for (uint64_t i = 0; i < count; i++) {
        items[i] = (float)(scale * (app_random_unit(&random) - 0.5));
    }
}

static void serial_atax(const float *a, const float *x, float *y, uint64_t rows, uint64_t columns) {
    memset(y, 0, columns * sizeof *y);
    for (uint64_t row = 0; row < rows; row++) {
        const float *items = a + row * columns;
        float t = 0.0f;
        for (uint64_t column = 0; column < columns; column++) {
            t = fmaf(items[column], x[column], t);
        }
        for (uint64_t column = 0; column < columns; column++) {
            y[column] = fmaf(items[column], t, y[column]);
        }
    }
}

static bool check(const float *a, const float *x, const float *y, uint64_t rows, uint64_t columns) {
    float *expected = (float *)app_allocate(columns, sizeof *expected, "the check");
    serial_atax(a, x, expected, rows, columns);
    double largest = app_floats_difference(y, expected, columns);
    printf("check      %s items against serial products: %s, largest difference %g\n",
           app_count(columns), largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(expected);
    return largest == 0.0;
}

static void print_result(const float *y, uint64_t rows, uint64_t columns, uint64_t seed) {
    double sum = 0.0;
    double squares = 0.0;
    for (uint64_t i = 0; i < columns; i++) {
        sum += (double)y[i];
        squares += (double)y[i] * (double)y[i];
    }
    printf("matrix     %s x %s, seed %llu\n", app_count(rows), app_count(columns),
           (unsigned long long)seed);
    printf("product    sum %.9g, norm %.9g\n\n", sum, sqrt(squares));
}

int main(int argc, char **argv) {
    const app_program program = {"atax", "A^T A x: a matrix and its transpose times a vector",
                                 "items of the matrix, or bytes such as 1GiB", NULL,
                                 "atax --size 16M --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t rows = 0;
    const app_option options[] = {
        {"--rows", APP_OPTION_COUNT, &rows, "N", 0, 1e9, "rows of the matrix; 0: square"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    uint64_t items = app_size_items(common.size, sizeof(float), 512 * 512, rows != 0 ? rows : 1,
                                    UINT64_C(1) << 40);
    rows = rows != 0 ? rows : (uint64_t)sqrt((double)items);
    uint64_t columns = items / rows;

    app_device device;
    app_array a;
    app_array x;
    app_array t;
    app_array y;
    app_device_open(&device, common.memory);
    app_array_create(&device, &a, rows * columns, sizeof(float), "A", APP_ROLE_INPUT);
    app_array_create(&device, &x, columns, sizeof(float), "x", APP_ROLE_INPUT);
    app_array_create(&device, &t, rows, sizeof(float), "A x", APP_ROLE_STATE);
    app_array_create(&device, &y, columns, sizeof(float), "y", APP_ROLE_STATE);
    generate((float *)a.host, rows * columns, columns, common.seed);
    generate((float *)x.host, columns, 1, app_random_at(common.seed, 0));
    app_array_to_device(&device, &a);
    app_array_to_device(&device, &x);

    app_kernels_begin(&device);
    multiply_rows<<<app_blocks(rows, THREADS), THREADS>>>(
        (const float *)a.device, (const float *)x.device, (float *)t.device, rows, columns);
    multiply_columns<<<app_blocks(columns, THREADS), THREADS>>>(
        (const float *)a.device, (const float *)t.device, (float *)y.device, rows, columns);
    app_kernels_end(&device, "multiply_rows and multiply_columns", 2);
    app_array_to_host(&device, &y);

    print_result((const float *)y.host, rows, columns, common.seed);
    app_device_report(&device, 4.0 * (double)rows * (double)columns, "flop");
    bool is_right = !common.check || check((const float *)a.host, (const float *)x.host,
                                           (const float *)y.host, rows, columns);
    app_array_free(&device, &a);
    app_array_free(&device, &x);
    app_array_free(&device, &t);
    app_array_free(&device, &y);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
