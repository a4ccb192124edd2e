/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/reserve.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/fail.h"

bool wpi_slots_init(wpi_slots *slots, uint32_t capacity) {
    *slots = (wpi_slots){.capacity = capacity};
    slots->ends = wp_malloc(capacity * sizeof *slots->ends);
    return slots->ends != NULL;
}

void wpi_slots_deinit(wpi_slots *slots) {
    wp_free(slots->ends);
    *slots = (wpi_slots){0};
}

static void pop(wpi_slots *slots) {
    const wp_time_ps last = slots->ends[--slots->count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= slots->count) break;
        if (child + 1 < slots->count && slots->ends[child + 1] < slots->ends[child]) child++;
        if (slots->ends[child] >= last) break;
        slots->ends[at] = slots->ends[child];
        at = child;
    }
    slots->ends[at] = last;
}

wp_time_ps wpi_slots_begin(wpi_slots *slots, wp_time_ps time) {
    while (slots->count > 0 && slots->ends[0] <= time)
        pop(slots);
    if (slots->count < slots->capacity) return time;
    const wp_time_ps begin = slots->ends[0];
    pop(slots);
    return begin;
}

void wpi_slots_end(wpi_slots *slots, wp_time_ps end) {
    WP_ASSERT(slots->count < slots->capacity);
    uint32_t at = slots->count++;
    while (at > 0 && slots->ends[(at - 1) / 2] > end) {
        slots->ends[at] = slots->ends[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    slots->ends[at] = end;
}
