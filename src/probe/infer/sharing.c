/* SPDX-License-Identifier: Apache-2.0 */
/* SMs differ in their distance from memory: a pair is compared only with the same timed SM
 * disturbed by itself, which always misses. */
#include "probe/infer/sharing.h"

#include <math.h>

#include "probe/infer/hierarchy_number.h"

#define CHECKS 24u
#define ROUNDS_FEW 2u /* enough if they are equal */
#define ROUNDS_MIN 8u
#define ROUNDS_MAX 4096u
#define SURE_Z 5.0
#define SAME_SHARE 0.05 /* of a level's delay, halved: pairs apart save as much */

typedef struct contest {
    wpi_search *search;
    wpi_contest is;                 /* without the SMs */
    double border_cycles;           /* least cost of sharing */
    double apart_least, apart_most; /* savings of pairs that do not share, without noise */
    double worst_z;
    uint64_t random;
    wpi_timing alone; /* of `alone_sm` disturbed by itself; without noise, measured once */
    uint32_t alone_sm;
} contest;

static wp_status measure(contest *c, uint32_t timed, uint32_t other, uint32_t rounds,
                         wpi_timing *out, wp_error *err) {
    wpi_search *s = c->search;
    wpi_contest is = c->is;
    const uint64_t loads = (2 * is.loads_timed + is.loads_other) * rounds;
    if (s->samples >= s->options.samples_max || loads > s->options.loads_max - s->loads)
        return WP_FAIL(err, UNSUPPORTED, "the budget of %llu samples and %llu loads is spent",
                       (unsigned long long)s->options.samples_max,
                       (unsigned long long)s->options.loads_max);
    is.sm_timed = timed;
    is.sm_other = other;
    is.repeats = rounds;
    s->samples++;
    s->loads += loads;
    if (s->options.progress != NULL && s->samples % 16 == 0)
        s->options.progress(s->options.progress_object, "sharing", s->samples);
    return s->sampler->contest(s->sampler->object, &is, out, err);
}

static double variance(const wpi_timing *t) {
    return t->spread_cycles * t->spread_cycles / (t->rounds > 0 ? t->rounds : 1);
}

/* Self, other, other, self: drift cancels. A device without noise has no drift either. */
static wp_status measure_four(contest *c, uint32_t timed, uint32_t other, uint32_t rounds,
                              wpi_timing t[4], wp_error *err) {
    if (c->alone_sm != timed || c->alone.spread_cycles > 0)
        WP_TRY(measure(c, timed, timed, rounds, &c->alone, err));
    c->alone_sm = timed;
    t[0] = t[3] = c->alone;
    WP_TRY(measure(c, timed, other, rounds, &t[1], err));
    t[2] = t[1];
    if (t[0].spread_cycles == 0 && t[1].spread_cycles == 0) return WP_STATUS_OK;
    WP_TRY(measure(c, timed, other, rounds, &t[2], err));
    return measure(c, timed, timed, rounds, &t[3], err);
}

static wp_status are_shared(contest *c, uint32_t timed, uint32_t other, bool *out, wp_error *err) {
    double sum = 0, weight = 0, error = 0, z = 0;
    uint32_t next = ROUNDS_MIN;
    for (uint32_t rounds = ROUNDS_FEW; rounds <= ROUNDS_MAX; rounds = next, next *= 4) {
        wpi_timing t[4];
        WP_TRY(measure_four(c, timed, other, rounds, t, err));
        if (rounds == ROUNDS_FEW && (t[0].spread_cycles > 0 || t[1].spread_cycles > 0)) continue;
        const double missing =
            (t[0].median_cycles + t[3].median_cycles - t[1].median_cycles - t[2].median_cycles) / 2;
        const double squares =
            (variance(&t[0]) + variance(&t[1]) + variance(&t[2]) + variance(&t[3])) / 4;
        sum += missing * rounds;
        weight += rounds;
        error = hypot(error * (weight - rounds), 1.2533 * sqrt(squares) * rounds) / weight;
        z = fabs(sum / weight - c->border_cycles) / fmax(error * 1.5, 1e-9);
        if (z >= SURE_Z) break;
    }
    if (z < c->worst_z) c->worst_z = z;
    const double saved = sum / weight;
    *out = saved < c->border_cycles;
    if (*out || error > 0) return WP_STATUS_OK;
    c->apart_least = fmin(c->apart_least, saved);
    c->apart_most = fmax(c->apart_most, saved);
    return WP_STATUS_OK;
}

/* More entries than earlier levels have, and more than half of this level's: fewer could hit in a
 * level that was not detected. Whole rounds over the sets, so that the other SM's pages map to all
 * of them. */
uint64_t wpi_sharing_loads(const wpi_hierarchy *h, uint32_t number, uint64_t memory_bytes) {
    const wpi_level *l = &h->levels[number];
    const uint64_t entries = (uint64_t)l->entries.value;
    const uint64_t sets = l->way_group_count == 1 ? (uint64_t)l->sets.value : 1;
    uint64_t loads = entries / 2 + 1;
    for (uint32_t i = 0; i < number; i++) {
        const double pages = h->levels[i].page_bytes.value / l->page_bytes.value;
        const uint64_t busy = wpi_level_busy_loads(&h->levels[i]) * (uint64_t)fmax(pages, 1);
        if (busy > loads) loads = busy;
    }
    loads = (loads + sets - 1) / sets * sets;
    const bool fits = (loads + entries) * (uint64_t)l->page_bytes.value <= memory_bytes;
    return loads <= entries && fits ? loads : 0;
}

static wp_status prepare(wpi_search *s, const wpi_hierarchy *h, uint32_t number, contest *c,
                         wpi_sharing_groups *out) {
    const wpi_level *l = &h->levels[number];
    *c = (contest){.search = s,
                   .worst_z = INFINITY,
                   .apart_least = INFINITY,
                   .alone_sm = WPI_SM_ANY,
                   .random = s->options.seed | 1};
    if (s->sampler->contest == NULL) {
        wpi_number_unknown(&out->count, "the device cannot run on two chosen SMs");
        return WP_STATUS_NOT_FOUND;
    }
    if (!l->page_bytes.is_known || !l->entries.is_known || !l->miss_cycles.is_known) {
        wpi_number_unknown(&out->count, "the level's page size, entries or delay are unknown");
        return WP_STATUS_NOT_FOUND;
    }
    const uint64_t loads = wpi_sharing_loads(h, number, s->options.memory_bytes);
    c->is = (wpi_contest){.stride_bytes = (uint64_t)l->page_bytes.value,
                          .loads_timed = loads,
                          .loads_other = (uint64_t)l->entries.value};
    c->border_cycles = l->miss_cycles.value / 2;
    if (loads != 0) return WP_STATUS_OK;
    wpi_number_unknown(&out->count, "levels before it hold as many pages, or memory is too small");
    return WP_STATUS_NOT_FOUND;
}

static uint64_t next_random(uint64_t *random) {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random >> 8;
}

static wp_status check_pairs(contest *c, const wpi_sharing_groups *g, uint32_t *wrong,
                             wp_error *err) {
    *wrong = 0;
    for (uint32_t i = 0; i < CHECKS && g->sm_count > 2; i++) {
        const uint32_t a = (uint32_t)(next_random(&c->random) % g->sm_count);
        const uint32_t b = (uint32_t)(next_random(&c->random) % g->sm_count);
        bool is_shared = false;
        if (a == b) continue;
        WP_TRY(are_shared(c, a, b, &is_shared, err));
        *wrong += is_shared != (g->group_of[a] == g->group_of[b]);
    }
    return WP_STATUS_OK;
}

/* The group whose first SM shares with `sm`. Tries the group after the last SM's first: groups
 * often alternate. */
static wp_status place(contest *c, wpi_sharing_groups *g, uint32_t *first_of, uint32_t *groups,
                       uint32_t sm, wp_error *err) {
    const uint32_t likely = sm == 0 ? 0 : g->group_of[sm - 1] + 1;
    for (uint32_t i = 0; i < *groups; i++) {
        const uint32_t group = (likely + i) % *groups;
        bool is_shared = false;
        WP_TRY(are_shared(c, sm, first_of[group], &is_shared, err));
        if (is_shared) {
            g->group_of[sm] = group;
            return WP_STATUS_OK;
        }
    }
    first_of[*groups] = sm;
    g->group_of[sm] = (*groups)++;
    return WP_STATUS_OK;
}

wp_status wpi_sharing_find(wpi_search *s, const wpi_hierarchy *h, uint32_t number,
                           wpi_sharing_groups *out, wp_error *err) {
    contest c;
    uint32_t first_of[WPI_PROBE_SMS_MAX], groups = 0, wrong = 0;
    *out = (wpi_sharing_groups){.sm_count = h->sm_count};
    if (h->sm_count == 0 || h->sm_count > WPI_PROBE_SMS_MAX) {
        wpi_number_unknown(&out->count, "the device's SMs cannot be distinguished");
        return WP_STATUS_OK;
    }
    if (prepare(s, h, number, &c, out) != WP_STATUS_OK) return WP_STATUS_OK;
    for (uint32_t sm = 0; sm < h->sm_count; sm++)
        WP_TRY(place(&c, out, first_of, &groups, sm, err));
    WP_TRY(check_pairs(&c, out, &wrong, err));
    if (wrong != 0)
        wpi_number_unknown(&out->count, "%u of %u random pairs contradict it", wrong, CHECKS);
    else if (c.apart_most - c.apart_least > SAME_SHARE * c.border_cycles)
        wpi_number_unknown(&out->count, "some pairs share only a part: another level interferes");
    else
        wpi_number_set(&out->count, groups, wpi_confidence(c.worst_z));
    return WP_STATUS_OK;
}

void wpi_sharing_text(const wpi_sharing_groups *sharing, wpi_text *out) {
    const uint32_t groups = sharing->count.is_known ? (uint32_t)sharing->count.value : 0;
    for (uint32_t group = 0; group < groups; group++) {
        bool is_first = true;
        if (group > 0) wpi_text_append(out, " | ");
        for (uint32_t sm = 0; sm < sharing->sm_count; sm++) {
            if (sharing->group_of[sm] != group) continue;
            wpi_text_appendf(out, is_first ? "%u" : ",%u", sm);
            is_first = false;
        }
    }
}
