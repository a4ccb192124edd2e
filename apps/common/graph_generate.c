/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeded graphs of four shapes.
 *
 *   rmat     Kronecker graph: an edge falls into one of the four quarters of the adjacency matrix
 *            with probability .57 .19 .19 .05, then again into a quarter of the quarter, and so on;
 *            a few vertices have very many edges, as in social networks. Vertices are shuffled
 *            afterwards, so that a vertex's number says nothing about its degree. Directed.
 *   uniform  both ends of each edge are uniform. Directed.
 *   grid     a rectangle of crossings, neighbours joined both ways, one street in ten missing:
 *            few edges and long ways, as on a road map.
 *   regular  each vertex has as many edges, to others that are uniform and distinct. Directed.
 */
#include "common/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/random.h"
#include "common/report.h"

enum { KIND_RMAT, KIND_UNIFORM, KIND_GRID, KIND_REGULAR };

/* A quarter is drawn from 16 bits of a random number: thresholds of .57, .76 and .95. */
enum { QUARTER_A = 37355, QUARTER_AB = 49807, QUARTER_ABC = 62259 };

uint32_t *app_vertex_order(uint32_t count, uint64_t seed) {
    uint32_t *numbers = app_allocate(count, sizeof *numbers, "vertices");
    app_random random = {seed, 0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = app_random_below(&random, i + 1);
        numbers[i] = numbers[j];
        numbers[j] = i;
    }
    return numbers;
}

static void rmat_edge(uint64_t seed, uint64_t edge, unsigned levels, uint32_t vertex_count,
                      uint32_t *from, uint32_t *to) {
    /* Vertex counts that are no power of two: draw again until both ends exist. */
    for (uint64_t attempt = 0;; attempt++) {
        app_random random = {app_random_at(seed, edge), 64 * attempt};
        uint64_t bits = 0;
        *from = 0;
        *to = 0;
        for (unsigned level = 0; level < levels; level++) {
            if (level % 4 == 0) {
                bits = app_random_next(&random);
            }
            unsigned draw = (unsigned)(bits & 0xffffu);
            bits >>= 16;
            *from = *from << 1 | (draw >= QUARTER_AB);
            *to = *to << 1 | ((draw >= QUARTER_A && draw < QUARTER_AB) || draw >= QUARTER_ABC);
        }
        if (*from < vertex_count && *to < vertex_count) {
            return;
        }
    }
}

static void add_rmat(app_edges *edges, uint32_t vertex_count, uint64_t degree, uint64_t seed) {
    unsigned levels = 0;
    while (levels < 32 && (UINT64_C(1) << levels) < vertex_count) {
        levels++;
    }
    uint32_t *number = app_vertex_order(vertex_count, seed + 1);
    app_edges_reserve(edges, degree * vertex_count);
    for (uint64_t edge = 0; edge < degree * vertex_count; edge++) {
        uint32_t from;
        uint32_t to;
        rmat_edge(seed, edge, levels, vertex_count, &from, &to);
        app_edges_add(edges, number[from], number[to]);
    }
    free(number);
}

static void add_uniform(app_edges *edges, uint32_t vertex_count, uint64_t degree, uint64_t seed) {
    app_random random = {seed, 0};
    app_edges_reserve(edges, degree * vertex_count);
    for (uint64_t edge = 0; edge < degree * vertex_count; edge++) {
        uint32_t from = app_random_below(&random, vertex_count);
        app_edges_add(edges, from, app_random_below(&random, vertex_count));
    }
}

static bool has_edge_to(const app_edges *edges, uint64_t first, uint32_t to) {
    for (uint64_t edge = first; edge < edges->count; edge++) {
        if (edges->to[edge] == to) {
            return true;
        }
    }
    return false;
}

static void add_regular(app_edges *edges, uint32_t vertex_count, uint64_t degree, uint64_t seed) {
    app_random random = {seed, 0};
    if (degree >= vertex_count) {
        app_fail_usage(
            "a vertex of a regular graph of %u vertices has at most %u edges: lower --degree",
            vertex_count, vertex_count - 1);
    }
    app_edges_reserve(edges, degree * vertex_count);
    for (uint32_t from = 0; from < vertex_count; from++) {
        const uint64_t first = edges->count;
        while (edges->count - first < degree) {
            const uint32_t to = app_random_below(&random, vertex_count);
            if (to != from && !has_edge_to(edges, first, to)) {
                app_edges_add(edges, from, to);
            }
        }
    }
}

static uint32_t add_grid(app_edges *edges, uint32_t vertex_count, uint64_t seed) {
    uint32_t width = (uint32_t)sqrt((double)vertex_count);
    uint32_t height = vertex_count / width;
    app_random random = {seed, 0};
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint32_t here = y * width + x;
            if (x + 1 < width && app_random_below(&random, 10) != 0) {
                app_edges_add(edges, here, here + 1);
            }
            if (y + 1 < height && app_random_below(&random, 10) != 0) {
                app_edges_add(edges, here, here + width);
            }
        }
    }
    return width * height;
}

void app_graph_generate(app_graph *graph, const app_graph_options *options, uint32_t vertex_count,
                        uint64_t seed) {
    const int kind = options->kind;
    const uint64_t degree = options->degree;
    app_edges edges = {0};
    const char *kind_name = "rmat";
    graph->vertex_count = vertex_count;
    if (kind == KIND_GRID) {
        kind_name = "grid";
        graph->vertex_count = add_grid(&edges, vertex_count, seed);
    } else if (kind == KIND_UNIFORM) {
        kind_name = "uniform";
        add_uniform(&edges, vertex_count, degree, seed);
    } else if (kind == KIND_REGULAR) {
        kind_name = "regular";
        add_regular(&edges, vertex_count, degree, seed);
    } else {
        add_rmat(&edges, vertex_count, degree, seed);
    }
    snprintf(graph->title, sizeof graph->title, "generated %s graph, seed %llu", kind_name,
             (unsigned long long)seed);
    app_graph_build(graph, &edges, kind == KIND_GRID || options->is_undirected);
}
