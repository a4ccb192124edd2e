/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse matrix times vector: y = A x, A as compressed rows.
 *
 * Two variants:
 *   thread  a thread a row, which it adds up from its first entry to its last
 *   warp    a warp a row: lane l adds up entries l, l + 32, ...; the lanes' sums are added in a
 * tree
 *
 *     row of 40 entries    0 1 2 ... 31 | 32 ... 39        lane 0 has entries 0 and 32, ...
 *
 * The order of additions is fixed and every multiply-add is a fused one by name, so all devices and
 * the serial check agree to the bit.
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
#include "common/sparse.h"

#define THREADS 256
#define LANES 32

enum { VARIANT_THREAD, VARIANT_WARP };
enum { MATRIX_RANDOM, MATRIX_BAND };

/* What kernels and the check read of a matrix. */
typedef struct rows {
    const uint64_t *first;
    const uint32_t *column;
    const double *value;
    const double *x;
    uint32_t count;
} rows;

/* The sum over every `step`-th entry of a row, from `begin` on. */
static __host__ __device__ __forceinline__ double sum_entries(rows r, uint64_t begin,
                                                              uint64_t outer, uint64_t step) {
    double sum = 0.0;
    for (uint64_t e = begin; e < outer; e += step) {
        sum = fma(r.value[e], r.x[r.column[e]], sum);
    }
    return sum;
}

__global__ void multiply_by_thread(rows r, double *y) {
    uint64_t row = app_thread();
    if (row < r.count) {
        y[row] = sum_entries(r, r.first[row], r.first[row + 1], 1);
    }
}

__global__ void multiply_by_warp(rows r, double *y) {
    uint64_t row = app_thread() / LANES;
    unsigned lane = threadIdx.x % LANES;
    if (row >= r.count) {
        return; /* the whole warp */
    }
    double sum = sum_entries(r, r.first[row] + lane, r.first[row + 1], LANES);
    for (unsigned half = LANES / 2; half > 0; half /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, half);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}

/* ---- check, output --------------------------------------------------------------------------- */

/* What a warp makes of a row. */
static double serial_warp_sum(rows r, uint64_t row) {
    double sum[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        sum[lane] = sum_entries(r, r.first[row] + lane, r.first[row + 1], LANES);
    }
    for (unsigned half = LANES / 2; half > 0; half /= 2) {
        for (unsigned lane = 0; lane < half; lane++) {
            sum[lane] += sum[lane + half];
        }
    }
    return sum[0];
}

static bool check(rows r, int variant, const double *y) {
    double *expected = (double *)app_allocate(r.count, sizeof *expected, "the check");
    for (uint64_t row = 0; row < r.count; row++) {
        expected[row] = variant == VARIANT_THREAD
                            ? sum_entries(r, r.first[row], r.first[row + 1], 1)
                            : serial_warp_sum(r, row);
    }
    double largest = app_doubles_difference(y, expected, r.count);
    printf("check      %s rows against a serial product: %s, largest difference %g\n",
           app_count(r.count), largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(expected);
    return largest == 0.0;
}

static void print_result(const app_sparse *matrix, const uint64_t *first, const double *y) {
    uint64_t longest = 0;
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t row = 0; row < matrix->row_count; row++) {
        uint64_t length = first[row + 1] - first[row];
        longest = length > longest ? length : longest;
        sum += y[row];
        squares += y[row] * y[row];
    }
    printf("matrix     %s: %s x %s, %s entries\n", matrix->title, app_count(matrix->row_count),
           app_count(matrix->column_count), app_count(matrix->entry_count));
    printf("rows       %.2f entries on average, the longest has %s\n",
           (double)matrix->entry_count / matrix->row_count, app_count(longest));
    printf("product    sum %.9g, norm %.9g\n\n", sum, sqrt(squares));
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void load(app_sparse *matrix, const app_common *common, int kind, uint64_t degree) {
    if (common->input != NULL) {
        app_sparse_read(matrix, common->input);
        return;
    }
    double row_bytes = 12.0 * (double)degree + 24.0;
    uint32_t row_count =
        (uint32_t)app_size_items(common->size, row_bytes, 64 * 1024, 1, UINT32_MAX - 1);
    if (kind == MATRIX_BAND) {
        app_sparse_generate_band(matrix, row_count, (uint32_t)degree | 1, common->seed);
    } else {
        app_sparse_generate_random(matrix, row_count, (uint32_t)degree, common->seed);
    }
}

static void multiply(app_device *device, rows r, double *y, int variant, uint64_t iterations) {
    uint64_t threads = variant == VARIANT_THREAD ? r.count : (uint64_t)r.count * LANES;
    app_kernels_begin(device);
    for (uint64_t i = 0; i < iterations; i++) {
        if (variant == VARIANT_THREAD) {
            multiply_by_thread<<<app_blocks(threads, THREADS), THREADS>>>(r, y);
        } else {
            multiply_by_warp<<<app_blocks(threads, THREADS), THREADS>>>(r, y);
        }
    }
    app_kernels_end(device, "multiply", iterations);
}

int main(int argc, char **argv) {
    const app_program program = {"spmv", "product of a sparse matrix and a vector",
                                 "rows of the generated matrix, or bytes such as 1GiB",
                                 APP_SPARSE_INPUT, "spmv --size 1M --variant warp --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    int variant = VARIANT_THREAD;
    int kind = MATRIX_RANDOM;
    uint64_t degree = 16;
    uint64_t iterations = 1;
    bool is_ones = false;
    const app_option options[] = {
        {"--variant", APP_OPTION_CHOICE, &variant, "thread|warp", 0, 0, "what computes a row"},
        {"--matrix", APP_OPTION_CHOICE, &kind, "random|band", 0, 0,
         "generated matrix: random entries, or a band around the diagonal"},
        {"--degree", APP_OPTION_COUNT, &degree, "N", 1, 4096,
         "generated matrix: mean entries per row; must be odd for a band"},
        {"--ones", APP_OPTION_FLAG, &is_ones, NULL, 0, 0,
         "set x to ones, so that y is the row sums"},
        {"--iterations", APP_OPTION_COUNT, &iterations, "N", 1, 1e9, "number of repetitions"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    app_sparse matrix; /* its arrays become the device's */
    load(&matrix, &common, kind, degree);

    app_device device;
    app_array first;
    app_array column;
    app_array value;
    app_array x;
    app_array y;
    app_device_open(&device, common.memory);
    app_array_take(&device, &first, (void **)&matrix.first, (size_t)matrix.row_count + 1,
                   sizeof(uint64_t), "starts of rows");
    app_array_take(&device, &column, (void **)&matrix.column, matrix.entry_count, sizeof(uint32_t),
                   "columns");
    app_array_take(&device, &value, (void **)&matrix.value, matrix.entry_count, sizeof(double),
                   "values");
    app_array_create(&device, &x, matrix.column_count, sizeof(double), "x", APP_ROLE_INPUT);
    app_array_create(&device, &y, matrix.row_count, sizeof(double), "y", APP_ROLE_STATE);
    app_random random = {app_random_at(common.seed, 0), 0};
    for (uint32_t i = 0; i < matrix.column_count; i++) {
        ((double *)x.host)[i] = is_ones ? 1.0 : app_random_unit(&random);
    }
    app_array_to_device(&device, &first);
    app_array_to_device(&device, &column);
    app_array_to_device(&device, &value);
    app_array_to_device(&device, &x);

    rows on_device = {(const uint64_t *)first.device, (const uint32_t *)column.device,
                      (const double *)value.device, (const double *)x.device, matrix.row_count};
    multiply(&device, on_device, (double *)y.device, variant, iterations);
    app_array_to_host(&device, &y);

    rows on_host = {(const uint64_t *)first.host, (const uint32_t *)column.host,
                    (const double *)value.host, (const double *)x.host, matrix.row_count};
    print_result(&matrix, on_host.first, (const double *)y.host);
    app_device_report(&device, 2.0 * (double)matrix.entry_count * (double)iterations, "flop");
    bool is_right = !common.check || check(on_host, variant, (const double *)y.host);
    app_array_free(&device, &first);
    app_array_free(&device, &column);
    app_array_free(&device, &value);
    app_array_free(&device, &x);
    app_array_free(&device, &y);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
