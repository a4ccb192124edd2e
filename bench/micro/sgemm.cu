/* SPDX-License-Identifier: Apache-2.0 */
/* c = a * b, square and row by row: a block makes a 16x16 tile of c from tiles in shared memory. */
#include "device.h"

__global__ void sgemm(unsigned n, const float *a, const float *b, float *c) {
    __shared__ float a_tile[BENCH_TILE][BENCH_TILE];
    __shared__ float b_tile[BENCH_TILE][BENCH_TILE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned row = blockIdx.y * BENCH_TILE + y, column = blockIdx.x * BENCH_TILE + x;
    float sum = 0.0f;
    for (unsigned k0 = 0; k0 < n; k0 += BENCH_TILE) {
        a_tile[y][x] = a[row * n + k0 + x];
        b_tile[y][x] = b[(k0 + y) * n + column];
        __syncthreads();
        for (unsigned k = 0; k < BENCH_TILE; k++) {
            sum += a_tile[y][k] * b_tile[k][x];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

static void run(void) {
    const unsigned n = (unsigned)device.n, tiles = n / BENCH_TILE;
    LAUNCH(sgemm, dim3(tiles, tiles), dim3(BENCH_TILE, BENCH_TILE),
           (n, (const float *)device.input[0], (const float *)device.input[1],
            (float *)device.output));
    device_wait();
}

bench_case sgemm_case = {"sgemm", NULL, run};
