/* SPDX-License-Identifier: Apache-2.0 */
/* Simple graphs: a counting sort brings repeated edges of a vertex next to each other. */
#include <stdlib.h>
#include <string.h>

#include "common/graph.h"
#include "common/report.h"

static void drop_repeated(app_graph *graph) {
    uint64_t kept = 0;
    uint64_t e = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        uint64_t outer = graph->first[v + 1u];
        uint64_t start = kept;
        for (; e < outer; e++) {
            uint32_t w = graph->target[e];
            if (w != v && (kept == start || graph->target[kept - 1] != w)) {
                graph->target[kept++] = w;
            }
        }
        graph->first[v + 1u] = kept;
    }
    graph->edge_count = kept;
    graph->target = app_reallocate(graph->target, kept, sizeof *graph->target, "edges");
}

void app_graph_simplify(app_graph *graph, bool both_ways) {
    app_graph turned;
    app_graph sorted;
    free(graph->weight);
    graph->weight = NULL;
    if (both_ways) {
        app_edges edges = {0};
        app_edges_reserve(&edges, graph->edge_count);
        for (uint32_t v = 0; v < graph->vertex_count; v++) {
            for (uint64_t e = graph->first[v]; e < graph->first[v + 1u]; e++) {
                app_edges_add(&edges, v, graph->target[e]);
            }
        }
        free(graph->first);
        free(graph->target);
        app_graph_build(graph, &edges, true);
    }
    /* Turned around twice, edges are in order of their other end. */
    app_graph_transpose(graph, &turned);
    app_graph_transpose(&turned, &sorted);
    app_graph_free(&turned);
    free(graph->first);
    free(graph->target);
    graph->first = sorted.first;
    graph->target = sorted.target;
    drop_repeated(graph);
}
