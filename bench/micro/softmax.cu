/* SPDX-License-Identifier: Apache-2.0 */
/* y = e^x / sum of the row's e^x, a warp a row: the lanes exchange greatest and sum by shuffles. */
#include "device.h"

#include <math.h>

#define LANES 32
#define ALL_LANES 0xffffffffu

__global__ void softmax(unsigned rows, const float *x, float *y) {
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (row >= rows) {
        return;
    }
    x += row * BENCH_ROW;
    y += row * BENCH_ROW;
    float most = x[lane], sum = 0.0f;
    for (unsigned i = lane + LANES; i < BENCH_ROW; i += LANES) {
        most = fmaxf(most, x[i]);
    }
    for (unsigned by = LANES / 2; by > 0; by /= 2) {
        most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, by));
    }
    for (unsigned i = lane; i < BENCH_ROW; i += LANES) {
        sum += expf(x[i] - most);
    }
    for (unsigned by = LANES / 2; by > 0; by /= 2) {
        sum += __shfl_xor_sync(ALL_LANES, sum, by);
    }
    for (unsigned i = lane; i < BENCH_ROW; i += LANES) {
        y[i] = expf(x[i] - most) / sum;
    }
}

static void run(void) {
    const unsigned rows = (unsigned)(device.n / BENCH_ROW), threads = rows * LANES;
    LAUNCH(softmax, dim3((threads + BENCH_THREADS - 1) / BENCH_THREADS), dim3(BENCH_THREADS),
           (rows, (const float *)device.input[0], (float *)device.output));
    device_wait();
}

bench_case softmax_case = {"softmax", NULL, run};
