/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of n floats: partial sums side by side, so that they make a vector, over short pieces, so
 * that they stay exact enough. */
#include "threads.h"

#define LANES 32
#define PIECE 4096 /* elements, a multiple of LANES */
#define THREADS_MAX 256

static struct {
    double sum;
    char apart[120]; /* threads write to different cache lines */
} sums[THREADS_MAX];

static float sum_piece(size_t n, const float *x) {
    float lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int j = 0; j < LANES; j++) {
            lane[j] += x[i + (size_t)j];
        }
    }
    float sum = 0;
    for (int j = 0; j < LANES; j++) {
        sum += lane[j];
    }
    for (; i < n; i++) {
        sum += x[i];
    }
    return sum;
}

static void part(unsigned index) {
    const float *x = threads_data->input[0];
    size_t first, outer;
    threads_share(threads_data->n, index, &first, &outer);
    double sum = 0;
    for (; first < outer; first += PIECE) {
        const size_t left = outer - first;
        sum += (double)sum_piece(left < PIECE ? left : PIECE, x + first);
    }
    sums[index].sum = sum;
}

static void run(void) {
    threads_run(part);
    double sum = 0;
    for (unsigned i = 0; i < threads_count(); i++) {
        sum += sums[i].sum;
    }
    *(float *)threads_data->output = (float)sum;
}

const bench_case reduction_case = {"reduction", NULL, run};
