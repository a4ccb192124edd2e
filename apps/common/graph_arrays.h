/* SPDX-License-Identifier: Apache-2.0 */
/** A graph's rows on the device: the arrays take them, and the graph lends them from there, so that
 *  the host reads them through it as before. */
#ifndef APP_GRAPH_ARRAYS_H
#define APP_GRAPH_ARRAYS_H

#include "common/graph.h"
#include "common/memory.h"

typedef struct app_graph_arrays {
    app_array first;  /* [vertex_count + 1] of uint64_t, or short: of uint32_t */
    app_array target; /* [edge_count] of uint32_t */
    bool is_short;
} app_graph_arrays;

void app_graph_arrays_take(app_device *device, app_graph_arrays *arrays, app_graph *graph);
/** Short ones; of `first` the graph keeps its own. Ends the program when there are too many edges. */
void app_graph_arrays_take_short(app_device *device, app_graph_arrays *arrays, app_graph *graph);
void app_graph_arrays_to_device(app_device *device, app_graph_arrays *arrays);
/** The graph has no rows afterwards; the rest of it remains to be freed. */
void app_graph_arrays_free(app_device *device, app_graph_arrays *arrays, app_graph *graph);

#endif
