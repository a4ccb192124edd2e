/* SPDX-License-Identifier: Apache-2.0 */
/* The call that adds any node, and nodes of events. */
#include "cudart/graph/graph.h"

/* ---- events ---- */

static cudaError_t add_event(cudaGraphNode_t *out, cudaGraph_t graph, enum cudaGraphNodeType type,
                             const cudaGraphNode_t *dependencies, size_t count, cudaEvent_t event) {
    if (event == NULL || !wpi_handle_is_live(WPI_HANDLE_EVENT, event))
        return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_graph_add_checked(out, graph, type, dependencies, count));
    (*out)->u.event = event;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                               const cudaGraphNode_t *pDependencies,
                                               size_t numDependencies, cudaEvent_t event) {
    return add_event(pGraphNode, graph, cudaGraphNodeTypeEventRecord, pDependencies,
                     numDependencies, event);
}

WP_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t *pDependencies,
                                             size_t numDependencies, cudaEvent_t event) {
    return add_event(pGraphNode, graph, cudaGraphNodeTypeWaitEvent, pDependencies, numDependencies,
                     event);
}

static cudaError_t get_event(cudaGraphNode_t node, enum cudaGraphNodeType type, cudaEvent_t *out) {
    if (node == NULL || node->type != type || out == NULL) return wpi_note(cudaErrorInvalidValue);
    *out = node->u.event;
    return cudaSuccess;
}

static cudaError_t set_event(cudaGraphNode_t node, enum cudaGraphNodeType type, cudaEvent_t event) {
    if (node == NULL || node->type != type || event == NULL ||
        !wpi_handle_is_live(WPI_HANDLE_EVENT, event))
        return wpi_note(cudaErrorInvalidValue);
    node->u.event = event;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out) {
    return get_event(node, cudaGraphNodeTypeEventRecord, event_out);
}

WP_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return set_event(node, cudaGraphNodeTypeEventRecord, event);
}

WP_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out) {
    return get_event(node, cudaGraphNodeTypeWaitEvent, event_out);
}

WP_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return set_event(node, cudaGraphNodeTypeWaitEvent, event);
}

/* ---- any node ---- */

static cudaError_t add_condition(cudaGraphNode_t *out, cudaGraph_t graph,
                                 const cudaGraphNode_t *dependencies, size_t count,
                                 struct cudaConditionalNodeParams *params) {
    cudaGraphNode_t node = NULL;
    WPI_TRY(wpi_graph_add_checked(&node, graph, cudaGraphNodeTypeConditional, dependencies, count));
    const cudaError_t error = wpi_condition_make(&node->u.condition, params);
    if (error == cudaSuccess)
        *out = node;
    else
        wpi_graph_take_back(graph, node);
    return error;
}

WP_API cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                    struct cudaGraphNodeParams *nodeParams) {
    struct cudaGraphNodeParams *const p = nodeParams;
    if (pGraphNode == NULL || p == NULL) return wpi_note(cudaErrorInvalidValue);
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphAddKernelNode(pGraphNode, graph, pDependencies, numDependencies,
                                      &p->kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies,
                                      &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies,
                                      &p->memset);
    case cudaGraphNodeTypeHost:
        return cudaGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies, &p->host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies,
                                          p->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(pGraphNode, graph, pDependencies, numDependencies,
                                           p->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(pGraphNode, graph, pDependencies, numDependencies,
                                         p->eventWait.event);
    case cudaGraphNodeTypeMemAlloc:
        return cudaGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies,
                                        &p->alloc);
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies,
                                       p->free.dptr);
    case cudaGraphNodeTypeConditional:
        return add_condition(pGraphNode, graph, pDependencies, numDependencies, &p->conditional);
    default: return wpi_note(cudaErrorNotSupported);
    }
}

WP_API cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies,
                                       const cudaGraphEdgeData *dependencyData,
                                       size_t numDependencies,
                                       struct cudaGraphNodeParams *nodeParams) {
    if (!wpi_edges_are_plain(dependencyData, numDependencies))
        return wpi_note(cudaErrorNotSupported);
    return cudaGraphAddNode(pGraphNode, graph, pDependencies, numDependencies, nodeParams);
}
