/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional nodes: a body that runs if, or while, a value is not 0, or the body with the value's
 * number. Kernels set the value by its handle, which is the address of a word in device memory.
 *
 * The host reads the word: a launch returns when its last condition was decided.
 */
#include <stdint.h>

#include "base/alloc.h"
#include "cudart/graph/graph.h"

/* ---- conditions ---- */

WP_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out,
                                                    cudaGraph_t graph,
                                                    unsigned int defaultLaunchValue,
                                                    unsigned int flags) {
    if (pHandle_out == NULL || graph == NULL || (flags & ~(unsigned)cudaGraphCondAssignDefault) ||
        !(wpi_handle_is_live(WPI_HANDLE_GRAPH, graph) || wpi_capture_has(graph)))
        return wpi_note(cudaErrorInvalidValue);
    wpi_condition *grown =
        wpi_realloc(graph->conditions, (graph->condition_count + 1) * sizeof *graph->conditions);
    if (grown == NULL) return wpi_note(cudaErrorMemoryAllocation);
    graph->conditions = grown;
    wpi_condition *c = &grown[graph->condition_count];
    *c = (wpi_condition){.value = defaultLaunchValue, .is_reset = flags != 0};
    WPI_TRY(wpi_graph_memory_new(sizeof(uint32_t), false, &c->word));
    graph->condition_count++;
    *pHandle_out = (uintptr_t)wpi_graph_memory_base(c->word);
    return cudaSuccess;
}

void wpi_conditions_free(struct CUgraph_st *graph) {
    for (size_t i = 0; i < graph->condition_count; i++)
        wpi_graph_memory_drop(graph->conditions[i].word);
    wpi_free(graph->conditions);
}

cudaError_t wpi_conditions_clone(struct CUgraph_st *to, const struct CUgraph_st *from) {
    if (from->condition_count == 0) return cudaSuccess;
    to->conditions = wpi_calloc(from->condition_count, sizeof *to->conditions);
    if (to->conditions == NULL) return wpi_note(cudaErrorMemoryAllocation);
    for (size_t i = 0; i < from->condition_count; i++) {
        to->conditions[i] = from->conditions[i];
        (void)wpi_graph_memory_share(to->conditions[i].word);
    }
    to->condition_count = from->condition_count;
    return cudaSuccess;
}

cudaError_t wpi_conditions_reset(const struct CUgraph_st *graph, cudaStream_t stream) {
    for (size_t i = 0; i < graph->condition_count; i++) {
        const wpi_condition *c = &graph->conditions[i];
        if (c->is_reset)
            WPI_TRY(wpi_fill(stream, wpi_row_at(wpi_graph_memory_base(c->word)), c->value,
                             sizeof c->value, wpi_row_of(sizeof c->value), true));
    }
    return cudaSuccess;
}

/* ---- nodes ---- */

void wpi_condition_free(wpi_condition_node *node) {
    for (uint32_t i = 0; i < node->count && node->bodies != NULL; i++) {
        if (node->bodies[i] != NULL) (void)wpi_handle_remove(WPI_HANDLE_GRAPH, node->bodies[i]);
        wpi_graph_free(node->bodies[i]);
    }
    wpi_free(node->bodies);
    wpi_graph_memory_drop(node->word);
}

static bool is_count_right(enum cudaGraphConditionalNodeType type, uint32_t count) {
    switch (type) {
    case cudaGraphCondTypeIf: return count == 1 || count == 2;
    case cudaGraphCondTypeWhile: return count == 1;
    case cudaGraphCondTypeSwitch: return count != 0;
    default: return false;
    }
}

cudaError_t wpi_condition_make(wpi_condition_node *node, struct cudaConditionalNodeParams *params) {
    wpi_graph_memory *word = wpi_graph_memory_find((const void *)(uintptr_t)params->handle);
    if (word == NULL || !is_count_right(params->type, params->size))
        return wpi_note(cudaErrorInvalidValue);
    *node = (wpi_condition_node){
        .word = wpi_graph_memory_share(word), .type = params->type, .count = params->size};
    node->bodies = wpi_calloc(node->count, sizeof(struct CUgraph_st *));
    cudaError_t error = node->bodies != NULL ? cudaSuccess : wpi_note(cudaErrorMemoryAllocation);
    for (uint32_t i = 0; i < node->count && error == cudaSuccess; i++)
        error = cudaGraphCreate(&node->bodies[i], 0);
    if (error != cudaSuccess) wpi_condition_free(node);
    params->phGraph_out = node->bodies;
    return error;
}

/* Bodies of a copy are no handles of the program. */
cudaError_t wpi_condition_clone(wpi_condition_node *to, const wpi_condition_node *from) {
    *to = (wpi_condition_node){
        .word = wpi_graph_memory_share(from->word), .type = from->type, .count = from->count};
    to->bodies = wpi_calloc(to->count, sizeof(struct CUgraph_st *));
    if (to->bodies == NULL) return wpi_note(cudaErrorMemoryAllocation);
    for (uint32_t i = 0; i < to->count; i++) {
        WPI_TRY(cudaGraphClone(&to->bodies[i], from->bodies[i]));
        (void)wpi_handle_remove(WPI_HANDLE_GRAPH, to->bodies[i]);
    }
    return cudaSuccess;
}

static cudaError_t read_word(const wpi_condition_node *node, cudaStream_t stream, uint32_t *out) {
    WPI_TRY(cudaMemcpyAsync(out, wpi_graph_memory_base(node->word), sizeof *out,
                            cudaMemcpyDeviceToHost, stream));
    return cudaStreamSynchronize(stream);
}

cudaError_t wpi_condition_queue(const wpi_condition_node *node, cudaStream_t stream) {
    uint32_t value;
    WPI_TRY(read_word(node, stream, &value));
    if (node->type == cudaGraphCondTypeWhile) {
        while (value != 0) {
            WPI_TRY(wpi_graph_queue(node->bodies[0], stream));
            WPI_TRY(read_word(node, stream, &value));
        }
        return cudaSuccess;
    }
    const uint32_t body = node->type == cudaGraphCondTypeIf ? value == 0 : value;
    return body < node->count ? wpi_graph_queue(node->bodies[body], stream) : cudaSuccess;
}
