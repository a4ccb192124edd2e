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
    void **args;  /* pointers, then the values they point to: one piece of memory */
    dim3 cluster; /* 0: as the kernel says */
} wpi_kernel_node;

typedef struct wpi_copy_node {
    wpi_box dst, src;
    wpi_extent extent;
    enum cudaMemcpyKind kind;
    struct cudaMemcpy3DParms given; /* by the program; extent 0: other parameters */
} wpi_copy_node;

typedef struct wpi_fill_node {
    wpi_box box;
    uint32_t value, value_bytes;
    wpi_extent extent;
} wpi_fill_node;

/** Device memory of graphs (graph_memory.c): of an allocation node, or the word of a condition. Its
 * address is fixed from the node's (the condition's) creation on. Shared by the nodes and graphs
 * that name it. */
typedef struct wpi_graph_memory wpi_graph_memory;

/** A value that kernels set and conditional nodes read. */
typedef struct wpi_condition {
    wpi_graph_memory *word; /* 32 bits; its address is the handle */
    uint32_t value;         /* at each launch, if is_reset */
    bool is_reset;
} wpi_condition;

typedef struct wpi_condition_node {
    wpi_graph_memory *word;
    enum cudaGraphConditionalNodeType type;
    uint32_t count;
    struct CUgraph_st **bodies; /* [count] */
} wpi_condition_node;

struct CUgraphNode_st {
    struct CUgraphNode_st *next; /* in order of creation */
    struct CUgraph_st *graph;
    enum cudaGraphNodeType type;
    struct CUgraphNode_st **dependencies;
    size_t dependency_count;
    size_t index;                          /* in its graph */
    bool is_off;                           /* launches leave it out */
    const struct CUgraphNode_st *original; /* of a clone */
    union {
        wpi_kernel_node kernel;
        wpi_copy_node copy;
        wpi_fill_node fill;
        struct cudaHostNodeParams host;
        struct CUgraph_st *child;
        wpi_graph_memory *memory; /* allocated, or freed */
        wpi_condition_node condition;
        cudaEvent_t event;
    } u;
};

struct CUgraph_st {
    struct CUgraphNode_st *first, **last;
    size_t count;
    wpi_condition *conditions; /* of cudaGraphConditionalHandleCreate */
    size_t condition_count;
};

/** A graph without nodes; NULL: out of memory. Not in the set of live handles. */
struct CUgraph_st *wpi_graph_new(void);
void wpi_graph_free(struct CUgraph_st *graph);
/** Adds a node with all but its work; NULL: out of memory. */
struct CUgraphNode_st *wpi_graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                     struct CUgraphNode_st *const *dependencies, size_t count);
/** Frees a node that its graph does not list any more. */
void wpi_node_free(struct CUgraphNode_st *node);
/** Adds dependencies that are missing; false: out of memory. */
bool wpi_node_depend(struct CUgraphNode_st *node, struct CUgraphNode_st *const *dependencies,
                     size_t count);
/** As the calls add nodes: checks the graph and the dependencies. Noted. */
cudaError_t wpi_graph_add_checked(cudaGraphNode_t *out, cudaGraph_t graph,
                                  enum cudaGraphNodeType type, const cudaGraphNode_t *dependencies,
                                  size_t count);
/** Edges have no ports: only kernels that start before others have ended would use them. */
bool wpi_edges_are_plain(const cudaGraphEdgeData *edges, size_t count);
/** Removes the node that was added last, whose work could not be set. */
void wpi_graph_take_back(cudaGraph_t graph, cudaGraphNode_t node);
/** Fills a kernel's node: copies the arguments. Noted. */
cudaError_t wpi_node_set_kernel(struct CUgraphNode_st *node, const wpi_kernel_node *kernel);
/** Noted. */
cudaError_t wpi_node_set_fill(struct CUgraphNode_st *node, const struct cudaMemsetParams *params);

/* ---- graph_memory.c ---- */

/** Takes device memory of the current device, with one owner. Noted. */
cudaError_t wpi_graph_memory_new(size_t bytes, bool is_counted, wpi_graph_memory **out);
wpi_graph_memory *wpi_graph_memory_share(wpi_graph_memory *memory);
/** The last owner gives it back to the device, unless the program has yet to free it. */
void wpi_graph_memory_drop(wpi_graph_memory *memory);
/** The memory at this address; NULL: it is no graph's. */
wpi_graph_memory *wpi_graph_memory_find(const void *base);
void *wpi_graph_memory_base(const wpi_graph_memory *memory);
/** A launch reaches the node that allocates (frees) the memory. INVALID: it is allocated (freed)
 * already. Noted. */
cudaError_t wpi_graph_memory_allocate(wpi_graph_memory *memory, bool frees_first);
cudaError_t wpi_graph_memory_free(wpi_graph_memory *memory);
/** The device is reset, and its memory is gone. */
void wpi_graph_memory_forget_all(uint32_t device);

/* ---- graph_condition.c ---- */

/** Makes the bodies, which *params names. Noted. */
cudaError_t wpi_condition_make(wpi_condition_node *node, struct cudaConditionalNodeParams *params);
void wpi_condition_free(wpi_condition_node *node);
/** Noted. */
cudaError_t wpi_condition_clone(wpi_condition_node *to, const wpi_condition_node *from);
cudaError_t wpi_conditions_clone(struct CUgraph_st *to, const struct CUgraph_st *from);
void wpi_conditions_free(struct CUgraph_st *graph);
/** Queues the values that the graph's conditions have at each launch. Noted. */
cudaError_t wpi_conditions_reset(const struct CUgraph_st *graph, cudaStream_t stream);
/** Waits for the stream, and queues the bodies that the condition asks for. Noted. */
cudaError_t wpi_condition_queue(const wpi_condition_node *node, cudaStream_t stream);

/* ---- graph_exec.c ---- */

/** The executable graph's copy of a node of the graph that it was made of; NULL: there is none. */
struct CUgraphNode_st *wpi_graph_exec_find(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           enum cudaGraphNodeType type);
/** Whether both have nodes of the same types with the same dependencies. */
bool wpi_graph_is_alike(const struct CUgraph_st *a, const struct CUgraph_st *b);
/** Queues a graph's nodes. Noted. */
cudaError_t wpi_graph_queue(struct CUgraph_st *graph, cudaStream_t stream);

/* ---- capture.c ---- */

/** Whether calls on this stream are captured; `*error` says why the call fails in a capture that is
 * in progress (noted), or is success. */
bool wpi_capture_is_on(cudaStream_t stream, cudaError_t *error);
/** A call that a capture forbids: invalidates the stream's capture. Noted. */
cudaError_t wpi_capture_refuse(cudaStream_t stream);
/** Whether the graph is one that a stream is captured into. */
bool wpi_capture_has(cudaGraph_t graph);
/** Whether any stream is captured. */
bool wpi_capture_is_any(void);

/** The stream is destroyed: it leaves its capture, which ends if it began in this stream. */
void wpi_capture_forget(cudaStream_t stream);

/** launch.c: launches the node's kernel. */
cudaError_t wpi_launch_node(const wpi_kernel_node *k, cudaStream_t stream);
/** launch.c: attributes that affect performance only; leaving them out changes no result. */
bool wpi_launch_attribute_is_hint(cudaLaunchAttributeID id);

/** Add a node to the stream's capture. Noted. */
cudaError_t wpi_capture_kernel(cudaStream_t stream, const wpi_kernel_node *kernel);
cudaError_t wpi_capture_copy(cudaStream_t stream, const wpi_copy_node *copy);
cudaError_t wpi_capture_fill(cudaStream_t stream, const wpi_fill_node *fill);
cudaError_t wpi_capture_host(cudaStream_t stream, cudaHostFn_t function, void *user);
cudaError_t wpi_capture_allocate(cudaStream_t stream, size_t bytes, void **out);
cudaError_t wpi_capture_free(cudaStream_t stream, void *base);

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
