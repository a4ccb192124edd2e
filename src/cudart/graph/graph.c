/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as such: nodes, dependencies, queries. */
#include "cudart/graph/graph.h"

#include <string.h>

#include "base/alloc.h"
#include "device/device.h"

/* ---- nodes ---- */

struct CUgraph_st *wpi_graph_new(void) {
    struct CUgraph_st *g = wpi_calloc(1, sizeof *g);
    if (g != NULL) g->last = &g->first;
    return g;
}

void wpi_node_free(struct CUgraphNode_st *n) {
    switch (n->type) {
    case cudaGraphNodeTypeKernel: wpi_free(n->u.kernel.args); break;
    case cudaGraphNodeTypeGraph: wpi_graph_free(n->u.child); break;
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree: wpi_graph_memory_drop(n->u.memory); break;
    case cudaGraphNodeTypeConditional: wpi_condition_free(&n->u.condition); break;
    default: break;
    }
    wpi_free(n->dependencies);
    wpi_free(n);
}

void wpi_graph_free(struct CUgraph_st *graph) {
    if (graph == NULL) return;
    for (struct CUgraphNode_st *n = graph->first, *next; n != NULL; n = next) {
        next = n->next;
        wpi_node_free(n);
    }
    wpi_conditions_free(graph);
    wpi_free(graph);
}

bool wpi_node_depend(struct CUgraphNode_st *node, struct CUgraphNode_st *const *more,
                     size_t count) {
    if (count == 0) return true;
    struct CUgraphNode_st **grown = wpi_realloc(
        node->dependencies, (node->dependency_count + count) * sizeof(struct CUgraphNode_st *));
    if (grown == NULL) return false;
    node->dependencies = grown;
    for (size_t i = 0; i < count; i++) {
        bool is_there = false;
        for (size_t d = 0; d < node->dependency_count && !is_there; d++)
            is_there = grown[d] == more[i];
        if (!is_there) grown[node->dependency_count++] = more[i];
    }
    return true;
}

struct CUgraphNode_st *wpi_graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                     struct CUgraphNode_st *const *dependencies, size_t count) {
    struct CUgraphNode_st *n = wpi_calloc(1, sizeof *n);
    if (n == NULL) return NULL;
    *n = (struct CUgraphNode_st){.graph = graph, .type = type, .index = graph->count};
    if (!wpi_node_depend(n, dependencies, count)) {
        wpi_free(n);
        return NULL;
    }
    *graph->last = n;
    graph->last = &n->next;
    graph->count++;
    return n;
}

cudaError_t wpi_node_set_kernel(struct CUgraphNode_st *node, const wpi_kernel_node *kernel) {
    wp_device *device;
    wpi_function *f;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_function_find(device, kernel->function, &f));
    const uint32_t count = f->info->param_count;
    if (count != 0 && kernel->args == NULL) return wpi_note(cudaErrorInvalidValue);
    size_t bytes = count * sizeof(void *);
    for (uint32_t i = 0; i < count; i++)
        bytes += (wpi_kernel_param_place(f->kernel, i).size_bytes + 15u) / 16u * 16u + 16u;
    char *memory = wpi_malloc(bytes + 16);
    if (memory == NULL) return wpi_note(cudaErrorMemoryAllocation);
    void **pointers = (void **)(void *)memory;
    size_t at = (count * sizeof(void *) + 15) / 16 * 16;
    for (uint32_t i = 0; i < count; i++) {
        const size_t size = wpi_kernel_param_place(f->kernel, i).size_bytes;
        pointers[i] = memory + at;
        memcpy(pointers[i], kernel->args[i], size);
        at += (size + 15) / 16 * 16;
    }
    void *const old = node->u.kernel.args;
    node->u.kernel = *kernel;
    node->u.kernel.args = pointers;
    wpi_free(old);
    return cudaSuccess;
}

/* ---- graphs and their nodes, by calls ---- */

static bool is_graph(cudaGraph_t graph) {
    return graph != NULL && (wpi_handle_is_live(WPI_HANDLE_GRAPH, graph) || wpi_capture_has(graph));
}

WP_API cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags) {
    if (pGraph == NULL || flags != 0) return wpi_note(cudaErrorInvalidValue);
    struct CUgraph_st *g = wpi_graph_new();
    if (g == NULL || !wpi_handle_add(WPI_HANDLE_GRAPH, g)) {
        wpi_graph_free(g);
        return wpi_note(cudaErrorMemoryAllocation);
    }
    *pGraph = g;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    if (graph == NULL || !wpi_handle_remove(WPI_HANDLE_GRAPH, graph))
        return wpi_note(cudaErrorInvalidValue);
    wpi_graph_free(graph);
    return cudaSuccess;
}

cudaError_t wpi_graph_add_checked(cudaGraphNode_t *out, cudaGraph_t graph,
                                  enum cudaGraphNodeType type, const cudaGraphNode_t *dependencies,
                                  size_t count) {
    if (out == NULL || !is_graph(graph) || (count != 0 && dependencies == NULL))
        return wpi_note(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        if (dependencies[i] == NULL || dependencies[i]->graph != graph)
            return wpi_note(cudaErrorInvalidValue);
    *out = wpi_graph_add(graph, type, dependencies, count);
    return *out != NULL ? cudaSuccess : wpi_note(cudaErrorMemoryAllocation);
}

void wpi_graph_take_back(cudaGraph_t graph, cudaGraphNode_t node) {
    struct CUgraphNode_st **link = &graph->first;
    while (*link != node)
        link = &(*link)->next;
    *link = NULL;
    graph->last = link;
    graph->count--;
    wpi_free(node->dependencies);
    wpi_free(node);
}

static wpi_kernel_node kernel_of(const struct cudaKernelNodeParams *p) {
    return (wpi_kernel_node){.function = p->func,
                             .grid = p->gridDim,
                             .block = p->blockDim,
                             .shared_bytes = p->sharedMemBytes,
                             .args = p->kernelParams};
}

WP_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                          const cudaGraphNode_t *pDependencies,
                                          size_t numDependencies,
                                          const struct cudaKernelNodeParams *pNodeParams) {
    if (pNodeParams == NULL || pNodeParams->extra != NULL) return wpi_note(cudaErrorInvalidValue);
    cudaGraphNode_t node = NULL;
    WPI_TRY(wpi_graph_add_checked(&node, graph, cudaGraphNodeTypeKernel, pDependencies,
                                  numDependencies));
    const wpi_kernel_node kernel = kernel_of(pNodeParams);
    const cudaError_t error = wpi_node_set_kernel(node, &kernel);
    if (error != cudaSuccess) wpi_graph_take_back(graph, node);
    if (error == cudaSuccess && pGraphNode != NULL) *pGraphNode = node;
    return error;
}

WP_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaKernelNodeParams *pNodeParams) {
    if (node == NULL || node->type != cudaGraphNodeTypeKernel || pNodeParams == NULL ||
        pNodeParams->extra != NULL)
        return wpi_note(cudaErrorInvalidValue);
    wpi_kernel_node kernel = kernel_of(pNodeParams);
    kernel.is_cooperative = node->u.kernel.is_cooperative; /* attributes stay */
    kernel.cluster = node->u.kernel.cluster;
    return wpi_node_set_kernel(node, &kernel);
}

WP_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                struct cudaKernelNodeParams *pNodeParams) {
    if (node == NULL || node->type != cudaGraphNodeTypeKernel || pNodeParams == NULL)
        return wpi_note(cudaErrorInvalidValue);
    const wpi_kernel_node *k = &node->u.kernel;
    *pNodeParams = (struct cudaKernelNodeParams){.func = (void *)(uintptr_t)k->function,
                                                 .gridDim = k->grid,
                                                 .blockDim = k->block,
                                                 .sharedMemBytes = (unsigned)k->shared_bytes,
                                                 .kernelParams = k->args};
    return cudaSuccess;
}

static bool is_fill(const struct cudaMemsetParams *p) {
    return p != NULL && p->dst != NULL &&
           (p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4);
}

cudaError_t wpi_node_set_fill(struct CUgraphNode_st *node, const struct cudaMemsetParams *p) {
    if (!is_fill(p)) return wpi_note(cudaErrorInvalidValue);
    const uint32_t mask = p->elementSize == 4 ? UINT32_MAX : (1u << 8 * p->elementSize) - 1;
    node->u.fill = (wpi_fill_node){wpi_rows_at(p->dst, p->pitch), p->value & mask, p->elementSize,
                                   wpi_rows_of(p->width * p->elementSize, p->height)};
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                          const cudaGraphNode_t *pDependencies,
                                          size_t numDependencies,
                                          const struct cudaMemsetParams *p) {
    if (!is_fill(p)) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_graph_add_checked(pGraphNode, graph, cudaGraphNodeTypeMemset, pDependencies,
                                  numDependencies));
    return wpi_node_set_fill(*pGraphNode, p);
}

WP_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t *pDependencies,
                                        size_t numDependencies,
                                        const struct cudaHostNodeParams *pNodeParams) {
    if (pNodeParams == NULL || pNodeParams->fn == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_graph_add_checked(pGraphNode, graph, cudaGraphNodeTypeHost, pDependencies,
                                  numDependencies));
    (*pGraphNode)->u.host = *pNodeParams;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                         const cudaGraphNode_t *pDependencies,
                                         size_t numDependencies) {
    return wpi_graph_add_checked(pGraphNode, graph, cudaGraphNodeTypeEmpty, pDependencies,
                                 numDependencies);
}

WP_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                              const cudaGraphNode_t *pDependencies,
                                              size_t numDependencies, cudaGraph_t childGraph) {
    cudaGraph_t copy;
    if (childGraph == graph) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(cudaGraphClone(&copy, childGraph));
    (void)wpi_handle_remove(WPI_HANDLE_GRAPH, copy); /* the node's own */
    const cudaError_t error = wpi_graph_add_checked(pGraphNode, graph, cudaGraphNodeTypeGraph,
                                                    pDependencies, numDependencies);
    if (error == cudaSuccess)
        (*pGraphNode)->u.child = copy;
    else
        wpi_graph_free(copy);
    return error;
}

WP_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to, size_t numDependencies) {
    if (!is_graph(graph) || (numDependencies != 0 && (from == NULL || to == NULL)))
        return wpi_note(cudaErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++)
        if (from[i] == NULL || to[i] == NULL || from[i] == to[i] || from[i]->graph != graph ||
            to[i]->graph != graph)
            return wpi_note(cudaErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++)
        if (!wpi_node_depend(to[i], &from[i], 1)) return wpi_note(cudaErrorMemoryAllocation);
    return cudaSuccess;
}

bool wpi_edges_are_plain(const cudaGraphEdgeData *edges, size_t count) {
    static const cudaGraphEdgeData plain;
    for (size_t i = 0; edges != NULL && i < count; i++)
        if (memcmp(&edges[i], &plain, sizeof plain) != 0) return false;
    return true;
}

WP_API cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to,
                                               const cudaGraphEdgeData *edgeData,
                                               size_t numDependencies) {
    if (!wpi_edges_are_plain(edgeData, numDependencies)) return wpi_note(cudaErrorNotSupported);
    return cudaGraphAddDependencies(graph, from, to, numDependencies);
}

/* ---- queries ---- */

/* Fills at most *count places and sets *count to the number of nodes; without `nodes`, only that.
 */
static cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count,
                              bool roots_only) {
    if (!is_graph(graph) || count == NULL) return wpi_note(cudaErrorInvalidValue);
    size_t found = 0;
    for (struct CUgraphNode_st *n = graph->first; n != NULL; n = n->next) {
        if (roots_only && n->dependency_count != 0) continue;
        if (nodes != NULL && found < *count) nodes[found] = n;
        found++;
    }
    for (size_t i = found; nodes != NULL && i < *count; i++)
        nodes[i] = NULL;
    if (nodes == NULL || found < *count) *count = found;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes) {
    return list_nodes(graph, nodes, numNodes, false);
}

WP_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes,
                                         size_t *pNumRootNodes) {
    return list_nodes(graph, pRootNodes, pNumRootNodes, true);
}

WP_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                     size_t *numEdges) {
    if (!is_graph(graph) || numEdges == NULL || (from == NULL) != (to == NULL))
        return wpi_note(cudaErrorInvalidValue);
    size_t found = 0;
    for (struct CUgraphNode_st *n = graph->first; n != NULL; n = n->next)
        for (size_t d = 0; d < n->dependency_count; d++, found++)
            if (from != NULL && found < *numEdges) {
                from[found] = n->dependencies[d];
                to[found] = n;
            }
    if (from == NULL || found < *numEdges) *numEdges = found;
    return cudaSuccess;
}

/* After a query with the number of edges that it was asked for. */
static void clear_edges(cudaGraphEdgeData *edges, size_t count) {
    if (edges != NULL) memset(edges, 0, count * sizeof *edges);
}

WP_API cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from,
                                        cudaGraphNode_t *to, cudaGraphEdgeData *edgeData,
                                        size_t *numEdges) {
    WPI_TRY(cudaGraphGetEdges(graph, from, to, numEdges));
    if (from != NULL) clear_edges(edgeData, *numEdges);
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType) {
    if (node == NULL || pType == NULL) return wpi_note(cudaErrorInvalidValue);
    *pType = node->type;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                cudaGraphNode_t *pDependencies,
                                                size_t *pNumDependencies) {
    if (node == NULL || pNumDependencies == NULL) return wpi_note(cudaErrorInvalidValue);
    for (size_t i = 0; pDependencies != NULL && i < *pNumDependencies; i++)
        pDependencies[i] = i < node->dependency_count ? node->dependencies[i] : NULL;
    if (pDependencies == NULL || node->dependency_count < *pNumDependencies)
        *pNumDependencies = node->dependency_count;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node,
                                                   cudaGraphNode_t *pDependencies,
                                                   cudaGraphEdgeData *edgeData,
                                                   size_t *pNumDependencies) {
    WPI_TRY(cudaGraphNodeGetDependencies(node, pDependencies, pNumDependencies));
    if (pDependencies != NULL) clear_edges(edgeData, *pNumDependencies);
    return cudaSuccess;
}

/* ---- copies ---- */

static cudaError_t clone_work(struct CUgraphNode_st *to, const struct CUgraphNode_st *from) {
    switch (from->type) {
    case cudaGraphNodeTypeKernel: return wpi_node_set_kernel(to, &from->u.kernel);
    case cudaGraphNodeTypeConditional:
        return wpi_condition_clone(&to->u.condition, &from->u.condition);
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        to->u.memory = wpi_graph_memory_share(from->u.memory);
        return cudaSuccess;
    case cudaGraphNodeTypeGraph:
        WPI_TRY(cudaGraphClone(&to->u.child, from->u.child));
        (void)wpi_handle_remove(WPI_HANDLE_GRAPH, to->u.child);
        return cudaSuccess;
    default: to->u = from->u; return cudaSuccess;
    }
}

static cudaError_t clone_into(struct CUgraph_st *copy, const struct CUgraph_st *graph,
                              struct CUgraphNode_st **nodes) {
    WPI_TRY(wpi_conditions_clone(copy, graph));
    for (const struct CUgraphNode_st *n = graph->first; n != NULL; n = n->next) {
        struct CUgraphNode_st *made = wpi_graph_add(copy, n->type, NULL, 0);
        if (made == NULL) return wpi_note(cudaErrorMemoryAllocation);
        made->original = n;
        nodes[n->index] = made;
        WPI_TRY(clone_work(made, n));
    }
    for (const struct CUgraphNode_st *n = graph->first; n != NULL; n = n->next)
        for (size_t d = 0; d < n->dependency_count; d++)
            if (!wpi_node_depend(nodes[n->index], &nodes[n->dependencies[d]->index], 1))
                return wpi_note(cudaErrorMemoryAllocation);
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph) {
    if (pGraphClone == NULL || originalGraph == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(cudaGraphCreate(pGraphClone, 0));
    struct CUgraphNode_st **nodes =
        wpi_calloc(originalGraph->count + 1, sizeof(struct CUgraphNode_st *));
    const cudaError_t error = nodes == NULL ? wpi_note(cudaErrorMemoryAllocation)
                                            : clone_into(*pGraphClone, originalGraph, nodes);
    wpi_free(nodes);
    if (error != cudaSuccess) (void)cudaGraphDestroy(*pGraphClone);
    return error;
}
