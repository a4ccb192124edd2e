/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search: the number of hops from one vertex to every other.
 *
 * Level by level. Three ways to keep the frontier, the vertices reached last:
 *   queue    a list of vertices; a vertex joins the next list when its hop count is set, and an
 *            atomic compare-and-swap lets exactly one of its discoverers set it
 *   mask     a flag for every vertex; each level looks at all of them
 *   visited  the same in the arrays and kernels of Rodinia's bfs: another flag says that a vertex
 *            was reached, and all its discoverers write its hop count
 * All give the same hop counts, whatever the order of threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph_arrays.h"
#include "common/kernel.h"
#include "common/memory.h"
#include "common/report.h"

#define THREADS 256
#define UNREACHED UINT32_MAX

enum { VARIANT_QUEUE, VARIANT_MASK, VARIANT_VISITED };

__global__ void visit_queue(const uint64_t *first, const uint32_t *target, uint32_t *hops,
                            const uint32_t *frontier, uint32_t frontier_count, uint32_t *next,
                            uint32_t *next_count, uint32_t level) {
    uint64_t i = app_thread();
    if (i >= frontier_count) {
        return;
    }
    uint32_t vertex = frontier[i];
    for (uint64_t e = first[vertex]; e < first[vertex + 1u]; e++) {
        uint32_t neighbour = target[e];
        /* The plain read spares most of the atomics; a stale value only costs one. */
        if (hops[neighbour] == UNREACHED &&
            atomicCAS(&hops[neighbour], UNREACHED, level + 1u) == UNREACHED) {
            next[atomicAdd(next_count, 1u)] = neighbour;
        }
    }
}

/* Every thread that finds the same neighbour writes the same values: no atomics are needed. */
__global__ void visit_mask(const uint64_t *first, const uint32_t *target, uint32_t vertex_count,
                           const uint32_t *hops, unsigned char *is_frontier,
                           unsigned char *is_next) {
    uint64_t vertex = app_thread();
    if (vertex >= vertex_count || !is_frontier[vertex]) {
        return;
    }
    is_frontier[vertex] = 0;
    for (uint64_t e = first[vertex]; e < first[vertex + 1]; e++) {
        uint32_t neighbour = target[e];
        if (hops[neighbour] == UNREACHED) {
            is_next[neighbour] = 1;
        }
    }
}

__global__ void advance_mask(uint32_t vertex_count, uint32_t level, uint32_t *hops,
                             unsigned char *is_frontier, unsigned char *is_next,
                             uint32_t *next_count) {
    uint64_t vertex = app_thread();
    if (vertex >= vertex_count || !is_next[vertex]) {
        return;
    }
    is_next[vertex] = 0;
    is_frontier[vertex] = 1;
    hops[vertex] = level + 1u;
    *next_count = 1u; /* any thread may say that there is more to do */
}

__global__ void visit_flags(const uint64_t *first, const uint32_t *target, uint32_t vertex_count,
                            uint32_t *hops, unsigned char *is_frontier, unsigned char *is_next,
                            const unsigned char *is_visited) {
    uint64_t vertex = app_thread();
    if (vertex >= vertex_count || !is_frontier[vertex]) {
        return;
    }
    is_frontier[vertex] = 0;
    for (uint64_t e = first[vertex]; e < first[vertex + 1]; e++) {
        uint32_t neighbour = target[e];
        if (!is_visited[neighbour]) {
            hops[neighbour] = hops[vertex] + 1u;
            is_next[neighbour] = 1;
        }
    }
}

__global__ void advance_flags(uint32_t vertex_count, unsigned char *is_frontier,
                              unsigned char *is_next, unsigned char *is_visited,
                              uint32_t *has_next) {
    uint64_t vertex = app_thread();
    if (vertex >= vertex_count || !is_next[vertex]) {
        return;
    }
    is_frontier[vertex] = 1;
    is_visited[vertex] = 1;
    *has_next = 1u;
    is_next[vertex] = 0;
}

static void search_queue(app_device *device, const app_array *first, const app_array *target,
                         app_array *hops, uint32_t vertex_count, uint32_t source) {
    app_array frontier;
    app_array next;
    app_array next_count;
    uint32_t frontier_count = 1;
    const uint32_t zero = 0;
    app_array_create(device, &frontier, vertex_count, sizeof(uint32_t), "frontier", APP_ROLE_STATE);
    app_array_create(device, &next, vertex_count, sizeof(uint32_t), "next frontier",
                     APP_ROLE_STATE);
    app_array_create(device, &next_count, 1, sizeof(uint32_t), "frontier counter", APP_ROLE_STATE);
    app_array_write(device, &frontier, 0, &source, sizeof source);
    for (uint32_t level = 0; frontier_count != 0; level++) {
        app_array_write(device, &next_count, 0, &zero, sizeof zero);
        app_kernels_begin(device);
        visit_queue<<<app_blocks(frontier_count, THREADS), THREADS>>>(
            (const uint64_t *)first->device, (const uint32_t *)target->device,
            (uint32_t *)hops->device, (const uint32_t *)frontier.device, frontier_count,
            (uint32_t *)next.device, (uint32_t *)next_count.device, level);
        app_kernels_end(device, "visit_queue", 1);
        app_array_read(device, &next_count, 0, &frontier_count, sizeof frontier_count);
        app_array swap = frontier;
        frontier = next;
        next = swap;
    }
    app_array_free(device, &frontier);
    app_array_free(device, &next);
    app_array_free(device, &next_count);
}

static void search_mask(app_device *device, const app_array *first, const app_array *target,
                        app_array *hops, uint32_t vertex_count, uint32_t source) {
    app_array is_frontier;
    app_array is_next;
    app_array next_count;
    uint32_t has_next = 1;
    const uint32_t zero = 0;
    const unsigned char one = 1;
    app_array_create(device, &is_frontier, vertex_count, 1, "frontier mask", APP_ROLE_STATE);
    app_array_create(device, &is_next, vertex_count, 1, "next mask", APP_ROLE_STATE);
    app_array_create(device, &next_count, 1, sizeof(uint32_t), "frontier flag", APP_ROLE_STATE);
    app_array_fill(device, &is_frontier, 0);
    app_array_fill(device, &is_next, 0);
    app_array_write(device, &is_frontier, source, &one, 1);
    unsigned blocks = app_blocks(vertex_count, THREADS);
    for (uint32_t level = 0; has_next != 0; level++) {
        app_array_write(device, &next_count, 0, &zero, sizeof zero);
        app_kernels_begin(device);
        visit_mask<<<blocks, THREADS>>>(
            (const uint64_t *)first->device, (const uint32_t *)target->device, vertex_count,
            (const uint32_t *)hops->device, (unsigned char *)is_frontier.device,
            (unsigned char *)is_next.device);
        advance_mask<<<blocks, THREADS>>>(
            vertex_count, level, (uint32_t *)hops->device, (unsigned char *)is_frontier.device,
            (unsigned char *)is_next.device, (uint32_t *)next_count.device);
        app_kernels_end(device, "visit_mask", 2);
        app_array_read(device, &next_count, 0, &has_next, sizeof has_next);
    }
    app_array_free(device, &is_frontier);
    app_array_free(device, &is_next);
    app_array_free(device, &next_count);
}

static uint32_t *serial_hops(const app_graph *graph, uint32_t source) {
    uint32_t *hops = (uint32_t *)app_allocate(graph->vertex_count, sizeof *hops, "the check");
    uint32_t *queue = (uint32_t *)app_allocate(graph->vertex_count, sizeof *queue, "the check");
    memset(hops, 0xff, graph->vertex_count * sizeof *hops);
    uint32_t head = 0;
    uint32_t tail = 1;
    queue[0] = source;
    hops[source] = 0;
    while (head < tail) {
        uint32_t vertex = queue[head++];
        for (uint64_t e = graph->first[vertex]; e < graph->first[vertex + 1u]; e++) {
            uint32_t neighbour = graph->target[e];
            if (hops[neighbour] == UNREACHED) {
                hops[neighbour] = hops[vertex] + 1u;
                queue[tail++] = neighbour;
            }
        }
    }
    free(queue);
    return hops;
}

static bool check(const app_graph *graph, uint32_t source, const uint32_t *hops) {
    uint32_t *expected = serial_hops(graph, source);
    uint32_t largest = 0;
    uint32_t different = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        uint32_t difference = hops[v] > expected[v] ? hops[v] - expected[v] : expected[v] - hops[v];
        different += difference != 0;
        largest = difference > largest ? difference : largest;
    }
    printf("check      hop counts of %s vertices against a serial search: %s, largest difference "
           "%s\n",
           app_count(graph->vertex_count), different == 0 ? "equal" : "DIFFERENT",
           app_count(largest));
    free(expected);
    return different == 0;
}

/* The way to one of the farthest vertices, from its end: any edge from the level before. */
static void print_longest_way(const app_graph *graph, const uint32_t *hops, uint32_t deepest) {
    uint32_t way[64];
    if (deepest == 0 || deepest >= 64) {
        return;
    }
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        if (hops[v] == deepest) {
            way[deepest] = v;
            break;
        }
    }
    for (uint32_t level = deepest; level-- > 0;) {
        bool is_found = false;
        for (uint32_t v = 0; v < graph->vertex_count && !is_found; v++) {
            for (uint64_t e = graph->first[v]; hops[v] == level && e < graph->first[v + 1u]; e++) {
                if (graph->target[e] == way[level + 1u]) {
                    way[level] = v;
                    is_found = true;
                    break;
                }
            }
        }
    }
    size_t column = (size_t)printf("farthest   %s", app_graph_vertex_name(graph, way[0]));
    for (uint32_t level = 1; level <= deepest; level++) {
        const char *name = app_graph_vertex_name(graph, way[level]);
        if (column + strlen(name) + 3 > 90) {
            column = (size_t)printf("\n          ") - 1;
        }
        column += (size_t)printf(" > %s", name);
    }
    putchar('\n');
}

/* A flag for each vertex, of which the source's is set. */
static app_array create_flags(app_device *device, uint32_t vertex_count, uint32_t source,
                              const char *name) {
    const unsigned char one = 1;
    app_array flags;
    app_array_create(device, &flags, vertex_count, 1, name, APP_ROLE_STATE);
    app_array_fill(device, &flags, 0);
    app_array_write(device, &flags, source, &one, 1);
    return flags;
}

/* That there is more to do is said in device memory, as there. */
static void search_visited(app_device *device, const app_array *first, const app_array *target,
                           app_array *hops, uint32_t vertex_count, uint32_t source) {
    app_array is_frontier = create_flags(device, vertex_count, source, "frontier mask");
    app_array is_visited = create_flags(device, vertex_count, source, "visited mask");
    app_array is_next;
    uint32_t *has_next = NULL;
    uint32_t more = 1;
    app_array_create(device, &is_next, vertex_count, 1, "next mask", APP_ROLE_STATE);
    app_array_fill(device, &is_next, 0);
    app_cuda_check(cudaMalloc((void **)&has_next, sizeof *has_next), "cudaMalloc", "frontier flag",
                   sizeof *has_next);
    unsigned blocks = app_blocks(vertex_count, THREADS);
    while (more != 0) {
        more = 0;
        app_cuda_check(cudaMemcpy(has_next, &more, sizeof more, cudaMemcpyHostToDevice),
                       "cudaMemcpy", "frontier flag", sizeof more);
        app_kernels_begin(device);
        visit_flags<<<blocks, THREADS>>>(
            (const uint64_t *)first->device, (const uint32_t *)target->device, vertex_count,
            (uint32_t *)hops->device, (unsigned char *)is_frontier.device,
            (unsigned char *)is_next.device, (const unsigned char *)is_visited.device);
        advance_flags<<<blocks, THREADS>>>(vertex_count, (unsigned char *)is_frontier.device,
                                           (unsigned char *)is_next.device,
                                           (unsigned char *)is_visited.device, has_next);
        app_kernels_end(device, "visit_flags", 2);
        app_cuda_check(cudaMemcpy(&more, has_next, sizeof more, cudaMemcpyDeviceToHost),
                       "cudaMemcpy", "frontier flag", sizeof more);
    }
    app_cuda_check(cudaFree(has_next), "cudaFree", "frontier flag", 0);
    app_array_free(device, &is_frontier);
    app_array_free(device, &is_visited);
    app_array_free(device, &is_next);
}

/* Prints how many vertices lie at each distance; returns the edges that were followed. */
static uint64_t print_result(const app_graph *graph, uint32_t source, const uint32_t *hops) {
    uint32_t deepest = 0;
    uint32_t reached = 0;
    uint64_t edges = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        if (hops[v] != UNREACHED) {
            reached++;
            edges += graph->first[v + 1u] - graph->first[v];
            deepest = hops[v] > deepest ? hops[v] : deepest;
        }
    }
    uint32_t *at = (uint32_t *)app_allocate((size_t)deepest + 1, sizeof *at, "levels");
    uint32_t most = 0;
    memset(at, 0, ((size_t)deepest + 1) * sizeof *at);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        if (hops[v] != UNREACHED && ++at[hops[v]] > most) {
            most = at[hops[v]];
        }
    }
    printf("graph      %s: %s vertices, %s edges\n", graph->title, app_count(graph->vertex_count),
           app_count(graph->edge_count));
    printf("source     %s\n", app_graph_vertex_name(graph, source));
    printf("reached    %s vertices (%.1f%%) in at most %s hops\n\n", app_count(reached),
           100.0 * reached / graph->vertex_count, app_count(deepest));
    printf("      hops     vertices\n");
    uint32_t shown = deepest < 24 ? deepest : 23;
    for (uint32_t level = 0; level <= shown; level++) {
        printf("%10u %12s  ", level, app_count(at[level]));
        app_bar(stdout, (double)at[level] / most, 40);
        putchar('\n');
    }
    if (shown < deepest) {
        uint64_t rest = 0;
        for (uint32_t level = shown + 1; level <= deepest; level++) {
            rest += at[level];
        }
        printf("      more %12s\n", app_count(rest));
    }
    putchar('\n');
    if (graph->name != NULL) {
        print_longest_way(graph, hops, deepest);
    }
    free(at);
    return edges;
}

int main(int argc, char **argv) {
    const app_program program = {"bfs", "breadth-first search: hops from one vertex to all others",
                                 "vertices of the generated graph, or bytes such as 1GiB",
                                 APP_GRAPH_INPUT, "bfs --graph rmat --size 1M --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_graph_options graph_options = APP_GRAPH_OPTIONS_DEFAULT;
    const char *source_text = NULL;
    int variant = VARIANT_QUEUE;
    const app_option options[] = {
        APP_GRAPH_OPTIONS(graph_options),
        {"--source", APP_OPTION_TEXT, &source_text, "VERTEX", 0, 0,
         "start vertex: number or package (default: the one with the most edges)"},
        {"--variant", APP_OPTION_CHOICE, &variant, "queue|mask|visited", 0, 0,
         "representation of the frontier"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);

    app_graph graph;
    app_graph_load(&graph, &common, &graph_options, 1u << 18);
    uint32_t source = source_text != NULL               ? app_graph_find(&graph, source_text)
                      : graph.source != APP_VERTEX_NONE ? graph.source
                                                        : app_graph_busiest(&graph);

    app_device device;
    app_graph_arrays rows;
    app_array hops;
    const uint32_t zero = 0;
    app_device_open(&device, common.memory);
    app_graph_arrays_take(&device, &rows, &graph);
    app_array_create(&device, &hops, graph.vertex_count, sizeof(uint32_t), "hop counts",
                     APP_ROLE_STATE);
    app_graph_arrays_to_device(&device, &rows);
    app_array_fill(&device, &hops, 0xff);
    app_array_write(&device, &hops, source * sizeof(uint32_t), &zero, sizeof zero);
    if (variant == VARIANT_QUEUE) {
        search_queue(&device, &rows.first, &rows.target, &hops, graph.vertex_count, source);
    } else if (variant == VARIANT_MASK) {
        search_mask(&device, &rows.first, &rows.target, &hops, graph.vertex_count, source);
    } else {
        search_visited(&device, &rows.first, &rows.target, &hops, graph.vertex_count, source);
    }
    app_array_to_host(&device, &hops);

    uint64_t edges = print_result(&graph, source, (const uint32_t *)hops.host);
    app_device_report(&device, (double)edges, "edges");
    bool is_right = !common.check || check(&graph, source, (const uint32_t *)hops.host);

    app_graph_arrays_free(&device, &rows, &graph);
    app_array_free(&device, &hops);
    app_device_close(&device);
    app_graph_free(&graph);
    return is_right ? 0 : 1;
}
