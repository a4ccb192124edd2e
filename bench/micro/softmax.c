/* SPDX-License-Identifier: Apache-2.0 */
/* y = e^x / sum of the row's e^x: e^x is computed once. */
#include "threads.h"

#include <math.h>

static void softmax_row(const float *restrict x, float *restrict y) {
    float most = x[0], sum = 0;
    for (size_t i = 1; i < BENCH_ROW; i++) {
        most = x[i] > most ? x[i] : most;
    }
    for (size_t i = 0; i < BENCH_ROW; i++) {
        y[i] = expf(x[i] - most);
        sum += y[i];
    }
    for (size_t i = 0; i < BENCH_ROW; i++) {
        y[i] /= sum;
    }
}

static void part(unsigned index) {
    const float *x = threads_data->input[0];
    float *y = threads_data->output;
    size_t first, outer;
    threads_share(threads_data->n / BENCH_ROW, index, &first, &outer);
    for (; first < outer; first++) {
        softmax_row(x + first * BENCH_ROW, y + first * BENCH_ROW);
    }
}

static void run(void) {
    threads_run(part);
}

const bench_case softmax_case = {"softmax", NULL, run};
