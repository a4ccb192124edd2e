/* SPDX-License-Identifier: Apache-2.0 */
#include "common/graph_arrays.h"

#include "common/report.h"

static void take_target(app_device *device, app_graph_arrays *arrays, app_graph *graph) {
    app_array_take(device, &arrays->target, (void **)&graph->target, graph->edge_count,
                   sizeof(uint32_t), "edge targets");
    graph->target = (uint32_t *)arrays->target.host;
}

void app_graph_arrays_take(app_device *device, app_graph_arrays *arrays, app_graph *graph) {
    arrays->is_short = false;
    app_array_take(device, &arrays->first, (void **)&graph->first, (size_t)graph->vertex_count + 1,
                   sizeof(uint64_t), "first edges");
    graph->first = (uint64_t *)arrays->first.host;
    take_target(device, arrays, graph);
}

void app_graph_arrays_take_short(app_device *device, app_graph_arrays *arrays, app_graph *graph) {
    const size_t count = (size_t)graph->vertex_count + 1;
    if (graph->edge_count > UINT32_MAX) {
        app_fail("%s edges are too many for this variant, which has 32 bits for them",
                 app_count(graph->edge_count));
    }
    uint32_t *first = (uint32_t *)app_allocate(count, sizeof *first, "first edges");
    for (size_t i = 0; i < count; i++) {
        first[i] = (uint32_t)graph->first[i];
    }
    arrays->is_short = true;
    app_array_take(device, &arrays->first, (void **)&first, count, sizeof *first, "first edges");
    take_target(device, arrays, graph);
}

void app_graph_arrays_to_device(app_device *device, app_graph_arrays *arrays) {
    app_array_to_device(device, &arrays->first);
    app_array_to_device(device, &arrays->target);
}

void app_graph_arrays_free(app_device *device, app_graph_arrays *arrays, app_graph *graph) {
    if (!arrays->is_short) {
        graph->first = NULL;
    }
    graph->target = NULL;
    app_array_free(device, &arrays->first);
    app_array_free(device, &arrays->target);
}
