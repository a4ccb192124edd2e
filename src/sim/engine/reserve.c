/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/reserve.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/fail.h"

bool wpi_slots_init(wpi_slots *slots, uint32_t capacity) {
    uint32_t places = 1;
    while (places < capacity)
        places *= 2;
    *slots = (wpi_slots){.capacity = capacity, .mask = places - 1};
    slots->ends = wpi_malloc(places * sizeof *slots->ends);
    return slots->ends != NULL;
}

void wpi_slots_deinit(wpi_slots *slots) {
    wpi_free(slots->ends);
    *slots = (wpi_slots){0};
}

static wpi_time_ps *end_at(const wpi_slots *slots, uint32_t i) {
    return &slots->ends[(slots->first + i) & slots->mask];
}

static void drop_first(wpi_slots *slots) {
    slots->first = (slots->first + 1) & slots->mask;
    slots->count--;
}

wpi_time_ps wpi_slots_begin(wpi_slots *slots, wpi_time_ps time) {
    while (slots->count > 0 && *end_at(slots, 0) <= time)
        drop_first(slots);
    if (slots->count < slots->capacity) return time;
    const wpi_time_ps begin = *end_at(slots, 0);
    drop_first(slots);
    return begin;
}

void wpi_slots_end(wpi_slots *slots, wpi_time_ps end) {
    WP_ASSERT(slots->count < slots->capacity);
    uint32_t at = slots->count++;
    for (; at > 0 && *end_at(slots, at - 1) > end; at--)
        *end_at(slots, at) = *end_at(slots, at - 1);
    *end_at(slots, at) = end;
}
