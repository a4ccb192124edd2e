/* SPDX-License-Identifier: Apache-2.0 */
#include "common/graph_arrays.h"

void app_graph_arrays_take(app_device *device, app_graph_arrays *arrays, app_graph *graph) {
    app_array_take(device, &arrays->first, (void **)&graph->first, (size_t)graph->vertex_count + 1,
                   sizeof(uint64_t), "first edges");
    app_array_take(device, &arrays->target, (void **)&graph->target, graph->edge_count,
                   sizeof(uint32_t), "edge targets");
    graph->first = (uint64_t *)arrays->first.host;
    graph->target = (uint32_t *)arrays->target.host;
}

void app_graph_arrays_to_device(app_device *device, app_graph_arrays *arrays) {
    app_array_to_device(device, &arrays->first);
    app_array_to_device(device, &arrays->target);
}

void app_graph_arrays_free(app_device *device, app_graph_arrays *arrays, app_graph *graph) {
    graph->first = NULL;
    graph->target = NULL;
    app_array_free(device, &arrays->first);
    app_array_free(device, &arrays->target);
}
