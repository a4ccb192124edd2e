/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search by levels: a thread for each vertex of the frontier; who finds a new vertex
 * first puts it into the next frontier. */
#include "device.h"

__global__ void visit(const unsigned *first, const unsigned *target, unsigned *hops,
                      const unsigned *frontier, unsigned frontier_count, unsigned *next,
                      unsigned *counters, unsigned level) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= frontier_count) {
        return;
    }
    unsigned vertex = frontier[i];
    for (unsigned e = first[vertex]; e < first[vertex + 1]; e++) {
        unsigned neighbour = target[e];
        if (hops[neighbour] == BENCH_UNREACHED &&
            atomicCAS(&hops[neighbour], BENCH_UNREACHED, level + 1) == BENCH_UNREACHED) {
            next[atomicAdd(&counters[level], 1u)] = neighbour;
        }
    }
}

/* The same with a queue for each block, which goes into the next frontier in one piece. */
__global__ void visit_queued(const unsigned *first, const unsigned *target, unsigned *hops,
                             const unsigned *frontier, unsigned frontier_count, unsigned *next,
                             unsigned *counters, unsigned level) {
    __shared__ unsigned queue[BENCH_QUEUE], queued, place;
    if (threadIdx.x == 0) queued = 0;
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < frontier_count) {
        unsigned vertex = frontier[i];
        for (unsigned e = first[vertex]; e < first[vertex + 1]; e++) {
            unsigned neighbour = target[e];
            if (hops[neighbour] == BENCH_UNREACHED &&
                atomicCAS(&hops[neighbour], BENCH_UNREACHED, level + 1) == BENCH_UNREACHED) {
                unsigned at = atomicAdd(&queued, 1u);
                if (at < BENCH_QUEUE) {
                    queue[at] = neighbour;
                } else {
                    next[atomicAdd(&counters[level], 1u)] = neighbour;
                }
            }
        }
    }
    __syncthreads();
    unsigned count = queued < BENCH_QUEUE ? queued : BENCH_QUEUE;
    if (threadIdx.x == 0) place = atomicAdd(&counters[level], count);
    __syncthreads();
    for (unsigned j = threadIdx.x; j < count; j += blockDim.x) {
        next[place + j] = queue[j];
    }
}

typedef void visit_kernel(const unsigned *first, const unsigned *target, unsigned *hops,
                          const unsigned *frontier, unsigned frontier_count, unsigned *next,
                          unsigned *counters, unsigned level);

/* scratch[0] and [1] are the frontiers; a frontier has at most n vertices, and the target array, which
 * sizes them, is longer by more than the counters of the levels need. */
static unsigned *level_counters(void) {
    return (unsigned *)device.scratch[0] + device.n;
}

static void prepare(void) {
    const unsigned zero = 0;
    device_set(device.output, 0xff, device.output_bytes);
    device_write(device.output, &zero, sizeof zero);
    device_write(device.scratch[0], &zero, sizeof zero);
    device_set(level_counters(), 0, BENCH_LEVELS_MAX * sizeof(unsigned));
    device_wait();
}

static void search(visit_kernel *kernel) {
    unsigned count = 1;
    for (unsigned level = 0; count != 0; level++) {
        if (level == BENCH_LEVELS_MAX) bench_fail("bfs: more than %d levels", BENCH_LEVELS_MAX);
        LAUNCH(kernel, dim3((count + BENCH_THREADS - 1) / BENCH_THREADS), dim3(BENCH_THREADS),
               ((const unsigned *)device.input[0], (const unsigned *)device.input[1],
                (unsigned *)device.output, (const unsigned *)device.scratch[level % 2], count,
                (unsigned *)device.scratch[(level + 1) % 2], level_counters(), level));
        device_read(&count, level_counters() + level, sizeof count);
    }
    device_wait();
}

static void run(void) {
    search(visit);
}

static void run_queued(void) {
    search(visit_queued);
}

bench_case bfs_case = {"bfs", prepare, run};
bench_case bfs_queue_case = {"bfs_queue", prepare, run_queued};
