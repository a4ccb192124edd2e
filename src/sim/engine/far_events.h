/* SPDX-License-Identifier: Apache-2.0 */
/** Events beyond the wheels of the engine: a heap, by time and, at equal times, by age. */
#ifndef WP_SIM_FAR_EVENTS_H
#define WP_SIM_FAR_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

typedef struct wpi_far_event {
    wpi_time_ps time;
    uint64_t sequence;
    uint32_t event;
} wpi_far_event;

/** `{0}` is valid and empty; wpi_free(items) ends it. */
typedef struct wpi_far_events {
    wpi_far_event *items; /* items[0] is the first */
    size_t count, capacity;
    uint64_t sequence;
} wpi_far_events;

/* Rare work, kept out of the path of each event. */
void wpi_far_events_add(wpi_far_events *far, wpi_time_ps time, uint32_t event)
    __attribute__((noinline, cold));
/** Removes the first event; there must be one. */
wpi_far_event wpi_far_events_take(wpi_far_events *far);

#endif
