/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/statistics.h"

#include <string.h>

void wpi_histogram_add(wpi_histogram *histogram, uint64_t value) {
    histogram->count++;
    histogram->sum += value;
    if (value > histogram->max) histogram->max = value;
    histogram->classes[value == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(value)]++;
}

void wpi_utilisation_init(wpi_utilisation *utilisation, wpi_time_ps slice_ps, uint64_t units) {
    *utilisation = (wpi_utilisation){.slice_ps = slice_ps, .units = units};
}

/* Merges slices in pairs. */
static void halve(wpi_utilisation *u) {
    const uint32_t half = WPI_UTILISATION_SLICES / 2;
    for (uint32_t i = 0; i < half; i++)
        u->busy_ps[i] = u->busy_ps[2 * i] + u->busy_ps[2 * i + 1];
    memset(&u->busy_ps[half], 0, half * sizeof u->busy_ps[0]);
    u->slice_count = (u->slice_count + 1) / 2;
    u->slice_ps *= 2;
    u->last = 0;
    u->last_ps = 0;
}

void wpi_utilisation_add(wpi_utilisation *u, wpi_time_ps first, wpi_time_ps outer) {
    if (outer <= first) return;
    u->total_ps += outer - first;
    if (first >= u->last_ps && outer - u->last_ps <= u->slice_ps) { /* common: no division */
        u->busy_ps[u->last] += outer - first;
        if (u->last >= u->slice_count) u->slice_count = u->last + 1;
        return;
    }
    while ((outer - 1) / u->slice_ps >= WPI_UTILISATION_SLICES)
        halve(u);
    for (uint64_t slice = first / u->slice_ps; first < outer; slice++) {
        const wpi_time_ps end = (slice + 1) * u->slice_ps;
        const wpi_time_ps until = end < outer ? end : outer;
        u->busy_ps[slice] += until - first;
        if (slice >= u->slice_count) u->slice_count = (uint32_t)slice + 1;
        u->last = (uint32_t)slice;
        u->last_ps = end - u->slice_ps;
        first = until;
    }
}

void wpi_utilisation_append(wpi_utilisation *u, const wpi_utilisation *more,
                            wpi_time_ps offset_ps) {
    while (u->slice_ps < more->slice_ps)
        halve(u);
    for (uint32_t i = 0; i < more->slice_count; i++) {
        const wpi_time_ps at = offset_ps + i * more->slice_ps;
        while (at / u->slice_ps >= WPI_UTILISATION_SLICES)
            halve(u);
        const uint32_t slice = (uint32_t)(at / u->slice_ps);
        u->busy_ps[slice] += more->busy_ps[i];
        if (slice >= u->slice_count) u->slice_count = slice + 1;
    }
    u->total_ps += more->total_ps;
}

static void tell(wpi_visit visit, void *object, const char *prefix, const char *name,
                 wpi_statistic statistic) {
    /* Avoids snprintf: every counter is visited at the start and end of each launch. */
    char full[96];
    const size_t prefix_length = strlen(prefix), length = strlen(name);
    WP_CHECK(prefix_length + length < sizeof full);
    memcpy(full, prefix, prefix_length);
    memcpy(full + prefix_length, name, length + 1);
    statistic.name = full;
    visit(object, &statistic);
}

void wpi_visit_value(wpi_visit visit, void *object, const char *prefix, const char *name,
                     const char *unit, uint64_t value) {
    tell(visit, object, prefix, name, (wpi_statistic){.unit = unit, .value = value});
}

void wpi_visit_maximum(wpi_visit visit, void *object, const char *prefix, const char *name,
                       const char *unit, uint64_t value) {
    tell(visit, object, prefix, name,
         (wpi_statistic){.unit = unit, .value = value, .is_maximum = true});
}

void wpi_visit_histogram(wpi_visit visit, void *object, const char *prefix, const char *name,
                         const char *unit, const wpi_histogram *histogram) {
    tell(visit, object, prefix, name, (wpi_statistic){.unit = unit, .histogram = histogram});
}

void wpi_visit_utilisation(wpi_visit visit, void *object, const char *prefix, const char *name,
                           const wpi_utilisation *utilisation) {
    tell(visit, object, prefix, name, (wpi_statistic){.unit = "ps", .utilisation = utilisation});
}
