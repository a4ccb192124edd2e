/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/far_events.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "base/fail.h"

static bool is_before(const wpi_far_event *a, const wpi_far_event *b) {
    return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

void wpi_far_events_add(wpi_far_events *far, wpi_time_ps time, uint32_t event) {
    if (far->count == far->capacity) {
        const size_t capacity = far->capacity == 0 ? 64 : 2 * far->capacity;
        wpi_far_event *items = wpi_realloc(far->items, capacity * sizeof *items);
        WP_CHECK(items != NULL);
        far->items = items;
        far->capacity = capacity;
    }
    const wpi_far_event added = {time, far->sequence++, event};
    size_t at = far->count++;
    while (at > 0) {
        const size_t parent = (at - 1) / 2;
        if (!is_before(&added, &far->items[parent])) break;
        far->items[at] = far->items[parent];
        at = parent;
    }
    far->items[at] = added;
}

wpi_far_event wpi_far_events_take(wpi_far_events *far) {
    const wpi_far_event top = far->items[0];
    const wpi_far_event last = far->items[--far->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= far->count) break;
        if (child + 1 < far->count && is_before(&far->items[child + 1], &far->items[child]))
            child++;
        if (!is_before(&far->items[child], &last)) break;
        far->items[at] = far->items[child];
        at = child;
    }
    far->items[at] = last;
    return top;
}
