/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-source shortest paths over lengths of whole numbers.
 *
 *   near-far       Vertices whose distance dropped wait in one of two lists: below a threshold in
 *                  "near", the rest in "far". Near is relaxed, round by round, until it is empty;
 *                  then the threshold moves behind the smallest distance in far, and far is split
 *                  again (the two-list form of delta-stepping).
 *   bellman-ford   Every round relaxes every vertex whose distance dropped in the round before.
 *   mask           As bellman-ford, with a flag per vertex instead of a list: one launch looks at
 *                  all flags and offers the neighbours of flagged vertices shorter ways, a second
 *                  one looks at all offers. A round knows nothing of its own offers, so after n
 *                  rounds the least distances over at most n edges are known.
 *
 * Distances only ever drop (atomicMin), so all end in the same, least distances whatever the
 * order of threads.
 *
 *                    drop < threshold            drop >= threshold
 *        relax near ───────────────► next near        └──────────► far
 *             ▲                          │                          │
 *             └────────── round ─────────┘◄──── split, new threshold┘
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph_arrays.h"
#include "common/kernel.h"
#include "common/memory.h"
#include "common/report.h"

#define THREADS 256
#define THREADS_OF_MASK 16 /* as the program has that studies of page migration use */
#define UNREACHED UINT32_MAX

enum { VARIANT_NEAR_FAR, VARIANT_BELLMAN_FORD, VARIANT_MASK };

/* What the kernels count; the host reads all of it after a round. */
typedef struct counters {
    uint32_t near_count;   /* entries of the next near list */
    uint32_t far_count;    /* entries of the far list being filled */
    uint32_t far_minimum;  /* least distance in far */
    uint32_t has_overflow; /* a distance would not fit 32 bits */
} counters;

/* Relaxes the edges of `vertex`. A vertex is listed once: near_round[v] == round says that it is in
 * the next near list, is_far[v] that it is in far. */
static __device__ void relax_vertex(uint32_t vertex, const uint64_t *first, const uint32_t *target,
                                    const uint32_t *weight, uint32_t *distance, uint32_t threshold,
                                    uint32_t *near_round, uint32_t round, uint32_t *next_near,
                                    uint32_t *is_far, uint32_t *far, counters *count) {
    /* Others may lower it meanwhile; then the vertex is listed again. */
    uint32_t here = *(volatile uint32_t *)&distance[vertex];
    for (uint64_t e = first[vertex]; e < first[vertex + 1u]; e++) {
        uint32_t neighbour = target[e];
        uint32_t length = weight[e];
        if (length >= UNREACHED - here) {
            count->has_overflow = 1u;
            continue;
        }
        uint32_t through = here + length;
        if (through >= distance[neighbour] || through >= atomicMin(&distance[neighbour], through)) {
            continue;
        }
        if (through < threshold) {
            if (atomicExch(&near_round[neighbour], round) != round) {
                next_near[atomicAdd(&count->near_count, 1u)] = neighbour;
            }
        } else if (atomicExch(&is_far[neighbour], 1u) == 0u) {
            far[atomicAdd(&count->far_count, 1u)] = neighbour;
        }
    }
}

__global__ void relax(const uint64_t *first, const uint32_t *target, const uint32_t *weight,
                      uint32_t *distance, const uint32_t *near, uint32_t near_count,
                      uint32_t threshold, uint32_t *near_round, uint32_t round, uint32_t *next_near,
                      uint32_t *is_far, uint32_t *far, counters *count) {
    uint64_t i = app_thread();
    if (i < near_count) {
        relax_vertex(near[i], first, target, weight, distance, threshold, near_round, round,
                     next_near, is_far, far, count);
    }
}

/* The least distance in far that was not settled below the old threshold already. */
__global__ void find_minimum(const uint32_t *far, uint32_t far_count, const uint32_t *distance,
                             uint32_t threshold, counters *count) {
    __shared__ uint32_t block_minimum;
    if (threadIdx.x == 0) {
        block_minimum = UNREACHED;
    }
    __syncthreads();
    uint64_t i = app_thread();
    if (i < far_count && distance[far[i]] >= threshold) {
        atomicMin(&block_minimum, distance[far[i]]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&count->far_minimum, block_minimum);
    }
}

/* Moves what lies below the new threshold to near, keeps the rest in the other far list. */
__global__ void split(const uint32_t *far, uint32_t far_count, const uint32_t *distance,
                      uint32_t old_threshold, uint32_t new_threshold, uint32_t *near_round,
                      uint32_t round, uint32_t *next_near, uint32_t *is_far, uint32_t *next_far,
                      counters *count) {
    uint64_t i = app_thread();
    if (i >= far_count) {
        return;
    }
    uint32_t vertex = far[i];
    uint32_t here = distance[vertex];
    if (here >= new_threshold) {
        next_far[atomicAdd(&count->far_count, 1u)] = vertex;
        return;
    }
    is_far[vertex] = 0u;
    if (here >= old_threshold) { /* below it, the vertex has been in near since */
        near_round[vertex] = round;
        next_near[atomicAdd(&count->near_count, 1u)] = vertex;
    }
}

/* What the kernels of mask say; the host reads both after a round. */
typedef struct round_flags {
    uint32_t has_dropped;
    uint32_t has_overflow;
} round_flags;

__global__ void offer(const uint32_t *first, const uint32_t *target, const uint32_t *weight,
                      uint32_t vertex_count, const uint32_t *distance, unsigned char *is_dropped,
                      uint32_t *offered, round_flags *flags) {
    uint64_t vertex = app_thread();
    if (vertex >= vertex_count || !is_dropped[vertex]) {
        return;
    }
    is_dropped[vertex] = 0;
    uint32_t here = distance[vertex];
    for (uint32_t e = first[vertex]; e < first[vertex + 1u]; e++) {
        uint32_t length = weight[e];
        if (length >= UNREACHED - here) {
            flags->has_overflow = 1u;
            continue;
        }
        atomicMin(&offered[target[e]], here + length);
    }
}

/* Stores all offers anew, as the program does that studies of page migration use. */
__global__ void settle(uint32_t vertex_count, uint32_t *distance, uint32_t *offered,
                       unsigned char *is_dropped, round_flags *flags) {
    uint64_t vertex = app_thread();
    if (vertex >= vertex_count) {
        return;
    }
    uint32_t here = distance[vertex];
    if (offered[vertex] < here) {
        here = offered[vertex];
        distance[vertex] = here;
        is_dropped[vertex] = 1;
        flags->has_dropped = 1u; /* any thread may say that there is more to do */
    }
    offered[vertex] = here;
}

static uint32_t *items(const app_array *array) {
    return (uint32_t *)array->device;
}

static void fail_on_overflow(uint32_t has_overflow) {
    if (has_overflow) {
        app_fail("a distance does not fit 32 bits; scale the lengths down");
    }
}

static void swap_arrays(app_array *a, app_array *b) {
    app_array c = *a;
    *a = *b;
    *b = c;
}

/* Bellman-Ford is near-far with a threshold above everything: far stays empty. */
static uint64_t search(app_device *device, const app_array *first, const app_array *target,
                       const app_array *weight, app_array *distance, uint32_t vertex_count,
                       uint32_t source, uint32_t delta) {
    app_array near;
    app_array next_near;
    app_array far;
    app_array next_far;
    app_array near_round;
    app_array is_far;
    app_array count_array;
    uint32_t near_count = 1;
    uint32_t threshold = delta;
    uint64_t relaxed = 0;
    counters count = {0, 0, UNREACHED, 0};
    app_array_create(device, &near, vertex_count, 4, "near list", APP_ROLE_STATE);
    app_array_create(device, &next_near, vertex_count, 4, "next near list", APP_ROLE_STATE);
    app_array_create(device, &far, vertex_count, 4, "far list", APP_ROLE_STATE);
    app_array_create(device, &next_far, vertex_count, 4, "next far list", APP_ROLE_STATE);
    app_array_create(device, &near_round, vertex_count, 4, "near marks", APP_ROLE_STATE);
    app_array_create(device, &is_far, vertex_count, 4, "far marks", APP_ROLE_STATE);
    app_array_create(device, &count_array, 1, sizeof count, "counters", APP_ROLE_STATE);
    app_array_fill(device, &near_round, 0);
    app_array_fill(device, &is_far, 0);
    app_array_write(device, &near, 0, &source, sizeof source);

    uint32_t round = 1;
    while (near_count != 0) {
        relaxed += near_count;
        count.near_count = 0;
        app_array_write(device, &count_array, 0, &count, sizeof count);
        app_kernels_begin(device);
        relax<<<app_blocks(near_count, THREADS), THREADS>>>(
            (const uint64_t *)first->device, items(target), items(weight), items(distance),
            items(&near), near_count, threshold, items(&near_round), round, items(&next_near),
            items(&is_far), items(&far), (counters *)count_array.device);
        app_kernels_end(device, "relax", 1);
        app_array_read(device, &count_array, 0, &count, sizeof count);
        fail_on_overflow(count.has_overflow);
        swap_arrays(&near, &next_near);
        round++;
        while (count.near_count == 0 && count.far_count != 0) {
            uint32_t far_count = count.far_count;
            count.far_minimum = UNREACHED;
            count.far_count = 0;
            app_array_write(device, &count_array, 0, &count, sizeof count);
            app_kernels_begin(device);
            find_minimum<<<app_blocks(far_count, THREADS), THREADS>>>(
                items(&far), far_count, items(distance), threshold, (counters *)count_array.device);
            app_kernels_end(device, "find_minimum", 1);
            app_array_read(device, &count_array, 0, &count, sizeof count);
            if (count.far_minimum == UNREACHED) {
                break; /* all of far had been settled */
            }
            uint32_t old_threshold = threshold;
            threshold =
                delta < UNREACHED - count.far_minimum ? count.far_minimum + delta : UNREACHED;
            app_kernels_begin(device);
            split<<<app_blocks(far_count, THREADS), THREADS>>>(
                items(&far), far_count, items(distance), old_threshold, threshold,
                items(&near_round), round - 1u, items(&near), items(&is_far), items(&next_far),
                (counters *)count_array.device);
            app_kernels_end(device, "split", 1);
            app_array_read(device, &count_array, 0, &count, sizeof count);
            swap_arrays(&far, &next_far);
        }
        near_count = count.near_count;
    }
    app_array_free(device, &near);
    app_array_free(device, &next_near);
    app_array_free(device, &far);
    app_array_free(device, &next_far);
    app_array_free(device, &near_round);
    app_array_free(device, &is_far);
    app_array_free(device, &count_array);
    return relaxed;
}

/* Flags are in memory of the device alone. Ends after `rounds` of them, or when nothing drops;
 * returns how many vertices were looked at. */
static uint64_t search_mask(app_device *device, const app_array *first, const app_array *target,
                            const app_array *weight, const app_array *distance,
                            uint32_t vertex_count, uint32_t source, uint64_t rounds) {
    app_array is_dropped;
    app_array offered;
    app_array flags_array;
    round_flags flags = {1, 0};
    const uint32_t zero = 0;
    const unsigned char one = 1;
    app_array_create(device, &is_dropped, vertex_count, 1, "drop mask", APP_ROLE_LOCAL);
    app_array_create(device, &offered, vertex_count, 4, "offers", APP_ROLE_STATE);
    app_array_create(device, &flags_array, 1, sizeof flags, "round flags", APP_ROLE_LOCAL);
    app_array_fill(device, &is_dropped, 0);
    app_array_fill(device, &offered, 0xff);
    app_array_write(device, &is_dropped, source, &one, sizeof one);
    app_array_write(device, &offered, source * sizeof(uint32_t), &zero, sizeof zero);

    unsigned blocks = app_blocks(vertex_count, THREADS_OF_MASK);
    uint64_t round = 0;
    for (; flags.has_dropped != 0 && (rounds == 0 || round < rounds); round++) {
        flags.has_dropped = 0;
        app_array_write(device, &flags_array, 0, &flags, sizeof flags);
        app_kernels_begin(device);
        offer<<<blocks, THREADS_OF_MASK>>>(items(first), items(target), items(weight), vertex_count,
                                   items(distance),
                                   (unsigned char *)is_dropped.device, items(&offered),
                                   (round_flags *)flags_array.device);
        settle<<<blocks, THREADS_OF_MASK>>>(vertex_count, items(distance), items(&offered),
                                    (unsigned char *)is_dropped.device,
                                    (round_flags *)flags_array.device);
        app_kernels_end(device, "offer", 2);
        app_array_read(device, &flags_array, 0, &flags, sizeof flags);
        fail_on_overflow(flags.has_overflow);
    }
    app_array_free(device, &is_dropped);
    app_array_free(device, &offered);
    app_array_free(device, &flags_array);
    return round * vertex_count;
}

/* ---- the serial check: Dijkstra with a binary heap ------------------------------------------ */

typedef struct heap_item {
    uint32_t distance;
    uint32_t vertex;
} heap_item;

static void heap_push(heap_item *heap, uint64_t *count, heap_item item) {
    uint64_t place = (*count)++;
    while (place > 0 && heap[(place - 1) / 2].distance > item.distance) {
        heap[place] = heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap[place] = item;
}

static heap_item heap_pop(heap_item *heap, uint64_t *count) {
    heap_item top = heap[0];
    heap_item last = heap[--(*count)];
    uint64_t place = 0;
    for (;;) {
        uint64_t child = 2 * place + 1;
        if (child + 1 < *count && heap[child + 1].distance < heap[child].distance) {
            child++;
        }
        if (child >= *count || heap[child].distance >= last.distance) {
            break;
        }
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = last;
    return top;
}

static uint32_t *serial_distances(const app_graph *graph, uint32_t source) {
    uint32_t *distance =
        (uint32_t *)app_allocate(graph->vertex_count, sizeof *distance, "the check");
    heap_item *heap = (heap_item *)app_allocate(graph->edge_count + 1, sizeof *heap, "the check");
    uint64_t count = 0;
    memset(distance, 0xff, graph->vertex_count * sizeof *distance);
    distance[source] = 0;
    heap_item start = {0, source};
    heap_push(heap, &count, start);
    while (count != 0) {
        heap_item here = heap_pop(heap, &count);
        if (here.distance > distance[here.vertex]) {
            continue;
        }
        for (uint64_t e = graph->first[here.vertex]; e < graph->first[here.vertex + 1u]; e++) {
            uint32_t through = here.distance + graph->weight[e];
            if (through < distance[graph->target[e]]) {
                distance[graph->target[e]] = through;
                heap_item next = {through, graph->target[e]};
                heap_push(heap, &count, next);
            }
        }
    }
    free(heap);
    return distance;
}

/* The least distances over at most `rounds` edges. */
static uint32_t *serial_rounds(const app_graph *graph, uint32_t source, uint64_t rounds) {
    const size_t bytes = graph->vertex_count * sizeof(uint32_t);
    uint32_t *distance =
        (uint32_t *)app_allocate(graph->vertex_count, sizeof *distance, "the check");
    uint32_t *before = (uint32_t *)app_allocate(graph->vertex_count, sizeof *before, "the check");
    memset(distance, 0xff, bytes);
    memset(before, 0, bytes);
    distance[source] = 0;
    for (uint64_t round = 0; round < rounds && memcmp(before, distance, bytes) != 0; round++) {
        memcpy(before, distance, bytes);
        for (uint32_t v = 0; v < graph->vertex_count; v++) {
            for (uint64_t e = graph->first[v];
                 before[v] != UNREACHED && e < graph->first[v + 1u]; e++) {
                uint32_t through = before[v] + graph->weight[e];
                if (through < distance[graph->target[e]]) {
                    distance[graph->target[e]] = through;
                }
            }
        }
    }
    free(before);
    return distance;
}

static bool check(const app_graph *graph, uint32_t source, uint64_t rounds,
                  const uint32_t *distance) {
    uint32_t *expected = rounds == 0 ? serial_distances(graph, source)
                                     : serial_rounds(graph, source, rounds);
    uint32_t largest = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        uint32_t difference =
            distance[v] > expected[v] ? distance[v] - expected[v] : expected[v] - distance[v];
        largest = difference > largest ? difference : largest;
    }
    printf("check      distances of %s vertices against %s: %s, largest difference %s\n",
           app_count(graph->vertex_count),
           rounds == 0 ? "Dijkstra's algorithm" : "serial rounds",
           largest == 0 ? "equal" : "DIFFERENT", app_count(largest));
    free(expected);
    return largest == 0;
}

static void print_result(const app_graph *graph, uint32_t source, const uint32_t *distance) {
    enum { BINS = 16 };
    uint32_t at[BINS] = {0};
    uint32_t reached = 0;
    uint32_t farthest = source;
    uint64_t sum = 0;
    uint32_t most = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        if (distance[v] != UNREACHED) {
            reached++;
            sum += distance[v];
            farthest = distance[v] > distance[farthest] ? v : farthest;
        }
    }
    uint64_t width = (uint64_t)distance[farthest] / BINS + 1;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        if (distance[v] != UNREACHED && ++at[distance[v] / width] > most) {
            most = at[distance[v] / width];
        }
    }
    printf("graph      %s: %s vertices, %s edges\n", graph->title, app_count(graph->vertex_count),
           app_count(graph->edge_count));
    printf("source     %s\n", app_graph_vertex_name(graph, source));
    printf("reached    %s vertices (%.1f%%), on average at distance %.1f\n", app_count(reached),
           100.0 * reached / graph->vertex_count, (double)sum / reached);
    printf("farthest   %s at distance %s\n\n", app_graph_vertex_name(graph, farthest),
           app_count(distance[farthest]));
    printf("  distance     vertices\n");
    for (int bin = 0; bin < BINS && bin * width <= distance[farthest]; bin++) {
        printf("%10s %12s  ", app_count(bin * width), app_count(at[bin]));
        app_bar(stdout, (double)at[bin] / most, 40);
        putchar('\n');
    }
    putchar('\n');
}

int main(int argc, char **argv) {
    const app_program program = {
        "sssp", "single-source shortest paths: distances from one vertex to all others",
        "vertices of the generated graph, or bytes such as 1GiB", APP_GRAPH_INPUT,
        "sssp --graph grid --size 1M --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_graph_options graph_options = APP_GRAPH_OPTIONS_DEFAULT;
    const char *source_text = NULL;
    int variant = VARIANT_NEAR_FAR;
    uint64_t delta = 0;
    uint64_t rounds = 0;
    graph_options.kind = 2; /* grid */
    graph_options.needs_weights = true;
    const app_option options[] = {
        APP_GRAPH_OPTIONS(graph_options),
        {"--weights", APP_OPTION_COUNT, &graph_options.max_weight, "N", 1, 1e6,
         "edges without lengths get random ones from 1 to N"},
        {"--source", APP_OPTION_TEXT, &source_text, "VERTEX", 0, 0,
         "start vertex: number or package (default: the one with the most edges)"},
        {"--variant", APP_OPTION_CHOICE, &variant, "near-far|bellman-ford|mask", 0, 0,
         "order in which edges are relaxed"},
        {"--rounds", APP_OPTION_COUNT, &rounds, "N", 0, 4e9,
         "mask: maximum number of rounds; 0: until no distance decreases"},
        {"--delta", APP_OPTION_COUNT, &delta, "N", 0, 4e9,
         "width of the near list; 0: chosen from edge lengths and degree"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);

    if (rounds != 0 && variant != VARIANT_MASK) {
        app_fail_usage("--rounds is for --variant mask; the others end when no distance decreases");
    }

    app_graph graph;
    app_graph_load(&graph, &common, &graph_options, 1u << 17);
    uint32_t source = source_text != NULL               ? app_graph_find(&graph, source_text)
                      : graph.source != APP_VERTEX_NONE ? graph.source
                                                        : app_graph_busiest(&graph);
    if (variant == VARIANT_BELLMAN_FORD) {
        delta = UNREACHED;
    } else if (delta == 0) {
        /* Enough near vertices to fill a device: about 32 mean lengths per mean degree. */
        double sum = 0.0;
        for (uint64_t e = 0; e < graph.edge_count; e++) {
            sum += graph.weight[e];
        }
        double edges = graph.edge_count != 0 ? (double)graph.edge_count : 1.0;
        double wanted = 32.0 * (sum / edges) * (graph.vertex_count / edges);
        delta = wanted < 1.0 ? 1 : wanted > 1e9 ? 1000000000 : (uint64_t)wanted;
    }

    app_device device;
    app_graph_arrays rows;
    app_array weight;
    app_array distance;
    const uint32_t zero = 0;
    app_device_open(&device, common.memory);
    if (variant == VARIANT_MASK) {
        app_graph_arrays_take_short(&device, &rows, &graph);
    } else {
        app_graph_arrays_take(&device, &rows, &graph);
    }
    app_array_take(&device, &weight, (void **)&graph.weight, graph.edge_count, sizeof(uint32_t),
                   "edge lengths");
    app_array_create(&device, &distance, graph.vertex_count, sizeof(uint32_t), "distances",
                     APP_ROLE_STATE);
    app_graph_arrays_to_device(&device, &rows);
    app_array_to_device(&device, &weight);
    app_array_fill(&device, &distance, 0xff);
    app_array_write(&device, &distance, source * sizeof(uint32_t), &zero, sizeof zero);
    uint64_t relaxed = variant == VARIANT_MASK
                           ? search_mask(&device, &rows.first, &rows.target, &weight, &distance,
                                         graph.vertex_count, source, rounds)
                           : search(&device, &rows.first, &rows.target, &weight, &distance,
                                    graph.vertex_count, source, (uint32_t)delta);
    app_array_to_host(&device, &distance);

    graph.weight = (uint32_t *)weight.host;
    print_result(&graph, source, (const uint32_t *)distance.host);
    app_device_report(&device, (double)relaxed, "vertices");
    bool is_right = !common.check || check(&graph, source, rounds, (const uint32_t *)distance.host);

    graph.weight = NULL;
    app_graph_arrays_free(&device, &rows, &graph);
    app_array_free(&device, &weight);
    app_array_free(&device, &distance);
    app_device_close(&device);
    app_graph_free(&graph);
    return is_right ? 0 : 1;
}
