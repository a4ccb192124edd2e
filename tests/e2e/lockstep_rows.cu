// SPDX-License-Identifier: Apache-2.0
// FLAGS: --lockstep
// DEVICES: cpu sim (the stand-in for a GPU runs one thread after the other)
// Systems of equations, a block each, a thread for each number of the matrix. The threads of a row, which are lanes of one warp,
// find the row's greatest number and divide by it with nothing but being in step; those of the other rows wait. On a simulated
// GPU the threads run ahead of simulated time, and the lanes stay in step all the same.
#include "check.h"

#define SIZE 7 /* rows; 8 columns, so that no row is in two warps */
#define SYSTEMS 20

__global__ void solve(const float *matrices, float *solutions, int *singular)
{
    extern __shared__ float m[];
    const int column = threadIdx.x, row = threadIdx.y, columns = blockDim.x, rows = blockDim.y;
    const int system = blockIdx.x, at = row * columns + column;
    float *amount = m + rows * columns;
    int *best = (int *)(amount + columns);
    if (column == row) {
        amount[column + 1] = 0;
        best[column + 1] = column + 1;
    }
    m[at] = matrices[system * rows * columns + at];
    __syncthreads();
    for (int now = 0; now < rows; now++) {
        if (row == now && column < rows) {
            amount[column] = fabsf(m[at]);
            best[column] = column;
            __threadfence();
            for (int part = 2; part <= columns; part *= 2)
                if (column < columns / part)
                    if (amount[best[column]] < amount[best[column + columns / part]])
                        best[column] = best[column + columns / part];
        }
        __syncthreads();
        if (row == now && column < rows && amount[best[0]] == 0)
            singular[system] = 1;
        if (row == now)
            m[at] = m[at] / m[row * columns + best[0]];
        __syncthreads();
        const float less = m[now * columns + column] * m[row * columns + best[0]];
        __syncthreads();
        if (row != now)
            m[at] -= less;
        __syncthreads();
    }
    if (column < rows && m[at] == 1)
        solutions[system * rows + column] = m[row * columns + rows];
}

int main()
{
    const int numbers = SIZE * (SIZE + 1);
    float *matrices = check_managed<float>(SYSTEMS * numbers), *x = check_managed<float>(SYSTEMS * SIZE);
    int *singular = check_managed<int>(SYSTEMS);
    unsigned seed = 1;
    for (int i = 0; i < SYSTEMS * numbers; i++) {
        seed = seed * 1103515245 + 12345;
        matrices[i] = (int)(seed >> 16 & 2047) / 100.0f - 10;
    }
    for (int s = 0; s < SYSTEMS; s++)
        singular[s] = 0;
    solve<<<SYSTEMS, dim3(SIZE + 1, SIZE), (numbers + 2 * (SIZE + 1)) * sizeof(float)>>>(matrices, x, singular);
    KERNEL_OK();
    for (int s = 0; s < SYSTEMS; s++) {
        CHECK_EQ(singular[s], 0);
        for (int row = 0; row < SIZE; row++) {
            const float *line = matrices + s * numbers + row * (SIZE + 1);
            double left = line[SIZE];
            for (int k = 0; k < SIZE; k++)
                left -= (double)line[k] * x[s * SIZE + k];
            CHECK(fabs(left) < 0.1);
        }
    }
    return check_done();
}
