/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The graph interface: descriptors with attributes that programs set by number, and plans, which
 * run a graph's operations one after the other. Tensors that exist only between two operations
 * (virtual ones) and values in host memory have a place in memory that a run allocates: there are
 * programs that give a plan's workspace without asking for its size (XLA without autotuning).
 */
#ifndef WP_LIBRARIES_BACKEND_GRAPH_H
#define WP_LIBRARIES_BACKEND_GRAPH_H

#include <stdatomic.h>

#include "libraries/cudnn/cudnn_handle.h"

typedef struct wpi_attribute {
    struct wpi_attribute *next;
    int name, type; /* cudnnBackendAttributeName_t, cudnnBackendAttributeType_t */
    int64_t count;
    _Alignas(16) char data[]; /* descriptors in it are held */
} wpi_attribute;

typedef struct wpi_backend {
    int kind; /* cudnnBackendDescriptorType_t */
    bool is_final;
    atomic_int holders; /* the program and descriptors that have it as an attribute */
    wpi_attribute *attributes;
} wpi_backend;

/** NULL: not set, or of another type. */
const wpi_attribute *wpi_backend_find(const wpi_backend *one, int name, int type);
/** The descriptor in an attribute; NULL: none. */
const wpi_backend *wpi_backend_child(const wpi_backend *one, int name);

/** Whether each operation can be run. NOT_SUPPORTED, BAD_PARAM: not. */
cudnnStatus_t wpi_backend_check(const wpi_backend *graph);
cudnnStatus_t wpi_backend_run(cudnnHandle_t handle, const wpi_backend *graph,
                              const wpi_backend *pack);

#endif
