/* SPDX-License-Identifier: Apache-2.0 */
/* Misses are counted: the cycles of a round beyond those of one without misses, in delays. */
#include "probe/infer/ramp.h"

#include <math.h>

#include "probe/infer/hierarchy_number.h"
#include "probe/infer/steps.h"

#define MISSES_ERROR 0.07 /* of a count of misses, one standard deviation */
#define WHOLE 0.25        /* the most by which a count may differ from a whole number */
#define DOUBT 0.18        /* one that lies further from it is counted again, at half the error */
#define FEW_SETS 8u       /* whose counts are tested exactly */
#define EXACT 0.06        /* the most by which these may differ */
#define KINDS_MAX 3u      /* of sets in one level: less than that */
#define LOADS_FEW 16u     /* a ramp up to this is tested load by load, a longer one at quarters */

wp_status wpi_ramp_refine(wpi_search *s, wpi_ramp *r, wp_error *err) {
    wpi_estimate e;
    const double wanted = MISSES_ERROR / 2 * r->miss_cycles;
    WP_TRY(wpi_search_extra(s, r->stride_bytes, r->top_loads, r->quiet_loads, wanted, &e, err));
    r->miss_cycles = e.cycles / (double)r->top_loads;
    return WP_STATUS_OK;
}

static uint64_t top_of(const wpi_search *s, const wpi_ramp *r) {
    const uint64_t most = wpi_search_loads_max(s, r->stride_bytes);
    return most < 2 * r->quiet_loads ? most : 2 * r->quiet_loads;
}

static wp_status are_missing(wpi_search *s, const wpi_ramp *r, uint64_t loads, uint64_t before,
                             bool *out, wp_error *err) {
    return wpi_search_is_extra(s, r->stride_bytes, loads, before, r->miss_cycles, out, err);
}

/* Brackets the end of loads without misses, around `rough`: *low without, not below `busy`; *high
 * with some, or the top. */
static wp_status bracket(wpi_search *s, const wpi_ramp *r, uint64_t rough, uint64_t busy,
                         uint64_t *low, uint64_t *high, wp_error *err) {
    const uint64_t least = busy > 1 ? busy : 1;
    bool is_missing = true;
    *low = rough * 3 / 4 > least ? rough * 3 / 4 : least;
    *high = rough + rough / 32 + 1;
    if (*high > r->top_loads) *high = r->top_loads;
    while (*low > busy + 1) {
        const uint64_t less = *low / 2 > least ? *low / 2 : least;
        WP_TRY(are_missing(s, r, *low, less, &is_missing, err));
        if (!is_missing) break;
        *high = *low;
        *low = less;
    }
    const uint64_t before = *low;
    while (*high < r->top_loads) {
        WP_TRY(are_missing(s, r, *high, before, &is_missing, err));
        if (is_missing) break;
        *low = *high;
        *high = *high + *high / 4 < r->top_loads ? *high + *high / 4 + 1 : r->top_loads;
    }
    return WP_STATUS_OK;
}

/* The last loads without misses; beyond them there are two at least. */
static wp_status bisect(wpi_search *s, wpi_ramp *r, uint64_t rough, uint64_t busy, wp_error *err) {
    uint64_t low = 0, high = 0, middle = rough; /* often right */
    WP_TRY(bracket(s, r, rough, busy, &low, &high, err));
    const uint64_t before = low;
    while (high > low + 1) {
        bool is_missing = false;
        if (middle <= low || middle >= high) middle = low + (high - low) / 2;
        WP_TRY(are_missing(s, r, middle, before, &is_missing, err));
        *(is_missing ? &high : &low) = middle;
        middle = low == rough ? rough + 1 : 0;
    }
    r->quiet_loads = low;
    return WP_STATUS_OK;
}

/* The delay, roughly. A next level that begins below the top would be part of it: then half the way
 * from the quiet loads to the top shows far less, where one level shows two fifths at least. */
static wp_status guess_delay(wpi_search *s, wpi_ramp *r, wp_error *err) {
    const uint64_t middle = r->quiet_loads + (r->top_loads - r->quiet_loads) / 2;
    const double known = wpi_steps_known_cycles(s);
    wpi_estimate top, e;
    WP_TRY(wpi_search_rise(s, r->stride_bytes, r->top_loads, WPI_ORDER_STRIDED, 0.05, &top, err));
    WP_TRY(wpi_search_rise(s, r->stride_bytes, middle, WPI_ORDER_STRIDED, 0.05, &e, err));
    r->miss_cycles = top.cycles - known;
    const double of_middle = e.cycles - known;
    if (of_middle > WPI_STEP_CYCLES && of_middle < 0.4 * r->miss_cycles)
        r->miss_cycles = 1.5 * of_middle;
    return WP_STATUS_OK;
}

wp_status wpi_ramp_begin(wpi_search *s, uint64_t stride, uint64_t rough, wpi_ramp *r,
                         wp_error *err) {
    const uint64_t busy = wpi_steps_busy_loads(s, stride);
    *r = (wpi_ramp){.stride_bytes = stride, .quiet_loads = rough};
    r->top_loads = top_of(s, r);
    /* The next level may begin below twice of what is too many: then the delay was too large. */
    for (int i = 0; i < 4; i++) {
        const double before = r->miss_cycles;
        WP_TRY(guess_delay(s, r, err));
        if (r->miss_cycles < WPI_FAINT_CYCLES) return WP_STATUS_OK;
        if (i > 0 && r->miss_cycles > 0.8 * before) break;
        WP_TRY(bisect(s, r, rough, busy, err));
        r->top_loads = top_of(s, r);
    }
    return WP_STATUS_OK;
}

/* Of a round of `loads`, beyond one of `before`, in `unit` cycles. */
static wp_status count(wpi_search *s, const wpi_ramp *r, uint64_t loads, uint64_t before,
                       double unit, double *out, wp_error *err) {
    for (double error = MISSES_ERROR;; error /= 2) {
        wpi_estimate e;
        WP_TRY(wpi_search_extra(s, r->stride_bytes, loads, before, error * unit, &e, err));
        *out = e.cycles / unit;
        if (error < MISSES_ERROR || fabs(*out - round(*out)) < DOUBT) return WP_STATUS_OK;
    }
}

wp_status wpi_ramp_misses(wpi_search *s, const wpi_ramp *r, uint64_t more, double *misses,
                          wp_error *err) {
    return count(s, r, r->quiet_loads + more, r->quiet_loads, r->miss_cycles, misses, err);
}

/* Loads of a round that still hit, from the difference to the plateau. */
static wp_status hits(wpi_search *s, const wpi_ramp *r, uint64_t more, double *out, wp_error *err) {
    const uint64_t loads = r->quiet_loads + more;
    const double share = (double)r->top_loads / (double)loads;
    *out = 0;
    if (loads == r->top_loads) return WP_STATUS_OK;
    return count(s, r, r->top_loads, loads, share * r->miss_cycles, out, err);
}

/* ---- equal sets ---- */

static bool is_near(double value, double whole) {
    return fabs(value - whole) < WHOLE;
}

static wp_status is_line(wpi_search *s, const wpi_ramp *r, uint64_t sets, uint64_t ways, bool *out,
                         wp_error *err) {
    const uint64_t parts = sets < LOADS_FEW ? sets : 4;
    *out = true;
    for (uint64_t part = 1; part < parts && *out; part++) {
        const uint64_t more = sets * part / parts;
        double misses = 0;
        WP_TRY(wpi_ramp_misses(s, r, more, &misses, err));
        *out = is_near(misses, (double)(more * (ways + 1)));
    }
    return WP_STATUS_OK;
}

/* No ramp is longer than the quiet part. Where memory ends it before, a plateau has to be seen. */
static bool shows_plateau(const wpi_ramp *r, uint64_t more) {
    const uint64_t beyond = r->top_loads >= 2 * r->quiet_loads ? 0 : more / 4 + 1;
    return r->quiet_loads + more + beyond <= r->top_loads;
}

/* Few sets give few counts, which two overlapping levels can have nearly: counts the first ones
 * again, at an eighth of the error. */
static wp_status are_exact(wpi_search *s, const wpi_ramp *r, uint64_t sets, uint64_t ways,
                           bool *out, wp_error *err) {
    const double error = MISSES_ERROR / 8 * r->miss_cycles;
    wpi_estimate all, e;
    *out = true;
    if (sets == 1 || sets > FEW_SETS) return WP_STATUS_OK;
    WP_TRY(wpi_search_extra(s, r->stride_bytes, r->top_loads, r->quiet_loads, error, &all, err));
    const double delay = all.cycles / (double)r->top_loads;
    for (uint64_t more = 1; more < sets && more <= 3 && *out; more++) {
        WP_TRY(wpi_search_extra(s, r->stride_bytes, r->quiet_loads + more, r->quiet_loads, error,
                                &e, err));
        *out = fabs(e.cycles / delay - (double)(more * (ways + 1))) < EXACT;
    }
    return WP_STATUS_OK;
}

/* Whether all counts between match `ways`: sets overflow in equal steps, and the last set hits
 * until the last load. */
static wp_status are_equal(wpi_search *s, const wpi_ramp *r, uint64_t ways, bool *out,
                           wp_error *err) {
    const uint64_t sets = r->quiet_loads / ways;
    double value = 0;
    *out = false;
    if (!shows_plateau(r, sets)) return WP_STATUS_OK;
    WP_TRY(hits(s, r, sets - 1, &value, err));
    if (!is_near(value, (double)ways)) return WP_STATUS_OK;
    WP_TRY(hits(s, r, sets, &value, err));
    if (!is_near(value, 0)) return WP_STATUS_OK;
    WP_TRY(is_line(s, r, sets, ways, out, err));
    return *out ? are_exact(s, r, sets, ways, out, err) : WP_STATUS_OK;
}

/* ---- any sets ---- */

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

/* Loads behind the quiet ones that each add as many misses: `each` from `first` on. */
typedef struct run {
    uint64_t first, outer;
    double misses_before, misses, each;
} run;

static wp_status is_on(wpi_search *s, const wpi_ramp *r, const run *a, uint64_t at, bool *out,
                       wp_error *err) {
    double misses = 0;
    WP_TRY(wpi_ramp_misses(s, r, at, &misses, err));
    *out = is_near(misses, a->misses_before + (double)(at - a->first) * a->each);
    return WP_STATUS_OK;
}

/* A wide set and loads that add only their own miss can have the sum of narrow sets at one load,
 * but not also at the load before. */
static wp_status reaches(wpi_search *s, const wpi_ramp *r, const run *a, uint64_t at, bool *out,
                         wp_error *err) {
    WP_TRY(is_on(s, r, a, at, out, err));
    if (!*out || a->each == 1) return WP_STATUS_OK;
    return is_on(s, r, a, at - 1, out, err);
}

/* Finds how far the ramp continues with the slope after `a->first`. */
static wp_status follow(wpi_search *s, const wpi_ramp *r, uint64_t last, run *a, wp_error *err) {
    double next = 0;
    WP_TRY(wpi_ramp_misses(s, r, a->first + 1, &next, err));
    a->each = round(next - a->misses_before);
    if (!is_near(next - a->misses_before, a->each))
        return WP_FAIL(err, NOT_FOUND, "the number of misses does not grow by integers");
    a->outer = a->first + 1;
    a->misses = a->misses_before + a->each;
    uint64_t outer = last + 1;
    for (uint64_t step = 1; outer - a->outer > 1; step *= 2) {
        const uint64_t far = a->outer + step, half = a->outer + (outer - a->outer) / 2;
        const uint64_t at = outer <= last ? half : far < last ? far : last;
        bool is_so = false;
        WP_TRY(reaches(s, r, a, at, &is_so, err));
        *(is_so ? &a->outer : &outer) = at;
    }
    a->misses = a->misses_before + (double)(a->outer - a->first) * a->each;
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

/* A further level can give whole numbers by chance: counts the first sets again, at a quarter of
 * the error. */
static wp_status check_groups(wpi_search *s, const wpi_ramp *r, wp_error *err) {
    const double error = MISSES_ERROR / 4 * r->miss_cycles;
    wpi_estimate all, e;
    WP_TRY(wpi_search_extra(s, r->stride_bytes, r->top_loads, r->quiet_loads, error, &all, err));
    const double delay = all.cycles / (double)r->top_loads;
    for (uint64_t more = 1; more <= 3; more++) {
        WP_TRY(wpi_search_extra(s, r->stride_bytes, r->quiet_loads + more, r->quiet_loads, error,
                                &e, err));
        const double misses = e.cycles / delay;
        if (fabs(misses - round(misses)) > WHOLE / 2)
            return WP_FAIL(err, NOT_FOUND,
                           "the number of misses is not an integer: another level interferes");
    }
    return WP_STATUS_OK;
}

/* Loads that add one miss, their own, are in sets that overflowed before. */
static wp_status unequal_sets(wpi_search *s, const wpi_ramp *r, wpi_level *level, uint64_t *sets,
                              uint64_t *last, wp_error *err) {
    uint64_t entries = 0;
    run a = {0};
    *sets = 0;
    WP_TRY(plateau(s, r, last, err));
    level->way_group_count = 0;
    if (!shows_plateau(r, *last))
        return WP_FAIL(err, NOT_FOUND, "the plateau was not reached: memory is too small");
    while (a.first < *last) {
        WP_TRY(follow(s, r, *last, &a, err));
        const wpi_way_group group = {.count = (uint32_t)(a.outer - a.first),
                                     .ways = (uint32_t)fmax(a.each - 1, 0)};
        if (group.ways != 0) {
            add_group(level, group);
            if (level->way_group_count == KINDS_MAX)
                return WP_FAIL(err, NOT_FOUND, "too many different set sizes for a TLB");
            entries += (uint64_t)group.count * group.ways;
            *sets += group.count;
        }
        a = (run){.first = a.outer, .misses_before = a.misses};
    }
    if (level->way_group_count < 2)
        return WP_FAIL(err, NOT_FOUND, "the ramp matches neither equal nor unequal sets");
    if (level->way_groups[level->way_group_count - 1].ways == 1)
        return WP_FAIL(err, NOT_FOUND, "two overlapping levels would give the same curve");
    WP_TRY(check_groups(s, r, err));
    if (entries != r->quiet_loads)
        return WP_FAIL(err, NOT_FOUND, "the ramp's sets hold %llu entries, not %llu",
                       (unsigned long long)entries, (unsigned long long)r->quiet_loads);
    return WP_STATUS_OK;
}

/* ---- the whole ramp ---- */

/* The first set that overflows gives the ways; a count may be off by one where noise is large. */
static wp_status equal_sets(wpi_search *s, const wpi_ramp *r, uint64_t *ways, wp_error *err) {
    static const double offsets[] = {0, -1, 1};
    double first = 0;
    *ways = 0;
    WP_TRY(wpi_ramp_misses(s, r, 1, &first, err));
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        const double guess = round(first - 1) + offsets[i];
        if (guess < 1 || guess > (double)r->quiet_loads || fabs(first - 1 - guess) > 1) continue;
        const uint64_t whole = (uint64_t)guess;
        bool is_equal = false;
        if (r->quiet_loads % whole == 0) WP_TRY(are_equal(s, r, whole, &is_equal, err));
        if (is_equal) {
            *ways = whole;
            return WP_STATUS_OK;
        }
    }
    return WP_STATUS_OK;
}

/* Sets that replace their oldest entry miss in any order of too many pages. Random replacement can
 * give whole numbers by chance, but other ones in other orders. */
static wp_status check_orders(wpi_search *s, const wpi_ramp *r, uint64_t loads, wp_error *err) {
    const double expected = wpi_steps_known_cycles(s) + r->miss_cycles;
    for (wpi_chase_order order = WPI_ORDER_SHUFFLED; order <= WPI_ORDER_HALVES; order++) {
        wpi_estimate e;
        WP_TRY(wpi_search_rise(s, r->stride_bytes, loads, order, 0.05, &e, err));
        if (fabs(e.cycles - expected) > 0.01 * expected + 0.3)
            return WP_FAIL(err, NOT_FOUND, "misses depend on the order of loads");
    }
    return WP_STATUS_OK;
}

/* *last: loads behind the quiet ones of which all miss. */
static wp_status find_sets(wpi_search *s, wpi_ramp *r, wpi_level *level, uint64_t *sets,
                           uint64_t *last, wp_error *err) {
    uint64_t ways = 0;
    WP_TRY(equal_sets(s, r, &ways, err));
    if (ways == 0) {
        WP_TRY(unequal_sets(s, r, level, sets, last, err));
    } else {
        *last = *sets = r->quiet_loads / ways;
        level->way_groups[0] = (wpi_way_group){(uint32_t)*sets, (uint32_t)ways};
        level->way_group_count = 1;
    }
    return check_orders(s, r, r->quiet_loads + *last, err);
}

static void set_numbers(wpi_search *s, const wpi_ramp *r, wpi_level *level, uint64_t sets) {
    const double sure = wpi_confidence(s->worst_z);
    wpi_number_set(&level->sets, (double)sets, sure);
    if (level->way_group_count == 1)
        wpi_number_set(&level->ways, level->way_groups[0].ways, sure);
    else
        wpi_number_unknown(&level->ways, "sets have different numbers of ways");
    wpi_number_set(&level->plateau_bytes, (double)(r->full_loads * r->stride_bytes), sure);
}

static wp_status set_delay(wpi_search *s, wpi_ramp *r, wpi_level *level, wp_error *err) {
    const uint64_t loads = r->full_loads != 0 ? r->full_loads : r->top_loads;
    wpi_estimate e;
    WP_TRY(
        wpi_search_extra(s, r->stride_bytes, loads, r->quiet_loads, 0.05 * (double)loads, &e, err));
    const double error = e.error_cycles / (double)loads;
    r->miss_cycles = e.cycles / (double)loads;
    wpi_number_set(&level->miss_cycles, r->miss_cycles,
                   2 * wpi_confidence(0.5 / fmax(error, 1e-9)) - 1);
    return WP_STATUS_OK;
}

wp_status wpi_ramp_find(wpi_search *s, wpi_ramp *r, wpi_level *level, wp_error *err) {
    uint64_t sets = 0, last = 0;
    wp_error detail = {0};
    WP_TRY(wpi_ramp_refine(s, r, err));
    wp_status status = find_sets(s, r, level, &sets, &last, &detail);
    if (status == WP_STATUS_NOT_FOUND) {
        level->way_group_count = 0;
        wpi_number_unknown(&level->sets, "%.150s", detail.message);
        level->ways = level->plateau_bytes = level->miss_cycles = level->sets;
        return WP_STATUS_OK;
    }
    if (status != WP_STATUS_OK && err != NULL) *err = detail;
    WP_TRY(status);
    r->full_loads = r->quiet_loads + last;
    set_numbers(s, r, level, sets);
    return set_delay(s, r, level, err);
}
