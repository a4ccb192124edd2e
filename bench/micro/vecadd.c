/* SPDX-License-Identifier: Apache-2.0 */
/* sum = a + b, a share of the elements a thread. */
#include "threads.h"

static void add(size_t n, const float *restrict a, const float *restrict b, float *restrict sum) {
    for (size_t i = 0; i < n; i++) {
        sum[i] = a[i] + b[i];
    }
}

static void part(unsigned index) {
    const float *a = threads_data->input[0], *b = threads_data->input[1];
    float *sum = threads_data->output;
    size_t first, outer;
    threads_share(threads_data->n, index, &first, &outer);
    add(outer - first, a + first, b + first, sum + first);
}

static void run(void) {
    threads_run(part);
}

const bench_case vecadd_case = {"vecadd", NULL, run};
