/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours for the vertices of a graph, such that no edge joins two of one colour.
 *
 * Every vertex has a priority of its own, drawn at random (Jones and Plassmann). In a round,
 *
 *   max       those vertices get a new colour whose priority is above all neighbours' that have no
 *             colour yet;
 *   max-min   so do, with another colour, those whose priority is below all: half the rounds, more
 *             colours.
 *
 * A round is two launches, a thread a vertex: find_extremes only reads colours, give_colours only
 * writes them, so the result does not depend on the order of threads. As in Pannotia's color_max
 * and color_maxmin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph_arrays.h"
#include "common/kernel.h"
#include "common/memory.h"
#include "common/report.h"

#define THREADS 256
#define NO_COLOUR UINT32_MAX

enum { VARIANT_MAX, VARIANT_MAX_MIN };

/* The highest and the lowest priority among the neighbours without colour of each vertex without
 * colour; 0 and UINT32_MAX if there are none. `lowest` may be NULL. */
__global__ void find_extremes(uint32_t vertex_count, const uint64_t *first, const uint32_t *target,
                              const uint32_t *priority, const uint32_t *colour, uint32_t *highest,
                              uint32_t *lowest) {
    uint64_t v = app_thread();
    if (v >= vertex_count || colour[v] != NO_COLOUR) {
        return;
    }
    uint32_t high = 0;
    uint32_t low = UINT32_MAX;
    for (uint64_t e = first[v]; e < first[v + 1]; e++) {
        uint32_t w = target[e];
        if (colour[w] == NO_COLOUR) {
            uint32_t other = priority[w];
            high = other > high ? other : high;
            low = other < low ? other : low;
        }
    }
    highest[v] = high;
    if (lowest != NULL) {
        lowest[v] = low;
    }
}

/* `next` is the round's first colour. */
__global__ void give_colours(uint32_t vertex_count, const uint32_t *priority,
                             const uint32_t *highest, const uint32_t *lowest, uint32_t next,
                             uint32_t *colour, uint32_t *is_any_left) {
    uint64_t v = app_thread();
    if (v >= vertex_count || colour[v] != NO_COLOUR) {
        return;
    }
    if (priority[v] >= highest[v]) { /* no two are equal */
        colour[v] = next;
    } else if (lowest != NULL && priority[v] < lowest[v]) {
        colour[v] = next + 1;
    } else {
        *is_any_left = 1; /* any thread may say so */
    }
}

static uint32_t colours_a_round(int variant) {
    return variant == VARIANT_MAX_MIN ? 2 : 1;
}

static uint32_t give_all(app_device *device, const app_array *first, const app_array *target,
                         const app_array *priority, app_array *colour, uint32_t vertex_count,
                         int variant) {
    app_array highest;
    app_array lowest = {};
    app_array flag;
    unsigned blocks = app_blocks(vertex_count, THREADS);
    uint32_t rounds = 0;
    uint32_t is_any_left = 0;
    app_array_create(device, &highest, vertex_count, 4, "highest neighbours", APP_ROLE_STATE);
    if (variant == VARIANT_MAX_MIN) {
        app_array_create(device, &lowest, vertex_count, 4, "lowest neighbours", APP_ROLE_STATE);
    }
    app_array_create(device, &flag, 1, sizeof is_any_left, "the flag", APP_ROLE_STATE);
    app_array_fill(device, colour, 0xff);
    do {
        app_array_fill(device, &flag, 0);
        app_kernels_begin(device);
        find_extremes<<<blocks, THREADS>>>(
            vertex_count, (const uint64_t *)first->device, (const uint32_t *)target->device,
            (const uint32_t *)priority->device, (const uint32_t *)colour->device,
            (uint32_t *)highest.device, (uint32_t *)lowest.device);
        give_colours<<<blocks, THREADS>>>(
            vertex_count, (const uint32_t *)priority->device, (const uint32_t *)highest.device,
            (const uint32_t *)lowest.device, rounds * colours_a_round(variant),
            (uint32_t *)colour->device, (uint32_t *)flag.device);
        app_kernels_end(device, "a round", 2);
        app_array_read(device, &flag, 0, &is_any_left, sizeof is_any_left);
        rounds++;
    } while (is_any_left != 0);
    app_array_free(device, &highest);
    app_array_free(device, &lowest);
    app_array_free(device, &flag);
    return rounds;
}

/* ---- check, output ---- */

/* The same rounds over a list of the vertices that are left. */
static uint32_t *serial_colours(const app_graph *graph, const uint32_t *priority, int variant) {
    uint32_t n = graph->vertex_count;
    uint32_t *colour = (uint32_t *)app_allocate(n, sizeof *colour, "the check");
    uint32_t *chosen = (uint32_t *)app_allocate(n, sizeof *chosen, "the check");
    uint32_t *left = (uint32_t *)app_allocate(n, sizeof *left, "the check");
    uint32_t left_count = n;
    for (uint32_t v = 0; v < n; v++) {
        colour[v] = NO_COLOUR;
        left[v] = v;
    }
    for (uint32_t next = 0; left_count != 0; next += colours_a_round(variant)) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < left_count; i++) {
            uint32_t v = left[i];
            bool is_highest = true;
            bool is_lowest = variant == VARIANT_MAX_MIN;
            for (uint64_t e = graph->first[v]; e < graph->first[v + 1u]; e++) {
                uint32_t w = graph->target[e];
                is_highest &= colour[w] != NO_COLOUR || priority[w] < priority[v];
                is_lowest &= colour[w] != NO_COLOUR || priority[w] > priority[v];
            }
            chosen[v] = is_highest ? next : is_lowest ? next + 1 : NO_COLOUR;
        }
        for (uint32_t i = 0; i < left_count; i++) {
            colour[left[i]] = chosen[left[i]];
            if (chosen[left[i]] == NO_COLOUR) {
                left[kept++] = left[i];
            }
        }
        left_count = kept;
    }
    free(chosen);
    free(left);
    return colour;
}

static bool check(const app_graph *graph, const uint32_t *priority, const uint32_t *colour,
                  int variant) {
    uint32_t *expected = serial_colours(graph, priority, variant);
    uint64_t wrong = 0; /* edges between vertices of one colour */
    uint64_t other = 0; /* vertices of another colour than expected */
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        for (uint64_t e = graph->first[v]; e < graph->first[v + 1u]; e++) {
            wrong += colour[v] == colour[graph->target[e]];
        }
        other += colour[v] != expected[v];
    }
    bool is_right = wrong == 0 && other == 0;
    printf("check      %s vertices against serial rounds: %s; edges in one colour %s, other %s\n",
           app_count(graph->vertex_count), is_right ? "equal" : "DIFFERENT", app_count(wrong / 2),
           app_count(other));
    free(expected);
    return is_right;
}

static void print_result(const app_graph *graph, const uint32_t *colour, uint32_t rounds,
                         int variant) {
    enum { SHOWN = 16 };
    uint32_t outer = rounds * colours_a_round(variant);
    uint64_t *vertices = (uint64_t *)app_allocate(outer, sizeof *vertices, "the colours");
    uint64_t most = 0;
    uint32_t used = 0;
    memset(vertices, 0, outer * sizeof *vertices);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        uint64_t count = ++vertices[colour[v]];
        used += count == 1;
        most = count > most ? count : most;
    }
    printf("graph      %s: %s vertices, %s edges both ways\n", graph->title,
           app_count(graph->vertex_count), app_count(graph->edge_count / 2));
    printf("coloured   with %s colours in %s rounds\n\n", app_count(used), app_count(rounds));
    printf("  colour     vertices\n");
    for (uint32_t c = 0; c < outer && c < SHOWN; c++) {
        printf("%8s %12s  ", app_count(c), app_count(vertices[c]));
        app_bar(stdout, (double)vertices[c] / (double)most, 40);
        putchar('\n');
    }
    if (outer > SHOWN) {
        printf("  and more\n");
    }
    putchar('\n');
    free(vertices);
}

int main(int argc, char **argv) {
    const app_program program = {"color",
                                 "graph colouring: no edge joins two vertices of one colour",
                                 "vertices of the generated graph, or bytes such as 1GiB",
                                 APP_GRAPH_INPUT, "color --input debian:all --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_graph_options graph_options = APP_GRAPH_OPTIONS_DEFAULT;
    graph_options.is_doubled = true;
    int variant = VARIANT_MAX;
    const app_option options[] = {
        APP_GRAPH_OPTIONS(graph_options),
        {"--variant", APP_OPTION_CHOICE, &variant, "max|max-min", 0, 0,
         "vertices coloured in a round: local maxima, or also local minima"},
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
    app_array colour;
    app_device_open(&device, common.memory);
    app_graph_arrays_take(&device, &rows, &graph);
    app_array_take(&device, &priority, (void **)&priorities, n, sizeof(uint32_t), "priorities");
    app_array_create(&device, &colour, n, sizeof(uint32_t), "colours", APP_ROLE_STATE);
    app_graph_arrays_to_device(&device, &rows);
    app_array_to_device(&device, &priority);
    uint32_t rounds = give_all(&device, &rows.first, &rows.target, &priority, &colour, n, variant);
    app_array_to_host(&device, &colour);

    print_result(&graph, (const uint32_t *)colour.host, rounds, variant);
    app_device_report(&device, (double)n * (double)rounds, "vertices");
    bool is_right = !common.check || check(&graph, (const uint32_t *)priority.host,
                                           (const uint32_t *)colour.host, variant);
    app_graph_arrays_free(&device, &rows, &graph);
    app_array_free(&device, &priority);
    app_array_free(&device, &colour);
    app_device_close(&device);
    app_graph_free(&graph);
    return is_right ? 0 : 1;
}
