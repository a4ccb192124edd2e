/* SPDX-License-Identifier: Apache-2.0 */
/* out[i] = table[index[i]], a share of the indices a thread. */
#include "threads.h"

static void gather(size_t n, const float *restrict table, const uint32_t *restrict index,
                   float *restrict out) {
    for (size_t i = 0; i < n; i++) {
        out[i] = table[index[i]];
    }
}

static void part(unsigned thread) {
    const float *table = threads_data->input[0];
    const uint32_t *index = threads_data->input[1];
    float *out = threads_data->output;
    size_t first, outer;
    threads_share(threads_data->n, thread, &first, &outer);
    gather(outer - first, table, index + first, out + first);
}

static void run(void) {
    threads_run(part);
}

const bench_case gather_case = {"gather", NULL, run};
