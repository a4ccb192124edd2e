/* SPDX-License-Identifier: Apache-2.0 */
/* y = 1 / (1 + e^-x), an element a thread. */
#include "device.h"

#include <math.h>

__global__ void sigmoid(unsigned n, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 1.0f / (1.0f + expf(-x[i]));
    }
}

static void run(void) {
    const unsigned n = (unsigned)device.n;
    LAUNCH(sigmoid, dim3((n + BENCH_THREADS - 1) / BENCH_THREADS), dim3(BENCH_THREADS),
           (n, (const float *)device.input[0], (float *)device.output));
    device_wait();
}

bench_case sigmoid_case = {"sigmoid", NULL, run};
