/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LU decomposition in place, without pivoting: A = L U, the ones on the diagonal of L not stored.
 *
 * Tiles of 16 x 16 items, a step for each tile of the diagonal, three launches a step:
 *
 *     done  done  done  done         diagonal    D  factors its tile
 *     done    D    R     R           perimeter   R  rows of U to its right
 *     done    C    I     I                       C  columns of L below it
 *     done    C    I     I           internal    I  loses the product of its C and its R
 *
 * Tiles and launches are those of Rodinia's lud; a matrix whose side is no multiple of 16 is
 * extended by rows and columns of the unit matrix. An item loses its products one after the other,
 * in the order of the plain algorithm, by multiply-adds fused by name, so all devices and the
 * serial check agree to the bit.
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

/* One block of TILE threads. `at` is the first row and column of the tile. */
__global__ void factor_diagonal(float *a, size_t side, size_t at) {
    __shared__ float tile[TILE][TILE + 1];
    unsigned t = threadIdx.x;
    for (unsigned y = 0; y < TILE; y++) {
        tile[y][t] = a[(at + y) * side + at + t];
    }
    __syncthreads();
    for (unsigned k = 0; k < TILE - 1; k++) { /* a thread a row */
        if (t > k) {
            float factor = tile[t][k] / tile[k][k];
            tile[t][k] = factor;
            for (unsigned x = k + 1; x < TILE; x++) {
                tile[t][x] = fmaf(-factor, tile[k][x], tile[t][x]);
            }
        }
        __syncthreads();
    }
    for (unsigned y = 0; y < TILE; y++) {
        a[(at + y) * side + at + t] = tile[y][t];
    }
}

/* Blocks of 2 TILE threads: the first half has a column each of a tile to the right of the
 * diagonal's, the second half a row each of the tile as far below it. */
__global__ void factor_perimeter(float *a, size_t side, size_t at) {
    __shared__ float diagonal[TILE][TILE + 1];
    __shared__ float right[TILE][TILE + 1];
    __shared__ float below[TILE][TILE + 1];
    size_t away = at + (blockIdx.x + (size_t)1) * TILE;
    unsigned t = threadIdx.x % TILE;
    unsigned half = threadIdx.x / TILE;
    for (unsigned y = half; y < TILE; y += 2) {
        diagonal[y][t] = a[(at + y) * side + at + t];
        right[y][t] = a[(at + y) * side + away + t];
        below[y][t] = a[(away + y) * side + at + t];
    }
    __syncthreads();
    if (half == 0) {
        for (unsigned y = 1; y < TILE; y++) {
            float item = right[y][t];
            for (unsigned k = 0; k < y; k++) {
                item = fmaf(-diagonal[y][k], right[k][t], item);
            }
            right[y][t] = item;
        }
    } else {
        for (unsigned x = 0; x < TILE; x++) {
            float item = below[t][x];
            for (unsigned k = 0; k < x; k++) {
                item = fmaf(-below[t][k], diagonal[k][x], item);
            }
            below[t][x] = item / diagonal[x][x];
        }
    }
    __syncthreads();
    for (unsigned y = half; y < TILE; y += 2) {
        a[(at + y) * side + away + t] = right[y][t];
        a[(away + y) * side + at + t] = below[y][t];
    }
}

/* Blocks of TILE x TILE threads, a block a tile, a thread an item. */
__global__ void update_internal(float *a, size_t side, size_t at) {
    __shared__ float left[TILE][TILE];
    __shared__ float above[TILE][TILE];
    unsigned tx = threadIdx.x;
    unsigned ty = threadIdx.y;
    size_t row = at + (blockIdx.y + (size_t)1) * TILE + ty;
    size_t column = at + (blockIdx.x + (size_t)1) * TILE + tx;
    left[ty][tx] = a[row * side + at + tx];
    above[ty][tx] = a[(at + ty) * side + column];
    __syncthreads();
    float item = a[row * side + column];
    for (unsigned k = 0; k < TILE; k++) {
        item = fmaf(-left[ty][k], above[k][tx], item);
    }
    a[row * side + column] = item;
}

static void factor(app_device *device, const app_array *matrix, size_t side) {
    float *a = (float *)matrix->device;
    uint64_t launches = 1;
    size_t at = 0;
    app_kernels_begin(device);
    for (; at + TILE < side; at += TILE) {
        unsigned tiles = (unsigned)((side - at) / TILE - 1);
        factor_diagonal<<<1, TILE>>>(a, side, at);
        factor_perimeter<<<tiles, 2 * TILE>>>(a, side, at);
        update_internal<<<dim3(tiles, tiles), dim3(TILE, TILE)>>>(a, side, at);
        launches += 3;
    }
    factor_diagonal<<<1, TILE>>>(a, side, at);
    app_kernels_end(device, "the decomposition", launches);
}

/* ---- input, check, output ---- */

/* Items of either sign below 1, on the diagonal more than a row of them: no pivot is near zero. */
static float item_at(uint64_t seed, size_t row, size_t column, size_t side) {
    uint64_t bits = app_random_at(seed, (uint64_t)row * side + column) >> 40;
    return (float)bits * 0x1p-23f - 1.0f + (row == column ? (float)side : 0.0f);
}

static void generate(float *a, size_t side, size_t padded, uint64_t seed) {
    for (size_t row = 0; row < padded; row++) {
        for (size_t column = 0; column < padded; column++) {
            a[row * padded + column] = row < side && column < side
                                           ? item_at(seed, row, column, side)
                                           : (float)(row == column);
        }
    }
}

static bool check(const float *a, size_t side, size_t padded, uint64_t seed) {
    size_t items = padded * padded;
    float *expected = (float *)app_allocate(items, sizeof *expected, "the check");
    generate(expected, side, padded, seed);
    for (size_t k = 0; k < side; k++) {
        const float *above = expected + k * padded;
        for (size_t row = k + 1; row < side; row++) {
            float *here = expected + row * padded;
            here[k] /= above[k];
            for (size_t column = k + 1; column < side; column++) {
                here[column] = fmaf(-here[k], above[column], here[column]);
            }
        }
    }
    double largest = app_floats_difference(a, expected, items);
    printf("check      %s items against a serial decomposition: %s, largest difference %g\n",
           app_count((uint64_t)side * side), largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(expected);
    return largest == 0.0;
}

/* |L U x - A x| / |A x| in double precision, for an x of items 1, 2, ... 7, 1, ... */
static double residual(const float *a, size_t side, size_t padded, uint64_t seed) {
    double *product = (double *)app_allocate(side, sizeof *product, "the residual"); /* U x */
    double squares = 0.0;
    double lost = 0.0;
    for (size_t row = 0; row < side; row++) {
        product[row] = 0.0;
        for (size_t column = row; column < side; column++) {
            product[row] += (double)a[row * padded + column] * (double)(column % 7 + 1);
        }
    }
    for (size_t row = 0; row < side; row++) {
        double factored = product[row];
        double wanted = 0.0;
        for (size_t column = 0; column < row; column++) {
            factored += (double)a[row * padded + column] * product[column];
        }
        for (size_t column = 0; column < side; column++) {
            wanted += (double)item_at(seed, row, column, side) * (double)(column % 7 + 1);
        }
        squares += wanted * wanted;
        lost += (factored - wanted) * (factored - wanted);
    }
    free(product);
    return sqrt(lost / squares);
}

static void print_result(const float *a, size_t side, size_t padded, uint64_t seed) {
    double digits = 0.0;
    bool is_negative = false;
    for (size_t i = 0; i < side; i++) {
        double pivot = (double)a[i * padded + i];
        digits += log10(fabs(pivot));
        is_negative ^= pivot < 0.0;
    }
    printf("matrix     %s x %s, seed %llu\n", app_count(side), app_count(side),
           (unsigned long long)seed);
    printf("factors    determinant %s10^%.6f, |L U x - A x| / |A x| is %.1e\n\n",
           is_negative ? "-" : "", digits, residual(a, side, padded, seed));
}

int main(int argc, char **argv) {
    const app_program program = {"lud", "LU decomposition of a matrix",
                                 "rows of the square matrix, or bytes such as 64MiB", NULL,
                                 "lud --size 1K --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    const app_option options[] = {{NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    size_t side = 256;
    if (common.size.is_bytes) {
        side = (size_t)sqrt((double)app_size_items(common.size, sizeof(float), 0, 1,
                                                   (uint64_t)MAX_SIDE * MAX_SIDE));
    } else {
        side = app_size_items(common.size, 1.0, side, 1, MAX_SIDE);
    }
    size_t padded = (side + TILE - 1) / TILE * TILE;

    app_device device;
    app_array matrix;
    app_device_open(&device, common.memory);
    app_array_create(&device, &matrix, padded * padded, sizeof(float), "the matrix",
                     APP_ROLE_UPDATED);
    generate((float *)matrix.host, side, padded, common.seed);
    app_array_to_device(&device, &matrix);
    factor(&device, &matrix, padded);
    app_array_to_host(&device, &matrix);

    const float *factors = (const float *)matrix.host;
    print_result(factors, side, padded, common.seed);
    app_device_report(&device, 2.0 / 3.0 * (double)side * (double)side * (double)side, "flop");
    bool is_right = !common.check || check(factors, side, padded, common.seed);
    app_array_free(&device, &matrix);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
