/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix multiplication: C = alpha A B + beta C, single precision, rows one after the other.
 *
 * A block computes a tile of C. It goes along a row of A's tiles and down a column of B's, and
 * has one of each in shared memory at a time:
 *
 *                      ┌────┐
 *                      │ B  │ k      every item of A is read by n / TILE blocks, every item of B
 *           ┌────┬───┬─┼────┤        by m / TILE
 *           │ A  │ → │ │ C  │ m
 *           └────┴───┴─┴────┘
 *               k        n
 *
 * Sums go from the first product to the last, each multiply-add a fused one by name, so all devices
 * and the serial check agree to the bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/points.h"
#include "common/random.h"
#include "common/report.h"

#define TILE 16
#define MAX_SIDE (65535u * TILE) /* rows of blocks that a grid can have */

/* A is m x k, B is k x n, C is m x n. */
typedef struct shape {
    uint32_t m;
    uint32_t n;
    uint32_t k;
} shape;

typedef struct factors {
    float alpha;
    float beta;
} factors;

static __host__ __device__ __forceinline__ float blend(factors f, float sum, float c) {
    return fmaf(f.alpha, sum, f.beta * c);
}

__global__ void multiply(shape s, factors f, const float *a, const float *b, float *c) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    uint32_t tx = threadIdx.x;
    uint32_t ty = threadIdx.y;
    uint32_t row = blockIdx.y * TILE + ty;
    uint32_t column = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (uint32_t first = 0; first < s.k; first += TILE) {
        if (row < s.m && first + tx < s.k) {
            tile_a[ty][tx] = a[(size_t)row * s.k + first + tx];
        }
        if (first + ty < s.k && column < s.n) {
            tile_b[ty][tx] = b[(size_t)(first + ty) * s.n + column];
        }
        __syncthreads();
        for (uint32_t i = 0; i < TILE && first + i < s.k; i++) {
            sum = fmaf(tile_a[ty][i], tile_b[i][tx], sum);
        }
        __syncthreads();
    }
    if (row < s.m && column < s.n) {
        float *item = &c[(size_t)row * s.n + column];
        *item = blend(f, sum, *item);
    }
}

/* A thread goes along a row of A and down a column of B, without shared memory. */
__global__ void multiply_naive(shape s, factors f, const float *__restrict__ a,
                               const float *__restrict__ b, float *__restrict__ c) {
    const uint32_t row = blockIdx.y * TILE + threadIdx.y;
    const uint32_t column = blockIdx.x * TILE + threadIdx.x;
    if (row >= s.m || column >= s.n) {
        return;
    }
    float sum = 0.0f;
    for (uint32_t i = 0; i < s.k; i++) {
        sum = fmaf(a[(size_t)row * s.k + i], b[(size_t)i * s.n + column], sum);
    }
    float *item = &c[(size_t)row * s.n + column];
    *item = blend(f, sum, *item);
}

static void generate(float *items, size_t count, uint64_t seed) {
    app_random random = {seed, 0};
    for (size_t i = 0; i < count; i++) {
        items[i] = (float)(2.0 * app_random_unit(&random) - 1.0);
    }
}

static void generate_c(float *c, shape s, uint64_t seed) {
    generate(c, (size_t)s.m * s.n, app_random_at(seed, 1));
}

/* Row by row, so that B is read as it lies. */
static void serial_multiply(shape s, factors f, const float *a, const float *b, float *c) {
    float *sums = (float *)app_allocate(s.n, sizeof *sums, "the check");
    for (uint32_t row = 0; row < s.m; row++) {
        memset(sums, 0, s.n * sizeof *sums);
        for (uint32_t i = 0; i < s.k; i++) {
            for (uint32_t column = 0; column < s.n; column++) {
                sums[column] =
                    fmaf(a[(size_t)row * s.k + i], b[(size_t)i * s.n + column], sums[column]);
            }
        }
        for (uint32_t column = 0; column < s.n; column++) {
            float *item = &c[(size_t)row * s.n + column];
            *item = blend(f, sums[column], *item);
        }
    }
    free(sums);
}

static bool check(shape s, factors f, const float *a, const float *b, const float *c,
                  uint64_t seed) {
    size_t count = (size_t)s.m * s.n;
    float *expected = (float *)app_allocate(count, sizeof *expected, "the check");
    generate_c(expected, s, seed);
    serial_multiply(s, f, a, b, expected);
    double largest = app_floats_difference(c, expected, count);
    printf("check      %s items against a serial product: %s, largest difference %g\n",
           app_count(count), largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(expected);
    return largest == 0.0;
}

static void print_result(shape s, factors f, const float *c, uint64_t seed) {
    size_t count = (size_t)s.m * s.n;
    double sum = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)c[i];
        squares += (double)c[i] * (double)c[i];
    }
    printf("matrices   %s x %s times %s x %s, alpha %g, beta %g, seed %llu\n", app_count(s.m),
           app_count(s.k), app_count(s.k), app_count(s.n), (double)f.alpha, (double)f.beta,
           (unsigned long long)seed);
    printf("product    sum %.9g, norm %.9g\n\n", sum, sqrt(squares));
}

/* What --size says, unless --m, --n or --k say otherwise. */
static shape make_shape(app_size size, uint64_t m, uint64_t n, uint64_t k) {
    uint64_t items =
        app_size_items(size, 3.0 * sizeof(float), 256 * 256, 1, (uint64_t)MAX_SIDE * MAX_SIDE);
    uint64_t side = (uint64_t)sqrt((double)items);
    shape s = {(uint32_t)(m != 0 ? m : side), (uint32_t)(n != 0 ? n : side),
               (uint32_t)(k != 0 ? k : side)};
    return s;
}

int main(int argc, char **argv) {
    const app_program program = {"sgemm", "multiplies matrices: C = alpha A B + beta C",
                                 "items of each matrix, all square, or bytes such as 1GiB", NULL,
                                 "sgemm --size 1M --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t m = 0;
    uint64_t n = 0;
    uint64_t k = 0;
    double alpha = 1.0;
    double beta = 1.0;
    bool is_naive = false;
    const app_option options[] = {
        {"--m", APP_OPTION_COUNT, &m, "N", 0, MAX_SIDE, "rows of A and C; 0: given by --size"},
        {"--n", APP_OPTION_COUNT, &n, "N", 0, MAX_SIDE, "columns of B and C; 0: given by --size"},
        {"--k", APP_OPTION_COUNT, &k, "N", 0, MAX_SIDE,
         "columns of A, rows of B; 0: given by --size"},
        {"--alpha", APP_OPTION_REAL, &alpha, "X", -1e6, 1e6, "factor of the product"},
        {"--beta", APP_OPTION_REAL, &beta, "X", -1e6, 1e6, "factor of the initial C"},
        {"--naive", APP_OPTION_FLAG, &is_naive, NULL, 0, 0,
         "a thread an item of C, without shared memory"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    shape s = make_shape(common.size, m, n, k);
    factors f = {(float)alpha, (float)beta};

    app_device device;
    app_array a;
    app_array b;
    app_array c;
    app_device_open(&device, common.memory);
    app_array_create(&device, &a, (size_t)s.m * s.k, sizeof(float), "A", APP_ROLE_INPUT);
    app_array_create(&device, &b, (size_t)s.k * s.n, sizeof(float), "B", APP_ROLE_INPUT);
    app_array_create(&device, &c, (size_t)s.m * s.n, sizeof(float), "C", APP_ROLE_UPDATED);
    generate((float *)a.host, (size_t)s.m * s.k, common.seed);
    generate((float *)b.host, (size_t)s.k * s.n, app_random_at(common.seed, 0));
    generate_c((float *)c.host, s, common.seed);
    app_array_to_device(&device, &a);
    app_array_to_device(&device, &b);
    app_array_to_device(&device, &c);

    dim3 threads(TILE, TILE);
    dim3 blocks((s.n + TILE - 1) / TILE, (s.m + TILE - 1) / TILE);
    app_kernels_begin(&device);
    if (is_naive) {
        multiply_naive<<<blocks, threads>>>(s, f, (const float *)a.device, (const float *)b.device,
                                            (float *)c.device);
    } else {
        multiply<<<blocks, threads>>>(s, f, (const float *)a.device, (const float *)b.device,
                                      (float *)c.device);
    }
    app_kernels_end(&device, "multiply", 1);
    app_array_to_host(&device, &c);

    print_result(s, f, (const float *)c.host, common.seed);
    app_device_report(&device, 2.0 * s.m * s.n * s.k, "flop");
    bool is_right = !common.check || check(s, f, (const float *)a.host, (const float *)b.host,
                                           (const float *)c.host, common.seed);
    app_array_free(&device, &a);
    app_array_free(&device, &b);
    app_array_free(&device, &c);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
