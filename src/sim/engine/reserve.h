/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Resources that are reserved by timestamps instead of events. Requests must come roughly in order
 * of time; one that comes late still waits for those that came before.
 *
 *     bus      takes time for each piece: a channel, a slice's port
 *     ports    takes `count` pieces a cycle, or any number (0): look-ups of a TLB
 *     slots    `count` pieces at a time whose ends are known: MSHRs of L2, copy engines
 *
 * A bus is reserved from the time of the request, even if its data arrive later (a miss); others
 * use it meanwhile. So it never carries more than its bandwidth, and wastes none.
 */
#ifndef WP_SIM_RESERVE_H
#define WP_SIM_RESERVE_H

#include <stdbool.h>

#include "base/time.h"

typedef struct wpi_bus {
    wpi_time_ps free;
} wpi_bus;

/** Reserves the bus; returns when the transfer requested at `time` begins. */
static inline wpi_time_ps wpi_bus_take(wpi_bus *bus, wpi_time_ps time, wpi_time_ps duration_ps) {
    const wpi_time_ps turn = bus->free > time ? bus->free : time;
    bus->free = turn + duration_ps;
    return turn;
}

/** The time in ps for `bytes` at `bytes_per_s`, rounded up. */
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

/** Returns when a look-up requested at `time` gets a port. */
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
    wpi_time_ps *ends; /* ring buffer of the slots in use, in order of their ends */
    uint32_t capacity, mask, first, count;
} wpi_slots;

bool wpi_slots_init(wpi_slots *slots, uint32_t capacity); /* false: no memory */
void wpi_slots_deinit(wpi_slots *slots);                  /* `{0}` is fine */
/** Returns when a slot is free for work requested at `time`. wpi_slots_end must follow, with the
 * end of that work. */
wpi_time_ps wpi_slots_begin(wpi_slots *slots, wpi_time_ps time);
void wpi_slots_end(wpi_slots *slots, wpi_time_ps end);

#endif
