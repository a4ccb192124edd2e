/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching graphs: an executable graph is a copy with its nodes in an order in which each follows
 * its dependencies. A launch queues them on one stream in this order, so branches do not overlap.
 */
#include <string.h>

#include "base/alloc.h"
#include "cudart/graph/graph.h"

struct CUgraphExec_st {
    struct CUgraph_st *graph;
    struct CUgraphNode_st **order; /* [graph->count] */
    unsigned long long flags;      /* cudaGraphInstantiateFlags */
};

/* Orders the nodes; false: the dependencies have a cycle. */
static bool sort(struct CUgraph_st *graph, struct CUgraphNode_st **order, bool *is_done) {
    size_t count = 0;
    for (size_t before = SIZE_MAX; before != count && count < graph->count;) {
        before = count;
        for (struct CUgraphNode_st *n = graph->first; n != NULL; n = n->next) {
            bool is_ready = !is_done[n->index];
            for (size_t d = 0; d < n->dependency_count && is_ready; d++)
                is_ready = is_done[n->dependencies[d]->index];
            if (!is_ready) continue;
            is_done[n->index] = true;
            order[count++] = n;
        }
    }
    return count == graph->count;
}

static cudaError_t order_nodes(struct CUgraphExec_st *exec) {
    const size_t count = exec->graph->count;
    exec->order = wpi_calloc(count + 1, sizeof(struct CUgraphNode_st *));
    bool *is_done = wpi_calloc(count + 1, sizeof *is_done);
    cudaError_t error = cudaErrorMemoryAllocation;
    if (exec->order != NULL && is_done != NULL)
        error = sort(exec->graph, exec->order, is_done) ? cudaSuccess : cudaErrorInvalidValue;
    wpi_free(is_done);
    return wpi_note(error);
}

static void destroy(struct CUgraphExec_st *exec) {
    wpi_graph_free(exec->graph);
    wpi_free(exec->order);
    wpi_free(exec);
}

WP_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                 unsigned long long flags) {
    /* Upload, priorities: hints here. */
    if (pGraphExec == NULL || graph == NULL || !wpi_handle_is_live(WPI_HANDLE_GRAPH, graph))
        return wpi_note(cudaErrorInvalidValue);
    cudaGraph_t copy;
    WPI_TRY(cudaGraphClone(&copy, graph));
    (void)wpi_handle_remove(WPI_HANDLE_GRAPH, copy); /* the executable graph's own */
    struct CUgraphExec_st *exec = wpi_calloc(1, sizeof *exec);
    if (exec == NULL) {
        wpi_graph_free(copy);
        return wpi_note(cudaErrorMemoryAllocation);
    }
    exec->graph = copy;
    exec->flags = flags;
    cudaError_t error = order_nodes(exec);
    if (error == cudaSuccess && !wpi_handle_add(WPI_HANDLE_GRAPH_EXEC, exec))
        error = wpi_note(cudaErrorMemoryAllocation);
    if (error != cudaSuccess) {
        destroy(exec);
        return error;
    }
    *pGraphExec = exec;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                        unsigned long long flags) {
    return cudaGraphInstantiateWithFlags(pGraphExec, graph, flags);
}

static enum cudaGraphInstantiateResult result_of(cudaError_t error) {
    return error == cudaSuccess             ? cudaGraphInstantiateSuccess
           : error == cudaErrorInvalidValue ? cudaGraphInstantiateInvalidStructure
                                            : cudaGraphInstantiateError;
}

WP_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                  cudaGraphInstantiateParams *instantiateParams) {
    cudaGraphInstantiateParams *const p = instantiateParams;
    if (p == NULL) return wpi_note(cudaErrorInvalidValue);
    const cudaError_t error = cudaGraphInstantiateWithFlags(pGraphExec, graph, p->flags);
    p->errNode_out = NULL;
    p->result_out = result_of(error);
    return error;
}

static bool is_exec(cudaGraphExec_t exec) {
    return exec != NULL && wpi_handle_is_live(WPI_HANDLE_GRAPH_EXEC, exec);
}

WP_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags) {
    if (!is_exec(graphExec) || flags == NULL) return wpi_note(cudaErrorInvalidValue);
    *flags = graphExec->flags;
    return cudaSuccess;
}

/* Queued work has its own copies of arguments. */
WP_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
    if (graphExec == NULL || !wpi_handle_remove(WPI_HANDLE_GRAPH_EXEC, graphExec))
        return wpi_note(cudaErrorInvalidValue);
    destroy(graphExec);
    return cudaSuccess;
}

/* ---- launching ---- */

static cudaError_t queue_node(const struct CUgraphNode_st *n, bool frees_first,
                              cudaStream_t stream) {
    switch (n->type) {
    case cudaGraphNodeTypeKernel: return wpi_launch_node(&n->u.kernel, stream);
    case cudaGraphNodeTypeMemcpy:
        return wpi_copy(stream, n->u.copy.dst, n->u.copy.src, n->u.copy.extent, n->u.copy.kind,
                        true);
    case cudaGraphNodeTypeMemset:
        return wpi_fill(stream, n->u.fill.box, n->u.fill.value, n->u.fill.value_bytes,
                        n->u.fill.extent, true);
    case cudaGraphNodeTypeHost: return cudaLaunchHostFunc(stream, n->u.host.fn, n->u.host.userData);
    case cudaGraphNodeTypeGraph: return wpi_graph_queue(n->u.child, stream);
    case cudaGraphNodeTypeMemAlloc: return wpi_graph_memory_allocate(n->u.memory, frees_first);
    case cudaGraphNodeTypeMemFree: return wpi_graph_memory_free(n->u.memory);
    case cudaGraphNodeTypeConditional: return wpi_condition_queue(&n->u.condition, stream);
    case cudaGraphNodeTypeEventRecord: return cudaEventRecord(n->u.event, stream);
    case cudaGraphNodeTypeWaitEvent: return cudaStreamWaitEvent(stream, n->u.event, 0);
    default: return cudaSuccess;
    }
}

static cudaError_t queue_nodes(const struct CUgraphExec_st *exec, cudaStream_t stream) {
    const bool frees_first = (exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
    cudaError_t error = wpi_conditions_reset(exec->graph, stream);
    for (size_t i = 0; i < exec->graph->count && error == cudaSuccess; i++)
        if (!exec->order[i]->is_off) error = queue_node(exec->order[i], frees_first, stream);
    return error;
}

cudaError_t wpi_graph_queue(struct CUgraph_st *graph, cudaStream_t stream) {
    struct CUgraphExec_st exec = {.graph = graph};
    cudaError_t error = order_nodes(&exec);
    if (error == cudaSuccess) error = queue_nodes(&exec, stream);
    wpi_free(exec.order);
    return error;
}

WP_API cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
    wp_device *device;
    wp_queue *queue;
    if (!is_exec(graphExec)) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    wpi_device_set_current(queue->device->number); /* launches are on the current device */
    const cudaError_t error = queue_nodes(graphExec, stream);
    wpi_device_set_current(device->number);
    return error;
}

WP_API cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
    wp_device *device;
    wp_queue *queue;
    if (!is_exec(graphExec)) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_enter(&device));
    return wpi_stream_queue(device, stream, &queue);
}

/* ---- changes ---- */

struct CUgraphNode_st *wpi_graph_exec_find(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           enum cudaGraphNodeType type) {
    if (!is_exec(exec) || node == NULL) return NULL;
    for (struct CUgraphNode_st *n = exec->graph->first; n != NULL; n = n->next)
        if (n->original == node) return n->type == type ? n : NULL;
    return NULL;
}

WP_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec,
                                                    cudaGraphNode_t node,
                                                    const struct cudaKernelNodeParams *p) {
    struct CUgraphNode_st *n = wpi_graph_exec_find(hGraphExec, node, cudaGraphNodeTypeKernel);
    if (n == NULL) return wpi_note(cudaErrorInvalidValue);
    return cudaGraphKernelNodeSetParams(n, p);
}

WP_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                  const struct cudaHostNodeParams *pNodeParams) {
    struct CUgraphNode_st *n = wpi_graph_exec_find(hGraphExec, node, cudaGraphNodeTypeHost);
    if (n == NULL || pNodeParams == NULL || pNodeParams->fn == NULL)
        return wpi_note(cudaErrorInvalidValue);
    n->u.host = *pNodeParams;
    return cudaSuccess;
}

/* Whether the graph has the same shape: nodes of the same types with the same dependencies, in the
 * order of their creation. */
static struct CUgraphNode_st *find_difference(const struct CUgraph_st *a,
                                              const struct CUgraph_st *b) {
    struct CUgraphNode_st *m = b->first;
    for (const struct CUgraphNode_st *n = a->first; n != NULL && m != NULL;
         n = n->next, m = m->next) {
        if (n->type != m->type || n->dependency_count != m->dependency_count) return m;
        for (size_t d = 0; d < n->dependency_count; d++)
            if (n->dependencies[d]->index != m->dependencies[d]->index) return m;
    }
    return m;
}

bool wpi_graph_is_alike(const struct CUgraph_st *a, const struct CUgraph_st *b) {
    return a->count == b->count && find_difference(a, b) == NULL;
}

WP_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                       cudaGraphExecUpdateResultInfo *resultInfo) {
    if (!is_exec(hGraphExec) || hGraph == NULL || !wpi_handle_is_live(WPI_HANDLE_GRAPH, hGraph) ||
        resultInfo == NULL)
        return wpi_note(cudaErrorInvalidValue);
    struct CUgraphNode_st *different = find_difference(hGraphExec->graph, hGraph);
    const bool is_same = different == NULL && hGraphExec->graph->count == hGraph->count;
    *resultInfo = (cudaGraphExecUpdateResultInfo){
        .result = is_same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged,
        .errorNode = different};
    if (!is_same) return wpi_note(cudaErrorGraphExecUpdateFailure);
    cudaGraphExec_t fresh;
    WPI_TRY(cudaGraphInstantiateWithFlags(&fresh, hGraph, 0));
    (void)wpi_handle_remove(WPI_HANDLE_GRAPH_EXEC, fresh);
    /* Nodes of the graph that it was made of, and of the new one, name its nodes from now on. */
    const struct CUgraphExec_st old = *hGraphExec;
    *hGraphExec = *fresh;
    hGraphExec->flags = old.flags;
    struct CUgraphNode_st *n = hGraphExec->graph->first;
    for (const struct CUgraphNode_st *o = old.graph->first; o != NULL; o = o->next, n = n->next)
        n->original = o->original;
    wpi_graph_free(old.graph);
    wpi_free(old.order);
    wpi_free(fresh);
    return cudaSuccess;
}
