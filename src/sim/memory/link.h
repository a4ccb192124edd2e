/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The link between device and host: a bus in each direction, and copy engines. A copy occupies an
 * engine for its latency and its transfer; engines of a direction share the bus. SMs' accesses to
 * host memory use the same buses without an engine, and wait only for each other: they are
 * interleaved with the packets of copies, which delays later copies accordingly.
 *
 *     engine 0   latency |████ transfer ████|
 *     engine 1   latency .......waits.......|████ transfer ████|
 *
 * The bandwidth is constant, or grows with the size of a copy by the factor 2/pi atan(size /
 * curve_bytes).
 */
#ifndef WP_SIM_LINK_H
#define WP_SIM_LINK_H

#include "sim/engine/reserve.h"
#include "sim/memory/memory_system.h"

typedef struct wpi_link_way {
    wpi_bus bus;
    wpi_bus accesses; /* of SMs */
    wpi_slots engines;
    wpi_time_ps copying_until;
    uint64_t copies, copied_bytes, remote_accesses, remote_bytes;
    wpi_utilisation utilisation;
} wpi_link_way;

typedef struct wpi_link {
    const wpi_profile *profile;
    wpi_link_way ways[WPI_DIRECTION_COUNT];
} wpi_link;

WP_NODISCARD wp_status wpi_link_init(wpi_link *link, const wpi_profile *profile, wp_error *err);
void wpi_link_deinit(wpi_link *link); /* `{0}` is fine */

/** Returns when a copy that is requested at `time` is done; *begun: when it got its engine. */
wpi_time_ps wpi_link_copy(wpi_link *link, uint64_t bytes, wpi_direction direction, wpi_time_ps time,
                          wpi_time_ps *begun);
/** Returns when an access to host memory at `time` gets the bus, without its latency. */
wpi_time_ps wpi_link_remote(wpi_link *link, uint64_t bytes, wpi_direction direction,
                            wpi_time_ps time);
/** Whether a remote access would get the bus at once: none is queued. */
bool wpi_link_takes_access(const wpi_link *link, wpi_direction direction, wpi_time_ps now);
/** When the last remote access so far has released the bus. */
wpi_time_ps wpi_link_accesses_until(const wpi_link *link);
/** Whether a copy is on the bus, or waits for it. */
bool wpi_link_is_copying(const wpi_link *link, wpi_direction direction, wpi_time_ps now);
/** The time for which a copy of `bytes` occupies the bus. */
wpi_time_ps wpi_link_transfer_ps(const wpi_profile *profile, uint64_t bytes);
void wpi_link_statistics(const wpi_link *link, wpi_visit visit, void *object);

#endif
