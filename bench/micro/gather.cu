/* SPDX-License-Identifier: Apache-2.0 */
/* out[i] = table[index[i]], the indices at random. */
#include "device.h"

__global__ void gather(unsigned n, const float *table, const unsigned *index, float *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = table[index[i]];
    }
}

static void run(void) {
    const unsigned n = (unsigned)device.n;
    LAUNCH(gather, dim3((n + BENCH_THREADS - 1) / BENCH_THREADS), dim3(BENCH_THREADS),
           (n, (const float *)device.input[0], (const unsigned *)device.input[1],
            (float *)device.output));
    device_wait();
}

bench_case gather_case = {"gather", NULL, run};
