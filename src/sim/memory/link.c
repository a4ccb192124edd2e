/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memory/link.h"

#include <math.h>

wp_status wpi_link_init(wpi_link *link, const wpi_profile *profile, wp_error *err) {
    *link = (wpi_link){.profile = profile};
    const uint32_t engines[WPI_DIRECTION_COUNT] = {profile->link.engines_to_device,
                                                   profile->link.engines_to_host};
    for (uint32_t i = 0; i < WPI_DIRECTION_COUNT; i++) {
        wpi_utilisation_init(&link->ways[i].utilisation, profile->slice_ps, 1);
        if (!wpi_slots_init(&link->ways[i].engines, engines[i])) {
            wpi_link_deinit(link);
            return WP_FAIL(err, NOMEM, "%u copy engines", engines[i]);
        }
    }
    return WP_STATUS_OK;
}

void wpi_link_deinit(wpi_link *link) {
    for (uint32_t i = 0; i < WPI_DIRECTION_COUNT; i++)
        wpi_slots_deinit(&link->ways[i].engines);
    *link = (wpi_link){0};
}

wpi_time_ps wpi_link_transfer_ps(const wpi_profile *profile, uint64_t bytes) {
    const wpi_time_ps flat_ps = wpi_bytes_ps(bytes, profile->link.bytes_per_s);
    if (profile->link.curve_bytes == 0 || bytes == 0) return flat_ps;
    const double two_over_pi = 0.63661977236758134308;
    const double share = two_over_pi * atan((double)bytes / (double)profile->link.curve_bytes);
    return (wpi_time_ps)((double)flat_ps / share);
}

wpi_time_ps wpi_link_copy(wpi_link *link, uint64_t bytes, wpi_direction direction, wpi_time_ps time,
                          wpi_time_ps *begun) {
    wpi_link_way *way = &link->ways[direction];
    const wpi_time_ps transfer_ps = wpi_link_transfer_ps(link->profile, bytes);
    *begun = wpi_slots_begin(&way->engines, time);
    const wpi_time_ps turn =
        wpi_bus_take(&way->bus, *begun + link->profile->link.latency_ps, transfer_ps);
    const wpi_time_ps done = turn + transfer_ps;
    wpi_slots_end(&way->engines, done);
    wpi_utilisation_add(&way->utilisation, turn, done);
    way->copying_until = done;
    way->copies++;
    way->copied_bytes += bytes;
    return done;
}

wpi_time_ps wpi_link_remote(wpi_link *link, uint64_t bytes, wpi_direction direction,
                            wpi_time_ps time) {
    wpi_link_way *way = &link->ways[direction];
    const wpi_time_ps bytes_ps = wpi_bytes_ps(bytes, link->profile->link.bytes_per_s);
    const wpi_time_ps least_ps = link->profile->link.remote_turn_ps;
    const wpi_time_ps transfer_ps = bytes_ps > least_ps ? bytes_ps : least_ps;
    const wpi_time_ps turn = wpi_bus_take(&way->accesses, time, transfer_ps);
    const wpi_time_ps taken = wpi_bus_take(&way->bus, turn, transfer_ps);
    wpi_utilisation_add(&way->utilisation, taken, taken + transfer_ps);
    way->remote_accesses++;
    way->remote_bytes += bytes;
    return turn;
}

bool wpi_link_takes_access(const wpi_link *link, wpi_direction direction, wpi_time_ps now) {
    return link->ways[direction].accesses.free <= now;
}

wpi_time_ps wpi_link_accesses_until(const wpi_link *link) {
    const wpi_time_ps in = link->ways[WPI_DIRECTION_TO_DEVICE].accesses.free;
    const wpi_time_ps out = link->ways[WPI_DIRECTION_TO_HOST].accesses.free;
    return in > out ? in : out;
}

bool wpi_link_is_copying(const wpi_link *link, wpi_direction direction, wpi_time_ps now) {
    return link->ways[direction].copying_until > now;
}

void wpi_link_statistics(const wpi_link *link, wpi_visit visit, void *object) {
    static const char *const prefixes[WPI_DIRECTION_COUNT] = {"link.to_device.", "link.to_host."};
    for (uint32_t i = 0; i < WPI_DIRECTION_COUNT; i++) {
        const wpi_link_way *way = &link->ways[i];
        wpi_visit_value(visit, object, prefixes[i], "copies", "copies", way->copies);
        wpi_visit_value(visit, object, prefixes[i], "copied", "bytes", way->copied_bytes);
        wpi_visit_value(visit, object, prefixes[i], "remote_accesses", "requests",
                        way->remote_accesses);
        wpi_visit_value(visit, object, prefixes[i], "remote", "bytes", way->remote_bytes);
        wpi_visit_utilisation(visit, object, prefixes[i], "utilisation", &way->utilisation);
    }
}
