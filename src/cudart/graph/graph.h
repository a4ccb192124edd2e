/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Graphs: nodes of work with dependencies, made by calls or by capturing streams, and launched as
 * work of one stream in an order that keeps the dependencies.
 *
 * Thread rule: a graph is used by one thread at a time, as in CUDA; captures by any.
 */
#ifndef WP_CUDART_GRAPH_H
#define WP_CUDART_GRAPH_H

#include "cudart/cudart.h"

typedef struct wpi_kernel_node {
    const void *function;
    dim3 grid, block;
    size_t shared_bytes;
    bool is_cooperative;
    void **args; /* pointers, then the values they point to: one piece of memory */
} wpi_kernel_node;

typedef struct wpi_copy_node {
    wpi_box dst, src;
    wpi_extent extent;
    enum cudaMemcpyKind kind;
} wpi_copy_node;

typedef struct wpi_fill_node {
    wpi_box box;
    uint32_t value, value_bytes;
    wpi_extent extent;
} wpi_fill_node;

struct CUgraphNode_st {
    struct CUgraphNode_st *next; /* in order of creation */
    struct CUgraph_st *graph;
    enum cudaGraphNodeType type;
    struct CUgraphNode_st **dependencies;
    size_t dependency_count;
    size_t index;                          /* in its graph */
    const struct CUgraphNode_st *original; /* of a clone */
    union {
        wpi_kernel_node kernel;
        wpi_copy_node copy;
        wpi_fill_node fill;
        struct cudaHostNodeParams host;
        struct CUgraph_st *child;
    } u;
};

struct CUgraph_st {
    struct CUgraphNode_st *first, **last;
    size_t count;
};

/** A graph without nodes; NULL: out of memory. Not in the set of live handles. */
struct CUgraph_st *wpi_graph_new(void);
void wpi_graph_free(struct CUgraph_st *graph);
/** Adds a node with all but its work; NULL: out of memory. */
struct CUgraphNode_st *wpi_graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                     struct CUgraphNode_st *const *dependencies, size_t count);
/** Adds dependencies that are missing; false: out of memory. */
bool wpi_node_depend(struct CUgraphNode_st *node, struct CUgraphNode_st *const *dependencies,
                     size_t count);
/** Fills a kernel's node: copies the arguments. Noted. */
cudaError_t wpi_node_set_kernel(struct CUgraphNode_st *node, const wpi_kernel_node *kernel);

/* ---- capture.c ---- */

/** Whether calls on this stream are captured; `*error` says why the call fails in a capture that is
 * in progress (noted), or is success. */
bool wpi_capture_is_on(cudaStream_t stream, cudaError_t *error);
/** A call that a capture forbids: invalidates the stream's capture. Noted. */
cudaError_t wpi_capture_refuse(cudaStream_t stream);
/** Whether any stream is captured. */
bool wpi_capture_is_any(void);

/** The stream is destroyed: it leaves its capture, which ends if it began in this stream. */
void wpi_capture_forget(cudaStream_t stream);

/** Add a node to the stream's capture. Noted. */
cudaError_t wpi_capture_kernel(cudaStream_t stream, const wpi_kernel_node *kernel);
cudaError_t wpi_capture_copy(cudaStream_t stream, const wpi_copy_node *copy);
cudaError_t wpi_capture_fill(cudaStream_t stream, const wpi_fill_node *fill);
cudaError_t wpi_capture_host(cudaStream_t stream, cudaHostFn_t function, void *user);

/** The nodes that an event marks, when it was recorded in a capture. */
typedef struct wpi_event_capture {
    uint64_t id; /* of the capture; 0: none */
    struct CUgraphNode_st **nodes;
    size_t count;
} wpi_event_capture;

cudaError_t wpi_capture_record(cudaStream_t stream, wpi_event_capture *event);
/** Makes a stream wait for a captured event, which may bring it into the capture. */
cudaError_t wpi_capture_wait(cudaStream_t stream, const wpi_event_capture *event);

#endif
