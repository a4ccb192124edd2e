/* SPDX-License-Identifier: Apache-2.0 */
/* y = 1 / (1 + e^-x), a share of the elements a thread. */
#include "threads.h"

#include <math.h>

static void part(unsigned index) {
    const float *x = threads_data->input[0];
    float *y = threads_data->output;
    size_t first, outer;
    threads_share(threads_data->n, index, &first, &outer);
    for (; first < outer; first++) {
        y[first] = 1.0f / (1.0f + expf(-x[first]));
    }
}

static void run(void) {
    threads_run(part);
}

const bench_case sigmoid_case = {"sigmoid", NULL, run};
