/* SPDX-License-Identifier: Apache-2.0 */
/** The TLBs of a profile as a device to probe. */
#ifndef TLB_PROFILE_H
#define TLB_PROFILE_H

#include "sim/profile/floorplan.h"
#include "tlb_sampler.h"
#include "wp_test.h"

static inline void model_from_profile(const wpi_profile *p, model *m) {
    wpi_floorplan plan;
    wp_error err = {0};
    wpi_floorplan_init(&plan, p);
    *m = (model){.level_count = p->tlb_levels,
                 .sm_count = p->sm_count,
                 .memory_bytes = p->memory_bytes,
                 .base_cycles = (double)(p->l2.latency_ps / p->cycle_ps)};
    for (uint32_t i = 0; i < p->tlb_levels; i++) {
        const wpi_tlb_profile *t = &p->tlb[i];
        model_level *l = &m->levels[i];
        uint32_t groups = 0;
        *l = (model_level){.entries = t->entries,
                           .set_count = t->set_count,
                           .page_bytes = t->coverage_bytes,
                           .fill_bytes = t->fill_bytes,
                           .hash = t->hash,
                           .replacement = t->replacement};
        const wpi_time_ps next = i + 1 < p->tlb_levels ? p->tlb[i + 1].latency_ps
                                                       : p->walker.levels * p->walker.level_ps;
        l->miss_cycles = (double)(next / p->cycle_ps);
        memcpy(l->set_ways, t->set_ways, t->set_count * sizeof *t->set_ways);
        assert_status_ok(
            wpi_floorplan_groups(&plan, t->sharing, t->groups, l->group_of, &groups, &err), &err);
    }
}

static inline wpi_hierarchy *model_infer(const model *m, uint64_t seed) {
    static const wpi_infer_options options = {.samples_max = 4000000,
                                              .loads_max = (uint64_t)1 << 60};
    tlb_sampler object;
    tlb_sampler_init(&object, m, seed);
    const wpi_sampler sampler = tlb_sampler_table(&object);
    wpi_hierarchy *h = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_infer(&sampler, &options, &h, &err), &err);
    tlb_sampler_deinit(&object);
    return h;
}

#endif
