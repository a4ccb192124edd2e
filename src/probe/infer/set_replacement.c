/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/infer/set_replacement.h"

#include <math.h>

#include "probe/infer/hierarchy_number.h"
#include "probe/infer/steps.h"

#define WAYS_MAX 4096u
#define ROUNDS_BEFORE 16u /* of a set that is followed, until its misses are steady */
#define ROUNDS_COUNTED 32u
#define SHARE_APART 0.02 /* the most by which a share of random replacement may differ */

/* ---- FIFO ---- */

/* Misses of a set in a round: ways - 1 hot pages, a cold one, the hot ones, another cold one. Pages
 * 0 … ways - 2 are hot. */
static double fifo_misses(uint32_t ways) {
    static const uint32_t none = UINT32_MAX;
    uint32_t queue[WAYS_MAX], oldest = 0;
    bool is_held[WAYS_MAX + 1] = {false};
    uint64_t misses = 0;
    for (uint32_t i = 0; i < ways; i++)
        queue[i] = none;
    for (uint32_t round = 0; round < ROUNDS_BEFORE + ROUNDS_COUNTED; round++) {
        for (uint32_t i = 0; i < 2 * ways; i++) {
            const uint32_t page = i + 1 == ways ? ways - 1 : i + 1 == 2 * ways ? ways : i % ways;
            if (is_held[page]) continue;
            if (queue[oldest] != none) is_held[queue[oldest]] = false;
            queue[oldest] = page;
            is_held[page] = true;
            oldest = oldest + 1 < ways ? oldest + 1 : 0;
            misses += round >= ROUNDS_BEFORE;
        }
    }
    return (double)misses / ROUNDS_COUNTED;
}

static wp_status why_not(const wpi_search *s, const wpi_hierarchy *h, uint32_t number,
                         const char **why) {
    const wpi_level *l = &h->levels[number];
    const uint64_t stride = (uint64_t)l->page_bytes.value, sets = (uint64_t)l->sets.value;
    *why = NULL;
    if (!l->page_bytes.is_known || !l->entries.is_known || !l->sets.is_known ||
        !l->fill_bytes.is_known || !l->miss_cycles.is_known)
        *why = "the level's sets, page size or delay are unknown";
    else if (l->way_group_count != 1)
        *why = "sets have different numbers of ways";
    else if (l->ways.value < 2)
        *why = "sets of one way have no choice";
    else if (l->ways.value > WAYS_MAX)
        *why = "too many ways to follow";
    else if (2 * (uint64_t)l->entries.value > s->options.loads_per_round_max ||
             ((uint64_t)l->entries.value + sets) * stride > s->options.memory_bytes)
        *why = "memory is too small, or too many loads would be needed";
    return *why == NULL ? WP_STATUS_OK : WP_STATUS_NOT_FOUND;
}

/* Levels before must miss all loads, levels behind must hold all pages. */
static bool is_alone(const wpi_hierarchy *h, uint32_t number, uint64_t hot, uint64_t pages) {
    const wpi_level *l = &h->levels[number];
    for (uint32_t i = 0; i < number; i++) {
        const double parts = fmax(h->levels[i].page_bytes.value / l->page_bytes.value, 1);
        if ((double)wpi_level_busy_loads(&h->levels[i]) * parts > (double)hot) return false;
    }
    if (number + 1 == h->level_count) return true;
    const wpi_level *next = &h->levels[number + 1];
    return next->reach_bytes.is_known &&
           next->reach_bytes.value >= (double)pages * l->page_bytes.value &&
           next->entries.value >= (double)pages;
}

static double delays_before(const wpi_hierarchy *h, uint32_t number) {
    double cycles = 0;
    for (uint32_t i = 0; i < number; i++)
        cycles += h->levels[i].miss_cycles.value;
    return cycles;
}

wp_status wpi_replacement_find(wpi_search *s, wpi_hierarchy *h, uint32_t number, wp_error *err) {
    wpi_level *l = &h->levels[number];
    const char *why;
    if (l->replacement.is_known || l->replacement.reason[0] != '\0') return WP_STATUS_OK;
    if (why_not(s, h, number, &why) != WP_STATUS_OK) {
        wpi_number_unknown(&l->replacement, "%s", why);
        return WP_STATUS_OK;
    }
    const uint64_t entries = (uint64_t)l->entries.value, sets = (uint64_t)l->sets.value;
    if (!is_alone(h, number, entries - sets, entries + sets)) {
        wpi_number_unknown(&l->replacement, "another level hits or misses at the same time");
        return WP_STATUS_OK;
    }
    const double lru = 2, fifo = fifo_misses((uint32_t)l->ways.value);
    const double unit = l->miss_cycles.value * (double)sets / (double)(2 * entries);
    wpi_estimate e;
    WP_TRY(wpi_search_reuse(s, (uint64_t)l->page_bytes.value, entries - sets, sets,
                            0.03 * unit * (fifo - lru), &e, err));
    const double misses = (e.cycles - delays_before(h, number)) / unit;
    const double error = fmax(e.error_cycles / unit, 1e-9), apart = 0.15 * (fifo - lru);
    if (fabs(misses - lru) < apart)
        wpi_number_set(&l->replacement, WPI_LEVEL_LRU,
                       wpi_confidence((apart - fabs(misses - lru)) / error));
    else if (fabs(misses - fifo) < apart)
        wpi_number_set(&l->replacement, WPI_LEVEL_FIFO,
                       wpi_confidence((apart - fabs(misses - fifo)) / error));
    else
        wpi_number_unknown(&l->replacement,
                           "%.3g misses of a set a round, where LRU has 2 and FIFO %.3g", misses,
                           fifo);
    return WP_STATUS_OK;
}

/* ---- random replacement ---- */

/* Pages of a round, in quarters of the entries, at which shares are compared. */
static const uint32_t quarters[] = {5, 6, 7, 8, 12};
#define SHARES (sizeof quarters / sizeof *quarters)
#define SHARES_NEAR (SHARES - 1) /* up to twice the entries, where the next level may begin */

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 8;
}

/* The share of loads that miss in a set of `ways` over `pages`, round after round. */
static double random_share(uint32_t ways, uint32_t pages, uint64_t *state) {
    uint32_t held[128];
    bool is_held[512] = {false};
    uint64_t misses = 0;
    const uint32_t rounds = 20000 / pages + 8;
    for (uint32_t i = 0; i < ways; i++) {
        held[i] = i;
        is_held[i] = true;
    }
    for (uint32_t round = 0; round < 2 * rounds; round++) {
        for (uint32_t page = 0; page < pages; page++) {
            if (is_held[page]) continue;
            const uint32_t way = (uint32_t)(next_random(state) % ways);
            is_held[held[way]] = false;
            held[way] = page;
            is_held[page] = true;
            misses += round >= rounds;
        }
    }
    return (double)misses / ((double)rounds * pages);
}

/* Where pages are no whole number a set, some sets have one more. */
static void shares_of(uint32_t ways, double shares[SHARES]) {
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < SHARES; i++) {
        const uint32_t low = ways * quarters[i] / 4, rest = ways * quarters[i] % 4;
        const double of_low = low > ways ? random_share(ways, low, &state) * low : 0;
        const double of_high = rest != 0 ? random_share(ways, low + 1, &state) * (low + 1) : of_low;
        shares[i] = (of_low * (4 - rest) + of_high * rest) / (double)(ways * quarters[i]);
    }
}

/* With the delay `all`; or, if that is 0, with the one that fits the last share. */
static double apart_from(const double cycles[SHARES], double all, uint32_t ways) {
    const size_t count = all > 0 ? SHARES : SHARES_NEAR;
    double shares[SHARES], most = 0;
    shares_of(ways, shares);
    const double delay = all > 0 ? all : cycles[count - 1] / shares[count - 1];
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(shares[i] - cycles[i] / delay));
    return most;
}

static wp_status rise_of(wpi_search *s, const wpi_ramp *r, uint64_t loads, double *out,
                         double *error, wp_error *err) {
    wpi_estimate e;
    const double wanted = 0.002 * r->miss_cycles + 0.005;
    WP_TRY(wpi_search_rise(s, r->stride_bytes, loads, WPI_ORDER_STRIDED, wanted, &e, err));
    *out = e.cycles - wpi_steps_known_cycles(s);
    *error = fmax(*error, e.error_cycles);
    return WP_STATUS_OK;
}

/* The delay of loads that all miss; 0: a level behind begins before, or memory ends. */
static wp_status plateau(wpi_search *s, const wpi_ramp *r, double *all, double *error,
                         wp_error *err) {
    double beyond = 0;
    *all = 0;
    if (12 * r->quiet_loads > wpi_search_loads_max(s, r->stride_bytes)) return WP_STATUS_OK;
    WP_TRY(rise_of(s, r, 8 * r->quiet_loads, all, error, err));
    WP_TRY(rise_of(s, r, 12 * r->quiet_loads, &beyond, error, err));
    if (*all < WPI_FAINT_CYCLES || fabs(beyond - *all) > 0.01 * *all) *all = 0;
    return WP_STATUS_OK;
}

wp_status wpi_replacement_find_random(wpi_search *s, const wpi_ramp *r, wpi_level *level,
                                      wp_error *err) {
    static const uint32_t ways[] = {2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 128};
    const uint64_t entries = r->quiet_loads;
    double all = 0, error = 0, cycles[SHARES] = {0}, least = INFINITY;
    if (r->miss_cycles < WPI_FAINT_CYCLES || entries < 8 ||
        2 * entries > wpi_search_loads_max(s, r->stride_bytes) ||
        wpi_steps_busy_loads(s, r->stride_bytes) > entries)
        return WP_STATUS_OK;
    WP_TRY(plateau(s, r, &all, &error, err));
    for (size_t i = 0; i < (all > 0 ? SHARES : SHARES_NEAR); i++)
        WP_TRY(rise_of(s, r, entries * quarters[i] / 4, &cycles[i], &error, err));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i] <= entries) least = fmin(least, apart_from(cycles, all, ways[i]));
    if (least + error / r->miss_cycles > SHARE_APART) return WP_STATUS_OK;
    wpi_number_set(&level->replacement, WPI_LEVEL_RANDOM, all > 0 ? 0.95 : 0.9);
    wpi_number_explain(&level->replacement,
                       "the share of misses grows with pages as random replacement's");
    return WP_STATUS_OK;
}
