/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that copy: of boxes of memory and arrays, of rows, of device variables. What a node copies
 * is checked as far as it does not depend on the time of the launch. */
#include "cudart/graph/graph.h"

/* ---- what a node copies ---- */

static cudaError_t box_copy(const struct cudaMemcpy3DParms *p, wpi_copy_node *out) {
    if (p == NULL) return wpi_note(cudaErrorInvalidValue);
    wpi_copy_node copy = {.kind = p->kind, .given = *p};
    WPI_TRY(wpi_copy_boxes(p, &copy.dst, &copy.src, &copy.extent));
    if (copy.dst.first == NULL) return wpi_note(cudaErrorInvalidValue); /* nothing to copy */
    *out = copy;
    return cudaSuccess;
}

static cudaError_t row_copy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            wpi_copy_node *out) {
    if (dst == NULL || src == NULL) return wpi_note(cudaErrorInvalidValue);
    *out = (wpi_copy_node){
        .dst = wpi_row_at(dst), .src = wpi_row_at(src), .extent = wpi_row_of(count), .kind = kind};
    return cudaSuccess;
}

static cudaError_t find_part(const void *symbol, size_t count, size_t offset, void **out) {
    size_t size_bytes = 0;
    void *address = NULL;
    WPI_TRY(cudaGetSymbolSize(&size_bytes, symbol));
    WPI_TRY(cudaGetSymbolAddress(&address, symbol));
    if (offset > size_bytes || count > size_bytes - offset) return wpi_note(cudaErrorInvalidValue);
    *out = (char *)address + offset;
    return cudaSuccess;
}

static cudaError_t copy_to(const void *symbol, const void *src, size_t count, size_t offset,
                           enum cudaMemcpyKind kind, wpi_copy_node *out) {
    void *dst = NULL;
    WPI_TRY(find_part(symbol, count, offset, &dst));
    return row_copy(dst, src, count, kind, out);
}

static cudaError_t copy_from(void *dst, const void *symbol, size_t count, size_t offset,
                             enum cudaMemcpyKind kind, wpi_copy_node *out) {
    void *src = NULL;
    WPI_TRY(find_part(symbol, count, offset, &src));
    return row_copy(dst, src, count, kind, out);
}

/* ---- adding ---- */

static cudaError_t add(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                       size_t count, const wpi_copy_node *copy) {
    WPI_TRY(wpi_graph_add_checked(out, graph, cudaGraphNodeTypeMemcpy, dependencies, count));
    (*out)->u.copy = *copy;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                          const cudaGraphNode_t *pDependencies,
                                          size_t numDependencies,
                                          const struct cudaMemcpy3DParms *pCopyParams) {
    wpi_copy_node copy;
    WPI_TRY(box_copy(pCopyParams, &copy));
    return add(pGraphNode, graph, pDependencies, numDependencies, &copy);
}

WP_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                            const cudaGraphNode_t *pDependencies,
                                            size_t numDependencies, void *dst, const void *src,
                                            size_t count, enum cudaMemcpyKind kind) {
    wpi_copy_node copy;
    WPI_TRY(row_copy(dst, src, count, kind, &copy));
    return add(pGraphNode, graph, pDependencies, numDependencies, &copy);
}

WP_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                  const cudaGraphNode_t *pDependencies,
                                                  size_t numDependencies, const void *symbol,
                                                  const void *src, size_t count, size_t offset,
                                                  enum cudaMemcpyKind kind) {
    wpi_copy_node copy;
    WPI_TRY(copy_to(symbol, src, count, offset, kind, &copy));
    return add(pGraphNode, graph, pDependencies, numDependencies, &copy);
}

WP_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                    const cudaGraphNode_t *pDependencies,
                                                    size_t numDependencies, void *dst,
                                                    const void *symbol, size_t count, size_t offset,
                                                    enum cudaMemcpyKind kind) {
    wpi_copy_node copy;
    WPI_TRY(copy_from(dst, symbol, count, offset, kind, &copy));
    return add(pGraphNode, graph, pDependencies, numDependencies, &copy);
}

/* ---- questions ---- */

static struct cudaPitchedPtr pointer_to(const wpi_box *box, const wpi_extent *e) {
    const size_t pitch = box->pitch_bytes != 0 ? box->pitch_bytes : e->width_bytes;
    const size_t rows = box->slice_bytes != 0 && pitch != 0 ? box->slice_bytes / pitch : e->height;
    return (struct cudaPitchedPtr){box->first, pitch, e->width_bytes, rows};
}

WP_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                struct cudaMemcpy3DParms *pNodeParams) {
    if (node == NULL || node->type != cudaGraphNodeTypeMemcpy || pNodeParams == NULL)
        return wpi_note(cudaErrorInvalidValue);
    const wpi_copy_node *c = &node->u.copy;
    *pNodeParams = c->given;
    if (c->given.extent.depth != 0) return cudaSuccess;
    *pNodeParams = (struct cudaMemcpy3DParms){
        .srcPtr = pointer_to(&c->src, &c->extent),
        .dstPtr = pointer_to(&c->dst, &c->extent),
        .extent = {c->extent.width_bytes, c->extent.height, c->extent.depth},
        .kind = c->kind};
    return cudaSuccess;
}

/* ---- changes ---- */

static cudaError_t change(cudaGraphNode_t node, const wpi_copy_node *copy) {
    if (node == NULL || node->type != cudaGraphNodeTypeMemcpy)
        return wpi_note(cudaErrorInvalidValue);
    node->u.copy = *copy;
    return cudaSuccess;
}

static cudaError_t change_exec(cudaGraphExec_t exec, cudaGraphNode_t node,
                               const wpi_copy_node *copy) {
    return change(wpi_graph_exec_find(exec, node, cudaGraphNodeTypeMemcpy), copy);
}

WP_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemcpy3DParms *pNodeParams) {
    wpi_copy_node copy;
    WPI_TRY(box_copy(pNodeParams, &copy));
    return change(node, &copy);
}

WP_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec,
                                                    cudaGraphNode_t node,
                                                    const struct cudaMemcpy3DParms *pNodeParams) {
    wpi_copy_node copy;
    WPI_TRY(box_copy(pNodeParams, &copy));
    return change_exec(hGraphExec, node, &copy);
}

WP_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                                  size_t count, enum cudaMemcpyKind kind) {
    wpi_copy_node copy;
    WPI_TRY(row_copy(dst, src, count, kind, &copy));
    return change(node, &copy);
}

WP_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec,
                                                      cudaGraphNode_t node, void *dst,
                                                      const void *src, size_t count,
                                                      enum cudaMemcpyKind kind) {
    wpi_copy_node copy;
    WPI_TRY(row_copy(dst, src, count, kind, &copy));
    return change_exec(hGraphExec, node, &copy);
}

WP_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                        const void *src, size_t count,
                                                        size_t offset, enum cudaMemcpyKind kind) {
    wpi_copy_node copy;
    WPI_TRY(copy_to(symbol, src, count, offset, kind, &copy));
    return change(node, &copy);
}

WP_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
                                                          const void *symbol, size_t count,
                                                          size_t offset, enum cudaMemcpyKind kind) {
    wpi_copy_node copy;
    WPI_TRY(copy_from(dst, symbol, count, offset, kind, &copy));
    return change(node, &copy);
}

WP_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec,
                                                            cudaGraphNode_t node,
                                                            const void *symbol, const void *src,
                                                            size_t count, size_t offset,
                                                            enum cudaMemcpyKind kind) {
    wpi_copy_node copy;
    WPI_TRY(copy_to(symbol, src, count, offset, kind, &copy));
    return change_exec(hGraphExec, node, &copy);
}

WP_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
                                                              cudaGraphNode_t node, void *dst,
                                                              const void *symbol, size_t count,
                                                              size_t offset,
                                                              enum cudaMemcpyKind kind) {
    wpi_copy_node copy;
    WPI_TRY(copy_from(dst, symbol, count, offset, kind, &copy));
    return change_exec(hGraphExec, node, &copy);
}
