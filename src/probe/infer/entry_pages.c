/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/infer/entry_pages.h"

#include <math.h>

#include "probe/infer/hierarchy_number.h"
#include "probe/measure/timed_rounds.h"

#define SETS_LOOKED_AT 4u

/* The effect of loads beyond the last one without misses, at a stride. */
typedef enum kind {
    AT_ONCE, /* all miss at the next load: one set, or the only set of this stride */
    WHOLE,   /* an even load makes another set overflow: the stride is an entry or more */
    HALVES,  /* only odd ones do: each even load is in the same entry as the load before */
    UNCLEAR
} kind;

/* Loads that add only their own miss are in sets that overflowed before. *next: the first one after
 * load `at` that makes another set overflow; 0: none. */
static wp_status next_set(wpi_search *s, const wpi_ramp *r, uint64_t at, uint64_t *next,
                          wp_error *err) {
    double before = 0, misses = 0;
    uint64_t low = at, step = 1;
    const uint64_t last = r->top_loads - r->quiet_loads;
    *next = 0;
    WP_TRY(wpi_ramp_misses(s, r, at, &before, err));
    for (uint64_t high = 0; high == 0 || high - low > 1;) {
        if (low == last) return WP_STATUS_OK;
        const uint64_t middle =
            high != 0 ? low + (high - low) / 2 : (low + step < last ? low + step : last);
        WP_TRY(wpi_ramp_misses(s, r, middle, &misses, err));
        const bool is_other = misses - before > (double)(middle - at) + 0.5;
        *(is_other ? &high : &low) = middle;
        if (is_other) *next = middle;
        step *= 2;
    }
    return WP_STATUS_OK;
}

static wp_status kind_of(wpi_search *s, wpi_ramp *r, kind *out, wp_error *err) {
    double misses = 0;
    uint64_t sets = 0;
    WP_TRY(wpi_ramp_misses(s, r, 1, &misses, err));
    *out = AT_ONCE;
    if (misses > 0.95 * (double)(r->quiet_loads + 1) - 0.5) return WP_STATUS_OK;
    *out = WHOLE;
    WP_TRY(wpi_ramp_refine(s, r, err));
    for (uint64_t at = 1; at != 0 && sets < SETS_LOOKED_AT; sets++) {
        if (at % 2 == 0) return WP_STATUS_OK;
        WP_TRY(next_set(s, r, at, &at, err));
    }
    *out = sets > 1 ? HALVES : UNCLEAR;
    return WP_STATUS_OK;
}

/* A delay or a half, a quarter, … of it, with the errors that delays have by then. */
static bool is_halved(double cycles, double of) {
    const double halvings = fmax(round(log2(of / fmax(cycles, 1e-6))), 0);
    return fabs(cycles - of / exp2(halvings)) < 0.001 * of + 0.2;
}

/* Descends to the smallest stride that covers an entry. *is_sure: whether this is certain. */
static wp_status descend(wpi_search *s, wpi_ramp *r, bool has_own_end, bool *is_sure,
                         bool *is_at_once, bool *is_mixed, wp_error *err) {
    const uint64_t first = wpi_steps_stride_first(s);
    kind here = UNCLEAR;
    *is_sure = false;
    WP_TRY(kind_of(s, r, &here, err));
    *is_at_once = here == AT_ONCE;
    if (has_own_end) here = WHOLE;
    if (here == UNCLEAR) return WP_STATUS_OK;
    while (r->stride_bytes / 2 >= first) {
        wpi_ramp half;
        kind below = UNCLEAR;
        if (2 * r->quiet_loads + 2 > wpi_search_loads_max(s, r->stride_bytes / 2))
            return WP_STATUS_OK;
        WP_TRY(wpi_ramp_begin(s, r->stride_bytes / 2, 2 * r->quiet_loads, &half, err));
        /* Half of the delay: a miss fills more than this stride. */
        if (half.miss_cycles < 0.75 * r->miss_cycles) {
            *is_mixed = !is_halved(half.miss_cycles, r->miss_cycles);
            break;
        }
        WP_TRY(kind_of(s, &half, &below, err));
        if (below == UNCLEAR) return WP_STATUS_OK;
        if (below != WHOLE) break;
        *r = half;
        here = WHOLE;
    }
    *is_sure = here == WHOLE;
    return WP_STATUS_OK;
}

/* Whether the reach at twice the stride is this level's: a level of one set holds as many entries,
 * and all miss with one more. Otherwise the level before hits. */
static wp_status ends_at_twice(wpi_search *s, const wpi_ramp *r, bool *out, wp_error *err) {
    const uint64_t loads = r->quiet_loads + 1;
    *out = false;
    if (wpi_search_loads_max(s, 2 * r->stride_bytes) < loads) return WP_STATUS_OK;
    const double border = 0.7 * r->miss_cycles * (double)loads;
    return wpi_search_is_extra(s, 2 * r->stride_bytes, loads, r->quiet_loads, border, out, err);
}

/* The share of loads that miss, odd numbers of halves apart, which leave out none of the sets that
 * halves have if they have entries of their own: then none misses, or with XOR four fifths; else
 * seven eighths at least. The median of three strides: at one of them, levels before may hit. 0:
 * memory is too small. */
static wp_status missing_share(wpi_search *s, const wpi_ramp *r, double *share, wp_error *err) {
    static const uint64_t steps[] = {3, 5, 7, 11, 13};
    const uint64_t loads = 2 * r->quiet_loads;
    double shares[3] = {0};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && count < 3; i++) {
        const uint64_t stride = r->stride_bytes / 2 * steps[i];
        wpi_estimate e;
        if (loads % steps[i] == 0 || wpi_search_loads_max(s, stride) < loads) continue;
        WP_TRY(wpi_search_rise(s, stride, loads, WPI_ORDER_STRIDED, 0.003 * r->miss_cycles + 0.01,
                               &e, err));
        shares[count++] = (e.cycles - wpi_steps_known_cycles(s)) / r->miss_cycles;
    }
    *share = count != 0 ? wpi_rounds_median(shares, count) : 0;
    return WP_STATUS_OK;
}

/* If an entry covers less than a fill of the level before, it seems to cover the fill: only its
 * first part is accessed. So all first halves are accessed, then all second ones, when the level
 * before has evicted them. *is_whole: both halves fit, and as many loads miss in sets where halves
 * conflict: the entry covers its stride. */
static wp_status covers_whole(wpi_search *s, const wpi_ramp *r, bool *is_whole, wp_error *err) {
    const double border = wpi_steps_known_cycles(s) + r->miss_cycles / 2;
    const uint64_t half = r->stride_bytes / 2, loads = 2 * r->quiet_loads;
    bool is_above = false;
    double share = 0;
    *is_whole = false;
    if (wpi_search_loads_max(s, half) < loads) return WP_STATUS_OK;
    WP_TRY(wpi_search_is_above(s, half, loads, WPI_ORDER_HALVES, border, &is_above, err));
    if (!is_above) WP_TRY(missing_share(s, r, &share, err));
    *is_whole = share > 0.84;
    return WP_STATUS_OK;
}

static wp_status check_whole(wpi_search *s, const wpi_ramp *r, wpi_level *level, wp_error *err) {
    bool is_whole = true;
    if (s->found_count == 0 || r->stride_bytes > wpi_steps_stride_first(s)) return WP_STATUS_OK;
    WP_TRY(covers_whole(s, r, &is_whole, err));
    if (!is_whole)
        wpi_number_unknown(&level->page_bytes,
                           "less than the level before fills, which hides it, or memory too small");
    return WP_STATUS_OK;
}

/* If the levels before hold all loads without misses, these may hit there and miss here: a smaller
 * stride, at which those levels reach less far, then has fewer. */
static wp_status begin(wpi_search *s, const wpi_step *step, wpi_ramp *r, wp_error *err) {
    WP_TRY(wpi_ramp_begin(s, step->stride_bytes, step->quiet_loads, r, err));
    while (r->quiet_loads <= wpi_steps_busy_loads(s, r->stride_bytes) &&
           r->stride_bytes / 2 >= wpi_steps_stride_first(s)) {
        wpi_ramp half;
        const uint64_t quiet_loads = r->quiet_loads;
        WP_TRY(wpi_ramp_begin(s, r->stride_bytes / 2, 2 * quiet_loads, &half, err));
        if (half.quiet_loads >= 2 * quiet_loads) break;
        *r = half;
    }
    return WP_STATUS_OK;
}

wp_status wpi_pages_find(wpi_search *s, const wpi_step *step, wpi_ramp *r, wpi_level *level,
                         bool *is_mixed, wp_error *err) {
    bool is_sure = false, is_at_once = false;
    *is_mixed = false;
    WP_TRY(begin(s, step, r, err));
    if (r->miss_cycles < WPI_FAINT_CYCLES) {
        wpi_number_unknown(&level->page_bytes, "its misses cost too little to be counted");
        return WP_STATUS_OK;
    }
    const bool has_own_end = step->has_own_end && r->stride_bytes == step->stride_bytes;
    WP_TRY(descend(s, r, has_own_end, &is_sure, &is_at_once, is_mixed, err));
    if (!is_sure && is_at_once) WP_TRY(ends_at_twice(s, r, &is_sure, err));
    if (!is_sure) {
        wpi_number_unknown(&level->page_bytes, step->is_memory_end
                                                   ? "memory too small: larger strides cannot be "
                                                     "measured"
                                                   : "larger strides did not show where it ends");
        return WP_STATUS_OK;
    }
    const double sure = wpi_confidence(s->worst_z);
    wpi_number_set(&level->page_bytes, (double)r->stride_bytes, sure);
    wpi_number_set(&level->entries, (double)r->quiet_loads, sure);
    wpi_number_set(&level->reach_bytes, (double)(r->quiet_loads * r->stride_bytes), sure);
    return check_whole(s, r, level, err);
}

/* The share of the delay at 1/2^halvings of the page's stride, on the ramp. */
static wp_status share(wpi_search *s, const wpi_ramp *r, uint32_t halvings, double *cycles,
                       bool *is_measured, wp_error *err) {
    const uint64_t stride = r->stride_bytes >> halvings;
    const uint64_t top = r->full_loads != 0 ? r->full_loads : r->top_loads;
    const uint64_t loads = top << halvings;
    *is_measured = loads <= wpi_search_loads_max(s, stride);
    if (!*is_measured) return WP_STATUS_OK;
    wpi_estimate e;
    WP_TRY(wpi_search_rise(s, stride, loads, WPI_ORDER_STRIDED, 0.0005 * r->miss_cycles + 0.02, &e,
                           err));
    *cycles = e.cycles - wpi_steps_known_cycles(s);
    return WP_STATUS_OK;
}

/* Fills of a sixteenth are the most common besides whole ones. */
static uint32_t between(uint32_t low, uint32_t high) {
    if (low < 4 && high > 4) return 4;
    if (low == 4 && high > 5) return 5;
    return low + (high - low) / 2;
}

wp_status wpi_pages_find_fill(wpi_search *s, const wpi_ramp *r, wpi_level *level, bool *is_mixed,
                              wp_error *err) {
    const uint64_t first =
        s->found_count == 0 ? s->options.stride_min / 2 : wpi_steps_stride_first(s);
    uint32_t low = 0, high = 0; /* full at 1/2^low; not at 1/2^high, or not visible */
    while (r->stride_bytes >> (high + 1) >= first && high < 16)
        high++;
    high++;
    if (high > 1) {
        bool is_measured = true;
        for (uint32_t at = 1; high - low > 1; at = between(low, high)) {
            double cycles = 0;
            WP_TRY(share(s, r, at, &cycles, &is_measured, err));
            if (!is_measured) {
                wpi_number_unknown(&level->fill_bytes, "too many loads would be needed to see it");
                return WP_STATUS_OK;
            }
            const bool is_full = cycles > 0.75 * r->miss_cycles;
            *is_mixed |= !is_halved(cycles, r->miss_cycles);
            *(is_full ? &low : &high) = at;
        }
    }
    wpi_number_set(&level->fill_bytes, (double)(r->stride_bytes >> low),
                   wpi_confidence(s->worst_z));
    return WP_STATUS_OK;
}
