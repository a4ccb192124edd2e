/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of a chip's units alternate in a fixed order. Units are placed in order, each at the
 * next position of its group; skipped positions are missing units. A group's position in the order
 * is free until its first unit is placed. */
#include "probe/infer/disabled_sms.h"

#include <string.h>

#include "probe/infer/hierarchy_number.h"

#define NONE UINT32_MAX
#define TRIES_MAX 200000u

typedef struct order {
    uint32_t group_of[WPI_PROBE_SMS_MAX]; /* of units */
    uint32_t units, groups, places;
    uint32_t turn_of[WPI_PROBE_SMS_MAX]; /* of a group; NONE: free */
    bool is_taken[WPI_PROBE_SMS_MAX];    /* turns */
    uint32_t place_of[WPI_PROBE_SMS_MAX];
    uint32_t best[WPI_PROBE_SMS_MAX]; /* missing places */
    uint32_t solutions, tries;
} order;

static void keep_best(order *o) {
    uint32_t missing[WPI_PROBE_SMS_MAX], count = 0, unit = 0;
    for (uint32_t place = 0; place < o->places; place++) {
        if (unit < o->units && o->place_of[unit] == place)
            unit++;
        else
            missing[count++] = place;
    }
    bool is_better = o->solutions == 0;
    for (uint32_t i = 0; i < count && !is_better; i++) {
        if (missing[i] < o->best[i]) break;
        is_better = missing[i] > o->best[i];
    }
    if (is_better) memcpy(o->best, missing, count * sizeof *missing);
    o->solutions++;
}

/* Places units from `unit` on at places from `first` on. */
static void put(order *o, uint32_t unit, uint32_t first) {
    if (o->tries++ > TRIES_MAX) return;
    if (unit == o->units) {
        keep_best(o);
        return;
    }
    const uint32_t group = o->group_of[unit];
    for (uint32_t place = first; place + (o->units - unit) <= o->places; place++) {
        const uint32_t turn = place % o->groups;
        const bool is_free = o->turn_of[group] == NONE;
        if (is_free ? o->is_taken[turn] : o->turn_of[group] != turn) continue;
        o->place_of[unit] = place;
        if (is_free) o->is_taken[turn] = true;
        o->turn_of[group] = turn;
        put(o, unit + 1, place + 1);
        if (!is_free) continue;
        o->is_taken[turn] = false;
        o->turn_of[group] = NONE;
    }
}

static bool solve(order *o) {
    o->solutions = 0;
    memset(o->is_taken, 0, sizeof o->is_taken);
    for (uint32_t group = 0; group < o->groups; group++)
        o->turn_of[group] = NONE;
    put(o, 0, 0);
    return o->solutions > 0;
}

static void exchange(order *o, uint32_t a, uint32_t b) {
    const uint32_t group = o->group_of[a];
    o->group_of[a] = o->group_of[b];
    o->group_of[b] = group;
}

/* The position of a unit if the best solution's positions are missing. */
static uint32_t place_in_best(const order *o, uint32_t unit) {
    uint32_t place = unit;
    for (uint32_t i = 0; i < o->places - o->units; i++)
        place += o->best[i] <= place;
    return place;
}

/* Two units whose exchange makes the order regular, the nearest ones. */
static bool solve_swapped(order *o, uint32_t unit_sms, wpi_missing *out) {
    for (uint32_t distance = 1; distance < o->units; distance++) {
        for (uint32_t b = o->units - 1; b >= distance; b--) {
            const uint32_t a = b - distance;
            if (o->group_of[a] == o->group_of[b]) continue;
            exchange(o, a, b);
            if (solve(o)) {
                out->is_swapped = true;
                out->swapped[0] = place_in_best(o, a) * unit_sms;
                out->swapped[1] = place_in_best(o, b) * unit_sms;
                return true;
            }
            exchange(o, a, b);
        }
    }
    return false;
}

bool wpi_floorplan_missing(const wpi_sharing_groups *sharing, uint32_t unit_sms, wpi_missing *out) {
    order o = {.units = sharing->sm_count / unit_sms, .groups = (uint32_t)sharing->count.value};
    uint32_t size[WPI_PROBE_SMS_MAX] = {0}, largest = 0;
    *out = (wpi_missing){0};
    for (uint32_t unit = 0; unit < o.units; unit++) {
        const uint32_t group = o.group_of[unit] = sharing->group_of[unit * unit_sms];
        if (++size[group] > largest) largest = size[group];
    }
    o.places = largest * o.groups;
    if (o.places > WPI_PROBE_SMS_MAX / unit_sms) return false;
    out->count = (o.places - o.units) * unit_sms;
    if (out->count == 0) return true;
    if (!solve(&o) && !solve_swapped(&o, unit_sms, out)) return false;
    out->is_ambiguous = o.solutions > 1;
    for (uint32_t i = 0; i < o.places - o.units; i++)
        for (uint32_t k = 0; k < unit_sms; k++)
            out->sms[i * unit_sms + k] = o.best[i] * unit_sms + k;
    return true;
}

/* ---- of a hierarchy ---- */

uint32_t wpi_floorplan_unit(const wpi_hierarchy *h) {
    const wpi_sharing_groups *first = &h->levels[0].sharing;
    if (h->level_count == 0 || !first->count.is_known || first->count.value < 1) return 1;
    const uint32_t groups = (uint32_t)first->count.value;
    if (h->sm_count % groups != 0) return 1;
    const uint32_t unit = h->sm_count / groups;
    for (uint32_t sm = 0; sm < h->sm_count; sm++)
        if (first->group_of[sm] != sm / unit) return 1;
    return unit;
}

const wpi_sharing_groups *wpi_floorplan_groups_of(const wpi_hierarchy *h) {
    const wpi_sharing_groups *best = NULL;
    for (uint32_t i = 0; i < h->level_count; i++) {
        const wpi_sharing_groups *g = &h->levels[i].sharing;
        if (!g->count.is_known || g->count.value < 2) continue;
        if (best == NULL || g->count.value < best->count.value) best = g;
    }
    return best;
}

void wpi_floorplan_fill(wpi_hierarchy *h) {
    const wpi_sharing_groups *groups = wpi_floorplan_groups_of(h);
    wpi_missing missing;
    if (groups == NULL) {
        wpi_number_unknown(&h->missing, "no level is shared by groups of SMs");
        return;
    }
    const uint32_t unit = wpi_floorplan_unit(h);
    const bool is_regular = wpi_floorplan_missing(groups, unit < h->sm_count ? unit : 1, &missing);
    if (!is_regular) {
        wpi_number_unknown(&h->missing, "groups follow in no regular order; %u would fill them up",
                           missing.count);
        return;
    }
    memcpy(h->missing_sms, missing.sms, missing.count * sizeof *missing.sms);
    h->missing_count = missing.count;
    wpi_number_set(&h->missing, missing.count,
                   missing.is_swapped     ? 0.7
                   : missing.is_ambiguous ? 0.6
                                          : 0.9);
    if (missing.is_swapped)
        wpi_number_explain(&h->missing, "with SMs %u… and %u… of the whole chip exchanged",
                           missing.swapped[0], missing.swapped[1]);
    else if (missing.is_ambiguous)
        wpi_number_explain(&h->missing, "other SMs would explain the groups, too");
}
