/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps of a heat equation over two grids in managed memory, of which device memory may hold only a part. As written
 * first, each sweep evicts what the next one needs; `bands` does all sweeps of some rows before the next rows.
 *     wpcc -O2 slow_stencil.cu -o slow_stencil && ./slow_stencil && ./slow_stencil bands */
#include <stdio.h>
#include <string.h>

#define WIDTH 512
#define ROWS 512
#define SWEEPS 6
#define BAND 64 /* rows */

__global__ void sweep(const double *from, double *to, int first) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = first + (int)blockIdx.y;
    if (column == 0 || column >= WIDTH - 1 || row <= 0 || row >= ROWS - 1) return;
    const double *at = from + row * WIDTH + column;
    to[row * WIDTH + column] = 0.25 * (at[-WIDTH] + at[-1] + at[1] + at[WIDTH]);
}

/* Sweep by sweep. */
static void run_sweeps(double *grids[2]) {
    for (int t = 0; t < SWEEPS; t++)
        sweep<<<dim3(WIDTH / 256, ROWS), 256>>>(grids[t % 2], grids[1 - t % 2], 0);
}

/* Band by band: a sweep ends one row before the last one, as it needs the row behind it. */
static void run_bands(double *grids[2]) {
    for (int first = 0; first < ROWS + SWEEPS; first += BAND)
        for (int t = 0; t < SWEEPS; t++)
            sweep<<<dim3(WIDTH / 256, BAND), 256>>>(grids[t % 2], grids[1 - t % 2], first - t);
}

int main(int argc, char **argv) {
    double *grids[2];
    for (int g = 0; g < 2; g++) {
        cudaMallocManaged(&grids[g], sizeof(double) * WIDTH * ROWS);
        for (int i = 0; i < WIDTH * ROWS; i++)
            grids[g][i] = (double)(i * 7919 % 1000);
    }
    if (argc > 1 && strcmp(argv[1], "bands") == 0)
        run_bands(grids);
    else
        run_sweeps(grids);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    double sum = 0;
    for (int i = 0; i < WIDTH * ROWS; i++)
        sum += grids[SWEEPS % 2][i] * (1 + i % 3);
    printf("sum %.2f\n", sum);
    return 0;
}
