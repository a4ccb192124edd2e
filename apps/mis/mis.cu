/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A maximal independent set: vertices without edges between them, and none could be added.
 *
 * Every vertex has a priority of its own, drawn at random (Luby). Vertices are open at first; in a
 * round an open vertex with a priority lower than those of its open neighbours is chosen, and its
 * neighbours are refused. The same vertices are chosen as by going through all in the order of
 * priorities and taking those that have no neighbour taken before, whatever the order of threads.
 *
 *        find_least  ──►  choose  ──►  settle        three launches a round, a thread a vertex:
 *            ▲                            │          what choose writes is read in the next round,
 *            └──────── any open? ─────────┘          as in Pannotia's mis
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph_arrays.h"
#include "common/kernel.h"
#include "common/memory.h"
#include "common/report.h"

#define THREADS 256

enum { STATUS_OPEN = 0, STATUS_CHOSEN, STATUS_REFUSED };

/* The lowest priority among the open neighbours of each open vertex. */
__global__ void find_least(uint32_t vertex_count, const uint64_t *first, const uint32_t *target,
                           const uint32_t *priority, const uint32_t *status, uint32_t *least) {
    uint64_t v = app_thread();
    if (v >= vertex_count || status[v] != STATUS_OPEN) {
        return;
    }
    uint32_t lowest = UINT32_MAX;
    for (uint64_t e = first[v]; e < first[v + 1]; e++) {
        uint32_t w = target[e];
        if (status[w] == STATUS_OPEN && priority[w] < lowest) {
            lowest = priority[w];
        }
    }
    least[v] = lowest;
}

/* A chosen vertex has no chosen neighbour, so only refusals meet in next_status. */
__global__ void choose(uint32_t vertex_count, const uint64_t *first, const uint32_t *target,
                       const uint32_t *priority, const uint32_t *status, const uint32_t *least,
                       uint32_t *next_status) {
    uint64_t v = app_thread();
    if (v >= vertex_count || status[v] != STATUS_OPEN || priority[v] >= least[v]) {
        return;
    }
    next_status[v] = STATUS_CHOSEN;
    for (uint64_t e = first[v]; e < first[v + 1]; e++) {
        next_status[target[e]] = STATUS_REFUSED;
    }
}

__global__ void settle(uint32_t vertex_count, const uint32_t *next_status, uint32_t *status,
                       uint32_t *is_any_open) {
    uint64_t v = app_thread();
    if (v >= vertex_count || status[v] != STATUS_OPEN) {
        return;
    }
    status[v] = next_status[v];
    if (next_status[v] == STATUS_OPEN) {
        *is_any_open = 1; /* any thread may say so */
    }
}

static uint64_t choose_all(app_device *device, const app_array *first, const app_array *target,
                           const app_array *priority, app_array *status, uint32_t vertex_count) {
    app_array least;
    app_array next_status;
    app_array flag;
    unsigned blocks = app_blocks(vertex_count, THREADS);
    uint64_t rounds = 0;
    uint32_t is_any_open = 0;
    app_array_create(device, &least, vertex_count, 4, "least priorities", APP_ROLE_STATE);
    app_array_create(device, &next_status, vertex_count, 4, "next statuses", APP_ROLE_STATE);
    app_array_create(device, &flag, 1, sizeof is_any_open, "the flag", APP_ROLE_STATE);
    app_array_fill(device, status, STATUS_OPEN);
    app_array_fill(device, &next_status, STATUS_OPEN);
    do {
        const uint64_t *from = (const uint64_t *)first->device;
        const uint32_t *to = (const uint32_t *)target->device;
        const uint32_t *own = (const uint32_t *)priority->device;
        uint32_t *now = (uint32_t *)status->device;
        app_array_fill(device, &flag, 0);
        app_kernels_begin(device);
        find_least<<<blocks, THREADS>>>(vertex_count, from, to, own, now, (uint32_t *)least.device);
        choose<<<blocks, THREADS>>>(vertex_count, from, to, own, now,
                                    (const uint32_t *)least.device, (uint32_t *)next_status.device);
        settle<<<blocks, THREADS>>>(vertex_count, (const uint32_t *)next_status.device, now,
                                    (uint32_t *)flag.device);
        app_kernels_end(device, "a round", 3);
        app_array_read(device, &flag, 0, &is_any_open, sizeof is_any_open);
        rounds++;
    } while (is_any_open != 0);
    app_array_free(device, &least);
    app_array_free(device, &next_status);
    app_array_free(device, &flag);
    return rounds;
}

/* ---- check, output ---- */

/* Vertices in the order of priorities, each taken unless a neighbour was. */
static uint32_t *serial_statuses(const app_graph *graph, const uint32_t *priority) {
    uint32_t n = graph->vertex_count;
    uint32_t *order = (uint32_t *)app_allocate(n, sizeof *order, "the check");
    uint32_t *status = (uint32_t *)app_allocate(n, sizeof *status, "the check");
    for (uint32_t v = 0; v < n; v++) {
        order[priority[v]] = v;
        status[v] = STATUS_OPEN;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = order[i];
        if (status[v] == STATUS_OPEN) {
            status[v] = STATUS_CHOSEN;
            for (uint64_t e = graph->first[v]; e < graph->first[v + 1u]; e++) {
                status[graph->target[e]] = STATUS_REFUSED;
            }
        }
    }
    free(order);
    return status;
}

static bool check(const app_graph *graph, const uint32_t *priority, const uint32_t *status) {
    uint32_t *expected = serial_statuses(graph, priority);
    uint64_t adjacent = 0; /* chosen vertices with a chosen neighbour */
    uint64_t missing = 0;  /* vertices that could be chosen, too */
    uint64_t other = 0;    /* vertices of another status than expected */
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        bool has_chosen = false;
        for (uint64_t e = graph->first[v]; e < graph->first[v + 1u]; e++) {
            has_chosen |= status[graph->target[e]] == STATUS_CHOSEN;
        }
        adjacent += status[v] == STATUS_CHOSEN && has_chosen;
        missing += status[v] != STATUS_CHOSEN && !has_chosen;
        other += status[v] != expected[v];
    }
    bool is_right = adjacent == 0 && missing == 0 && other == 0;
    printf(
        "check      %s vertices against a serial choice: %s; adjacent %s, missing %s, other %s\n",
        app_count(graph->vertex_count), is_right ? "equal" : "DIFFERENT", app_count(adjacent),
        app_count(missing), app_count(other));
    free(expected);
    return is_right;
}

static void print_result(const app_graph *graph, const uint32_t *status, uint64_t rounds) {
    enum { BINS = 33 }; /* of degrees: 0, 1, 2 to 3, 4 to 7, ... */
    uint64_t vertices[BINS] = {0};
    uint64_t chosen[BINS] = {0};
    uint64_t all_chosen = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        int bin = 0;
        for (uint64_t degree = graph->first[v + 1u] - graph->first[v]; degree != 0; degree /= 2) {
            bin++;
        }
        vertices[bin]++;
        chosen[bin] += status[v] == STATUS_CHOSEN;
        all_chosen += status[v] == STATUS_CHOSEN;
    }
    printf("graph      %s: %s vertices, %s edges both ways\n", graph->title,
           app_count(graph->vertex_count), app_count(graph->edge_count / 2));
    printf("chosen     %s vertices (%.1f%%) in %s rounds\n\n", app_count(all_chosen),
           100.0 * (double)all_chosen / graph->vertex_count, app_count(rounds));
    printf("  neighbours     vertices       chosen\n");
    for (int bin = 0; bin < BINS; bin++) {
        if (vertices[bin] != 0) {
            printf("%12s %12s %12s  ", app_count(bin == 0 ? 0 : UINT64_C(1) << (bin - 1)),
                   app_count(vertices[bin]), app_count(chosen[bin]));
            app_bar(stdout, (double)chosen[bin] / (double)vertices[bin], 30);
            putchar('\n');
        }
    }
    putchar('\n');
}

int main(int argc, char **argv) {
    const app_program program = {"mis", "a maximal independent set of the vertices of a graph",
                                 "vertices of the generated graph, or bytes such as 1GiB",
                                 APP_GRAPH_INPUT, "mis --input debian:all --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_graph_options graph_options = APP_GRAPH_OPTIONS_DEFAULT;
    graph_options.is_doubled = true;
    const app_option options[] = {APP_GRAPH_OPTIONS(graph_options),
                                  {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);

    app_graph graph;
    app_graph_load(&graph, &common, &graph_options, 1u << 17);
    app_graph_simplify(&graph, true);
    uint32_t n = graph.vertex_count;
    uint32_t *priorities = app_vertex_order(n, common.seed + 2);

    app_device device;
    app_graph_arrays rows;
    app_array priority;
    app_array status;
    app_device_open(&device, common.memory);
    app_graph_arrays_take(&device, &rows, &graph);
    app_array_take(&device, &priority, (void **)&priorities, n, sizeof(uint32_t), "priorities");
    app_array_create(&device, &status, n, sizeof(uint32_t), "statuses", APP_ROLE_STATE);
    app_graph_arrays_to_device(&device, &rows);
    app_array_to_device(&device, &priority);
    uint64_t rounds = choose_all(&device, &rows.first, &rows.target, &priority, &status, n);
    app_array_to_host(&device, &status);

    print_result(&graph, (const uint32_t *)status.host, rounds);
    app_device_report(&device, (double)n * (double)rounds, "vertices");
    bool is_right = !common.check ||
                    check(&graph, (const uint32_t *)priority.host, (const uint32_t *)status.host);
    app_graph_arrays_free(&device, &rows, &graph);
    app_array_free(&device, &priority);
    app_array_free(&device, &status);
    app_device_close(&device);
    app_graph_free(&graph);
    return is_right ? 0 : 1;
}
