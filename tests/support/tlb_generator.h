/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random hierarchies, in two kinds (docs/rooms/probe.md):
 *
 *   visible  LRU; each level reaches at least twice as far as the one before and has at least twice
 *            its entries, covers and fills no less, and costs at least 5 cycles
 *   any      whatever a profile can say, memory too small for the last level included
 */
#ifndef TLB_GENERATOR_H
#define TLB_GENERATOR_H

#include "tlb_sampler.h"

static inline uint64_t draw(uint64_t *random, uint64_t first, uint64_t outer) {
    return first + (wp_random_next(random) >> 8) % (outer - first);
}

static inline uint64_t draw_log(uint64_t *random, uint64_t first, uint64_t last) {
    const double u = (double)(wp_random_next(random) >> 11) / 9007199254740992.0;
    const double value = exp(log((double)first) + u * (log((double)last + 1) - log((double)first)));
    return value >= (double)last ? last : (uint64_t)value;
}

static inline void set_equal(model_level *l, uint32_t sets, uint32_t ways) {
    l->set_count = sets;
    l->entries = sets * ways;
    for (uint32_t i = 0; i < sets; i++)
        l->set_ways[i] = ways;
}

/* Two kinds of sets, of two ways at least: a few wider ones among many of one way pass for more of
 * these. With an odd number of entries all strides that are powers of two meet all of them. */
static inline bool draw_unequal(model_level *l, uint64_t *random, uint32_t entries, bool is_odd) {
    const uint32_t wide = (uint32_t)draw(random, 3, 24), narrow = (uint32_t)draw(random, 2, wide);
    const uint32_t few = (uint32_t)draw(random, 1, 6);
    if (few * wide + narrow > entries) return false;
    const uint32_t many = (entries - few * wide) / narrow;
    if (few + many > MODEL_SETS_MAX) return false;
    l->set_count = few + many;
    l->entries = few * wide + many * narrow;
    for (uint32_t i = 0; i < l->set_count; i++)
        l->set_ways[i] = i < many ? narrow : wide;
    return !is_odd || l->entries % 2 == 1;
}

static inline void draw_sets(model_level *l, uint64_t *random, uint32_t entries, bool is_odd) {
    l->hash = WPI_HASH_MODULO;
    uint32_t sets = 1u << draw(random, 0, 13);
    while (sets > entries)
        sets /= 2;
    switch (draw(random, 0, 6)) {
    case 0: set_equal(l, 1, entries); break;
    case 1: set_equal(l, sets, entries / sets); break;
    case 2: /* any number of sets */
        sets = (uint32_t)draw_log(random, 1, entries);
        set_equal(l, sets, entries / sets);
        break;
    case 3: set_equal(l, entries, 1); break;
    case 4:
        if (!draw_unequal(l, random, entries, is_odd)) set_equal(l, 1, entries);
        break;
    default:
        l->hash = sets > 1 ? WPI_HASH_XOR : WPI_HASH_MODULO;
        set_equal(l, sets, entries / sets);
    }
}

static inline void draw_groups(model *m, uint64_t *random) {
    m->sm_count = (uint32_t)draw_log(random, 1, 144);
    for (uint32_t i = 0; i < m->level_count; i++) {
        const uint64_t groups = draw_log(random, 1, m->sm_count);
        for (uint32_t sm = 0; sm < m->sm_count; sm++)
            m->levels[i].group_of[sm] = (uint32_t)draw(random, 0, groups);
    }
}

static inline void draw_surroundings(model *m, uint64_t *random) {
    static const double noises[] = {0, 2, 5};
    m->base_cycles = (double)draw(random, 20, 600);
    m->noise_cycles = noises[draw(random, 0, 3)];
    m->cache_lines = draw(random, 0, 2) == 0 ? 0 : draw_log(random, 128, 32768);
    m->cache_cycles = (double)draw(random, 10, 300);
    draw_groups(m, random);
}

/* fill and page of a level: a page, 16 of them at once, or 16 of them one by one. */
static inline void draw_page(model_level *l, uint64_t *random, uint64_t least) {
    uint64_t page = least << draw_log(random, 1, 6) >> 1;
    if (page > (uint64_t)32 << 20) page = (uint64_t)32 << 20;
    const uint64_t kind = draw(random, 0, 3);
    const bool fits = page * 16 <= (uint64_t)32 << 20;
    l->page_bytes = kind > 0 && fits ? page * 16 : page;
    l->fill_bytes = kind == 1 ? l->page_bytes : page;
    if (page * 16 > (uint64_t)32 << 20) l->page_bytes = l->fill_bytes;
}

static inline uint64_t model_reach(const model_level *l) {
    return l->entries * l->page_bytes;
}

static inline bool draw_visible_level(model *m, uint32_t at, uint64_t *random) {
    model_level *l = &m->levels[at];
    const model_level *before = at > 0 ? &m->levels[at - 1] : NULL;
    const uint64_t least = before != NULL ? 2 * (uint64_t)before->entries : 4;
    const uint64_t last = 4096u >> (m->level_count - 1 - at);
    if (least > last) return false;
    draw_page(l, random,
              before != NULL ? before->fill_bytes : (uint64_t)4096 << draw(random, 0, 14));
    draw_sets(l, random, (uint32_t)draw_log(random, least, last), true);
    l->replacement = &wpi_policy_replacement_lru;
    l->miss_cycles = (double)draw_log(random, 5, 500);
    if (l->entries < least) return false;
    return before == NULL ||
           (model_reach(l) >= 2 * model_reach(before) && l->page_bytes >= before->page_bytes);
}

static inline void model_draw_visible(model *m, uint64_t *random) {
    for (bool is_fine = false; !is_fine;) {
        m->level_count = (uint32_t)draw(random, 1, MODEL_LEVELS_MAX + 1);
        is_fine = true;
        for (uint32_t at = 0; at < m->level_count && is_fine; at++)
            is_fine = draw_visible_level(m, at, random);
    }
    draw_surroundings(m, random);
    m->memory_bytes = (uint64_t)1 << 44;
}

static inline void model_draw_any(model *m, uint64_t *random) {
    m->level_count = (uint32_t)draw(random, 1, MODEL_LEVELS_MAX + 1);
    for (uint32_t at = 0; at < m->level_count; at++) {
        model_level *l = &m->levels[at];
        draw_page(l, random, (uint64_t)4096 << draw(random, 0, 14));
        do
            draw_sets(l, random, (uint32_t)draw_log(random, 4, 4096), false);
        while (l->entries < 4);
        const uint64_t kind = draw(random, 0, 10);
        l->replacement = kind == 0   ? &wpi_policy_replacement_random
                         : kind == 1 ? &wpi_policy_replacement_fifo
                                     : &wpi_policy_replacement_lru;
        l->miss_cycles = (double)draw_log(random, 1, 500);
    }
    draw_surroundings(m, random);
    const uint64_t reach = model_reach(&m->levels[draw(random, 0, m->level_count)]);
    m->memory_bytes = (reach / 2) * draw_log(random, 1, 16);
}

/* Every second hierarchy has levels in order, as real ones do, but is else as any. */
static inline void model_draw(model *m, uint64_t *random) {
    if (draw(random, 0, 2) == 0) {
        model_draw_any(m, random);
        return;
    }
    model_draw_visible(m, random);
    model_level *l = &m->levels[draw(random, 0, m->level_count)];
    switch (draw(random, 0, 4)) {
    case 0: l->replacement = &wpi_policy_replacement_random; break;
    case 1: l->replacement = &wpi_policy_replacement_fifo; break;
    case 2: l->miss_cycles = (double)draw_log(random, 1, 5); break;
    default: break;
    }
    const uint64_t reach = model_reach(&m->levels[draw(random, 0, m->level_count)]);
    m->memory_bytes = (reach / 2) * draw_log(random, 1, 16);
}

/* How many levels, from the first, the rule in docs/rooms/probe.md calls identifiable. */
static inline uint32_t model_identifiable(const model *m) {
    uint32_t most_entries = 0;
    for (uint32_t i = 0; i < m->level_count; i++) {
        const model_level *l = &m->levels[i];
        const model_level *before = i > 0 ? &m->levels[i - 1] : NULL;
        const model_level *behind = i + 1 < m->level_count ? &m->levels[i + 1] : NULL;
        const uint64_t reach = model_reach(l);
        if (l->replacement == &wpi_policy_replacement_random || l->miss_cycles < 5) return i;
        if (before != NULL &&
            (reach < 2 * model_reach(before) || l->entries < 2 * most_entries ||
             l->page_bytes < before->page_bytes || l->fill_bytes < before->fill_bytes))
            return i;
        if (behind != NULL && model_reach(behind) < 2 * reach) return i;
        if (m->memory_bytes < 4 * reach) return i;
        if (l->entries > most_entries) most_entries = l->entries;
    }
    return m->level_count;
}

static inline void model_print(const model *m) {
    fprintf(stderr, "noise %.0f, base %.0f, cache %llu lines +%.0f, memory %llu KiB, %u SMs\n",
            m->noise_cycles, m->base_cycles, (unsigned long long)m->cache_lines, m->cache_cycles,
            (unsigned long long)m->memory_bytes >> 10, m->sm_count);
    for (uint32_t i = 0; i < m->level_count; i++) {
        const model_level *l = &m->levels[i];
        fprintf(stderr,
                "  L%u: %u entries, %u sets (%u … %u ways)%s, page %llu KiB, fill %llu KiB, "
                "+%.0f, %s\n",
                i + 1, l->entries, l->set_count, l->set_ways[0], l->set_ways[l->set_count - 1],
                l->hash == WPI_HASH_XOR ? " xor" : "", (unsigned long long)l->page_bytes >> 10,
                (unsigned long long)l->fill_bytes >> 10, l->miss_cycles, l->replacement->name);
    }
}

#endif
