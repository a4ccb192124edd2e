/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PageRank: where a walker who follows edges at random, and sometimes jumps anywhere, is found.
 *
 * Pull form, over the edges that lead to a vertex:
 *
 *     contribute   share[u] = rank[u] / edges[u]; the ranks of vertices without edges are summed
 *     pull         rank[v] = (1 - d)/n + d * (sum of share[u] over u -> v  +  that sum / n)
 *
 * until the ranks change by less than the tolerance in all (sum of |change|). Sums over blocks are
 * trees of fixed shape, so that a seed always gives the same bits. Two ways to pull:
 *   thread  a thread for a vertex
 *   warp    32 threads for a vertex: vertices with very many edges do not hold up the others
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph_arrays.h"
#include "common/ranking.h"
#include "common/kernel.h"
#include "common/memory.h"
#include "common/report.h"

#define THREADS 256
#define WARP 32

enum { VARIANT_THREAD, VARIANT_WARP };

__global__ void contribute(uint32_t vertex_count, const float *rank, const uint32_t *edges,
                           float *share, double *block_lost) {
    __shared__ double partial[THREADS];
    uint64_t v = app_thread();
    double lost = 0.0;
    if (v < vertex_count) {
        if (edges[v] != 0) {
            share[v] = rank[v] / (float)edges[v];
        } else {
            share[v] = 0.0f;
            lost = rank[v];
        }
    }
    double sum = app_block_sum(lost, partial, THREADS);
    if (threadIdx.x == 0) {
        block_lost[blockIdx.x] = sum;
    }
}

/* One block: adds `count` numbers, always in the same order. */
__global__ void add_up(const double *values, uint32_t count, double *total) {
    __shared__ double partial[THREADS];
    double sum = 0.0;
    for (uint32_t i = threadIdx.x; i < count; i += THREADS) {
        sum += values[i];
    }
    sum = app_block_sum(sum, partial, THREADS);
    if (threadIdx.x == 0) {
        *total = sum;
    }
}

static __device__ float new_rank(double sum, double lost, uint32_t vertex_count, double damping) {
    return (float)((1.0 - damping) / vertex_count + damping * (sum + lost / vertex_count));
}

__global__ void pull_thread(uint32_t vertex_count, const uint64_t *first, const uint32_t *source,
                            const float *share, const double *lost, double damping, float *rank,
                            double *block_change) {
    __shared__ double partial[THREADS];
    uint64_t v = app_thread();
    double change = 0.0;
    if (v < vertex_count) {
        double sum = 0.0;
        for (uint64_t e = first[v]; e < first[v + 1]; e++) {
            sum += share[source[e]];
        }
        float updated = new_rank(sum, *lost, vertex_count, damping);
        change = fabs((double)updated - (double)rank[v]);
        rank[v] = updated;
    }
    double total = app_block_sum(change, partial, THREADS);
    if (threadIdx.x == 0) {
        block_change[blockIdx.x] = total;
    }
}

__global__ void pull_warp(uint32_t vertex_count, const uint64_t *first, const uint32_t *source,
                          const float *share, const double *lost, double damping, float *rank,
                          double *block_change) {
    __shared__ double partial[THREADS];
    uint64_t v = app_thread() / WARP;
    unsigned lane = threadIdx.x % WARP;
    double change = 0.0;
    if (v < vertex_count) { /* the same for all lanes of a warp */
        double sum = 0.0;
        for (uint64_t e = first[v] + lane; e < first[v + 1]; e += WARP) {
            sum += share[source[e]];
        }
        for (int offset = WARP / 2; offset > 0; offset /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        }
        if (lane == 0) {
            float updated = new_rank(sum, *lost, vertex_count, damping);
            change = fabs((double)updated - (double)rank[v]);
            rank[v] = updated;
        }
    }
    double total = app_block_sum(change, partial, THREADS);
    if (threadIdx.x == 0) {
        block_change[blockIdx.x] = total;
    }
}

/* Iterates until the change is below the tolerance; returns the iterations made. */
static uint64_t iterate(app_device *device, const app_array *first, const app_array *source,
                        const app_array *edges, app_array *rank, uint32_t vertex_count, int variant,
                        double damping, double tolerance, uint64_t max_iterations, double *change) {
    app_array share;
    app_array partial;
    app_array totals; /* [0] lost rank, [1] change */
    unsigned blocks = app_blocks(vertex_count, THREADS);
    unsigned pull_blocks =
        variant == VARIANT_WARP ? app_blocks((uint64_t)vertex_count * WARP, THREADS) : blocks;
    app_array_create(device, &share, vertex_count, sizeof(float), "shares", APP_ROLE_STATE);
    app_array_create(device, &partial, pull_blocks, sizeof(double), "partial sums", APP_ROLE_STATE);
    app_array_create(device, &totals, 2, sizeof(double), "sums", APP_ROLE_STATE);
    double *lost = (double *)totals.device;
    uint64_t iteration = 0;
    do {
        app_kernels_begin(device);
        contribute<<<blocks, THREADS>>>(vertex_count, (const float *)rank->device,
                                        (const uint32_t *)edges->device, (float *)share.device,
                                        (double *)partial.device);
        add_up<<<1, THREADS>>>((const double *)partial.device, blocks, lost);
        if (variant == VARIANT_WARP) {
            pull_warp<<<pull_blocks, THREADS>>>(vertex_count, (const uint64_t *)first->device,
                                                (const uint32_t *)source->device,
                                                (const float *)share.device, lost, damping,
                                                (float *)rank->device, (double *)partial.device);
        } else {
            pull_thread<<<pull_blocks, THREADS>>>(vertex_count, (const uint64_t *)first->device,
                                                  (const uint32_t *)source->device,
                                                  (const float *)share.device, lost, damping,
                                                  (float *)rank->device, (double *)partial.device);
        }
        add_up<<<1, THREADS>>>((const double *)partial.device, pull_blocks, lost + 1);
        app_kernels_end(device, "an iteration", 4);
        app_array_read(device, &totals, sizeof(double), change, sizeof *change);
        iteration++;
    } while (*change > tolerance && iteration < max_iterations);
    app_array_free(device, &share);
    app_array_free(device, &partial);
    app_array_free(device, &totals);
    return iteration;
}

/* The same number of iterations in double precision. `in` are the edges turned around. */
static bool check(const app_graph *in, const uint32_t *edges, const float *rank, double damping,
                  uint64_t iterations) {
    const double limit = 1e-5; /* of a vertex's rank: floats hold 24 bits, and errors add up */
    uint32_t n = in->vertex_count;
    double *expected = (double *)app_allocate(n, sizeof *expected, "the check");
    double *share = (double *)app_allocate(n, sizeof *share, "the check");
    for (uint32_t v = 0; v < n; v++) {
        expected[v] = 1.0 / n;
    }
    for (uint64_t i = 0; i < iterations; i++) {
        double lost = 0.0;
        for (uint32_t v = 0; v < n; v++) {
            share[v] = edges[v] != 0 ? expected[v] / edges[v] : 0.0;
            lost += edges[v] != 0 ? 0.0 : expected[v];
        }
        for (uint32_t v = 0; v < n; v++) {
            double sum = 0.0;
            for (uint64_t e = in->first[v]; e < in->first[v + 1u]; e++) {
                sum += share[in->target[e]];
            }
            expected[v] = (1.0 - damping) / n + damping * (sum + lost / n);
        }
    }
    double largest = 0.0;
    for (uint32_t v = 0; v < n; v++) {
        double difference = fabs((double)rank[v] - expected[v]) / expected[v];
        /* written so that a NaN counts as a difference */
        largest = difference <= largest ? largest : difference;
    }
    bool is_right = largest <= limit;
    printf("check      ranks of %s vertices against %s serial iterations in double precision: %s, "
           "largest relative difference %.1e (limit %.0e)\n",
           app_count(n), app_count(iterations), is_right ? "equal" : "DIFFERENT", largest, limit);
    free(expected);
    free(share);
    return is_right;
}

static void print_result(const app_graph *in, const float *rank, uint64_t top_count,
                         uint64_t iterations, double change) {
    uint32_t n = in->vertex_count;
    app_ranked *order = (app_ranked *)app_allocate(n, sizeof *order, "the ranking");
    for (uint32_t v = 0; v < n; v++) {
        order[v].value = rank[v];
        order[v].vertex = v;
    }
    app_rank(order, n);
    uint64_t shown = top_count < n ? top_count : n;
    int name_width = app_ranked_name_width(in, order, shown);
    printf("graph      %s: %s vertices, %s edges\n", in->title, app_count(n),
           app_count(in->edge_count));
    printf("converged  after %s iterations, last change %.1e\n\n", app_count(iterations), change);
    printf("  #  %-*s  edges in    rank\n", name_width, in->name != NULL ? "package" : "vertex");
    for (uint64_t i = 0; i < shown; i++) {
        uint32_t v = order[i].vertex;
        printf("%3llu  %-*s %9s  %5.2f%%  ", (unsigned long long)(i + 1), name_width,
               app_graph_vertex_name(in, v), app_count(in->first[v + 1u] - in->first[v]),
               100.0 * order[i].value);
        app_bar(stdout, order[i].value / order[0].value, 30);
        putchar('\n');
    }
    putchar('\n');
    free(order);
}

int main(int argc, char **argv) {
    const app_program program = {"pagerank", "PageRank of the vertices of a graph",
                                 "vertices of the generated graph, or bytes such as 1GiB",
                                 APP_GRAPH_INPUT, "pagerank --input debian:all --top 20 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_graph_options graph_options = APP_GRAPH_OPTIONS_DEFAULT;
    double damping = 0.85;
    double tolerance = 1e-6;
    uint64_t max_iterations = 100;
    uint64_t top_count = 10;
    int variant = VARIANT_THREAD;
    const app_option options[] = {
        APP_GRAPH_OPTIONS(graph_options),
        {"--iterations", APP_OPTION_COUNT, &max_iterations, "N", 1, 1e9,
         "maximum number of iterations"},
        {"--tolerance", APP_OPTION_REAL, &tolerance, "X", 0, 1,
         "stop when the sum of all changes of ranks is less"},
        {"--damping", APP_OPTION_REAL, &damping, "X", 0, 1, "probability of following an edge"},
        {"--variant", APP_OPTION_CHOICE, &variant, "thread|warp", 0, 0,
         "what computes the rank of a vertex"},
        {"--top", APP_OPTION_COUNT, &top_count, "N", 1, 1e6, "vertices to print"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);

    app_graph graph;
    app_graph in; /* the same edges, turned around; names and title move to it */
    app_graph_load(&graph, &common, &graph_options, 1u << 17);
    uint32_t n = graph.vertex_count;
    uint32_t *edge_counts = (uint32_t *)app_allocate(n, sizeof *edge_counts, "edge counts");
    float *start_rank = (float *)app_allocate(n, sizeof *start_rank, "ranks");
    for (uint32_t v = 0; v < n; v++) {
        edge_counts[v] = (uint32_t)(graph.first[v + 1u] - graph.first[v]);
        start_rank[v] = 1.0f / (float)n;
    }
    app_graph_transpose(&graph, &in);
    in.name = graph.name;
    in.name_bytes = graph.name_bytes;
    in.label = graph.label;
    memcpy(in.title, graph.title, sizeof in.title);
    graph.name = NULL;
    graph.name_bytes = NULL;
    graph.label = NULL;
    app_graph_free(&graph);

    app_device device;
    app_graph_arrays rows;
    app_array edges;
    app_array rank;
    double change = 0.0;
    app_device_open(&device, common.memory);
    app_graph_arrays_take(&device, &rows, &in);
    app_array_take(&device, &edges, (void **)&edge_counts, n, sizeof(uint32_t), "edge counts");
    app_array_create(&device, &rank, n, sizeof(float), "ranks", APP_ROLE_STATE);
    app_graph_arrays_to_device(&device, &rows);
    app_array_to_device(&device, &edges);
    app_array_write(&device, &rank, 0, start_rank, n * sizeof(float));
    free(start_rank);
    uint64_t iterations = iterate(&device, &rows.first, &rows.target, &edges, &rank, n, variant, damping,
                                  tolerance, max_iterations, &change);
    app_array_to_host(&device, &rank);

    print_result(&in, (const float *)rank.host, top_count, iterations, change);
    app_device_report(&device, (double)in.edge_count * (double)iterations, "edges");
    bool is_right = !common.check || check(&in, (const uint32_t *)edges.host,
                                           (const float *)rank.host, damping, iterations);

    app_graph_arrays_free(&device, &rows, &in);
    app_array_free(&device, &edges);
    app_array_free(&device, &rank);
    app_device_close(&device);
    app_graph_free(&in);
    return is_right ? 0 : 1;
}
