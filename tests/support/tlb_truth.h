/* SPDX-License-Identifier: Apache-2.0 */
/** What was found against what is. */
#ifndef TLB_TRUTH_H
#define TLB_TRUTH_H

#include "probe/infer/hierarchy.h"
#include "tlb_generator.h"

static inline bool truth_fits(const wpi_number *found, double truth, double within) {
    return !found->is_known || fabs(found->value - truth) <= within;
}

static inline bool truth_fits_ways(const wpi_level *found, const model_level *truth) {
    uint32_t counted = 0;
    if (found->way_group_count == 0) return true;
    for (uint32_t g = 0; g < found->way_group_count; g++) {
        uint32_t same = 0;
        for (uint32_t i = 0; i < truth->set_count; i++)
            same += truth->set_ways[i] == found->way_groups[g].ways;
        if (same != found->way_groups[g].count) return false;
        counted += same;
    }
    return counted == truth->set_count;
}

static inline wpi_level_replacement truth_replacement(const model_level *truth) {
    return truth->replacement == &wpi_policy_replacement_random ? WPI_LEVEL_RANDOM
           : truth->replacement == &wpi_policy_replacement_fifo ? WPI_LEVEL_FIFO
                                                                : WPI_LEVEL_LRU;
}

static inline bool truth_fits_groups(const wpi_level *found, const model_level *truth) {
    const wpi_sharing_groups *g = &found->sharing;
    for (uint32_t a = 0; g->count.is_known && a < g->sm_count; a++)
        for (uint32_t b = 0; b < a; b++)
            if ((g->group_of[a] == g->group_of[b]) != (truth->group_of[a] == truth->group_of[b]))
                return false;
    return true;
}

/** Numbers of a level, but delay and groups; the fill as seen through levels of `fill_least`. */
static inline bool truth_fits_level(const wpi_level *found, const model_level *truth,
                                    uint64_t fill_least) {
    const uint64_t fill = truth->fill_bytes > fill_least ? truth->fill_bytes : fill_least;
    return truth_fits(&found->page_bytes, (double)truth->page_bytes, 0) &&
           truth_fits(&found->fill_bytes, (double)fill, 0) &&
           truth_fits(&found->entries, truth->entries, 0) &&
           truth_fits(&found->sets, truth->set_count, 0) &&
           truth_fits(&found->reach_bytes, (double)model_reach(truth), 0) &&
           truth_fits(&found->replacement, truth_replacement(truth), 0) &&
           truth_fits_ways(found, truth);
}

static inline uint32_t truth_known(const wpi_level *l) {
    return (uint32_t)l->page_bytes.is_known + l->fill_bytes.is_known + l->entries.is_known +
           l->sets.is_known + (l->way_group_count > 0) + l->miss_cycles.is_known +
           l->reach_bytes.is_known + l->sharing.count.is_known;
}
#define TRUTH_NUMBERS 8u /* of a level */

static inline void truth_show(const wpi_hierarchy *h) {
    for (uint32_t i = 0; i < h->level_count; i++) {
        const wpi_level *l = &h->levels[i];
        const wpi_number *n[] = {&l->page_bytes,  &l->fill_bytes,  &l->entries,      &l->sets,
                                 &l->miss_cycles, &l->reach_bytes, &l->sharing.count};
        static const char *names[] = {"page",  "fill",  "entries", "sets",
                                      "delay", "reach", "groups"};
        fprintf(stderr, "  found L%u:", i + 1);
        for (size_t k = 0; k < sizeof n / sizeof *n; k++)
            fprintf(stderr, " %s %s%.9g", names[k], n[k]->is_known ? "" : "unknown ", n[k]->value);
        for (uint32_t g = 0; g < l->way_group_count; g++)
            fprintf(stderr, " %ux%u", l->way_groups[g].count, l->way_groups[g].ways);
        fprintf(stderr, "  %s; %s; %s\n", l->page_bytes.reason, l->sets.reason,
                l->sharing.count.reason);
    }
    fprintf(stderr, "  %s\n", h->levels_known.reason);
}

static const wpi_infer_options truth_options = {.samples_max = 20000000,
                                                .loads_max = (uint64_t)1 << 60,
                                                .loads_per_round_max = (uint64_t)1 << 18};

static inline uint64_t truth_random(uint64_t seed) {
    uint64_t random = seed * 0x9e3779b97f4a7c15u | 1;
    for (int i = 0; i < 4; i++)
        (void)wp_random_next(&random);
    return random;
}

#endif
