/* SPDX-License-Identifier: Apache-2.0 */
/* Misses are counted: the cycles of a round beyond those of one without misses, in delays. */
#include "probe/ramp.h"

#include <math.h>

#include "probe/number.h"
#include "probe/steps.h"

#define MISSES_ERROR 0.07 /* wanted of a count of misses, one standard deviation */
#define WHOLE 0.35        /* a count may lie so far from a whole number */

/* The delay, from a round in which all loads miss, or as many as memory allows. */
static wp_status measure_delay(wpi_search *s, wpi_ramp *r, double misses_error, wp_error *err) {
    wpi_estimate e;
    const double wanted = misses_error * r->miss_cycles;
    WP_TRY(wpi_search_extra(s, r->stride_bytes, r->top_loads, r->quiet_loads, wanted, &e, err));
    r->miss_cycles = e.cycles / (double)r->top_loads;
    return WP_STATUS_OK;
}

static uint64_t top_of(const wpi_search *s, const wpi_ramp *r) {
    const uint64_t most = wpi_search_loads_max(s, r->stride_bytes);
    return most < 2 * r->quiet_loads ? most : 2 * r->quiet_loads;
}

/* From `rough`, which is right or a little too large, to the last loads without misses; beyond it
 * there are two at least. */
static wp_status bisect(wpi_search *s, wpi_ramp *r, uint64_t rough, uint64_t busy, wp_error *err) {
    uint64_t low = rough * 3 / 4, high = rough + rough / 32 + 1;
    if (low < busy) low = busy;
    if (low < 1) low = 1;
    if (high > r->top_loads) high = r->top_loads;
    const uint64_t before = low;
    uint64_t middle = rough; /* often it */
    while (high > low + 1) {
        bool is_missing = false;
        if (middle <= low || middle >= high) middle = low + (high - low) / 2;
        WP_TRY(wpi_search_is_extra(s, r->stride_bytes, middle, before, r->miss_cycles, &is_missing,
                                   err));
        *(is_missing ? &high : &low) = middle;
        middle = low == rough ? rough + 1 : 0;
    }
    r->quiet_loads = low;
    return WP_STATUS_OK;
}

wp_status wpi_ramp_begin(wpi_search *s, uint64_t stride, uint64_t rough, wpi_ramp *r,
                         wp_error *err) {
    const uint64_t busy = wpi_steps_busy_loads(s);
    *r = (wpi_ramp){.stride_bytes = stride, .quiet_loads = rough};
    r->top_loads = top_of(s, r);
    wpi_estimate e;
    WP_TRY(wpi_search_rise(s, stride, r->top_loads, WPI_ORDER_STRIDED, 0.05, &e, err));
    r->miss_cycles = e.cycles - wpi_steps_known_cycles(s);
    WP_TRY(bisect(s, r, rough, busy, err));
    r->top_loads = top_of(s, r);
    return WP_STATUS_OK;
}

wp_status wpi_ramp_misses(wpi_search *s, const wpi_ramp *r, uint64_t more, double *misses,
                          wp_error *err) {
    wpi_estimate e;
    WP_TRY(wpi_search_extra(s, r->stride_bytes, r->quiet_loads + more, r->quiet_loads,
                            MISSES_ERROR * r->miss_cycles, &e, err));
    *misses = e.cycles / r->miss_cycles;
    return WP_STATUS_OK;
}

/* Loads of a round that still hit, seen from the plateau. */
static wp_status hits(wpi_search *s, const wpi_ramp *r, uint64_t more, double *out, wp_error *err) {
    const uint64_t loads = r->quiet_loads + more;
    const double share = (double)r->top_loads / (double)loads;
    wpi_estimate e;
    if (loads == r->top_loads) {
        *out = 0;
        return WP_STATUS_OK;
    }
    WP_TRY(wpi_search_extra(s, r->stride_bytes, r->top_loads, loads,
                            MISSES_ERROR * r->miss_cycles * share, &e, err));
    *out = e.cycles / r->miss_cycles / share;
    return WP_STATUS_OK;
}

/* ---- equal sets -------------------------------------------------------------------------------
 */

static bool is_near(double value, double whole) {
    return fabs(value - whole) < WHOLE;
}

/* Do all numbers between fit `ways`? The last set hits until the last load; half of the sets
 * overflow with half of the loads. */
static wp_status are_equal(wpi_search *s, const wpi_ramp *r, uint64_t ways, bool *out,
                           wp_error *err) {
    const uint64_t sets = r->quiet_loads / ways;
    double value = 0;
    *out = false;
    if (r->quiet_loads + sets > r->top_loads) return WP_STATUS_OK;
    WP_TRY(hits(s, r, sets - 1, &value, err));
    if (!is_near(value, (double)ways)) return WP_STATUS_OK;
    WP_TRY(hits(s, r, sets, &value, err));
    if (!is_near(value, 0)) return WP_STATUS_OK;
    WP_TRY(wpi_ramp_misses(s, r, sets / 2, &value, err));
    *out = sets < 2 || is_near(value, (double)(sets / 2 * (ways + 1)));
    return WP_STATUS_OK;
}

/* ---- any sets ---------------------------------------------------------------------------------
 */

/* The least `more` without hits. */
static wp_status plateau(wpi_search *s, const wpi_ramp *r, uint64_t *more, wp_error *err) {
    uint64_t low = 0, high = r->top_loads - r->quiet_loads;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        double value = 0;
        WP_TRY(hits(s, r, middle, &value, err));
        *(value > 0.5 ? &low : &high) = middle;
    }
    *more = high;
    return WP_STATUS_OK;
}

static wp_status fits(wpi_search *s, const wpi_ramp *r, uint64_t first, double misses_first,
                      uint64_t last, double ways, bool *out, double *misses, wp_error *err) {
    WP_TRY(wpi_ramp_misses(s, r, last, misses, err));
    *out = fabs(*misses - misses_first - (double)(last - first) * (ways + 1)) < 2 * WHOLE;
    return WP_STATUS_OK;
}

/* Sets of as many ways as the next one: how far the ramp goes on as steep as it begins. */
static wp_status next_group(wpi_search *s, const wpi_ramp *r, uint64_t sets, uint64_t *at,
                            double *misses_at, wpi_way_group *group, wp_error *err) {
    double next = 0, misses = 0;
    WP_TRY(wpi_ramp_misses(s, r, *at + 1, &next, err));
    const double ways = round(next - *misses_at - 1);
    if (ways < 1 || !is_near(next - *misses_at - 1, ways))
        return WP_FAIL(err, NOT_FOUND, "misses do not grow by whole numbers");
    uint64_t low = *at + 1, high = sets + 1;
    double misses_low = next;
    uint64_t middle = sets;
    while (high - low > 1) {
        bool is_so = false;
        WP_TRY(fits(s, r, *at, *misses_at, middle, ways, &is_so, &misses, err));
        if (is_so) misses_low = misses;
        *(is_so ? &low : &high) = middle;
        middle = low + (high - low) / 2;
    }
    *group = (wpi_way_group){.count = (uint32_t)(low - *at), .ways = (uint32_t)ways};
    *at = low;
    *misses_at = round(misses_low);
    return WP_STATUS_OK;
}

static void add_group(wpi_level *level, wpi_way_group group) {
    uint32_t i = 0;
    while (i < level->way_group_count && level->way_groups[i].ways > group.ways)
        i++;
    if (i < level->way_group_count && level->way_groups[i].ways == group.ways) {
        level->way_groups[i].count += group.count;
        return;
    }
    for (uint32_t k = level->way_group_count; k > i; k--)
        level->way_groups[k] = level->way_groups[k - 1];
    level->way_groups[i] = group;
    level->way_group_count++;
}

static wp_status unequal_sets(wpi_search *s, const wpi_ramp *r, wpi_level *level, uint64_t *sets,
                              wp_error *err) {
    uint64_t at = 0, entries = 0;
    double misses = 0;
    WP_TRY(plateau(s, r, sets, err));
    level->way_group_count = 0;
    while (at < *sets) {
        wpi_way_group group = {0};
        if (level->way_group_count == WPI_PROBE_WAYS_MAX)
            return WP_FAIL(err, NOT_FOUND, "sets of more than %u kinds", WPI_PROBE_WAYS_MAX);
        WP_TRY(next_group(s, r, *sets, &at, &misses, &group, err));
        entries += (uint64_t)group.count * group.ways;
        add_group(level, group);
    }
    if (entries != r->quiet_loads)
        return WP_FAIL(err, NOT_FOUND, "the ramp's sets hold %llu entries, not %llu",
                       (unsigned long long)entries, (unsigned long long)r->quiet_loads);
    return WP_STATUS_OK;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static wp_status find_sets(wpi_search *s, wpi_ramp *r, wpi_level *level, uint64_t *sets,
                           wp_error *err) {
    double first = 0;
    WP_TRY(wpi_ramp_misses(s, r, 1, &first, err));
    const double ways = round(first - 1);
    if (ways >= 1 && ways <= (double)r->quiet_loads) {
        const uint64_t whole = (uint64_t)ways;
        bool is_equal = false;
        if (r->quiet_loads % whole == 0 && is_near(first - 1, ways))
            WP_TRY(are_equal(s, r, whole, &is_equal, err));
        if (is_equal) {
            *sets = r->quiet_loads / whole;
            level->way_groups[0] = (wpi_way_group){(uint32_t)*sets, (uint32_t)whole};
            level->way_group_count = 1;
            return WP_STATUS_OK;
        }
    }
    return unequal_sets(s, r, level, sets, err);
}

static void set_numbers(wpi_search *s, const wpi_ramp *r, wpi_level *level, uint64_t sets) {
    const double sure = wpi_confidence(s->worst_z);
    wpi_number_set(&level->sets, (double)sets, sure);
    if (level->way_group_count == 1)
        wpi_number_set(&level->ways, level->way_groups[0].ways, sure);
    else
        wpi_number_unknown(&level->ways, "sets differ in their ways");
    wpi_number_set(&level->plateau_bytes, (double)(r->full_loads * r->stride_bytes), sure);
}

wp_status wpi_ramp_find(wpi_search *s, wpi_ramp *r, wpi_level *level, wp_error *err) {
    uint64_t sets = 0;
    WP_TRY(measure_delay(s, r, MISSES_ERROR, err));
    wp_status status = find_sets(s, r, level, &sets, err);
    if (status == WP_STATUS_NOT_FOUND) {
        level->way_group_count = 0;
        wpi_number_unknown(&level->sets, "%s", err != NULL ? err->message : "no clear ramp");
        level->ways = level->plateau_bytes = level->sets;
        status = WP_STATUS_OK;
    }
    WP_TRY(status);
    if (sets != 0) {
        r->full_loads = r->quiet_loads + sets;
        set_numbers(s, r, level, sets);
    }
    wpi_estimate e;
    WP_TRY(wpi_search_extra(s, r->stride_bytes, r->top_loads, r->quiet_loads,
                            0.05 * (double)r->top_loads, &e, err));
    const double error = e.error_cycles / (double)r->top_loads;
    wpi_number_set(&level->miss_cycles, r->miss_cycles,
                   2 * wpi_confidence(0.5 / fmax(error, 1e-9)) - 1);
    return WP_STATUS_OK;
}
