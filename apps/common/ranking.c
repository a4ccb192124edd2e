/* SPDX-License-Identifier: Apache-2.0 */
#include "common/ranking.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    const app_ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

void app_rank(app_ranked *order, uint32_t count) {
    qsort(order, count, sizeof *order, compare);
}

int app_ranked_name_width(const app_graph *graph, const app_ranked *order, uint64_t count) {
    int width = (int)strlen("vertex");
    for (uint64_t i = 0; i < count; i++) {
        const int own = (int)strlen(app_graph_vertex_name(graph, order[i].vertex));
        width = own > width ? own : width;
    }
    return width;
}
