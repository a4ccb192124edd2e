/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Graphs as compressed rows, from files, from Debian's package lists, or generated.
 *
 *     first   [vertex_count + 1]   edges of vertex v: first[v] <= e < first[v + 1]
 *     target  [edge_count]         where edge e leads
 *     weight  [edge_count]         its length, or NULL
 *
 * Vertices are numbered from 0 in the order of their labels. All arrays are malloc'ed and belong
 * to the graph. Limits: 2^32 - 2 vertices, any number of edges that fit memory.
 */
#ifndef APP_GRAPH_H
#define APP_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/options.h"

#ifdef __cplusplus
extern "C" {
#endif

#define APP_VERTEX_NONE UINT32_MAX

typedef struct app_graph {
    uint64_t *first;
    uint32_t *target;
    uint32_t *weight; /* NULL: none were given */
    uint64_t *label;  /* what the input calls vertex v; NULL: v itself */
    char **name;      /* names of packages; NULL: none */
    char *name_bytes; /* holds the names */
    uint64_t edge_count;
    uint32_t vertex_count;
    uint32_t source; /* the source that the input proposes, or APP_VERTEX_NONE */
    char title[160]; /* what it is, for the first line of a result */
} app_graph;

/** Edges while they are collected. */
typedef struct app_edges {
    uint32_t *from;
    uint32_t *to;
    uint32_t *weight; /* NULL until app_edges_add_weighted */
    uint64_t count;
    uint64_t capacity;
} app_edges;

/** How a graph is made; the values of APP_GRAPH_OPTIONS. */
typedef struct app_graph_options {
    int kind;            /* generated: rmat|uniform|grid|regular */
    uint64_t degree;     /* generated: edges per vertex */
    uint64_t max_weight; /* of edges without a weight of their own */
    bool is_undirected;  /* every edge also leads back; a package graph's do not */
    bool is_reversed;    /* edges lead from target to source */
    bool needs_weights;  /* set by the program: weights are made where the input has none */
    bool is_doubled;     /* set by the program: it keeps every edge twice, which --size counts */
} app_graph_options;

/* clang-format off */
#define APP_GRAPH_OPTIONS_DEFAULT {0, 16, 100, false, false, false, false}
#define APP_GRAPH_INPUT                                                                            \
    "edge list, DIMACS .gr or p tw, Rodinia bfs graph, package list (all also .zst), "             \
    "debian:installed or debian:all"
/** Rows of a program's option table for the graph options `o`. */
#define APP_GRAPH_OPTIONS(o)                                                                       \
    {"--graph", APP_OPTION_CHOICE, &(o).kind, "rmat|uniform|grid|regular", 0, 0,                   \
     "generated graph"},                                                                           \
    {"--degree", APP_OPTION_COUNT, &(o).degree, "N", 1, 1024,                                      \
     "edges per vertex: mean, or exact for regular; not used by grid"},                            \
    {"--undirected", APP_OPTION_FLAG, &(o).is_undirected, NULL, 0, 0,                              \
     "add the reverse of every edge; not for package lists"},                                      \
    {"--reverse", APP_OPTION_FLAG, &(o).is_reversed, NULL, 0, 0, "reverse every edge"}
/* clang-format on */

/** Reads --input or generates, as `common` and `options` say; turns and weighs the edges. */
void app_graph_load(app_graph *graph, const app_common *common, const app_graph_options *options,
                    uint64_t default_vertices);
void app_graph_free(app_graph *graph);

/** The same vertices with every edge turned around; weights go along. Labels and names stay with
 *  `graph`. Edges of a vertex are in order of their other end. */
void app_graph_transpose(const app_graph *graph, app_graph *out);

/** Takes loops and repeated edges out and sorts the edges of each vertex by their other end; with
 *  `both_ways` every edge leads back, too. Lengths are dropped. */
void app_graph_simplify(app_graph *graph, bool both_ways);

/** The numbers below `count` in random order, malloc'ed. */
uint32_t *app_vertex_order(uint32_t count, uint64_t seed);

/** The vertex that `text` names: a package name or a label; fails with a sentence if none. */
uint32_t app_graph_find(const app_graph *graph, const char *text);
/** What to call a vertex, valid for the next 4 calls. */
const char *app_graph_vertex_name(const app_graph *graph, uint32_t vertex);
/** The vertex with the most edges, the first of them. */
uint32_t app_graph_busiest(const app_graph *graph);

/* For the readers and generators. */
/** Makes room for `capacity` edges in all, where their number is known. */
void app_edges_reserve(app_edges *edges, uint64_t capacity);
void app_edges_add(app_edges *edges, uint32_t from, uint32_t to);
void app_edges_add_weighted(app_edges *edges, uint32_t from, uint32_t to, uint32_t weight);
void app_edges_free(app_edges *edges);
/** Fills first, target and weight of `graph` (whose vertex_count is set). With `both_ways` every
 *  edge, except loops, is stored twice. Takes the edges. */
void app_graph_build(app_graph *graph, app_edges *edges, bool both_ways);

/** graph_read.c: any file format; says so in the title. */
void app_graph_read(app_graph *graph, const char *path, bool is_undirected);
/** graph_debian.c: "installed", "all", or the path of a package list: package -> what it needs. */
void app_graph_read_packages(app_graph *graph, const char *which);
/** graph_generate.c; app_vertex_order is there, too. */
void app_graph_generate(app_graph *graph, const app_graph_options *options, uint32_t vertex_count,
                        uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
