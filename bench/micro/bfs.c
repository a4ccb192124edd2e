/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search by levels: threads share the frontier. Who finds a vertex first takes a place
 * for it in the next frontier, or collects vertices in a queue of its own and adds it to the next frontier
 * when it is full. */
#include "threads.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

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

static bool is_found_first(_Atomic uint32_t *hops) {
    uint32_t unreached = BENCH_UNREACHED;
    return atomic_load_explicit(hops, memory_order_relaxed) == BENCH_UNREACHED &&
           atomic_compare_exchange_strong_explicit(hops, &unreached, level + 1,
                                                   memory_order_relaxed, memory_order_relaxed);
}

static void part_direct(unsigned index) {
    const uint32_t *first_edge = threads_data->input[0], *target = threads_data->input[1];
    _Atomic uint32_t *hops = threads_data->output;
    size_t first, outer;
    threads_share(frontier_count, index, &first, &outer);
    for (size_t i = first; i < outer; i++) {
        const uint32_t vertex = frontier[i], edges = first_edge[vertex + 1];
        for (uint32_t e = first_edge[vertex]; e < edges; e++) {
            if (is_found_first(&hops[target[e]])) {
                next[atomic_fetch_add_explicit(&next_count, 1, memory_order_relaxed)] = target[e];
            }
        }
    }
}

static void part_queue(unsigned index) {
    const uint32_t *first_edge = threads_data->input[0], *target = threads_data->input[1];
    _Atomic uint32_t *hops = threads_data->output;
    uint32_t queue[BENCH_QUEUE];
    size_t queued = 0, first, outer;
    threads_share(frontier_count, index, &first, &outer);
    for (size_t i = first; i < outer; i++) {
        const uint32_t vertex = frontier[i], edges = first_edge[vertex + 1];
        for (uint32_t e = first_edge[vertex]; e < edges; e++) {
            if (is_found_first(&hops[target[e]])) {
                queue[queued++] = target[e];
                if (queued == BENCH_QUEUE) {
                    flush(queue, queued);
                    queued = 0;
                }
            }
        }
    }
    flush(queue, queued);
}

static void search(void (*part)(unsigned index)) {
    for (level = 0; frontier_count != 0; level++) {
        atomic_store(&next_count, 0);
        threads_run(part);
        uint32_t *swap = frontier;
        frontier = next;
        next = swap;
        frontier_count = atomic_load(&next_count);
    }
}

static void run(void) {
    search(part_direct);
}

static void run_queued(void) {
    search(part_queue);
}

const bench_case bfs_case = {"bfs", prepare, run};
const bench_case bfs_queue_case = {"bfs_queue", prepare, run_queued};
