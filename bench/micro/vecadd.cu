/* SPDX-License-Identifier: Apache-2.0 */
/* sum = a + b, an element a thread. */
#include "device.h"

__global__ void vecadd(unsigned n, const float *a, const float *b, float *sum) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum[i] = a[i] + b[i];
    }
}

static void run(void) {
    const unsigned n = (unsigned)device.n;
    LAUNCH(vecadd, dim3((n + BENCH_THREADS - 1) / BENCH_THREADS), dim3(BENCH_THREADS),
           (n, (const float *)device.input[0], (const float *)device.input[1],
            (float *)device.output));
    device_wait();
}

bench_case vecadd_case = {"vecadd", NULL, run};
