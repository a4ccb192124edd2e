/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to graphs, and more questions to them. Nodes of an executable graph are found by those of
 * the graph that it was made of. */
#include <stdio.h>

#include "base/alloc.h"
#include "cudart/graph/graph.h"

static bool is_of(cudaGraphNode_t node, enum cudaGraphNodeType type) {
    return node != NULL && node->type == type;
}

/* ---- parameters of nodes ---- */

WP_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                              struct cudaHostNodeParams *pNodeParams) {
    if (!is_of(node, cudaGraphNodeTypeHost) || pNodeParams == NULL)
        return wpi_note(cudaErrorInvalidValue);
    *pNodeParams = node->u.host;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                              const struct cudaHostNodeParams *pNodeParams) {
    if (!is_of(node, cudaGraphNodeTypeHost) || pNodeParams == NULL || pNodeParams->fn == NULL)
        return wpi_note(cudaErrorInvalidValue);
    node->u.host = *pNodeParams;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                struct cudaMemsetParams *pNodeParams) {
    if (!is_of(node, cudaGraphNodeTypeMemset) || pNodeParams == NULL)
        return wpi_note(cudaErrorInvalidValue);
    const wpi_fill_node *f = &node->u.fill;
    *pNodeParams = (struct cudaMemsetParams){.dst = f->box.first,
                                             .pitch = f->box.pitch_bytes,
                                             .value = f->value,
                                             .elementSize = f->value_bytes,
                                             .width = f->extent.width_bytes / f->value_bytes,
                                             .height = f->extent.height};
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemsetParams *pNodeParams) {
    if (!is_of(node, cudaGraphNodeTypeMemset)) return wpi_note(cudaErrorInvalidValue);
    return wpi_node_set_fill(node, pNodeParams);
}

WP_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec,
                                                    cudaGraphNode_t node,
                                                    const struct cudaMemsetParams *pNodeParams) {
    cudaGraphNode_t copy = wpi_graph_exec_find(hGraphExec, node, cudaGraphNodeTypeMemset);
    if (copy == NULL) return wpi_note(cudaErrorInvalidValue);
    return wpi_node_set_fill(copy, pNodeParams);
}

WP_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode,
                                                   cudaLaunchAttributeID attr,
                                                   const cudaLaunchAttributeValue *value) {
    if (!is_of(hNode, cudaGraphNodeTypeKernel) || value == NULL)
        return wpi_note(cudaErrorInvalidValue);
    wpi_kernel_node *k = &hNode->u.kernel;
    if (attr == cudaLaunchAttributeCooperative)
        k->is_cooperative = value->cooperative != 0;
    else if (attr == cudaLaunchAttributeClusterDimension)
        k->cluster = (dim3){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    else if (!wpi_launch_attribute_is_hint(attr))
        return wpi_note(cudaErrorNotSupported);
    return cudaSuccess;
}

/* What is only a hint is not kept: it is 0. */
WP_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode,
                                                   cudaLaunchAttributeID attr,
                                                   cudaLaunchAttributeValue *value_out) {
    if (!is_of(hNode, cudaGraphNodeTypeKernel) || value_out == NULL)
        return wpi_note(cudaErrorInvalidValue);
    const wpi_kernel_node *k = &hNode->u.kernel;
    *value_out = (cudaLaunchAttributeValue){0};
    if (attr == cudaLaunchAttributeCooperative) {
        value_out->cooperative = k->is_cooperative;
    } else if (attr == cudaLaunchAttributeClusterDimension) {
        value_out->clusterDim.x = k->cluster.x;
        value_out->clusterDim.y = k->cluster.y;
        value_out->clusterDim.z = k->cluster.z;
    } else if (!wpi_launch_attribute_is_hint(attr)) {
        return wpi_note(cudaErrorNotSupported);
    }
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hSrc, cudaGraphNode_t hDst) {
    if (!is_of(hSrc, cudaGraphNodeTypeKernel) || !is_of(hDst, cudaGraphNodeTypeKernel))
        return wpi_note(cudaErrorInvalidValue);
    hDst->u.kernel.is_cooperative = hSrc->u.kernel.is_cooperative;
    hDst->u.kernel.cluster = hSrc->u.kernel.cluster;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph) {
    if (!is_of(node, cudaGraphNodeTypeGraph) || pGraph == NULL)
        return wpi_note(cudaErrorInvalidValue);
    *pGraph = node->u.child;
    return cudaSuccess;
}

static cudaError_t set_exec_event(cudaGraphExec_t exec, cudaGraphNode_t node,
                                  enum cudaGraphNodeType type, cudaEvent_t event) {
    cudaGraphNode_t copy = wpi_graph_exec_find(exec, node, type);
    if (copy == NULL || event == NULL || !wpi_handle_is_live(WPI_HANDLE_EVENT, event))
        return wpi_note(cudaErrorInvalidValue);
    copy->u.event = event;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec,
                                                        cudaGraphNode_t hNode, cudaEvent_t event) {
    return set_exec_event(hGraphExec, hNode, cudaGraphNodeTypeEventRecord, event);
}

WP_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec,
                                                      cudaGraphNode_t hNode, cudaEvent_t event) {
    return set_exec_event(hGraphExec, hNode, cudaGraphNodeTypeWaitEvent, event);
}

/* Kernels, copies and fills. */
static cudaGraphNode_t find_switchable(cudaGraphExec_t exec, cudaGraphNode_t node) {
    if (node == NULL || node->type > cudaGraphNodeTypeMemset) return NULL;
    return wpi_graph_exec_find(exec, node, node->type);
}

WP_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                           unsigned int isEnabled) {
    cudaGraphNode_t copy = find_switchable(hGraphExec, hNode);
    if (copy == NULL) return wpi_note(cudaErrorInvalidValue);
    copy->is_off = isEnabled == 0;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                           unsigned int *isEnabled) {
    cudaGraphNode_t copy = find_switchable(hGraphExec, hNode);
    if (copy == NULL || isEnabled == NULL) return wpi_note(cudaErrorInvalidValue);
    *isEnabled = !copy->is_off;
    return cudaSuccess;
}

/* A child's nodes are the same ones afterwards, with other parameters. */
WP_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec,
                                                        cudaGraphNode_t node,
                                                        cudaGraph_t childGraph) {
    cudaGraphNode_t copy = wpi_graph_exec_find(hGraphExec, node, cudaGraphNodeTypeGraph);
    if (copy == NULL || childGraph == NULL || !wpi_graph_is_alike(copy->u.child, childGraph))
        return wpi_note(cudaErrorInvalidValue);
    cudaGraph_t fresh;
    WPI_TRY(cudaGraphClone(&fresh, childGraph));
    (void)wpi_handle_remove(WPI_HANDLE_GRAPH, fresh); /* the node's own */
    wpi_graph_free(copy->u.child);
    copy->u.child = fresh;
    return cudaSuccess;
}

/* Of a graph's node, or of an executable graph's: both have the same forms. */
static cudaError_t set_params(cudaGraphNode_t node, struct cudaGraphNodeParams *p) {
    if (node == NULL || p == NULL || node->type != p->type) return wpi_note(cudaErrorInvalidValue);
    switch (p->type) {
    case cudaGraphNodeTypeKernel: return cudaGraphKernelNodeSetParams(node, &p->kernel);
    case cudaGraphNodeTypeMemcpy: return cudaGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return cudaGraphMemsetNodeSetParams(node, &p->memset);
    case cudaGraphNodeTypeHost: return cudaGraphHostNodeSetParams(node, &p->host);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphEventWaitNodeSetEvent(node, p->eventWait.event);
    default: return wpi_note(cudaErrorNotSupported);
    }
}

WP_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node,
                                          struct cudaGraphNodeParams *nodeParams) {
    return set_params(node, nodeParams);
}

WP_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                              struct cudaGraphNodeParams *nodeParams) {
    if (node == NULL || nodeParams == NULL) return wpi_note(cudaErrorInvalidValue);
    if (nodeParams->type == cudaGraphNodeTypeGraph)
        return cudaGraphExecChildGraphNodeSetParams(graphExec, node, nodeParams->graph.graph);
    return set_params(wpi_graph_exec_find(graphExec, node, nodeParams->type), nodeParams);
}

/* ---- nodes and edges ---- */

WP_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
                                            cudaGraph_t clonedGraph) {
    if (pNode == NULL || originalNode == NULL || clonedGraph == NULL ||
        !wpi_handle_is_live(WPI_HANDLE_GRAPH, clonedGraph))
        return wpi_note(cudaErrorInvalidValue);
    for (cudaGraphNode_t n = clonedGraph->first; n != NULL; n = n->next)
        if (n->original == originalNode) {
            *pNode = n;
            return cudaSuccess;
        }
    return wpi_note(cudaErrorInvalidValue);
}

static bool depends(const struct CUgraphNode_st *n, const struct CUgraphNode_st *on) {
    for (size_t d = 0; d < n->dependency_count; d++)
        if (n->dependencies[d] == on) return true;
    return false;
}

WP_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                  cudaGraphNode_t *pDependentNodes,
                                                  size_t *pNumDependentNodes) {
    if (node == NULL || pNumDependentNodes == NULL) return wpi_note(cudaErrorInvalidValue);
    size_t found = 0;
    for (cudaGraphNode_t n = node->graph->first; n != NULL; n = n->next) {
        if (!depends(n, node)) continue;
        if (pDependentNodes != NULL && found < *pNumDependentNodes) pDependentNodes[found] = n;
        found++;
    }
    for (size_t i = found; pDependentNodes != NULL && i < *pNumDependentNodes; i++)
        pDependentNodes[i] = NULL;
    if (pDependentNodes == NULL || found < *pNumDependentNodes) *pNumDependentNodes = found;
    return cudaSuccess;
}

static void forget_dependency(struct CUgraphNode_st *n, const struct CUgraphNode_st *on) {
    size_t kept = 0;
    for (size_t d = 0; d < n->dependency_count; d++)
        if (n->dependencies[d] != on) n->dependencies[kept++] = n->dependencies[d];
    n->dependency_count = kept;
}

WP_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, size_t numDependencies) {
    if (graph == NULL || !wpi_handle_is_live(WPI_HANDLE_GRAPH, graph) ||
        (numDependencies != 0 && (from == NULL || to == NULL)))
        return wpi_note(cudaErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++)
        if (from[i] == NULL || to[i] == NULL || from[i]->graph != graph || to[i]->graph != graph ||
            !depends(to[i], from[i]))
            return wpi_note(cudaErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++)
        forget_dependency(to[i], from[i]);
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                  const cudaGraphNode_t *to,
                                                  const cudaGraphEdgeData *edgeData,
                                                  size_t numDependencies) {
    if (!wpi_edges_are_plain(edgeData, numDependencies)) return wpi_note(cudaErrorNotSupported);
    return cudaGraphRemoveDependencies(graph, from, to, numDependencies);
}

/* What depended on the node no longer does; later nodes move up. */
WP_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    if (node == NULL || !wpi_handle_is_live(WPI_HANDLE_GRAPH, node->graph))
        return wpi_note(cudaErrorInvalidValue);
    if (node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree)
        return wpi_note(cudaErrorNotSupported); /* as in CUDA */
    struct CUgraph_st *graph = node->graph;
    struct CUgraphNode_st **link = &graph->first;
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    for (struct CUgraphNode_st *n = graph->first; n != NULL; n = n->next) {
        forget_dependency(n, node);
        n->index -= n->index > node->index;
        link = &n->next;
    }
    graph->last = graph->first != NULL ? link : &graph->first;
    graph->count--;
    wpi_node_free(node);
    return cudaSuccess;
}

/* ---- as a picture ---- */

static const char *name_of(enum cudaGraphNodeType type) {
    static const char *const names[] = {
        "kernel",       "copy",           "fill", "host",     "graph", "empty",    "wait for event",
        "record event", "signal outside", "wait", "allocate", "free",  "batch op", "conditional"};
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "node";
}

WP_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags) {
    (void)flags; /* how much is said of a node */
    if (graph == NULL || !wpi_handle_is_live(WPI_HANDLE_GRAPH, graph) || path == NULL)
        return wpi_note(cudaErrorInvalidValue);
    FILE *file = fopen(path, "w");
    if (file == NULL) return wpi_note(cudaErrorOperatingSystem);
    fputs("digraph graph_1 {\n", file);
    for (const struct CUgraphNode_st *n = graph->first; n != NULL; n = n->next) {
        const char *kernel = NULL;
        if (n->type == cudaGraphNodeTypeKernel &&
            cudaFuncGetName(&kernel, n->u.kernel.function) != cudaSuccess)
            kernel = NULL;
        fprintf(file, "    node_%zu [label=\"%s\"];\n", n->index,
                kernel != NULL ? kernel : name_of(n->type));
        for (size_t d = 0; d < n->dependency_count; d++)
            fprintf(file, "    node_%zu -> node_%zu;\n", n->dependencies[d]->index, n->index);
    }
    fputs("}\n", file);
    const bool is_written = ferror(file) == 0;
    return fclose(file) == 0 && is_written ? cudaSuccess : wpi_note(cudaErrorOperatingSystem);
}
