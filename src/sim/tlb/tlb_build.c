/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the levels of TLBs from a profile, clears them, and reports their counters. */
#include <stdio.h>

#include "base/alloc.h"
#include "sim/profile/floorplan.h"
#include "sim/tlb/tlb_parts.h"

static wp_status init_prefetch(wpi_translation *t, wp_error *err) {
    if (!wpi_tlb_prefetch_is_on(t->profile)) return WP_STATUS_OK;
    const wpi_tlb_level *last = &t->levels[t->level_count - 1];
    for (uint32_t i = 0; i < last->tlb_count; i++)
        WP_TRY(wpi_tlb_prefetch_init(&last->tlbs[i].store.prefetch, t->profile, err));
    return WP_STATUS_OK;
}

static wp_status init_tlb(wpi_tlb *at, const wpi_tlb_profile *profile, const wpi_grain *grains,
                          wpi_time_ps cycle_ps, uint64_t seed, wp_error *err) {
    WP_TRY(wpi_tlb_store_init(&at->store, profile, grains, seed, err));
    at->ports = (wpi_ports){.cycle_ps = cycle_ps, .count = profile->ports};
    at->line = WPI_FIFO_EMPTY;
    if (!wpi_index_init(&at->fills, 0)) return WP_FAIL(err, NOMEM, "MSHRs of a TLB");
    return WP_STATUS_OK;
}

static wp_status init_level(wpi_translation *t, uint32_t number, const wpi_floorplan *plan,
                            wp_error *err) {
    wpi_tlb_level *l = &t->levels[number];
    const wpi_tlb_profile *profile = &t->profile->tlb[number];
    l->profile = profile;
    wpi_grains_init(l->grains, profile, t->profile->page_bytes);
    l->latency_sum = profile->latency_ps + (number > 0 ? t->levels[number - 1].latency_sum : 0);
    WP_TRY(wpi_floorplan_groups(plan, profile->sharing, profile->groups, l->group_of, &l->tlb_count,
                                err));
    l->tlbs = wpi_calloc(l->tlb_count, sizeof *l->tlbs);
    if (l->tlbs == NULL) return WP_FAIL(err, NOMEM, "%u TLBs", l->tlb_count);
    for (uint32_t i = 0; i < l->tlb_count; i++) {
        const uint64_t seed = (t->profile->seed + number * 1000 + i) * 0x9e3779b97f4a7c15u | 1;
        WP_TRY(init_tlb(&l->tlbs[i], profile, l->grains, t->profile->cycle_ps, seed, err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_translation_create(wpi_engine *engine, const wpi_profile *profile,
                                 wpi_translated translated, wpi_expected expected, void *object,
                                 wpi_translation **out, wp_error *err) {
    *out = NULL;
    wp_status status = WP_STATUS_OK;
    wpi_floorplan plan;
    wpi_floorplan_init(&plan, profile);
    wpi_translation *t = wpi_calloc(1, sizeof *t);
    if (t == NULL) return WP_FAIL(err, NOMEM, "translation");
    t->engine = engine;
    t->profile = profile;
    t->translated = translated;
    t->expected = expected;
    t->object = object;
    t->level_count = profile->tlb_levels;
    wpi_utilisation_init(&t->waiting, profile->slice_ps, 0);
    t->starved = WPI_FIFO_EMPTY;
    for (uint32_t i = 0; i < t->level_count; i++)
        WP_TRY_GOTO(init_level(t, i, &plan, err), done);
    WP_TRY_GOTO(init_prefetch(t, err), done);
    const wpi_tlb_ring_owner owner = wpi_tlb_ring_calls(t);
    WP_TRY_GOTO(wpi_tlb_ring_create(engine, profile, &plan, t->levels[0].group_of,
                                    t->levels[0].tlb_count, &owner, &t->ring, err),
                done);
    for (uint32_t i = 0; i < t->levels[0].tlb_count; i++) {
        t->levels[0].tlbs[i].store.ring = t->ring;
        t->levels[0].tlbs[i].store.ring_number = i;
    }
    WP_TRY_GOTO(
        wpi_walkers_init(&t->walkers, engine, profile, wpi_tlb_walked, wpi_tlb_expect_walk, t, err),
        done);
    *out = t;
    t = NULL;
done:
    wpi_translation_destroy(t);
    return status;
}

void wpi_translation_destroy(wpi_translation *t) {
    if (t == NULL) return;
    for (uint32_t i = 0; i < t->level_count; i++) {
        wpi_tlb_level *l = &t->levels[i];
        for (uint32_t k = 0; k < l->tlb_count && l->tlbs != NULL; k++) {
            wpi_tlb_store_deinit(&l->tlbs[k].store);
            wpi_index_deinit(&l->tlbs[k].fills);
            wpi_pool_deinit(&l->tlbs[k].joined);
        }
        wpi_free(l->tlbs);
    }
    wpi_tlb_ring_destroy(t->ring);
    wpi_walkers_deinit(&t->walkers);
    wpi_pool_deinit(&t->requests);
    wpi_free(t);
}

void wpi_translation_set_paging(wpi_translation *t, wpi_paging *paging) {
    t->paging = paging;
}

void wpi_translation_set_watch(wpi_translation *t, wpi_watch *watch) {
    t->watch = watch;
}

void wpi_translation_flush(wpi_translation *t) {
    WP_CHECK(t->under_way == 0);
    for (uint32_t i = 0; i < t->level_count; i++)
        for (uint32_t k = 0; k < t->levels[i].tlb_count; k++)
            wpi_tlb_store_clear(&t->levels[i].tlbs[k].store);
    if (t->ring != NULL) wpi_tlb_ring_flush(t->ring);
    wpi_walkers_flush(&t->walkers);
}

uint64_t wpi_translation_under_way(const wpi_translation *t) {
    return t->under_way;
}

static void visit_prefetch(const wpi_translation *t, wpi_visit visit, void *object) {
    const wpi_tlb_level *last = &t->levels[t->level_count - 1];
    uint64_t fetched = 0, used = 0;
    for (uint32_t i = 0; i < last->tlb_count; i++) {
        fetched += last->tlbs[i].store.prefetch.fetched;
        used += last->tlbs[i].store.prefetch.used;
    }
    wpi_visit_value(visit, object, "tlb_prefetch.", "fetched", "translations", fetched);
    wpi_visit_value(visit, object, "tlb_prefetch.", "used", "translations", used);
}

void wpi_translation_statistics(const wpi_translation *t, wpi_visit visit, void *object) {
    for (uint32_t i = 0; i < t->level_count; i++) {
        const wpi_tlb_level *l = &t->levels[i];
        char prefix[16];
        (void)snprintf(prefix, sizeof prefix, "tlb.l%u.", (i + 1) % 10);
        wpi_visit_value(visit, object, prefix, "hits", "requests", l->hits);
        wpi_visit_value(visit, object, prefix, "misses", "requests", l->misses);
        wpi_visit_value(visit, object, prefix, "merges", "requests", l->merges);
        wpi_visit_value(visit, object, prefix, "stalls", "requests", l->stalls);
        wpi_visit_value(visit, object, prefix, "stall_wait", "ps", l->stall_wait_ps);
        wpi_visit_value(visit, object, prefix, "evictions", "entries", l->evictions);
        wpi_visit_histogram(visit, object, prefix, "port_wait", "ps", &l->wait_ps);
    }
    wpi_visit_value(visit, object, "tlb.", "translation", "ps", t->translation_ps);
    wpi_visit_utilisation(visit, object, "tlb.", "waiting", &t->waiting);
    if (wpi_tlb_prefetch_is_on(t->profile)) visit_prefetch(t, visit, object);
    if (t->ring != NULL) wpi_tlb_ring_statistics(t->ring, visit, object);
    wpi_walkers_statistics(&t->walkers, visit, object);
}
