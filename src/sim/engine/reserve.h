/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Things that do one piece of work at a time, kept as timestamps instead of events. Work must be
 * offered about in order of time; what is offered late still waits for what was offered before it.
 *
 *     bus      takes time for each piece: a channel, a slice's port
 *     ports    takes `count` pieces a cycle, or any number (0): look-ups of a TLB
 *     slots    `count` pieces at a time whose ends are known: MSHRs of L2, copy engines
 *
 * A bus hands out turns from the time at which work was offered, even if its data come later (a
 * miss): it stays busy with others meanwhile. So it never carries more than its bandwidth, and
 * loses none.
 */
#ifndef WP_SIM_RESERVE_H
#define WP_SIM_RESERVE_H

#include <stdbool.h>

#include "base/time.h"

typedef struct wpi_bus {
    wpi_time_ps free;
} wpi_bus;

/** When the turn of work offered at `time` begins. */
static inline wpi_time_ps wpi_bus_take(wpi_bus *bus, wpi_time_ps time, wpi_time_ps duration_ps) {
    const wpi_time_ps turn = bus->free > time ? bus->free : time;
    bus->free = turn + duration_ps;
    return turn;
}

/** ps for which a bus of `bytes_per_s` is taken by `bytes`; rounded up. */
static inline wpi_time_ps wpi_bytes_ps(uint64_t bytes, uint64_t bytes_per_s) {
    const uint64_t seconds = bytes / bytes_per_s, rest = bytes % bytes_per_s;
    const long double ps = (long double)rest * 1e12L / (long double)bytes_per_s;
    const wpi_time_ps whole = (wpi_time_ps)ps;
    return seconds * WP_PS_PER_S + whole + ((long double)whole < ps ? 1 : 0);
}

typedef struct wpi_ports {
    wpi_time_ps cycle_ps;
    uint32_t count;
    uint32_t used; /* in the cycle that begins at `time` */
    wpi_time_ps time;
} wpi_ports;

/** When a look-up offered at `time` gets a port. */
static inline wpi_time_ps wpi_ports_take(wpi_ports *ports, wpi_time_ps time) {
    if (ports->count == 0) return time;
    if (time >= ports->time + ports->cycle_ps) {
        ports->time = time;
        ports->used = 0;
    } else if (ports->used == ports->count) {
        ports->time += ports->cycle_ps;
        ports->used = 0;
    }
    ports->used++;
    return ports->time > time ? ports->time : time;
}

typedef struct wpi_slots {
    wpi_time_ps *ends; /* a ring of those in use, in order; they mostly come about so */
    uint32_t capacity, mask, first, count;
} wpi_slots;

bool wpi_slots_init(wpi_slots *slots, uint32_t capacity); /* false: no memory */
void wpi_slots_deinit(wpi_slots *slots);                  /* `{0}` is fine */
/** When one is free for work offered at `time`. Then tell when that work ends: wpi_slots_end. */
wpi_time_ps wpi_slots_begin(wpi_slots *slots, wpi_time_ps time);
void wpi_slots_end(wpi_slots *slots, wpi_time_ps end);

#endif
