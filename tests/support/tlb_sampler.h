/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device to probe that is nothing but TLBs: the simulator's (src/sim/tlb/tags.h), a data cache in
 * front, and noise, outliers and a drifting clock on top. What a chase takes without noise is
 * computed once.
 */
#ifndef TLB_SAMPLER_H
#define TLB_SAMPLER_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/measure/chain.h"
#include "probe/measure/sampler.h"
#include "probe/measure/timed_rounds.h"
#include "sim/tlb/tags.h"
#include "wp_random.h"

#define MODEL_LEVELS_MAX 4u
#define MODEL_SETS_MAX 4096u
#define MODEL_SMS_MAX 512u

extern const wpi_policy wpi_policy_replacement_fifo, wpi_policy_replacement_random;

typedef struct model_level {
    uint32_t entries, set_count;
    uint32_t set_ways[MODEL_SETS_MAX];
    uint64_t page_bytes, fill_bytes;
    wpi_hash hash;
    const wpi_policy *replacement;
    double miss_cycles;
    uint32_t group_of[MODEL_SMS_MAX];
} model_level;

typedef struct model {
    uint32_t level_count, sm_count;
    model_level levels[MODEL_LEVELS_MAX];
    uint64_t memory_bytes;
    double base_cycles;
    uint64_t cache_lines; /* 0: no data cache */
    double cache_cycles;  /* that its misses add */
    double noise_cycles;  /* of a load, one standard deviation */
} model;

typedef struct model_known {
    wpi_chase chase;
    double cycles;
} model_known;

typedef struct model_met {
    wpi_contest is;
    double cycles;
} model_met;

typedef struct tlb_sampler {
    const model *of;
    wpi_tags tags[MODEL_LEVELS_MAX][2]; /* of the timed SM, of the other one */
    uint64_t random, chases, loads_walked;
    double time; /* loads so far */
    model_known *known;
    model_met met[1u << MODEL_LEVELS_MAX]; /* by levels that are not shared */
    size_t known_count, known_capacity;
} tlb_sampler;

#define MODEL_ADDRESS ((uint64_t)1 << 50)

static inline double model_normal(uint64_t *random) {
    const double u = ((double)(wp_random_next(random) >> 11) + 1) / 9007199254740993.0;
    const double v = (double)(wp_random_next(random) >> 11) / 9007199254740992.0;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Pages and fills are powers of two. */
static inline uint64_t model_page(const model_level *l, uint64_t address) {
    return address >> __builtin_ctzll(l->page_bytes);
}

static inline uint64_t model_part(const model_level *l, uint64_t address) {
    return (uint64_t)1 << ((address & (l->page_bytes - 1)) >> __builtin_ctzll(l->fill_bytes));
}

static inline bool model_hit(wpi_tags *tags, const model_level *l, uint64_t address) {
    const uint32_t entry = wpi_tags_find(tags, model_page(l, address));
    if (entry == WPI_INDEX_NONE || (tags->entries[entry].parts & model_part(l, address)) == 0)
        return false;
    wpi_tags_touch(tags, entry);
    return true;
}

static inline void model_fill(wpi_tags *tags, const model_level *l, uint64_t address) {
    uint32_t entry = wpi_tags_find(tags, model_page(l, address));
    if (entry == WPI_INDEX_NONE) entry = wpi_tags_insert(tags, model_page(l, address), NULL);
    tags->entries[entry].parts |= model_part(l, address);
}

/* `side`: 0 the timed SM's TLBs, 1 the other's; a TLB that both share is the timed one's. */
static inline double model_load(tlb_sampler *s, uint64_t address,
                                const uint32_t side[MODEL_LEVELS_MAX]) {
    const model *m = s->of;
    double cycles = 0;
    uint32_t level = 0;
    s->loads_walked++;
    while (level < m->level_count &&
           !model_hit(&s->tags[level][side[level]], &m->levels[level], address))
        cycles += m->levels[level++].miss_cycles;
    while (level-- > 0)
        model_fill(&s->tags[level][side[level]], &m->levels[level], address);
    return cycles;
}

static inline void model_clear(tlb_sampler *s) {
    for (uint32_t i = 0; i < s->of->level_count; i++)
        for (uint32_t k = 0; k < 2; k++)
            wpi_tags_clear(&s->tags[i][k]);
}

static inline void model_shuffle(uint32_t *order, uint64_t count, uint64_t seed) {
    uint64_t random = seed * 2 + 1;
    for (uint64_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = count; i > 1; i--) {
        const uint64_t k = wp_random_next(&random) % i;
        const uint32_t kept = order[i - 1];
        order[i - 1] = order[k];
        order[k] = kept;
    }
}

static inline void model_order(uint32_t *order, const wpi_chase *c) {
    if (c->order == WPI_ORDER_REUSE) {
        wpi_rounds_reuse(order, (uint32_t)c->loads, (uint32_t)c->hot);
        return;
    }
    if (c->order == WPI_ORDER_SHUFFLED) {
        model_shuffle(order, c->loads, c->seed);
        return;
    }
    uint64_t at = 0;
    for (uint64_t first = 0; first < 2; first++)
        for (uint64_t i = first; i < c->loads; i += 2)
            order[at++] = (uint32_t)i;
}

/* A load beside the one before hits, and changes nothing. */
static inline double model_round(tlb_sampler *s, const wpi_chase *c, const uint32_t *order) {
    const uint32_t side[MODEL_LEVELS_MAX] = {0};
    const uint64_t stride = c->is_control ? WPI_CHASE_LINE_BYTES : c->stride_bytes;
    const int fill_bits = __builtin_ctzll(s->of->levels[0].fill_bytes);
    uint64_t before = UINT64_MAX;
    double cycles = 0;
    for (uint64_t i = 0; i < c->loads; i++) {
        const uint64_t address =
            MODEL_ADDRESS + (order != NULL ? order[i] & ~WPI_CHAIN_SECOND : i) * stride;
        if (address >> fill_bits != before) cycles += model_load(s, address, side);
        before = address >> fill_bits;
    }
    return cycles;
}

static inline double model_exact(tlb_sampler *s, const wpi_chase *c) {
    const model *m = s->of;
    const bool is_ordered = c->order != WPI_ORDER_STRIDED && !c->is_control;
    uint32_t *order = is_ordered ? malloc(c->loads * sizeof *order) : NULL;
    if (is_ordered) model_order(order, c);
    uint64_t rounds = 1;
    for (uint32_t i = 0; i < m->level_count; i++)
        if (m->levels[i].replacement == &wpi_policy_replacement_random)
            rounds = 4 + 16384 / c->loads;
    model_clear(s);
    (void)model_round(s, c, order);
    for (uint64_t i = 1; i < rounds / 8; i++) /* until evictions are in balance */
        (void)model_round(s, c, order);
    double cycles = 0;
    for (uint64_t i = 0; i < rounds; i++)
        cycles += model_round(s, c, order);
    free(order);
    cycles = m->base_cycles + cycles / (double)(c->loads * rounds);
    if (m->cache_lines != 0 && c->loads > m->cache_lines) cycles += m->cache_cycles;
    return cycles;
}

static inline double model_remembered(tlb_sampler *s, const wpi_chase *c) {
    for (size_t i = s->known_count; i-- > 0;) {
        const wpi_chase *k = &s->known[i].chase;
        if (k->loads == c->loads && k->is_control == c->is_control &&
            (c->is_control ||
             (k->stride_bytes == c->stride_bytes && k->order == c->order && k->hot == c->hot)))
            return s->known[i].cycles;
    }
    if (s->known_count == s->known_capacity) {
        s->known_capacity = s->known_capacity == 0 ? 256 : 2 * s->known_capacity;
        s->known = realloc(s->known, s->known_capacity * sizeof *s->known);
    }
    s->known[s->known_count] = (model_known){*c, model_exact(s, c)};
    return s->known[s->known_count++].cycles;
}

/* Rounds' means lie around the truth; now and then one of them is far off, and the clock drifts. */
static inline wpi_timing model_noisy(tlb_sampler *s, double exact, uint64_t loads,
                                     uint32_t rounds) {
    const double noise = s->of->noise_cycles;
    const double of_round = noise / sqrt((double)loads);
    const double root = sqrt((double)rounds);
    s->time += (double)loads * rounds;
    const double drift = noise * sin(s->time / 2e9);
    const double median = exact + drift + of_round * 1.2533 / root * model_normal(&s->random);
    const double outliers = noise > 0 && wp_random_next(&s->random) % 8 == 0 ? 40 : 0;
    const double spread = of_round * (1 + 1.2 / root * model_normal(&s->random));
    return (wpi_timing){.mean_cycles = median + outliers / root,
                        .median_cycles = median,
                        .spread_cycles = fmax(spread, 0.2 * of_round),
                        .rounds = rounds};
}

static inline wp_status model_chase(void *object, const wpi_chase *c, wpi_timing *out,
                                    wp_error *err) {
    tlb_sampler *s = object;
    const uint64_t stride = c->is_control ? WPI_CHASE_LINE_BYTES : c->stride_bytes;
    if (c->loads == 0 || c->repeats == 0 || wpi_chase_places(c) * stride > s->of->memory_bytes)
        return WP_FAIL(err, INVALID, "a chase that cannot be");
    s->chases++;
    *out = model_noisy(s, model_remembered(s, c), c->loads, c->repeats);
    return WP_STATUS_OK;
}

/* What a contest takes follows from the levels that both SMs share. */
static inline double model_contest_exact(tlb_sampler *s, const wpi_contest *c,
                                         const uint32_t *other) {
    const uint32_t own[MODEL_LEVELS_MAX] = {0};
    const uint64_t second = MODEL_ADDRESS + c->loads_timed * c->stride_bytes;
    double cycles = 0;
    model_clear(s);
    for (uint64_t i = 0; i < c->loads_timed; i++)
        (void)model_load(s, MODEL_ADDRESS + i * c->stride_bytes, own);
    for (uint64_t i = 0; i < c->loads_other; i++)
        (void)model_load(s, second + i * c->stride_bytes, other);
    for (uint64_t i = 0; i < c->loads_timed; i++)
        cycles += model_load(s, MODEL_ADDRESS + i * c->stride_bytes, own);
    return s->of->base_cycles + cycles / (double)c->loads_timed;
}

static inline wp_status model_contest(void *object, const wpi_contest *c, wpi_timing *out,
                                      wp_error *err) {
    tlb_sampler *s = object;
    const model *m = s->of;
    uint32_t other[MODEL_LEVELS_MAX] = {0}, apart = 0;
    if ((c->loads_timed + c->loads_other) * c->stride_bytes > m->memory_bytes)
        return WP_FAIL(err, INVALID, "a contest that cannot be");
    for (uint32_t i = 0; i < m->level_count; i++) {
        other[i] = m->levels[i].group_of[c->sm_timed] != m->levels[i].group_of[c->sm_other];
        apart |= other[i] << i;
    }
    s->chases++;
    model_met *met = &s->met[apart];
    if (met->is.stride_bytes != c->stride_bytes || met->is.loads_timed != c->loads_timed ||
        met->is.loads_other != c->loads_other)
        *met = (model_met){*c, model_contest_exact(s, c, other)};
    *out = model_noisy(s, met->cycles + 3 * (c->sm_timed % 5), c->loads_timed, c->repeats);
    return WP_STATUS_OK;
}

static inline void tlb_sampler_init(tlb_sampler *s, const model *m, uint64_t seed) {
    *s = (tlb_sampler){.of = m, .random = seed | 1};
    for (uint32_t i = 0; i < m->level_count; i++) {
        const model_level *l = &m->levels[i];
        for (uint32_t k = 0; k < 2; k++) {
            wp_error err;
            if (wpi_tags_init(&s->tags[i][k], l->set_ways, l->set_count, l->hash, l->replacement,
                              seed * 2 + 1, &err) != WP_STATUS_OK)
                abort();
        }
    }
}

static inline void tlb_sampler_deinit(tlb_sampler *s) {
    for (uint32_t i = 0; i < s->of->level_count; i++)
        for (uint32_t k = 0; k < 2; k++)
            wpi_tags_deinit(&s->tags[i][k]);
    free(s->known);
}

static inline wpi_sampler tlb_sampler_table(tlb_sampler *s) {
    return (wpi_sampler){.object = s,
                         .memory_bytes = s->of->memory_bytes,
                         .sm_count = s->of->sm_count,
                         .chase = model_chase,
                         .contest = model_contest};
}

#endif
