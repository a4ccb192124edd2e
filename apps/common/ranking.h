/* SPDX-License-Identifier: Apache-2.0 */
/** Which vertices of a graph come first. */
#ifndef APP_RANKING_H
#define APP_RANKING_H

#include "common/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct app_ranked {
    double value;
    uint32_t vertex;
} app_ranked;

/** The largest value first; of equal ones, the vertex of the lower number. */
void app_rank(app_ranked *order, uint32_t count);
/** Columns that the names of the first `count` take, or the heading "vertex". */
int app_ranked_name_width(const app_graph *graph, const app_ranked *order, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
