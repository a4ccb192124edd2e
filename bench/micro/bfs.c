/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search by levels: threads share the frontier, collect the vertices they find first in
 * a queue of their own, and add it to the next frontier when it is full. */
#include "threads.h"

#include <stdatomic.h>
#include <string.h>

#define QUEUE 1024

static uint32_t *frontier, *next;
static size_t frontier_count;
static _Atomic size_t next_count;
static uint32_t level;

static void prepare(void) {
    if (frontier == NULL) {
        frontier = bench_alloc(threads_data->n * sizeof *frontier);
        next = bench_alloc(threads_data->n * sizeof *next);
    }
    memset(threads_data->output, 0xff, threads_data->output_bytes);
    *(uint32_t *)threads_data->output = 0;
    frontier[0] = 0;
    frontier_count = 1;
}

static void flush(const uint32_t *queue, size_t count) {
    const size_t at = atomic_fetch_add_explicit(&next_count, count, memory_order_relaxed);
    memcpy(next + at, queue, count * sizeof *queue);
}

static void part(unsigned index) {
    const uint32_t *first_edge = threads_data->input[0], *target = threads_data->input[1];
    _Atomic uint32_t *hops = threads_data->output;
    uint32_t queue[QUEUE];
    size_t queued = 0, first, outer;
    threads_share(frontier_count, index, &first, &outer);
    for (size_t i = first; i < outer; i++) {
        const uint32_t vertex = frontier[i], edges = first_edge[vertex + 1];
        for (uint32_t e = first_edge[vertex]; e < edges; e++) {
            uint32_t unreached = BENCH_UNREACHED;
            _Atomic uint32_t *at = &hops[target[e]];
            if (atomic_load_explicit(at, memory_order_relaxed) == BENCH_UNREACHED &&
                atomic_compare_exchange_strong_explicit(at, &unreached, level + 1,
                                                        memory_order_relaxed,
                                                        memory_order_relaxed)) {
                queue[queued++] = target[e];
                if (queued == QUEUE) {
                    flush(queue, queued);
                    queued = 0;
                }
            }
        }
    }
    flush(queue, queued);
}

static void run(void) {
    for (level = 0; frontier_count != 0; level++) {
        atomic_store(&next_count, 0);
        threads_run(part);
        uint32_t *swap = frontier;
        frontier = next;
        next = swap;
        frontier_count = atomic_load(&next_count);
    }
}

const bench_case bfs_case = {"bfs", prepare, run};
