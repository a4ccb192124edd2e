/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pathfinder: the cheapest way through a grid, from anywhere in its first row to its last.
 *
 * A way goes on straight or diagonally. The cost of reaching a cell is its own and the least of the
 * three in the row before it, so rows follow one another. A block computes several rows at once on
 * a strip in shared memory, which shrinks by a cell at both ends a row (the pyramid):
 *
 *     row 0   ████████████████     costs so far, THREADS cells
 *     row 1    ██████████████
 *     row 2     ████████████       THREADS - 2 * rows of them are written
 *
 * Two arrays of costs take turns. Whole numbers throughout, so all devices agree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/random.h"
#include "common/report.h"

#define THREADS 256
#define MAX_PYRAMID 100
#define CELL_COSTS 10 /* a cell costs 0 to 9 */

static __host__ __device__ __forceinline__ int least(int a, int b, int c) {
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Rows first_row to first_row + rows - 1 of the grid, from the costs of the row before them. */
__global__ void advance(const int *grid, const int *from, int *to, uint32_t columns,
                        uint64_t first_row, int rows) {
    __shared__ int cost[2][THREADS];
    int tx = (int)threadIdx.x;
    /* The column of this thread; none where the strip hangs over the grid. */
    int64_t column = (int64_t)blockIdx.x * (THREADS - 2 * rows) + tx - rows;
    bool is_cell = column >= 0 && column < (int64_t)columns;
    if (is_cell) {
        cost[0][tx] = from[column];
    }
    __syncthreads();
    int now = 0;
    for (int row = 0; row < rows; row++) {
        if (is_cell && tx > row && tx < THREADS - 1 - row) {
            int here = cost[now][tx];
            int left = column > 0 ? cost[now][tx - 1] : here;
            int right = column < (int64_t)columns - 1 ? cost[now][tx + 1] : here;
            cost[1 - now][tx] = least(left, here, right) +
                                grid[(first_row + (uint64_t)row) * columns + (uint64_t)column];
        }
        now = 1 - now;
        __syncthreads();
    }
    if (is_cell && tx >= rows && tx < THREADS - rows) {
        to[column] = cost[now][tx];
    }
}

/* ---- input, check, output -------------------------------------------------------------------- */

static void generate(int *cells, uint64_t count, app_random *random) {
    for (uint64_t i = 0; i < count; i++) {
        cells[i] = (int)app_random_below(random, CELL_COSTS);
    }
}

/* Advances `costs` through all rows of the grid. */
static void serial_advance(const int *grid, int *costs, uint32_t columns, uint64_t rows) {
    for (uint64_t row = 0; row < rows; row++) {
        int left = costs[0];
        for (uint32_t x = 0; x < columns; x++) {
            int here = costs[x];
            int right = x + 1 < columns ? costs[x + 1] : here;
            costs[x] = least(left, here, right) + grid[row * columns + x];
            left = here;
        }
    }
}

static bool check(const int *grid, const int *costs, uint32_t columns, uint64_t rows,
                  uint64_t seed) {
    int *expected = (int *)app_allocate(columns, sizeof *expected, "the check");
    app_random random = {seed, 0};
    uint64_t different = 0;
    generate(expected, columns, &random);
    serial_advance(grid, expected, columns, rows);
    for (uint32_t x = 0; x < columns; x++) {
        different += costs[x] != expected[x];
    }
    printf("check      %s costs against serial rows: %s, %s differ\n", app_count(columns),
           different == 0 ? "equal" : "DIFFERENT", app_count(different));
    free(expected);
    return different == 0;
}

static void print_result(const int *costs, uint32_t columns, uint64_t rows, uint64_t seed) {
    uint32_t best = 0;
    uint64_t sum = 0;
    int worst = costs[0];
    for (uint32_t x = 0; x < columns; x++) {
        best = costs[x] < costs[best] ? x : best;
        worst = costs[x] > worst ? costs[x] : worst;
        sum += (uint64_t)costs[x];
    }
    printf("grid       %s rows of %s cells, each costs 0 to %d, seed %llu\n", app_count(rows),
           app_count(columns), CELL_COSTS - 1, (unsigned long long)seed);
    printf("cheapest   path costs %d and ends in column %s\n", costs[best], app_count(best));
    printf("others     to a cell of the last row: %.3f on average, %d at most\n\n",
           (double)sum / columns, worst);
}

int main(int argc, char **argv) {
    const app_program program = {"pathfinder",
                                 "the cheapest path through a grid, by dynamic programming",
                                 "cells of the grid, or bytes such as 1GiB", NULL,
                                 "pathfinder --size 10M --rows 100 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t rows = 100;
    uint64_t pyramid = 20;
    const app_option options[] = {
        {"--rows", APP_OPTION_COUNT, &rows, "N", 2, 1e8, "rows of the grid"},
        {"--pyramid", APP_OPTION_COUNT, &pyramid, "N", 1, MAX_PYRAMID, "rows computed per launch"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    uint64_t cells = app_size_items(common.size, sizeof(int), 1000 * 1000, rows,
                                    rows * (uint64_t)(UINT32_MAX / 2));
    uint32_t columns = (uint32_t)(cells / rows);
    uint64_t rest = rows - 1; /* the first row is the first costs */

    app_device device;
    app_array grid;
    app_array costs[2];
    app_random random = {common.seed, 0};
    app_device_open(&device, common.memory);
    app_array_create(&device, &grid, rest * columns, sizeof(int), "grid", APP_ROLE_INPUT);
    app_array_create(&device, &costs[0], columns, sizeof(int), "costs", APP_ROLE_UPDATED);
    app_array_create(&device, &costs[1], columns, sizeof(int), "other costs", APP_ROLE_STATE);
    generate((int *)costs[0].host, columns, &random);
    generate((int *)grid.host, rest * columns, &random);
    app_array_to_device(&device, &costs[0]);
    app_array_to_device(&device, &grid);

    uint64_t launches = 0;
    app_kernels_begin(&device);
    for (uint64_t row = 0; row < rest; row += pyramid, launches++) {
        int rows_now = (int)(rest - row < pyramid ? rest - row : pyramid);
        unsigned blocks = app_blocks(columns, THREADS - 2 * (unsigned)rows_now);
        advance<<<blocks, THREADS>>>(
            (const int *)grid.device, (const int *)costs[launches % 2].device,
            (int *)costs[(launches + 1) % 2].device, columns, row, rows_now);
    }
    app_kernels_end(&device, "advance", launches);
    app_array *last = &costs[launches % 2];
    app_array_to_host(&device, last);

    print_result((const int *)last->host, columns, rows, common.seed);
    app_device_report(&device, (double)rest * (double)columns, "cells");
    bool is_right = !common.check || check((const int *)grid.host, (const int *)last->host, columns,
                                           rest, common.seed);
    app_array_free(&device, &grid);
    app_array_free(&device, &costs[0]);
    app_array_free(&device, &costs[1]);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
