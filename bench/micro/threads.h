/* SPDX-License-Identifier: Apache-2.0 */
/** The engine of hand-written C: a pool of POSIX threads that waits for work on a condition
 * variable. */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include "bench.h"

/** The data of this run. */
extern const bench_data *threads_data;

unsigned threads_count(void);

/** Calls part(0) ... part(threads_count() - 1), each on its own thread, and waits for all. */
void threads_run(void (*part)(unsigned index));

/** The share of thread `index` in n items: [*first, *outer). */
void threads_share(size_t n, unsigned index, size_t *first, size_t *outer);

extern const bench_case empty_case, vecadd_case, sigmoid_case, gather_case, reduction_case,
    softmax_case, histogram_shared_case, histogram_global_case, sgemm_case, bfs_case,
    bfs_queue_case;

#endif
