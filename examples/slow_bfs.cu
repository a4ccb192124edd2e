/* SPDX-License-Identifier: Apache-2.0 */
/* A breadth-first search in a graph that has many vertices with few edges and few vertices with many. As written
 * first, a thread visits all neighbours of a vertex; with `warps`, the lanes of a warp share them.
 *     wpcc -O2 slow_bfs.cu -o slow_bfs && ./slow_bfs && ./slow_bfs warps */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERTICES (1 << 13)

typedef struct graph {
    int *first, *target; /* the edges of vertex v: first[v] to first[v + 1] */
    int *hops;           /* from vertex 0; -1: not reached */
} graph;

__device__ void visit(graph g, int neighbour, int hops, int *next, int *next_count) {
    if (g.hops[neighbour] != -1 || atomicCAS(&g.hops[neighbour], -1, hops) != -1) return;
    next[atomicAdd(next_count, 1)] = neighbour;
}

__global__ void by_thread(graph g, const int *queue, int count, int hops, int *next, int *next_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int v = queue[i];
    for (int e = g.first[v]; e < g.first[v + 1]; e++)
        visit(g, g.target[e], hops, next, next_count);
}

__global__ void by_warp(graph g, const int *queue, int count, int hops, int *next, int *next_count) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i >= count) return;
    int v = queue[i];
    for (int e = g.first[v] + threadIdx.x % 32; e < g.first[v + 1]; e += 32)
        visit(g, g.target[e], hops, next, next_count);
}

static unsigned random_below(unsigned bound) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % bound;
}

static void *on_device(const void *data, size_t bytes) {
    void *memory;
    cudaMalloc(&memory, bytes);
    cudaMemcpy(memory, data, bytes, cudaMemcpyHostToDevice);
    return memory;
}

static graph make_graph(void) {
    static int first[VERTICES + 1], hops[VERTICES];
    int edges = 0;
    for (int v = 0; v < VERTICES; v++) {
        first[v] = edges;
        edges += random_below(32) == 0 ? 512 : 8 + random_below(24);
        hops[v] = v == 0 ? 0 : -1;
    }
    first[VERTICES] = edges;
    int *target = (int *)malloc(sizeof(int) * edges);
    for (int e = 0; e < edges; e++)
        target[e] = (int)random_below(VERTICES);
    graph g = {(int *)on_device(first, sizeof first), (int *)on_device(target, sizeof(int) * edges),
               (int *)on_device(hops, sizeof hops)};
    free(target);
    return g;
}

int main(int argc, char **argv) {
    static int hops[VERTICES];
    const int by_warps = argc > 1 && strcmp(argv[1], "warps") == 0, root = 0, none = 0;
    graph g = make_graph();
    int *queue[2], *count, n = 1, reached = 1, levels = 0;
    cudaMalloc(&queue[0], sizeof hops);
    cudaMalloc(&queue[1], sizeof hops);
    cudaMalloc(&count, sizeof(int));
    cudaMemcpy(queue[0], &root, sizeof root, cudaMemcpyHostToDevice);
    for (; n != 0; reached += n) {
        int *from = queue[levels % 2], *next = queue[1 - levels % 2];
        levels++;
        cudaMemcpy(count, &none, sizeof none, cudaMemcpyHostToDevice);
        if (by_warps)
            by_warp<<<(n + 7) / 8, 256>>>(g, from, n, levels, next, count);
        else
            by_thread<<<(n + 255) / 256, 256>>>(g, from, n, levels, next, count);
        if (cudaMemcpy(&n, count, sizeof n, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    }
    cudaMemcpy(hops, g.hops, sizeof hops, cudaMemcpyDeviceToHost);
    long sum = 0;
    for (int v = 0; v < VERTICES; v++)
        sum += hops[v];
    printf("%d of %d vertices in %d levels, %ld hops\n", reached, VERTICES, levels - 1, sum);
    return 0;
}
