/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness centrality: on how many shortest ways of a graph a vertex lies (Brandes).
 *
 * For a source, breadth first: level by level, forward and back again, a launch a level, a thread a
 * vertex; those of the level work, the others only look.
 *
 *     expand   ►  paths(v) = sum of paths(u) over the edges u -> v from the level before;
 *                 vertices that v leads to, and no other before, are the next level
 *     gather   ◄  dependency(v) = sum of paths(v) / paths(w) (1 + dependency(w)) over the edges
 *                 v -> w to the level behind
 *
 * A vertex's centrality is the sum of its dependencies over the sources. Loops and repeated edges
 * are left out. The graph is there twice, with edges leading forward and turned around, as in
 * Pannotia's bc; but there vertices add to their neighbours with atomics, here each collects its
 * own sums, so the result is the same to the bit whatever the order of threads.
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
#define UNREACHED UINT32_MAX

/* What the kernels say; the host reads both after a level. */
typedef struct level_flags {
    uint32_t has_next;     /* there is another level */
    uint32_t has_overflow; /* more shortest ways than a double holds */
} level_flags;

__global__ void expand(uint32_t vertex_count, uint32_t here, const uint64_t *first,
                       const uint32_t *target, const uint64_t *turned_first,
                       const uint32_t *turned_target, uint32_t *level, double *paths,
                       level_flags *flags) {
    uint64_t v = app_thread();
    if (v >= vertex_count || level[v] != here) {
        return;
    }
    if (here > 0) {
        double sum = 0.0;
        for (uint64_t e = turned_first[v]; e < turned_first[v + 1]; e++) {
            uint32_t u = turned_target[e];
            sum += level[u] == here - 1 ? paths[u] : 0.0;
        }
        paths[v] = sum;
        if (sum > 1e308) {
            flags->has_overflow = 1;
        }
    }
    for (uint64_t e = first[v]; e < first[v + 1]; e++) {
        if (level[target[e]] == UNREACHED) {
            level[target[e]] = here + 1; /* others may write the same */
            flags->has_next = 1;
        }
    }
}

__global__ void gather(uint32_t vertex_count, uint32_t here, const uint64_t *first,
                       const uint32_t *target, const uint32_t *level, const double *paths,
                       double *dependency, double *centrality) {
    uint64_t v = app_thread();
    if (v >= vertex_count || level[v] != here) {
        return;
    }
    double sum = 0.0;
    for (uint64_t e = first[v]; e < first[v + 1]; e++) {
        uint32_t w = target[e];
        if (level[w] == here + 1) {
            sum = fma(paths[v] / paths[w], 1.0 + dependency[w], sum);
        }
    }
    dependency[v] = sum;
    if (here > 0) {
        centrality[v] += sum;
    }
}

/* The graph and what is known of its vertices, on the device. */
typedef struct arrays {
    app_graph_arrays rows;
    app_graph_arrays turned;
    app_array centrality;
} arrays;

/* Adds the dependencies of all sources; returns how many levels there were in all. */
static uint64_t search_all(app_device *device, arrays *graph, uint32_t vertex_count,
                           const uint32_t *source, uint64_t source_count) {
    app_array level;
    app_array paths;
    app_array dependency;
    app_array flags_array;
    unsigned blocks = app_blocks(vertex_count, THREADS);
    const uint64_t *first = (const uint64_t *)graph->rows.first.device;
    const uint32_t *target = (const uint32_t *)graph->rows.target.device;
    uint64_t levels = 0;
    app_array_create(device, &level, vertex_count, sizeof(uint32_t), "levels", APP_ROLE_STATE);
    app_array_create(device, &paths, vertex_count, sizeof(double), "paths", APP_ROLE_STATE);
    app_array_create(device, &dependency, vertex_count, sizeof(double), "dependencies",
                     APP_ROLE_STATE);
    app_array_create(device, &flags_array, 1, sizeof(level_flags), "flags", APP_ROLE_STATE);
    app_array_fill(device, &graph->centrality, 0);
    for (uint64_t i = 0; i < source_count; i++) {
        const uint32_t zero = 0;
        const double one = 1.0;
        level_flags flags = {1, 0};
        uint32_t depth = 0;
        app_array_fill(device, &level, 0xff);
        app_array_write(device, &level, source[i] * sizeof zero, &zero, sizeof zero);
        app_array_write(device, &paths, source[i] * sizeof one, &one, sizeof one);
        for (; flags.has_next; depth++) {
            flags.has_next = 0;
            app_array_write(device, &flags_array, 0, &flags, sizeof flags);
            app_kernels_begin(device);
            expand<<<blocks, THREADS>>>(
                vertex_count, depth, first, target, (const uint64_t *)graph->turned.first.device,
                (const uint32_t *)graph->turned.target.device, (uint32_t *)level.device,
                (double *)paths.device, (level_flags *)flags_array.device);
            app_kernels_end(device, "expand", 1);
            app_array_read(device, &flags_array, 0, &flags, sizeof flags);
            if (flags.has_overflow) {
                app_fail(
                    "there are more than 10^308 shortest paths from a source; use a graph with "
                    "fewer levels");
            }
        }
        levels += depth;
        app_kernels_begin(device);
        for (uint32_t here = depth; here-- > 0;) {
            gather<<<blocks, THREADS>>>(vertex_count, here, first, target,
                                        (const uint32_t *)level.device,
                                        (const double *)paths.device, (double *)dependency.device,
                                        (double *)graph->centrality.device);
        }
        app_kernels_end(device, "gather", depth);
    }
    app_array_free(device, &level);
    app_array_free(device, &paths);
    app_array_free(device, &dependency);
    app_array_free(device, &flags_array);
    return levels;
}

/* ---- input, check, output ---- */

/* Up to `count` vertices with edges, at random; returns how many. */
static uint64_t choose_sources(const app_graph *graph, uint64_t count, uint64_t seed,
                               uint32_t *source) {
    uint32_t *order = app_vertex_order(graph->vertex_count, seed + 2);
    uint64_t chosen = 0;
    for (uint32_t i = 0; i < graph->vertex_count && chosen < count; i++) {
        if (graph->first[order[i]] != graph->first[order[i] + 1u]) {
            source[chosen++] = order[i];
        }
    }
    free(order);
    return chosen;
}

/* Brandes's algorithm: a queue of vertices as they are reached, taken from the end on the way back.
 * Vertices add to their neighbours, so sums go in another order than those of the kernels. */
static double *serial_centralities(const app_graph *graph, const uint32_t *source,
                                   uint64_t source_count) {
    uint32_t n = graph->vertex_count;
    double *centrality = (double *)app_allocate(n, sizeof *centrality, "the check");
    double *paths = (double *)app_allocate(n, sizeof *paths, "the check");
    double *dependency = (double *)app_allocate(n, sizeof *dependency, "the check");
    uint32_t *level = (uint32_t *)app_allocate(n, sizeof *level, "the check");
    uint32_t *queue = (uint32_t *)app_allocate(n, sizeof *queue, "the check");
    memset(centrality, 0, n * sizeof *centrality);
    for (uint64_t i = 0; i < source_count; i++) {
        uint32_t reached = 1;
        memset(level, 0xff, n * sizeof *level);
        memset(paths, 0, n * sizeof *paths);
        memset(dependency, 0, n * sizeof *dependency);
        level[source[i]] = 0;
        paths[source[i]] = 1.0;
        queue[0] = source[i];
        for (uint32_t at = 0; at < reached; at++) {
            uint32_t v = queue[at];
            for (uint64_t e = graph->first[v]; e < graph->first[v + 1u]; e++) {
                uint32_t w = graph->target[e];
                if (level[w] == UNREACHED) {
                    level[w] = level[v] + 1;
                    queue[reached++] = w;
                }
                paths[w] += level[w] == level[v] + 1 ? paths[v] : 0.0;
            }
        }
        for (uint32_t at = reached; at-- > 1;) {
            uint32_t w = queue[at];
            for (uint64_t e = graph->first[w]; e < graph->first[w + 1u]; e++) {
                uint32_t x = graph->target[e];
                if (level[x] == level[w] + 1) {
                    dependency[w] += paths[w] / paths[x] * (1.0 + dependency[x]);
                }
            }
            centrality[w] += dependency[w];
        }
    }
    free(paths);
    free(dependency);
    free(level);
    free(queue);
    return centrality;
}

static bool check(const app_graph *graph, const double *centrality, const uint32_t *source,
                  uint64_t source_count) {
    const double limit = 1e-9; /* sums of positive doubles in another order */
    double *expected = serial_centralities(graph, source, source_count);
    double largest = 0.0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        double difference = expected[v] == centrality[v]
                                ? 0.0
                                : fabs(centrality[v] - expected[v]) / fabs(expected[v]);
        /* written so that a NaN counts as a difference */
        largest = difference <= largest ? largest : difference;
    }
    bool is_right = largest <= limit;
    printf(
        "check      %s vertices against Brandes's algorithm from %s sources: %s, largest relative "
        "difference %.1e (limit %.0e)\n",
        app_count(graph->vertex_count), app_count(source_count), is_right ? "equal" : "DIFFERENT",
        largest, limit);
    free(expected);
    return is_right;
}

static void print_result(const app_graph *graph, const double *centrality, uint64_t source_count,
                         uint64_t levels, uint64_t top_count) {
    uint32_t n = graph->vertex_count;
    app_ranked *order = (app_ranked *)app_allocate(n, sizeof *order, "the ranking");
    for (uint32_t v = 0; v < n; v++) {
        order[v].value = centrality[v];
        order[v].vertex = v;
    }
    app_rank(order, n);
    uint64_t shown = top_count < n ? top_count : n;
    int name_width = app_ranked_name_width(graph, order, shown);
    printf("graph      %s: %s vertices, %s edges\n", graph->title, app_count(n),
           app_count(graph->edge_count));
    printf("searched   from %s sources, %.1f levels each\n\n", app_count(source_count),
           source_count != 0 ? (double)levels / (double)source_count : 0.0);
    printf("  #  %-*s  shortest paths\n", name_width, graph->name != NULL ? "package" : "vertex");
    for (uint64_t i = 0; i < shown && order[i].value > 0.0; i++) {
        printf("%3llu  %-*s %15.3f  ", (unsigned long long)(i + 1), name_width,
               app_graph_vertex_name(graph, order[i].vertex), order[i].value);
        app_bar(stdout, order[i].value / order[0].value, 30);
        putchar('\n');
    }
    putchar('\n');
    free(order);
}

static void take_graph(app_device *device, arrays *on_device, app_graph *graph, app_graph *turned) {
    app_graph_arrays_take(device, &on_device->rows, graph);
    app_graph_arrays_take(device, &on_device->turned, turned);
    app_array_create(device, &on_device->centrality, graph->vertex_count, sizeof(double), "centralities",
                     APP_ROLE_STATE);
    app_graph_arrays_to_device(device, &on_device->rows);
    app_graph_arrays_to_device(device, &on_device->turned);
}

int main(int argc, char **argv) {
    const app_program program = {"bc", "betweenness centrality of the vertices of a graph",
                                 "vertices of the generated graph, or bytes such as 1GiB",
                                 APP_GRAPH_INPUT, "bc --input debian:all --sources 32 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_graph_options graph_options = APP_GRAPH_OPTIONS_DEFAULT;
    graph_options.is_doubled = true;
    uint64_t source_count = 4;
    uint64_t top_count = 10;
    const app_option options[] = {
        APP_GRAPH_OPTIONS(graph_options),
        {"--sources", APP_OPTION_COUNT, &source_count, "N", 1, 4e9,
         "source vertices, drawn from those with edges; all of them if there are fewer"},
        {"--top", APP_OPTION_COUNT, &top_count, "N", 1, 1e6, "vertices to print"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);

    app_graph graph;
    app_graph turned;
    app_graph_load(&graph, &common, &graph_options, 1u << 17);
    app_graph_simplify(&graph, false);
    app_graph_transpose(&graph, &turned);
    uint32_t n = graph.vertex_count;
    source_count = source_count < n ? source_count : n;
    uint32_t *source = (uint32_t *)app_allocate(source_count, sizeof *source, "sources");
    source_count = choose_sources(&graph, source_count, common.seed, source);

    app_device device;
    arrays on_device;
    app_device_open(&device, common.memory);
    take_graph(&device, &on_device, &graph, &turned);
    uint64_t levels = search_all(&device, &on_device, n, source, source_count);
    app_array_to_host(&device, &on_device.centrality);

    const double *centrality = (const double *)on_device.centrality.host;
    print_result(&graph, centrality, source_count, levels, top_count);
    app_device_report(&device, 2.0 * (double)n * (double)levels, "vertices");
    bool is_right = !common.check || check(&graph, centrality, source, source_count);
    free(source);
    app_graph_arrays_free(&device, &on_device.rows, &graph);
    app_graph_arrays_free(&device, &on_device.turned, &turned);
    app_array_free(&device, &on_device.centrality);
    app_device_close(&device);
    app_graph_free(&graph);
    app_graph_free(&turned);
    return is_right ? 0 : 1;
}
