/* SPDX-License-Identifier: Apache-2.0 */
/* Level by level, from the one with the smallest reach: each is searched at strides at which all
 * loads miss in the levels before, so that further delay is its own. */
#include "probe/infer/hierarchy.h"

#include <math.h>

#include "base/alloc.h"
#include "probe/infer/disabled_sms.h"
#include "probe/infer/entry_pages.h"
#include "probe/infer/hierarchy_number.h"
#include "probe/infer/set_replacement.h"
#include "probe/infer/sharing.h"
#include "probe/infer/steps.h"

static void set_fill_pages(const wpi_hierarchy *h, wpi_level *level) {
    const wpi_number *page = &h->levels[0].fill_bytes;
    if (!page->is_known || !level->fill_bytes.is_known) {
        wpi_number_unknown(&level->fill_pages, "the page size or the fill is unknown");
        return;
    }
    const double pages = level->fill_bytes.value / page->value;
    wpi_number_set(&level->fill_pages, pages, fmin(page->confidence, level->fill_bytes.confidence));
    if (pages > 1 && level->page_bytes.is_known &&
        level->page_bytes.value == level->fill_bytes.value)
        wpi_number_explain(&level->page_bytes,
                           "a product: one entry for %.0f pages, or %.0f entries filled by a miss, "
                           "take the same time",
                           pages, pages);
}

static const char mixed[] = "the cost of a miss grows with the stride: it hides a level behind it";

/* Makes the numbers unknown, as they assume LRU sets and one delay per miss. */
static void doubt(wpi_level *level, const char *why) {
    wpi_number reason = {0};
    wpi_number_unknown(&reason, "%.150s", why);
    level->page_bytes = level->fill_bytes = level->fill_pages = level->entries = level->sets =
        level->ways = level->miss_cycles = level->plateau_bytes = level->reach_bytes = reason;
    level->way_group_count = 0;
}

uint64_t wpi_level_busy_loads(const wpi_level *level) {
    const uint64_t entries = (uint64_t)level->entries.value;
    return level->way_group_count == 1 ? entries + level->way_groups[0].count : 2 * entries;
}

/* Reads one level; *go_on: everything that the next level's search needs is known. */
static wp_status read_level(wpi_search *s, wpi_hierarchy *h, const wpi_step *step, bool *go_on,
                            wp_error *err) {
    wpi_level *level = &h->levels[h->level_count - 1];
    wpi_ramp ramp;
    bool is_mixed = false;
    s->worst_z = INFINITY;
    *go_on = false;
    WP_TRY(wpi_pages_find(s, step, &ramp, level, &is_mixed, err));
    const bool has_page = level->page_bytes.is_known && !is_mixed;
    if (has_page) WP_TRY(wpi_ramp_find(s, &ramp, level, err));
    const bool has_sets = has_page && level->sets.is_known;
    if (has_sets) WP_TRY(wpi_pages_find_fill(s, &ramp, level, &is_mixed, err));
    if (!has_sets || is_mixed) {
        const bool is_cut = ramp.quiet_loads == 0 || s->is_spent;
        if (!is_cut) WP_TRY(wpi_replacement_find_random(s, &ramp, level, err));
        doubt(level, is_mixed ? mixed : has_page ? level->sets.reason : level->page_bytes.reason);
        return WP_STATUS_OK;
    }
    set_fill_pages(h, level);
    if (!level->fill_bytes.is_known) return WP_STATUS_OK;
    s->found[s->found_count++] = (wpi_found){.busy_loads = wpi_level_busy_loads(level),
                                             .page_bytes = (uint64_t)level->page_bytes.value,
                                             .fill_bytes = (uint64_t)level->fill_bytes.value,
                                             .entries = (uint64_t)level->entries.value,
                                             .sets = (uint64_t)level->sets.value,
                                             .miss_cycles = level->miss_cycles.value};
    *go_on = true;
    return WP_STATUS_OK;
}

/* Numbers that were read before a failure are doubtful: later steps have not checked them. */
static wp_status find_level(wpi_search *s, wpi_hierarchy *h, const wpi_step *step, bool *go_on,
                            wp_error *err) {
    wp_error detail = {0};
    h->level_count++;
    const wp_status status = read_level(s, h, step, go_on, &detail);
    if (status == WP_STATUS_OK) return status;
    doubt(&h->levels[h->level_count - 1], detail.message);
    if (err != NULL) *err = detail;
    return status;
}

static wp_status find_levels(wpi_search *s, wpi_hierarchy *h, wp_error *err) {
    bool found = true, go_on = true;
    while (go_on && h->level_count < WPI_PROBE_LEVELS_MAX) {
        wpi_step step;
        WP_TRY(wpi_steps_find(s, &step, &found, err));
        if (!found) break;
        if (step.is_hidden) {
            if (h->level_count > 0) doubt(&h->levels[h->level_count - 1], mixed);
            go_on = false;
            break;
        }
        WP_TRY(find_level(s, h, &step, &go_on, err));
    }
    const bool is_cut = found && !go_on;
    wpi_number_set(&h->levels_known, h->level_count, is_cut ? 0.5 : 1);
    if (is_cut)
        wpi_number_explain(&h->levels_known,
                           "the last level is not known well enough to measure beyond it");
    else
        wpi_number_explain(&h->levels_known,
                           "levels with a reach beyond %.6g GiB, if any, were not searched",
                           (double)s->options.memory_bytes / (1 << 30));
    return WP_STATUS_OK;
}

static wp_status find_replacements(wpi_search *s, wpi_hierarchy *h, wp_error *err) {
    for (uint32_t i = 0; i < h->level_count; i++) {
        wp_error detail = {0};
        const wp_status status = wpi_replacement_find(s, h, i, &detail);
        if (status == WP_STATUS_NOT_FOUND || status == WP_STATUS_UNSUPPORTED) {
            wpi_number_unknown(&h->levels[i].replacement, "%.150s", detail.message);
        } else if (status != WP_STATUS_OK) {
            if (err != NULL) *err = detail;
            return status;
        }
    }
    return WP_STATUS_OK;
}

static wp_status find_sharing(wpi_search *s, wpi_hierarchy *h, wp_error *err) {
    for (uint32_t i = 0; i < h->level_count; i++) {
        wpi_sharing_groups *g = &h->levels[i].sharing;
        wp_error detail = {0};
        if (s->options.is_sharing_skipped) {
            wpi_number_unknown(&g->count, "sharing was not requested");
            continue;
        }
        const wp_status status = wpi_sharing_find(s, h, i, g, &detail);
        if (status == WP_STATUS_NOT_FOUND || status == WP_STATUS_UNSUPPORTED)
            wpi_number_unknown(&g->count, "%.150s", detail.message);
        else if (status != WP_STATUS_OK && err != NULL)
            *err = detail;
        if (status != WP_STATUS_OK && !g->count.is_known && g->count.reason[0] == '\0')
            return status;
    }
    wpi_floorplan_fill(h);
    return WP_STATUS_OK;
}

/* A few lines in one page hit everything. */
static wp_status find_base(wpi_search *s, wpi_hierarchy *h, wp_error *err) {
    const wpi_chase chase = {.stride_bytes = s->options.stride_min,
                             .loads = 8,
                             .is_control = true,
                             .sm = WPI_SM_ANY,
                             .repeats = 8 * s->options.rounds_min};
    wpi_timing timing;
    const wp_status status = s->sampler->chase(s->sampler->object, &chase, &timing, err);
    if (status == WP_STATUS_NOT_FOUND) {
        wpi_number_unknown(&h->base_cycles, "no chase within a page was measured");
        return WP_STATUS_OK;
    }
    WP_TRY(status);
    const double error = timing.spread_cycles / sqrt((double)timing.rounds);
    wpi_number_set(&h->base_cycles, timing.median_cycles,
                   2 * wpi_confidence(0.5 / fmax(error, 1e-9)) - 1);
    return WP_STATUS_OK;
}

/* A sample that fails ends the search, and its message is the reason of unknown numbers. */
static wp_status search(wpi_search *s, wpi_hierarchy *h, wp_error *err) {
    wp_error detail = {0};
    WP_TRY(find_base(s, h, err));
    const wp_status status = find_levels(s, h, &detail);
    if (status != WP_STATUS_OK && status != WP_STATUS_NOT_FOUND &&
        status != WP_STATUS_UNSUPPORTED) {
        if (err != NULL) *err = detail;
        return status;
    }
    if (status != WP_STATUS_OK) {
        wpi_number_set(&h->levels_known, h->level_count, 0.3);
        wpi_number_explain(&h->levels_known, "%.150s", detail.message);
    }
    WP_TRY(find_replacements(s, h, err));
    return find_sharing(s, h, err);
}

wp_status wpi_infer(const wpi_sampler *sampler, const wpi_infer_options *options,
                    wpi_hierarchy **out, wp_error *err) {
    *out = NULL;
    wp_status status = WP_STATUS_OK;
    wpi_search s;
    WP_TRY(wpi_search_init(&s, sampler, options, err));
    wpi_hierarchy *h = wpi_calloc(1, sizeof *h);
    if (h == NULL) WP_TRY_GOTO(WP_FAIL(err, NOMEM, "hierarchy"), done);
    h->sm_count = sampler->sm_count;
    WP_TRY_GOTO(search(&s, h, err), done);
    h->samples = s.samples;
    h->loads = s.loads;
    *out = h;
    h = NULL;
done:
    wpi_free(h);
    wpi_search_deinit(&s);
    return status;
}

void wpi_hierarchy_destroy(wpi_hierarchy *hierarchy) {
    wpi_free(hierarchy);
}
