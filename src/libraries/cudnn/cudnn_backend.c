/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of the graph interface. */
#include <string.h>

#include "base/alloc.h"
#include "libraries/cuda_library.h"
#include "libraries/cudnn/backend_graph.h"

/* ---- attributes ---- */

static size_t element_bytes(int type) {
    switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR: return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 8;
    case CUDNN_TYPE_FRACTION: return 16;
    default: return 4;
    }
}

static void release(wpi_backend *one);

static void release_attribute(wpi_attribute *a) {
    wpi_backend *const *held = (wpi_backend *const *)(const void *)a->data;
    for (int64_t i = 0; a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < a->count; i++)
        release(held[i]);
    wpi_free(a);
}

static void release(wpi_backend *one) {
    if (one == NULL || atomic_fetch_sub(&one->holders, 1) != 1) return;
    for (wpi_attribute *a = one->attributes, *next; a != NULL; a = next) {
        next = a->next;
        release_attribute(a);
    }
    wpi_free(one);
}

static cudnnStatus_t set(wpi_backend *one, int name, int type, int64_t count, const void *data) {
    const size_t bytes = (size_t)count * element_bytes(type);
    wpi_attribute *made = wpi_calloc(1, sizeof *made + bytes);
    if (made == NULL) return CUDNN_STATUS_ALLOC_FAILED;
    made->name = name;
    made->type = type;
    made->count = count;
    if (bytes != 0) memcpy(made->data, data, bytes);
    wpi_backend *const *held = (wpi_backend *const *)(const void *)made->data;
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; i++) {
        if (held[i] != NULL) atomic_fetch_add(&held[i]->holders, 1);
    }
    wpi_attribute **at = &one->attributes;
    while (*at != NULL && (*at)->name != name)
        at = &(*at)->next;
    if (*at != NULL) {
        wpi_attribute *old = *at;
        made->next = old->next;
        *at = made;
        release_attribute(old);
    } else {
        *at = made;
    }
    return CUDNN_STATUS_SUCCESS;
}

const wpi_attribute *wpi_backend_find(const wpi_backend *one, int name, int type) {
    const wpi_attribute *a = one != NULL ? one->attributes : NULL;
    while (a != NULL && a->name != name)
        a = a->next;
    return a != NULL && a->type == type && a->count > 0 ? a : NULL;
}

const wpi_backend *wpi_backend_child(const wpi_backend *one, int name) {
    const wpi_attribute *a = wpi_backend_find(one, name, CUDNN_TYPE_BACKEND_DESCRIPTOR);
    return a != NULL ? *(const wpi_backend *const *)(const void *)a->data : NULL;
}

/* ---- descriptors ---- */

WP_API cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
                                                  cudnnBackendDescriptor_t *descriptor) {
    if (descriptor == NULL) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    wpi_backend *made = wpi_calloc(1, sizeof *made);
    *descriptor = made;
    if (made == NULL) return CUDNN_STATUS_ALLOC_FAILED;
    made->kind = (int)descriptorType;
    atomic_init(&made->holders, 1);
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
    release(descriptor);
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor) {
    return descriptor != NULL ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
}

WP_API cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t attributeName,
                                              cudnnBackendAttributeType_t attributeType,
                                              int64_t elementCount, const void *arrayOfElements) {
    wpi_backend *one = descriptor;
    if (one == NULL || elementCount < 0 || elementCount > INT32_MAX ||
        (arrayOfElements == NULL && elementCount != 0) || one->is_final)
        return CUDNN_STATUS_BAD_PARAM;
    return set(one, (int)attributeName, (int)attributeType, elementCount, arrayOfElements);
}

static const wpi_backend *graph_of(const wpi_backend *engine_or_config) {
    const wpi_backend *engine = engine_or_config;
    if (engine != NULL && engine->kind == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
        engine = wpi_backend_child(engine, CUDNN_ATTR_ENGINECFG_ENGINE);
    return wpi_backend_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
}

/* There is one engine. */
static cudnnStatus_t check_engine(const wpi_backend *engine) {
    const wpi_attribute *index =
        wpi_backend_find(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64);
    if (index == NULL) return CUDNN_STATUS_BAD_PARAM;
    if (*(const int64_t *)(const void *)index->data != 0) return CUDNN_STATUS_NOT_SUPPORTED;
    return wpi_backend_check(graph_of(engine));
}

WP_API cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
    wpi_backend *one = descriptor;
    if (one == NULL) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    switch (one->kind) {
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: CUDNN_TRY(check_engine(one)); break;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
        CUDNN_TRY(wpi_backend_check(
            graph_of(wpi_backend_child(one, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG))));
        break;
    default: break;
    }
    one->is_final = true;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- what programs ask ---- */

/* Makes the program's empty descriptors copies of these, whose attributes they share. */
static cudnnStatus_t fill(wpi_backend *to, const wpi_backend *from) {
    if (to == NULL || from == NULL || to->kind != from->kind) return CUDNN_STATUS_BAD_PARAM;
    for (const wpi_attribute *a = from->attributes; a != NULL; a = a->next)
        CUDNN_TRY(set(to, a->name, a->type, a->count, a->data));
    to->is_final = from->is_final;
    return CUDNN_STATUS_SUCCESS;
}

/* The configuration of the one engine for a graph that can be run; else none. */
static cudnnStatus_t suggest(const wpi_backend *heuristic, int64_t wanted, int64_t *count,
                             wpi_backend **configs) {
    const wpi_backend *graph = wpi_backend_child(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    const int64_t first = 0;
    cudnnBackendDescriptor_t made = NULL;
    const bool can = wpi_backend_check(graph) == CUDNN_STATUS_SUCCESS;
    if (count != NULL) *count = can ? 1 : 0;
    if (!can || wanted < 1 || configs == NULL) return CUDNN_STATUS_SUCCESS;
    CUDNN_TRY(cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &made));
    wpi_backend *engine = made;
    cudnnStatus_t status =
        set(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    if (status == CUDNN_STATUS_SUCCESS)
        status = set(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &first);
    engine->is_final = true;
    if (status == CUDNN_STATUS_SUCCESS)
        status = configs[0] != NULL ? set(configs[0], CUDNN_ATTR_ENGINECFG_ENGINE,
                                          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &made)
                                    : CUDNN_STATUS_BAD_PARAM;
    if (status == CUDNN_STATUS_SUCCESS) configs[0]->is_final = true;
    release(engine);
    return status;
}

static cudnnStatus_t tell_number(int64_t number, int64_t wanted, int64_t *count, void *to) {
    if (count != NULL) *count = 1;
    if (wanted > 0 && to != NULL) memcpy(to, &number, sizeof number);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t tell(const wpi_attribute *a, int64_t wanted, int64_t *count, void *to) {
    if (count != NULL) *count = a->count;
    if (to == NULL || wanted < 1) return CUDNN_STATUS_SUCCESS;
    const int64_t told = wanted < a->count ? wanted : a->count;
    if (a->type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        memcpy(to, a->data, (size_t)told * element_bytes(a->type));
        return CUDNN_STATUS_SUCCESS;
    }
    wpi_backend *const *from = (wpi_backend *const *)(const void *)a->data;
    for (int64_t i = 0; i < told; i++)
        CUDNN_TRY(fill(((wpi_backend **)to)[i], from[i]));
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                              cudnnBackendAttributeName_t attributeName,
                                              cudnnBackendAttributeType_t attributeType,
                                              int64_t requestedElementCount, int64_t *elementCount,
                                              void *arrayOfElements) {
    const wpi_backend *one = descriptor;
    if (one == NULL) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    switch (attributeName) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        return suggest(one, requestedElementCount, elementCount, arrayOfElements);
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
        return tell_number(1, requestedElementCount, elementCount, arrayOfElements);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        if (!one->is_final) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
        return tell_number(0, requestedElementCount, elementCount, arrayOfElements);
    default: break;
    }
    const wpi_attribute *a = wpi_backend_find(one, (int)attributeName, (int)attributeType);
    if (a != NULL) return tell(a, requestedElementCount, elementCount, arrayOfElements);
    if (elementCount != NULL) *elementCount = 0; /* notes, knobs: the engine has none */
    return one->is_final ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
}

WP_API cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                         cudnnBackendDescriptor_t executionPlan,
                                         cudnnBackendDescriptor_t variantPack) {
    const wpi_backend *plan = executionPlan, *pack = variantPack;
    if (handle == NULL || plan == NULL || pack == NULL) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    if (!plan->is_final || !pack->is_final) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    return wpi_backend_run(
        handle, graph_of(wpi_backend_child(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)), pack);
}
