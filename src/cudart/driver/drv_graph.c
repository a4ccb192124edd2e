/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of the driver API: the runtime's, whose handles and numbers are the same. Contexts of
 * nodes do not matter, as there is one address space. */
#include "cudart/driver/driver.h"
#include "cudart/graph/graph.h"

#define SAME(a, b) _Static_assert((int)(a) == (int)(b), "numbers")
SAME(CU_GRAPH_NODE_TYPE_MEM_FREE, cudaGraphNodeTypeMemFree);
SAME(CU_GRAPH_NODE_TYPE_CONDITIONAL, cudaGraphNodeTypeConditional);
SAME(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, cudaGraphExecUpdateErrorAttributesChanged);
SAME(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, cudaGraphMemAttrReservedMemHigh);
_Static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(struct cudaMemAllocNodeParams),
               "layout");
_Static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo),
               "layout");
_Static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams),
               "layout");

/* ---- graphs ---- */

WP_API CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags) {
    WPI_DRIVER_IN(false, cudaGraphCreate(phGraph, flags));
}

WP_API CUresult cuGraphDestroy(CUgraph hGraph) {
    WPI_DRIVER_IN(false, cudaGraphDestroy(hGraph));
}

WP_API CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph) {
    WPI_DRIVER_IN(false, cudaGraphClone(phGraphClone, originalGraph));
}

WP_API CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags) {
    WPI_DRIVER_IN(false, cudaGraphDebugDotPrint(hGraph, path, flags));
}

WP_API CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes) {
    WPI_DRIVER_IN(false, cudaGraphGetNodes(hGraph, nodes, numNodes));
}

WP_API CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes) {
    WPI_DRIVER_IN(false, cudaGraphGetRootNodes(hGraph, rootNodes, numRootNodes));
}

WP_API CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                size_t *numEdges) {
    WPI_DRIVER_IN(false, cudaGraphGetEdges(hGraph, from, to, numEdges));
}

WP_API CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                   CUgraphEdgeData *edgeData, size_t *numEdges) {
    WPI_DRIVER_IN(false, cudaGraphGetEdges_v2(hGraph, from, to, edgeData, numEdges));
}

WP_API CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from,
                                       const CUgraphNode *to, size_t numDependencies) {
    WPI_DRIVER_IN(false, cudaGraphAddDependencies(hGraph, from, to, numDependencies));
}

WP_API CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                          const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                          size_t numDependencies) {
    WPI_DRIVER_IN(false, cudaGraphAddDependencies_v2(hGraph, from, to, edgeData, numDependencies));
}

WP_API CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from,
                                          const CUgraphNode *to, size_t numDependencies) {
    WPI_DRIVER_IN(false, cudaGraphRemoveDependencies(hGraph, from, to, numDependencies));
}

WP_API CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type) {
    WPI_DRIVER_IN(false, cudaGraphNodeGetType(hNode, (void *)type));
}

WP_API CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
                                           size_t *numDependencies) {
    WPI_DRIVER_IN(false, cudaGraphNodeGetDependencies(hNode, dependencies, numDependencies));
}

WP_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                              CUgraphEdgeData *edgeData, size_t *numDependencies) {
    WPI_DRIVER_IN(false,
                  cudaGraphNodeGetDependencies_v2(hNode, dependencies, edgeData, numDependencies));
}

WP_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                             size_t *numDependentNodes) {
    WPI_DRIVER_IN(false, cudaGraphNodeGetDependentNodes(hNode, dependentNodes, numDependentNodes));
}

WP_API CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                                       CUgraph hClonedGraph) {
    WPI_DRIVER_IN(false, cudaGraphNodeFindInClone(phNode, hOriginalNode, hClonedGraph));
}

WP_API CUresult cuGraphDestroyNode(CUgraphNode hNode) {
    WPI_DRIVER_IN(false, cudaGraphDestroyNode(hNode));
}

WP_API CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out,
                                               CUgraph hGraph, CUcontext ctx,
                                               unsigned int defaultLaunchValue,
                                               unsigned int flags) {
    (void)ctx;
    WPI_DRIVER(
        cudaGraphConditionalHandleCreate((void *)pHandle_out, hGraph, defaultLaunchValue, flags));
}

WP_API CUresult cuDeviceGraphMemTrim(CUdevice device) {
    WPI_DRIVER_IN(false, cudaDeviceGraphMemTrim(device));
}

WP_API CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                             void *value) {
    WPI_DRIVER_IN(
        false, cudaDeviceGetGraphMemAttribute(device, (enum cudaGraphMemAttributeType)attr, value));
}

WP_API CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                             void *value) {
    WPI_DRIVER_IN(
        false, cudaDeviceSetGraphMemAttribute(device, (enum cudaGraphMemAttributeType)attr, value));
}

/* ---- kernels ---- */

/* `pointers` has room for WPI_DRIVER_ARGUMENTS_MAX. */
static cudaError_t kernel_params(const CUDA_KERNEL_NODE_PARAMS *p, void **pointers,
                                 struct cudaKernelNodeParams *out) {
    if (p == NULL || (p->kernelParams != NULL && p->extra != NULL)) return cudaErrorInvalidValue;
    *out =
        (struct cudaKernelNodeParams){.func = p->func != NULL ? (void *)p->func : (void *)p->kern,
                                      .gridDim = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                      .blockDim = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                      .sharedMemBytes = p->sharedMemBytes,
                                      .kernelParams = p->kernelParams};
    if (p->extra == NULL) return cudaSuccess;
    WPI_TRY(wpi_function_unpack(out->func, p->extra, pointers));
    out->kernelParams = pointers;
    return cudaSuccess;
}

static cudaError_t add_kernel(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS *p) {
    void *pointers[WPI_DRIVER_ARGUMENTS_MAX];
    struct cudaKernelNodeParams params;
    WPI_TRY(kernel_params(p, pointers, &params));
    return cudaGraphAddKernelNode(out, graph, dependencies, count, &params);
}

WP_API CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies,
                                     const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    WPI_DRIVER(add_kernel(phGraphNode, hGraph, dependencies, numDependencies, nodeParams));
}

static cudaError_t get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out) {
    struct cudaKernelNodeParams p;
    if (out == NULL) return cudaErrorInvalidValue;
    WPI_TRY(cudaGraphKernelNodeGetParams(node, &p));
    *out = (CUDA_KERNEL_NODE_PARAMS){.func = p.func,
                                     .gridDimX = p.gridDim.x,
                                     .gridDimY = p.gridDim.y,
                                     .gridDimZ = p.gridDim.z,
                                     .blockDimX = p.blockDim.x,
                                     .blockDimY = p.blockDim.y,
                                     .blockDimZ = p.blockDim.z,
                                     .sharedMemBytes = p.sharedMemBytes,
                                     .kernelParams = p.kernelParams};
    return cudaSuccess;
}

WP_API CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    WPI_DRIVER_IN(false, get_kernel(hNode, nodeParams));
}

/* Of an executable graph, or, where that is NULL, of a graph. */
static cudaError_t set_kernel(CUgraphExec exec, CUgraphNode node,
                              const CUDA_KERNEL_NODE_PARAMS *p) {
    void *pointers[WPI_DRIVER_ARGUMENTS_MAX];
    struct cudaKernelNodeParams params;
    WPI_TRY(kernel_params(p, pointers, &params));
    return exec != NULL ? cudaGraphExecKernelNodeSetParams(exec, node, &params)
                        : cudaGraphKernelNodeSetParams(node, &params);
}

WP_API CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    WPI_DRIVER(set_kernel(NULL, hNode, nodeParams));
}

WP_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    WPI_DRIVER(hGraphExec == NULL ? cudaErrorInvalidValue
                                  : set_kernel(hGraphExec, hNode, nodeParams));
}

WP_API CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                              CUkernelNodeAttrValue *value_out) {
    WPI_DRIVER_IN(false, cudaGraphKernelNodeGetAttribute(hNode, attr, value_out));
}

WP_API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                              const CUkernelNodeAttrValue *value) {
    WPI_DRIVER_IN(false, cudaGraphKernelNodeSetAttribute(hNode, attr, value));
}

WP_API CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
    WPI_DRIVER_IN(false, cudaGraphKernelNodeCopyAttributes(src, dst));
}

/* ---- copies ---- */

static cudaError_t add_copy(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                            size_t count, const CUDA_MEMCPY3D *copy) {
    struct cudaMemcpy3DParms params;
    WPI_TRY(wpi_driver_copy(copy, &params));
    return cudaGraphAddMemcpyNode(out, graph, dependencies, count, &params);
}

WP_API CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies,
                                     const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
    (void)ctx;
    WPI_DRIVER(add_copy(phGraphNode, hGraph, dependencies, numDependencies, copyParams));
}

static cudaError_t get_copy(CUgraphNode node, CUDA_MEMCPY3D *out) {
    struct cudaMemcpy3DParms params;
    if (out == NULL) return cudaErrorInvalidValue;
    WPI_TRY(cudaGraphMemcpyNodeGetParams(node, &params));
    wpi_driver_copy_of(&params, out);
    return cudaSuccess;
}

WP_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams) {
    WPI_DRIVER_IN(false, get_copy(hNode, nodeParams));
}

static cudaError_t set_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy) {
    struct cudaMemcpy3DParms params;
    WPI_TRY(wpi_driver_copy(copy, &params));
    return exec != NULL ? cudaGraphExecMemcpyNodeSetParams(exec, node, &params)
                        : cudaGraphMemcpyNodeSetParams(node, &params);
}

WP_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams) {
    WPI_DRIVER(set_copy(NULL, hNode, nodeParams));
}

WP_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
    (void)ctx;
    WPI_DRIVER(hGraphExec == NULL ? cudaErrorInvalidValue
                                  : set_copy(hGraphExec, hNode, copyParams));
}

/* ---- fills ---- */

static struct cudaMemsetParams fill_params(const CUDA_MEMSET_NODE_PARAMS *p) {
    return (struct cudaMemsetParams){.dst = wpi_at(p->dst),
                                     .pitch = p->pitch,
                                     .value = p->value,
                                     .elementSize = p->elementSize,
                                     .width = p->width,
                                     .height = p->height};
}

WP_API CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies,
                                     const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx) {
    (void)ctx;
    if (memsetParams == NULL) return CUDA_ERROR_INVALID_VALUE;
    const struct cudaMemsetParams p = fill_params(memsetParams);
    WPI_DRIVER(cudaGraphAddMemsetNode(phGraphNode, hGraph, dependencies, numDependencies, &p));
}

static cudaError_t get_fill(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *out) {
    struct cudaMemsetParams p;
    if (out == NULL) return cudaErrorInvalidValue;
    WPI_TRY(cudaGraphMemsetNodeGetParams(node, &p));
    *out = (CUDA_MEMSET_NODE_PARAMS){.dst = (CUdeviceptr)(uintptr_t)p.dst,
                                     .pitch = p.pitch,
                                     .value = p.value,
                                     .elementSize = p.elementSize,
                                     .width = p.width,
                                     .height = p.height};
    return cudaSuccess;
}

WP_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams) {
    WPI_DRIVER_IN(false, get_fill(hNode, nodeParams));
}

WP_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                           const CUDA_MEMSET_NODE_PARAMS *nodeParams) {
    if (nodeParams == NULL) return CUDA_ERROR_INVALID_VALUE;
    const struct cudaMemsetParams p = fill_params(nodeParams);
    WPI_DRIVER_IN(false, cudaGraphMemsetNodeSetParams(hNode, &p));
}

WP_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                               CUcontext ctx) {
    (void)ctx;
    if (memsetParams == NULL) return CUDA_ERROR_INVALID_VALUE;
    const struct cudaMemsetParams p = fill_params(memsetParams);
    WPI_DRIVER_IN(false, cudaGraphExecMemsetNodeSetParams(hGraphExec, hNode, &p));
}

/* ---- host functions, children, events, memory ---- */

_Static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(struct cudaHostNodeParams), "layout");

WP_API CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                   const CUgraphNode *dependencies, size_t numDependencies,
                                   const CUDA_HOST_NODE_PARAMS *nodeParams) {
    WPI_DRIVER_IN(false, cudaGraphAddHostNode(phGraphNode, hGraph, dependencies, numDependencies,
                                              (const void *)nodeParams));
}

WP_API CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams) {
    WPI_DRIVER_IN(false, cudaGraphHostNodeGetParams(hNode, (void *)nodeParams));
}

WP_API CUresult cuGraphHostNodeSetParams(CUgraphNode hNode,
                                         const CUDA_HOST_NODE_PARAMS *nodeParams) {
    WPI_DRIVER_IN(false, cudaGraphHostNodeSetParams(hNode, (const void *)nodeParams));
}

WP_API CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                             const CUDA_HOST_NODE_PARAMS *nodeParams) {
    WPI_DRIVER_IN(false,
                  cudaGraphExecHostNodeSetParams(hGraphExec, hNode, (const void *)nodeParams));
}

WP_API CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                         const CUgraphNode *dependencies, size_t numDependencies,
                                         CUgraph childGraph) {
    WPI_DRIVER_IN(false, cudaGraphAddChildGraphNode(phGraphNode, hGraph, dependencies,
                                                    numDependencies, childGraph));
}

WP_API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph) {
    WPI_DRIVER_IN(false, cudaGraphChildGraphNodeGetGraph(hNode, phGraph));
}

WP_API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   CUgraph childGraph) {
    WPI_DRIVER_IN(false, cudaGraphExecChildGraphNodeSetParams(hGraphExec, hNode, childGraph));
}

WP_API CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                    const CUgraphNode *dependencies, size_t numDependencies) {
    WPI_DRIVER_IN(false, cudaGraphAddEmptyNode(phGraphNode, hGraph, dependencies, numDependencies));
}

WP_API CUresult cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                          const CUgraphNode *dependencies, size_t numDependencies,
                                          CUevent event) {
    WPI_DRIVER_IN(false, cudaGraphAddEventRecordNode(phGraphNode, hGraph, dependencies,
                                                     numDependencies, event));
}

WP_API CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
    WPI_DRIVER_IN(false, cudaGraphEventRecordNodeGetEvent(hNode, event_out));
}

WP_API CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
    WPI_DRIVER_IN(false, cudaGraphEventRecordNodeSetEvent(hNode, event));
}

WP_API CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   CUevent event) {
    WPI_DRIVER_IN(false, cudaGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, event));
}

WP_API CUresult cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                        const CUgraphNode *dependencies, size_t numDependencies,
                                        CUevent event) {
    WPI_DRIVER_IN(false, cudaGraphAddEventWaitNode(phGraphNode, hGraph, dependencies,
                                                   numDependencies, event));
}

WP_API CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
    WPI_DRIVER_IN(false, cudaGraphEventWaitNodeGetEvent(hNode, event_out));
}

WP_API CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
    WPI_DRIVER_IN(false, cudaGraphEventWaitNodeSetEvent(hNode, event));
}

WP_API CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 CUevent event) {
    WPI_DRIVER_IN(false, cudaGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, event));
}

WP_API CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                       const CUgraphNode *dependencies, size_t numDependencies,
                                       CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams) {
    WPI_DRIVER(cudaGraphAddMemAllocNode(phGraphNode, hGraph, dependencies, numDependencies,
                                        (void *)nodeParams));
}

WP_API CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode,
                                             CUDA_MEM_ALLOC_NODE_PARAMS *params_out) {
    WPI_DRIVER_IN(false, cudaGraphMemAllocNodeGetParams(hNode, (void *)params_out));
}

WP_API CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                      const CUgraphNode *dependencies, size_t numDependencies,
                                      CUdeviceptr dptr) {
    WPI_DRIVER(
        cudaGraphAddMemFreeNode(phGraphNode, hGraph, dependencies, numDependencies, wpi_at(dptr)));
}

WP_API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out) {
    WPI_DRIVER_IN(false, cudaGraphMemFreeNodeGetParams(hNode, dptr_out));
}

/* ---- any node ---- */

static cudaError_t add_conditional(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                                   size_t count, CUDA_CONDITIONAL_NODE_PARAMS *c) {
    struct cudaGraphNodeParams p = {.type = cudaGraphNodeTypeConditional};
    p.conditional = (struct cudaConditionalNodeParams){
        .handle = c->handle, .type = (enum cudaGraphConditionalNodeType)c->type, .size = c->size};
    WPI_TRY(cudaGraphAddNode(out, graph, dependencies, count, &p));
    c->phGraph_out = p.conditional.phGraph_out;
    return cudaSuccess;
}

static CUDA_MEMSET_NODE_PARAMS first_fill(const CUDA_MEMSET_NODE_PARAMS_v2 *p) {
    return (CUDA_MEMSET_NODE_PARAMS){p->dst,         p->pitch, p->value,
                                     p->elementSize, p->width, p->height};
}

WP_API CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                               const CUgraphNode *dependencies, size_t numDependencies,
                               CUgraphNodeParams *nodeParams) {
    CUgraphNodeParams *const p = nodeParams;
    const size_t count = numDependencies;
    if (p == NULL) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMSET_NODE_PARAMS fill = first_fill(&p->memset);
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphAddKernelNode(phGraphNode, hGraph, dependencies, count, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphAddMemcpyNode(phGraphNode, hGraph, dependencies, count, &p->memcpy.copyParams,
                                    p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cuGraphAddMemsetNode(phGraphNode, hGraph, dependencies, count, &fill, p->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuGraphAddHostNode(phGraphNode, hGraph, dependencies, count, &p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cuGraphAddChildGraphNode(phGraphNode, hGraph, dependencies, count, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return cuGraphAddEmptyNode(phGraphNode, hGraph, dependencies, count);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphAddEventWaitNode(phGraphNode, hGraph, dependencies, count,
                                       p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphAddEventRecordNode(phGraphNode, hGraph, dependencies, count,
                                         p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return cuGraphAddMemAllocNode(phGraphNode, hGraph, dependencies, count, &p->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cuGraphAddMemFreeNode(phGraphNode, hGraph, dependencies, count, p->free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        WPI_DRIVER(
            add_conditional(phGraphNode, hGraph, dependencies, count, &nodeParams->conditional));
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

WP_API CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies,
                                  const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                  CUgraphNodeParams *nodeParams) {
    if (!wpi_edges_are_plain(dependencyData, numDependencies)) return CUDA_ERROR_NOT_SUPPORTED;
    return cuGraphAddNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

/* Of an executable graph, or, where that is NULL, of a graph. */
static CUresult set_params(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p) {
    const CUDA_MEMSET_NODE_PARAMS fill = first_fill(&p->memset);
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: WPI_DRIVER(set_kernel(exec, node, &p->kernel));
    case CU_GRAPH_NODE_TYPE_MEMCPY: WPI_DRIVER(set_copy(exec, node, &p->memcpy.copyParams));
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return exec != NULL ? cuGraphExecMemsetNodeSetParams(exec, node, &fill, p->memset.ctx)
                            : cuGraphMemsetNodeSetParams(node, &fill);
    case CU_GRAPH_NODE_TYPE_HOST:
        return exec != NULL ? cuGraphExecHostNodeSetParams(exec, node, &p->host)
                            : cuGraphHostNodeSetParams(node, &p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return exec != NULL ? cuGraphExecChildGraphNodeSetParams(exec, node, p->graph.graph)
                            : CUDA_ERROR_NOT_SUPPORTED;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return exec != NULL ? cuGraphExecEventWaitNodeSetEvent(exec, node, p->eventWait.event)
                            : cuGraphEventWaitNodeSetEvent(node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return exec != NULL ? cuGraphExecEventRecordNodeSetEvent(exec, node, p->eventRecord.event)
                            : cuGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

WP_API CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
    return nodeParams == NULL ? CUDA_ERROR_INVALID_VALUE : set_params(NULL, hNode, nodeParams);
}

WP_API CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                         CUgraphNodeParams *nodeParams) {
    if (hGraphExec == NULL || nodeParams == NULL) return CUDA_ERROR_INVALID_VALUE;
    return set_params(hGraphExec, hNode, nodeParams);
}

/* ---- executable graphs ---- */

WP_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                            unsigned long long flags) {
    WPI_DRIVER(cudaGraphInstantiateWithFlags(phGraphExec, hGraph, flags));
}

/* The form of CUDA 11; it leaves the log empty. */
WP_API CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
                                      CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize);
WP_API CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
                                      CUgraphNode *phErrorNode, char *logBuffer,
                                      size_t bufferSize) {
    if (phErrorNode != NULL) *phErrorNode = NULL;
    if (logBuffer != NULL && bufferSize != 0) logBuffer[0] = '\0';
    return cuGraphInstantiateWithFlags(phGraphExec, hGraph, 0);
}

WP_API CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                             CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams) {
    WPI_DRIVER(cudaGraphInstantiateWithParams(phGraphExec, hGraph, (void *)instantiateParams));
}

WP_API CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
    WPI_DRIVER_IN(false, cudaGraphExecDestroy(hGraphExec));
}

WP_API CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags) {
    WPI_DRIVER_IN(false, cudaGraphExecGetFlags(hGraphExec, (void *)flags));
}

WP_API CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaGraphUpload(hGraphExec, hStream));
}

WP_API CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaGraphLaunch(hGraphExec, hStream));
}

WP_API CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                                  CUgraphExecUpdateResultInfo *resultInfo) {
    WPI_DRIVER_IN(false, cudaGraphExecUpdate(hGraphExec, hGraph, (void *)resultInfo));
}

WP_API CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      unsigned int *isEnabled) {
    WPI_DRIVER_IN(false, cudaGraphNodeGetEnabled(hGraphExec, hNode, isEnabled));
}

WP_API CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      unsigned int isEnabled) {
    WPI_DRIVER_IN(false, cudaGraphNodeSetEnabled(hGraphExec, hNode, isEnabled));
}
