/* SPDX-License-Identifier: Apache-2.0 */
/* How often each byte occurs. histogram_shared as one writes it in C: each thread counts for itself.
 * histogram_global as the kernel does it: atomic additions to one table. */
#include "threads.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic uint32_t total[BENCH_BINS];

static void prepare(void) {
    memset(total, 0, sizeof total);
}

static void count_apart(unsigned index) {
    const unsigned char *text = threads_data->input[0];
    size_t first, outer;
    threads_share(threads_data->n, index, &first, &outer);
    uint32_t count[BENCH_BINS] = {0};
    for (size_t i = first; i < outer; i++) {
        count[text[i]]++;
    }
    for (int b = 0; b < BENCH_BINS; b++) {
        atomic_fetch_add_explicit(&total[b], count[b], memory_order_relaxed);
    }
}

static void count_together(unsigned index) {
    const unsigned char *text = threads_data->input[0];
    size_t first, outer;
    threads_share(threads_data->n, index, &first, &outer);
    for (size_t i = first; i < outer; i++) {
        atomic_fetch_add_explicit(&total[text[i]], 1, memory_order_relaxed);
    }
}

static void run_apart(void) {
    threads_run(count_apart);
    memcpy(threads_data->output, total, sizeof total);
}

static void run_together(void) {
    threads_run(count_together);
    memcpy(threads_data->output, total, sizeof total);
}

const bench_case histogram_shared_case = {"histogram_shared", prepare, run_apart};
const bench_case histogram_global_case = {"histogram_global", prepare, run_together};
