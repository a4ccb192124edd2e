/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/snapshot.h"

#include <string.h>

size_t wpi_snapshot_size(const wpi_statistic *statistic) {
    if (statistic->is_maximum) return 0;
    return statistic->histogram != NULL ? WPI_SNAPSHOT_HISTOGRAM : 1;
}

void wpi_snapshot_visit(const wpi_gpu *gpu, const wpi_memory *memory, wpi_visit visit,
                        void *object) {
    wpi_gpu_statistics(gpu, visit, object);
    wpi_memory_statistics(memory, visit, object);
}

static void store(void *object, const wpi_statistic *statistic) {
    uint64_t **at = object;
    if (statistic->is_maximum) return;
    if (statistic->histogram != NULL) {
        const wpi_histogram *h = statistic->histogram;
        (*at)[0] = h->count;
        (*at)[1] = h->sum;
        memcpy(*at + 2, h->classes, sizeof h->classes);
    } else {
        **at = statistic->utilisation != NULL ? statistic->utilisation->total_ps : statistic->value;
    }
    *at += wpi_snapshot_size(statistic);
}

void wpi_snapshot_take(const wpi_gpu *gpu, const wpi_memory *memory, uint64_t *values) {
    wpi_snapshot_visit(gpu, memory, store, &values);
}

void wpi_snapshot_take_launch(const wpi_launch_numbers *numbers, uint64_t *values) {
    wpi_launch_statistics(numbers, store, &values);
}
