/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed rows from edges (counting sort, stable, so the order of the input is kept). */
#include "common/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"

void app_edges_reserve(app_edges *edges, uint64_t capacity) {
    edges->capacity = capacity;
    edges->from = app_reallocate(edges->from, edges->capacity, sizeof *edges->from, "edges");
    edges->to = app_reallocate(edges->to, edges->capacity, sizeof *edges->to, "edges");
    if (edges->weight != NULL) {
        edges->weight =
            app_reallocate(edges->weight, edges->capacity, sizeof *edges->weight, "weights");
    }
}

static void grow(app_edges *edges) {
    if (edges->count == edges->capacity) {
        app_edges_reserve(edges,
                          edges->capacity != 0 ? edges->capacity + edges->capacity / 2 : 1u << 16);
    }
}

void app_edges_add(app_edges *edges, uint32_t from, uint32_t to) {
    grow(edges);
    edges->from[edges->count] = from;
    edges->to[edges->count] = to;
    edges->count++;
}

void app_edges_add_weighted(app_edges *edges, uint32_t from, uint32_t to, uint32_t weight) {
    grow(edges);
    if (edges->weight == NULL) {
        edges->weight = app_allocate(edges->capacity, sizeof *edges->weight, "weights");
    }
    edges->weight[edges->count] = weight;
    app_edges_add(edges, from, to);
}

void app_edges_free(app_edges *edges) {
    free(edges->from);
    free(edges->to);
    free(edges->weight);
    *edges = (app_edges){0};
}

void app_graph_build(app_graph *graph, app_edges *edges, bool both_ways) {
    size_t vertex_count = graph->vertex_count;
    uint64_t *next = app_allocate(vertex_count + 1, sizeof *next, "vertices");
    memset(next, 0, (vertex_count + 1) * sizeof *next);
    for (uint64_t e = 0; e < edges->count; e++) {
        next[edges->from[e] + 1u]++;
        if (both_ways && edges->from[e] != edges->to[e]) {
            next[edges->to[e] + 1u]++;
        }
    }
    for (size_t v = 0; v < vertex_count; v++) {
        next[v + 1] += next[v];
    }
    graph->edge_count = next[vertex_count];
    graph->first = app_allocate(vertex_count + 1, sizeof *graph->first, "vertices");
    memcpy(graph->first, next, (vertex_count + 1) * sizeof *next);
    graph->target = app_allocate(graph->edge_count, sizeof *graph->target, "edges");
    if (edges->weight != NULL) {
        graph->weight = app_allocate(graph->edge_count, sizeof *graph->weight, "weights");
    }
    for (uint64_t e = 0; e < edges->count; e++) {
        uint64_t place = next[edges->from[e]]++;
        graph->target[place] = edges->to[e];
        if (edges->weight != NULL) {
            graph->weight[place] = edges->weight[e];
        }
        if (both_ways && edges->from[e] != edges->to[e]) {
            place = next[edges->to[e]]++;
            graph->target[place] = edges->from[e];
            if (edges->weight != NULL) {
                graph->weight[place] = edges->weight[e];
            }
        }
    }
    free(next);
    app_edges_free(edges);
}

void app_graph_transpose(const app_graph *graph, app_graph *out) {
    size_t vertex_count = graph->vertex_count;
    *out = (app_graph){.vertex_count = graph->vertex_count,
                       .edge_count = graph->edge_count,
                       .source = graph->source};
    out->first = app_allocate(vertex_count + 1, sizeof *out->first, "turned vertices");
    out->target = app_allocate(graph->edge_count, sizeof *out->target, "turned edges");
    if (graph->weight != NULL) {
        out->weight = app_allocate(graph->edge_count, sizeof *out->weight, "turned weights");
    }
    memset(out->first, 0, (vertex_count + 1) * sizeof *out->first);
    for (uint64_t e = 0; e < graph->edge_count; e++) {
        out->first[graph->target[e] + 1u]++;
    }
    for (size_t v = 0; v < vertex_count; v++) {
        out->first[v + 1] += out->first[v];
    }
    uint64_t *next = app_allocate(vertex_count, sizeof *next, "turned vertices");
    memcpy(next, out->first, vertex_count * sizeof *next);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        for (uint64_t e = graph->first[v]; e < graph->first[v + 1u]; e++) {
            uint64_t place = next[graph->target[e]]++;
            out->target[place] = v;
            if (graph->weight != NULL) {
                out->weight[place] = graph->weight[e];
            }
        }
    }
    free(next);
}

void app_graph_free(app_graph *graph) {
    free(graph->first);
    free(graph->target);
    free(graph->weight);
    free(graph->label);
    free(graph->name);
    free(graph->name_bytes);
    *graph = (app_graph){0};
}

/* Weights from 1 to max_weight that depend on the two ends only, so that a road is as long in one
 * direction as in the other. */
static void make_weights(app_graph *graph, uint64_t max_weight, uint64_t seed) {
    graph->weight = app_allocate(graph->edge_count, sizeof *graph->weight, "weights");
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        for (uint64_t e = graph->first[v]; e < graph->first[v + 1u]; e++) {
            uint32_t w = graph->target[e];
            uint64_t ends = v < w ? (uint64_t)v << 32 | w : (uint64_t)w << 32 | v;
            graph->weight[e] = 1u + (uint32_t)(app_random_at(seed, ends) % max_weight);
        }
    }
}

void app_graph_load(app_graph *graph, const app_common *common, const app_graph_options *options,
                    uint64_t default_vertices) {
    *graph = (app_graph){.source = APP_VERTEX_NONE};
    if (common->input != NULL && strncmp(common->input, "debian:", 7) == 0) {
        app_graph_read_packages(graph, common->input + 7);
    } else if (common->input != NULL) {
        app_graph_read(graph, common->input, options->is_undirected);
    } else {
        bool is_wide = options->needs_weights || options->is_doubled;
        double edges = (double)options->degree * (options->is_undirected ? 2.0 : 1.0);
        double vertex_bytes = (options->is_doubled ? 32.0 : 16.0) + (is_wide ? 8.0 : 4.0) * edges;
        uint64_t count =
            app_size_items(common->size, vertex_bytes, default_vertices, 2, UINT32_MAX - 1u);
        app_graph_generate(graph, options, (uint32_t)count, common->seed);
    }
    if (graph->vertex_count == 0) {
        app_fail("%s holds no vertices", common->input);
    }
    if (options->is_reversed) {
        app_graph turned;
        app_graph_transpose(graph, &turned);
        free(graph->first);
        free(graph->target);
        free(graph->weight);
        graph->first = turned.first;
        graph->target = turned.target;
        graph->weight = turned.weight;
    }
    if (options->needs_weights && graph->weight == NULL) {
        make_weights(graph, options->max_weight, common->seed);
    }
}

uint32_t app_graph_find(const app_graph *graph, const char *text) {
    if (graph->name != NULL) {
        for (uint32_t v = 0; v < graph->vertex_count; v++) {
            if (strcmp(graph->name[v], text) == 0) {
                return v;
            }
        }
        app_fail_usage("there is no package '%s' in %s", text, graph->title);
    }
    char *end;
    unsigned long long label = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || *text == '-') {
        app_fail_usage("'%s' is not the number of a vertex", text);
    }
    if (graph->label == NULL && label < graph->vertex_count) {
        return (uint32_t)label;
    }
    for (uint32_t v = 0; graph->label != NULL && v < graph->vertex_count; v++) {
        if (graph->label[v] == label) {
            return v;
        }
    }
    app_fail_usage("there is no vertex %s in %s", text, graph->title);
}

const char *app_graph_vertex_name(const app_graph *graph, uint32_t vertex) {
    static char texts[4][24];
    static unsigned turn;
    if (graph->name != NULL) {
        return graph->name[vertex];
    }
    char *text = texts[turn++ % 4u];
    snprintf(text, sizeof texts[0], "%llu",
             (unsigned long long)(graph->label != NULL ? graph->label[vertex] : vertex));
    return text;
}

uint32_t app_graph_busiest(const app_graph *graph) {
    uint32_t best = 0;
    uint64_t best_degree = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        uint64_t degree = graph->first[v + 1u] - graph->first[v];
        if (degree > best_degree) {
            best_degree = degree;
            best = v;
        }
    }
    return best;
}
