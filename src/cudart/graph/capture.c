/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream capture: calls on a capturing stream become nodes that depend on the stream's last ones.
 * Another stream enters the capture by waiting for an event recorded in it, and must be joined the
 * same way before the end.
 *
 * One lock guards all captures; a stream's part of its capture is in this file's list, not in the
 * stream.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "cudart/graph/graph.h"

typedef struct capture {
    struct capture *next;
    uint64_t id;
    struct CUgraph_st *graph;
    cudaStream_t origin;
    pthread_t thread;
    enum cudaStreamCaptureMode mode;
    bool is_borrowed; /* the graph is the program's */
    bool is_invalid;
} capture;

/* A stream in a capture, and the nodes that its next one depends on. */
typedef struct part {
    struct part *next;
    cudaStream_t stream;
    capture *in;
    struct CUgraphNode_st **nodes;
    size_t count;
} part;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static capture *captures;
static part *parts;
static atomic_uint capture_count;
static uint64_t next_id = 1;
static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

static bool is_legacy(cudaStream_t key) {
    return key == NULL;
}

static part *find_part(cudaStream_t stream) {
    for (part *p = parts; p != NULL; p = p->next)
        if (p->stream == stream) return p;
    return NULL;
}

static capture *find_capture(uint64_t id) {
    for (capture *c = captures; c != NULL; c = c->next)
        if (c->id == id) return c;
    return NULL;
}

/* Replaces a part's nodes; false: out of memory. */
static bool set_nodes(part *p, struct CUgraphNode_st *const *nodes, size_t count) {
    struct CUgraphNode_st **copy = wpi_malloc((count + 1) * sizeof(struct CUgraphNode_st *));
    if (copy == NULL) return false;
    if (count != 0) memcpy(copy, nodes, count * sizeof(struct CUgraphNode_st *));
    wpi_free(p->nodes);
    p->nodes = copy;
    p->count = count;
    return true;
}

/* Adds nodes to a part's; false: out of memory. */
static bool join(part *p, struct CUgraphNode_st *const *nodes, size_t more) {
    struct CUgraphNode_st **both =
        wpi_malloc((p->count + more + 1) * sizeof(struct CUgraphNode_st *));
    if (both == NULL) return false;
    size_t count = p->count;
    if (count != 0) memcpy(both, p->nodes, count * sizeof(struct CUgraphNode_st *));
    for (size_t i = 0; i < more; i++) {
        bool is_there = false;
        for (size_t j = 0; j < count && !is_there; j++)
            is_there = both[j] == nodes[i];
        if (!is_there) both[count++] = nodes[i];
    }
    wpi_free(p->nodes);
    p->nodes = both;
    p->count = count;
    return true;
}

static part *add_part(cudaStream_t stream, capture *c) {
    part *p = wpi_calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    *p = (part){.next = parts, .stream = stream, .in = c};
    parts = p;
    return p;
}

bool wpi_capture_is_any(void) {
    return atomic_load_explicit(&capture_count, memory_order_acquire) != 0;
}

bool wpi_capture_is_on(cudaStream_t stream, cudaError_t *error) {
    *error = cudaSuccess;
    if (!wpi_capture_is_any()) return false;
    stream = wpi_stream_key(stream);
    pthread_mutex_lock(&lock);
    const part *p = find_part(stream);
    if (p != NULL && p->in->is_invalid) *error = cudaErrorStreamCaptureInvalidated;
    /* The legacy stream waits for streams that are captured, whose work does not exist yet. */
    for (part *q = parts; q != NULL && is_legacy(stream) && *error == cudaSuccess; q = q->next) {
        unsigned flags = 0;
        if (cudaStreamGetFlags(q->stream, &flags) != cudaSuccess ||
            (flags & cudaStreamNonBlocking) != 0)
            continue;
        q->in->is_invalid = true;
        *error = cudaErrorStreamCaptureImplicit;
    }
    pthread_mutex_unlock(&lock);
    (void)wpi_note(*error);
    return p != NULL;
}

cudaError_t wpi_capture_refuse(cudaStream_t stream) {
    stream = wpi_stream_key(stream);
    pthread_mutex_lock(&lock);
    const part *p = find_part(stream);
    if (p != NULL) p->in->is_invalid = true;
    pthread_mutex_unlock(&lock);
    return wpi_note(cudaErrorStreamCaptureUnsupported);
}

/* ---- beginning and end ---- */

/* Into a graph of the program, behind `nodes`, or without one into a new graph. */
static cudaError_t begin(cudaStream_t stream, struct CUgraph_st *into,
                         struct CUgraphNode_st *const *nodes, size_t count,
                         enum cudaStreamCaptureMode mode) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    stream = wpi_stream_key(stream);
    if (is_legacy(stream)) return wpi_note(cudaErrorStreamCaptureUnsupported);
    capture *c = wpi_calloc(1, sizeof *c);
    struct CUgraph_st *graph = into != NULL ? into : wpi_graph_new();
    cudaError_t error = c != NULL && graph != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
    pthread_mutex_lock(&lock);
    if (error == cudaSuccess && find_part(stream) != NULL) error = cudaErrorIllegalState;
    if (error == cudaSuccess) {
        *c = (capture){.next = captures,
                       .id = next_id++,
                       .graph = graph,
                       .origin = stream,
                       .thread = pthread_self(),
                       .mode = mode,
                       .is_borrowed = into != NULL};
        part *p = add_part(stream, c);
        if (p == NULL) error = cudaErrorMemoryAllocation;
        if (p != NULL && !set_nodes(p, nodes, count)) {
            parts = p->next;
            wpi_free(p);
            error = cudaErrorMemoryAllocation;
        }
    }
    if (error == cudaSuccess) {
        captures = c;
        atomic_fetch_add(&capture_count, 1);
    }
    pthread_mutex_unlock(&lock);
    if (error != cudaSuccess) {
        if (into == NULL) wpi_graph_free(graph);
        wpi_free(c);
    }
    return wpi_note(error);
}

WP_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    return begin(stream, NULL, NULL, 0, mode);
}

WP_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                 const cudaGraphNode_t *dependencies,
                                                 const cudaGraphEdgeData *dependencyData,
                                                 size_t numDependencies,
                                                 enum cudaStreamCaptureMode mode) {
    if (graph == NULL || !wpi_handle_is_live(WPI_HANDLE_GRAPH, graph) ||
        (dependencies == NULL && numDependencies != 0))
        return wpi_note(cudaErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++)
        if (dependencies[i] == NULL || dependencies[i]->graph != graph)
            return wpi_note(cudaErrorInvalidValue);
    if (!wpi_edges_are_plain(dependencyData, numDependencies))
        return wpi_note(cudaErrorNotSupported);
    return begin(stream, graph, dependencies, numDependencies, mode);
}

bool wpi_capture_has(cudaGraph_t graph) {
    if (!wpi_capture_is_any()) return false;
    pthread_mutex_lock(&lock);
    const capture *c = captures;
    while (c != NULL && c->graph != graph)
        c = c->next;
    pthread_mutex_unlock(&lock);
    return c != NULL;
}

/* Whether a node that no other one depends on is missing from the stream's last ones. A graph of
 * the program may have such nodes. */
static bool has_unjoined(const capture *c, const part *p) {
    bool is_found = false;
    for (const struct CUgraphNode_st *n = c->graph->first; n != NULL && !is_found; n = n->next) {
        bool is_leaf = true;
        for (const struct CUgraphNode_st *m = c->graph->first; m != NULL && is_leaf; m = m->next)
            for (size_t d = 0; d < m->dependency_count && is_leaf; d++)
                is_leaf = m->dependencies[d] != n;
        for (size_t i = 0; i < p->count && is_leaf; i++)
            is_leaf = p->nodes[i] != n;
        is_found = is_leaf;
    }
    return is_found;
}

static void remove_capture(capture *c) {
    for (part **link = &parts; *link != NULL;) {
        part *p = *link;
        if (p->in != c) {
            link = &p->next;
            continue;
        }
        *link = p->next;
        wpi_free(p->nodes);
        wpi_free(p);
    }
    for (capture **link = &captures; *link != NULL; link = &(*link)->next) {
        if (*link != c) continue;
        *link = c->next;
        break;
    }
    atomic_fetch_sub(&capture_count, 1);
}

static cudaError_t end_locked(cudaStream_t stream, struct CUgraph_st **graph, bool *is_new) {
    part *p = find_part(stream);
    *graph = NULL;
    *is_new = false;
    if (p == NULL) return cudaErrorIllegalState;
    capture *c = p->in;
    if (c->origin != stream) {
        c->is_invalid = true;
        return cudaErrorStreamCaptureUnmatched;
    }
    if (c->mode != cudaStreamCaptureModeRelaxed && !pthread_equal(c->thread, pthread_self()))
        return cudaErrorStreamCaptureWrongThread;
    cudaError_t error = cudaSuccess;
    if (c->is_invalid)
        error = cudaErrorStreamCaptureInvalidated;
    else if (!c->is_borrowed && has_unjoined(c, p))
        error = cudaErrorStreamCaptureUnjoined;
    if (error == cudaSuccess) {
        *graph = c->graph;
        *is_new = !c->is_borrowed;
    } else if (!c->is_borrowed) {
        wpi_graph_free(c->graph);
    }
    remove_capture(c);
    wpi_free(c);
    return error;
}

WP_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph) {
    struct CUgraph_st *graph;
    bool is_new;
    stream = wpi_stream_key(stream);
    pthread_mutex_lock(&lock);
    const part *p = find_part(stream);
    if (pGraph == NULL && (p == NULL || !p->in->is_borrowed)) {
        pthread_mutex_unlock(&lock);
        return wpi_note(cudaErrorInvalidValue);
    }
    cudaError_t error = end_locked(stream, &graph, &is_new);
    pthread_mutex_unlock(&lock);
    if (is_new && !wpi_handle_add(WPI_HANDLE_GRAPH, graph)) {
        wpi_graph_free(graph);
        graph = NULL;
        error = cudaErrorMemoryAllocation;
    }
    if (pGraph != NULL) *pGraph = graph;
    return wpi_note(error);
}

void wpi_capture_forget(cudaStream_t stream) {
    if (!wpi_capture_is_any()) return;
    pthread_mutex_lock(&lock);
    for (part **link = &parts; *link != NULL; link = &(*link)->next) {
        part *p = *link;
        if (p->stream != stream) continue;
        capture *c = p->in;
        if (c->origin == stream) {
            remove_capture(c);
            if (!c->is_borrowed) wpi_graph_free(c->graph);
            wpi_free(c);
        } else {
            *link = p->next;
            wpi_free(p->nodes);
            wpi_free(p);
        }
        break;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- queries ---- */

static enum cudaStreamCaptureStatus status_of(cudaStream_t stream, uint64_t *id,
                                              struct CUgraph_st **graph) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    stream = wpi_stream_key(stream);
    pthread_mutex_lock(&lock);
    const part *p = find_part(stream);
    if (p != NULL) {
        status =
            p->in->is_invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
        if (id != NULL) *id = p->in->id;
        if (graph != NULL) *graph = p->in->graph;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

WP_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                         enum cudaStreamCaptureStatus *pCaptureStatus) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    if (pCaptureStatus == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    *pCaptureStatus = status_of(stream, NULL, NULL);
    return cudaSuccess;
}

#undef cudaStreamGetCaptureInfo /* the form of CUDA 11 */
WP_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                            enum cudaStreamCaptureStatus *pCaptureStatus,
                                            unsigned long long *pId) {
    uint64_t id = 0;
    if (pCaptureStatus == NULL) return wpi_note(cudaErrorInvalidValue);
    *pCaptureStatus = status_of(stream, &id, NULL);
    if (pId != NULL) *pId = id;
    return cudaSuccess;
}

/* The list of nodes is valid until the stream's next call. */
WP_API cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                               enum cudaStreamCaptureStatus *captureStatus_out,
                                               unsigned long long *id_out, cudaGraph_t *graph_out,
                                               const cudaGraphNode_t **dependencies_out,
                                               size_t *numDependencies_out) {
    uint64_t id = 0;
    if (captureStatus_out == NULL) return wpi_note(cudaErrorInvalidValue);
    *captureStatus_out = status_of(stream, &id, graph_out);
    if (id_out != NULL) *id_out = id;
    pthread_mutex_lock(&lock);
    const part *p = find_part(wpi_stream_key(stream));
    if (dependencies_out != NULL) *dependencies_out = p != NULL ? p->nodes : NULL;
    if (numDependencies_out != NULL) *numDependencies_out = p != NULL ? p->count : 0;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

WP_API cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream,
                                               enum cudaStreamCaptureStatus *captureStatus_out,
                                               unsigned long long *id_out, cudaGraph_t *graph_out,
                                               const cudaGraphNode_t **dependencies_out,
                                               const cudaGraphEdgeData **edgeData_out,
                                               size_t *numDependencies_out) {
    if (edgeData_out != NULL) *edgeData_out = NULL; /* all edges are plain */
    return cudaStreamGetCaptureInfo_v2(stream, captureStatus_out, id_out, graph_out,
                                       dependencies_out, numDependencies_out);
}

/* Adds to what the stream's next node depends on, or replaces it. */
static cudaError_t update(part *p, cudaGraphNode_t *nodes, size_t count, bool replaces) {
    for (size_t i = 0; i < count; i++)
        if (nodes[i] == NULL || nodes[i]->graph != p->in->graph) return cudaErrorInvalidValue;
    if (replaces) return set_nodes(p, nodes, count) ? cudaSuccess : cudaErrorMemoryAllocation;
    return join(p, nodes, count) ? cudaSuccess : cudaErrorMemoryAllocation;
}

WP_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                       cudaGraphNode_t *dependencies,
                                                       size_t numDependencies, unsigned int flags) {
    if ((dependencies == NULL && numDependencies != 0) || flags > cudaStreamSetCaptureDependencies)
        return wpi_note(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    part *p = find_part(wpi_stream_key(stream));
    const cudaError_t error = p == NULL ? cudaErrorIllegalState
                                        : update(p, dependencies, numDependencies,
                                                 flags == cudaStreamSetCaptureDependencies);
    pthread_mutex_unlock(&lock);
    return wpi_note(error);
}

WP_API cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream,
                                                          cudaGraphNode_t *dependencies,
                                                          const cudaGraphEdgeData *dependencyData,
                                                          size_t numDependencies,
                                                          unsigned int flags) {
    if (!wpi_edges_are_plain(dependencyData, numDependencies))
        return wpi_note(cudaErrorNotSupported);
    return cudaStreamUpdateCaptureDependencies(stream, dependencies, numDependencies, flags);
}

/* The mode only restricts calls, which are allowed here. */
WP_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    if (mode == NULL || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return wpi_note(cudaErrorInvalidValue);
    const enum cudaStreamCaptureMode old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return cudaSuccess;
}

/* ---- nodes ---- */

/* Adds a node after the stream's last ones; the lock is held until finish(). */
static cudaError_t begin_node(cudaStream_t stream, enum cudaGraphNodeType type,
                              struct CUgraphNode_st **out) {
    stream = wpi_stream_key(stream);
    pthread_mutex_lock(&lock);
    part *p = find_part(stream);
    *out = p != NULL ? wpi_graph_add(p->in->graph, type, p->nodes, p->count) : NULL;
    if (*out == NULL || !set_nodes(p, out, 1)) {
        if (p != NULL) p->in->is_invalid = true;
        return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

static cudaError_t finish(cudaStream_t stream, cudaError_t error) {
    part *p = find_part(wpi_stream_key(stream));
    if (error != cudaSuccess && p != NULL) p->in->is_invalid = true;
    pthread_mutex_unlock(&lock);
    return wpi_note(error);
}

cudaError_t wpi_capture_kernel(cudaStream_t stream, const wpi_kernel_node *kernel) {
    struct CUgraphNode_st *n;
    cudaError_t error = begin_node(stream, cudaGraphNodeTypeKernel, &n);
    if (error == cudaSuccess) error = wpi_node_set_kernel(n, kernel);
    return finish(stream, error);
}

cudaError_t wpi_capture_copy(cudaStream_t stream, const wpi_copy_node *copy) {
    struct CUgraphNode_st *n;
    const cudaError_t error = begin_node(stream, cudaGraphNodeTypeMemcpy, &n);
    if (error == cudaSuccess) n->u.copy = *copy;
    return finish(stream, error);
}

cudaError_t wpi_capture_fill(cudaStream_t stream, const wpi_fill_node *fill) {
    struct CUgraphNode_st *n;
    const cudaError_t error = begin_node(stream, cudaGraphNodeTypeMemset, &n);
    if (error == cudaSuccess) n->u.fill = *fill;
    return finish(stream, error);
}

cudaError_t wpi_capture_host(cudaStream_t stream, cudaHostFn_t function, void *user) {
    struct CUgraphNode_st *n;
    const cudaError_t error = begin_node(stream, cudaGraphNodeTypeHost, &n);
    if (error == cudaSuccess)
        n->u.host = (struct cudaHostNodeParams){.fn = function, .userData = user};
    return finish(stream, error);
}

cudaError_t wpi_capture_allocate(cudaStream_t stream, size_t bytes, void **out) {
    struct CUgraphNode_st *n;
    cudaError_t error = begin_node(stream, cudaGraphNodeTypeMemAlloc, &n);
    if (error == cudaSuccess) error = wpi_graph_memory_new(bytes, true, &n->u.memory);
    if (error == cudaSuccess) *out = wpi_graph_memory_base(n->u.memory);
    return finish(stream, error);
}

cudaError_t wpi_capture_free(cudaStream_t stream, void *base) {
    struct CUgraphNode_st *n;
    wpi_graph_memory *memory = wpi_graph_memory_find(base);
    if (memory == NULL) return wpi_capture_refuse(stream);
    const cudaError_t error = begin_node(stream, cudaGraphNodeTypeMemFree, &n);
    if (error == cudaSuccess) n->u.memory = wpi_graph_memory_share(memory);
    return finish(stream, error);
}

/* ---- events ---- */

cudaError_t wpi_capture_record(cudaStream_t stream, wpi_event_capture *event) {
    cudaError_t error = cudaErrorMemoryAllocation;
    stream = wpi_stream_key(stream);
    pthread_mutex_lock(&lock);
    const part *p = find_part(stream);
    struct CUgraphNode_st **nodes =
        p != NULL ? wpi_malloc((p->count + 1) * sizeof(struct CUgraphNode_st *)) : NULL;
    if (nodes != NULL) {
        if (p->count != 0) memcpy(nodes, p->nodes, p->count * sizeof(struct CUgraphNode_st *));
        wpi_free(event->nodes);
        *event = (wpi_event_capture){.id = p->in->id, .nodes = nodes, .count = p->count};
        error = cudaSuccess;
    }
    pthread_mutex_unlock(&lock);
    return wpi_note(error);
}

static cudaError_t wait_locked(cudaStream_t stream, const wpi_event_capture *event) {
    part *p = find_part(stream);
    capture *c = find_capture(event->id);
    if (c == NULL) { /* no event of a capture, or of one that has ended */
        if (p != NULL) p->in->is_invalid = true;
        return p != NULL ? cudaErrorStreamCaptureIsolation : cudaErrorCapturedEvent;
    }
    if (p != NULL && p->in != c) {
        p->in->is_invalid = c->is_invalid = true;
        return cudaErrorStreamCaptureMerge;
    }
    if (p == NULL && is_legacy(stream)) {
        c->is_invalid = true;
        return cudaErrorStreamCaptureImplicit;
    }
    if (p == NULL) {
        p = add_part(stream, c);
        return p != NULL && set_nodes(p, event->nodes, event->count) ? cudaSuccess
                                                                     : cudaErrorMemoryAllocation;
    }
    return join(p, event->nodes, event->count) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t wpi_capture_wait(cudaStream_t stream, const wpi_event_capture *event) {
    stream = wpi_stream_key(stream);
    pthread_mutex_lock(&lock);
    const cudaError_t error = wait_locked(stream, event);
    pthread_mutex_unlock(&lock);
    return wpi_note(error);
}
