/* SPDX-License-Identifier: Apache-2.0 */
/* Levels from curves at given points. A level is the pattern of Karnagel et al., Section 3.2:
 * strides below the page rise at the same distance, in proportion; the page's stride rises in full;
 * twice the stride rises in full at twice the distance, which adds nothing. Numbers that the
 * pattern does not show are unknown. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "probe/infer/curve_clean.h"
#include "probe/infer/disabled_sms.h"
#include "probe/infer/hierarchy_number.h"
#include "probe/infer/plateaus.h"
#include "probe/infer/sharing.h"

#define MEMBERS_MAX 64u
#define DRIFT_SHARE 0.15 /* of the largest delay before */
#define MIB (1024.0 * 1024.0)

/* A rise at one distance in curves of several strides. */
typedef struct family {
    wpi_rise members[MEMBERS_MAX]; /* ascending strides */
    const wpi_curve *curves[MEMBERS_MAX];
    uint32_t count;
    bool has_echo; /* at a larger stride, in proportion further */
} family;

typedef struct families {
    family all[WPI_PROBE_LEVELS_MAX];
    uint32_t count;
    double base_cycles; /* at the start of the lowest curve */
} families;

static double quiet_bytes(const wpi_curve *c, const wpi_rise *r) {
    return (double)c->points[r->quiet].bytes;
}

static double busy_bytes(const wpi_curve *c, const wpi_rise *r) {
    return (double)c->points[r->quiet + 1].bytes;
}

/* The member that rises in full at the smallest stride: the page's. */
static uint32_t page_member(const family *f) {
    double most = 0;
    uint32_t i = 0;
    for (uint32_t k = 0; k < f->count; k++)
        most = fmax(most, f->members[k].ramp_cycles);
    while (f->members[i].ramp_cycles < 0.85 * most)
        i++;
    return i;
}

static double reach_of(const family *f) {
    const uint32_t page = page_member(f);
    return quiet_bytes(f->curves[page], &f->members[page]);
}

/* At most one row or stride of both away, and what smoothing may have moved them by. */
static bool is_same_reach(const family *f, const wpi_curve *c, const wpi_rise *r) {
    const wpi_rise *first = &f->members[0];
    const double own = busy_bytes(c, r) - quiet_bytes(c, r);
    const double other = busy_bytes(f->curves[0], first) - quiet_bytes(f->curves[0], first);
    const double rows = 1 + (double)(c->blur_points + f->curves[0]->blur_points);
    const double slack = rows * fmax(own, other) + (double)c->stride_bytes;
    return fabs(quiet_bytes(c, r) - quiet_bytes(f->curves[0], first)) <= slack;
}

/* Sets of a larger stride overflow later, the last ones much later. */
static bool is_echo(const family *f, const wpi_curve *c, const wpi_rise *r) {
    const double page = (double)f->members[page_member(f)].stride_bytes;
    const double ratio = quiet_bytes(c, r) / (reach_of(f) * (double)c->stride_bytes / page);
    return (double)c->stride_bytes > page && ratio > 0.9 && ratio < 1.3;
}

/* Inserts in order of strides; a larger stride costs no less. */
static wp_status add_member(family *f, const wpi_curve *c, const wpi_rise *r, wp_error *err) {
    if (f->count == MEMBERS_MAX) return WP_STATUS_OK;
    uint32_t at = f->count++;
    for (; at > 0 && f->members[at - 1].stride_bytes > r->stride_bytes; at--) {
        f->members[at] = f->members[at - 1];
        f->curves[at] = f->curves[at - 1];
    }
    f->members[at] = *r;
    f->curves[at] = c;
    for (uint32_t i = 1; i < f->count; i++) {
        const wpi_rise *smaller = &f->members[i - 1], *larger = &f->members[i];
        if (smaller->ramp_cycles > 1.3 * larger->ramp_cycles + 5 * c->noise_cycles)
            return WP_FAIL(err, INVALID,
                           "at %.6g MB, strides of %.6g KB cost more than those of %.6g KB: are "
                           "columns swapped?",
                           quiet_bytes(c, r) / MIB, (double)smaller->stride_bytes / 1024,
                           (double)larger->stride_bytes / 1024);
    }
    return WP_STATUS_OK;
}

static wp_status file_rise(families *all, const wpi_curve *c, const wpi_rise *r, wp_error *err) {
    for (uint32_t i = 0; i < all->count; i++) {
        family *f = &all->all[i];
        if (is_same_reach(f, c, r)) return add_member(f, c, r, err);
        if (is_echo(f, c, r)) {
            f->has_echo = true;
            return WP_STATUS_OK;
        }
    }
    if (all->count == WPI_PROBE_LEVELS_MAX)
        return WP_FAIL(err, INVALID, "more than %u rises at unrelated distances",
                       WPI_PROBE_LEVELS_MAX);
    family *f = &all->all[all->count++];
    *f = (family){.count = 1, .members = {*r}, .curves = {c}};
    return WP_STATUS_OK;
}

typedef struct found_rise {
    wpi_rise rise;
    const wpi_curve *curve;
} found_rise;

static int by_distance(const void *a, const void *b) {
    const found_rise *x = a, *y = b;
    const uint64_t of_x = x->curve->points[x->rise.quiet].bytes;
    const uint64_t of_y = y->curve->points[y->rise.quiet].bytes;
    if (of_x != of_y) return of_x < of_y ? -1 : 1;
    return x->rise.stride_bytes < y->rise.stride_bytes ? -1 : 1;
}

/* The most of the next three points: one may be low by chance. */
static double cycles_from(const wpi_curve *c, double bytes) {
    double most = 0;
    size_t i = 0, count = 0;
    while (i < c->count && (double)c->points[i].bytes < bytes)
        i++;
    for (; i < c->count && count < 3; i++, count++)
        most = fmax(most, c->points[i].cycles);
    return count != 0 ? most : INFINITY;
}

/* A larger stride needs no more entries: at a distance where it misses, smaller strides miss, too,
 * or begin to: their ramps are longer, as they use more sets. */
static wp_status check_order(const wpi_curves *c, const wpi_rise *first[], wp_error *err) {
    for (size_t i = 1; i < c->curve_count; i++) {
        const wpi_curve *smaller = &c->curves[i - 1], *larger = &c->curves[i];
        if (first[i] == NULL || smaller->points[0].bytes > larger->points[first[i]->quiet].bytes)
            continue;
        const double at = busy_bytes(larger, first[i]);
        const double row = at - quiet_bytes(larger, first[i]) + (double)larger->stride_bytes;
        const double slack = fmax(row, 0.5 * at);
        const double share = (double)smaller->stride_bytes / (double)larger->stride_bytes;
        const double least = first[i]->low_cycles + 0.25 * share * first[i]->cycles;
        if (cycles_from(smaller, at + slack) + 3 * smaller->noise_cycles < least)
            return WP_FAIL(err, INVALID,
                           "strides of %.6g KB miss from %.6g MB on, but those of %.6g KB do not: "
                           "are columns swapped?",
                           (double)larger->stride_bytes / 1024, at / MIB,
                           (double)smaller->stride_bytes / 1024);
    }
    return WP_STATUS_OK;
}

static wp_status collect(const wpi_curves *c, families *all, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    size_t count = 0;
    found_rise *rises = wpi_calloc(c->curve_count * WPI_RISES_MAX + 1, sizeof *rises);
    const wpi_rise **first = wpi_calloc(c->curve_count + 1, sizeof *first);
    if (rises == NULL || first == NULL) WP_TRY_GOTO(WP_FAIL(err, NOMEM, "curves"), done);
    all->base_cycles = INFINITY;
    for (size_t i = 0; i < c->curve_count; i++) {
        wpi_rise own[WPI_RISES_MAX];
        double begins = INFINITY;
        const uint32_t more = wpi_plateaus_rises(&c->curves[i], own, &begins);
        all->base_cycles = fmin(all->base_cycles, begins);
        if (more > 0) first[i] = &rises[count].rise;
        for (uint32_t k = 0; k < more; k++)
            rises[count++] = (found_rise){own[k], &c->curves[i]};
    }
    if (count == 0)
        WP_TRY_GOTO(
            WP_FAIL(err, INVALID,
                    "no curve rises from one plateau to another, so nothing can be inferred"),
            done);
    WP_TRY_GOTO(check_order(c, first, err), done);
    qsort(rises, count, sizeof *rises, by_distance);
    for (size_t i = 0; i < count; i++)
        WP_TRY_GOTO(file_rise(all, rises[i].curve, &rises[i].rise, err), done);
done:
    wpi_free(rises);
    wpi_free(first);
    return status;
}

/* ---- numbers of a level ---- */

static bool shows_less_below(const family *f, uint32_t page) {
    for (uint32_t i = 0; i < page; i++) {
        const double expected = f->members[page].ramp_cycles * (double)f->members[i].stride_bytes /
                                (double)f->members[page].stride_bytes;
        if (fabs(f->members[i].ramp_cycles - expected) < 0.25 * expected + 1) return true;
    }
    return false;
}

static void unknown_geometry(wpi_level *l, const char *why) {
    wpi_number_unknown(&l->page_bytes, "%.150s", why);
    l->fill_bytes = l->entries = l->sets = l->ways = l->page_bytes;
}

/* Misses of a round grow by ways + 1 with each page: the slope of loads * cycles, in delays. */
static double ramp_slope(const wpi_curve *c, const wpi_rise *r) {
    const double stride = (double)r->stride_bytes;
    double n = 0, x_sum = 0, y_sum = 0, xx = 0, xy = 0;
    const size_t length = r->full - r->quiet;
    for (size_t i = r->quiet + 1 + length / 10; i < r->quiet + length * 8 / 10; i++) {
        const double x = (double)c->points[i].bytes / stride;
        const double y = x * (c->points[i].cycles - r->low_cycles) / r->ramp_cycles;
        n++, x_sum += x, y_sum += y, xx += x * x, xy += x * y;
    }
    const double spread = n * xx - x_sum * x_sum;
    return n < 4 || spread <= 0 ? 0 : (n * xy - x_sum * y_sum) / spread;
}

static void set_sets(wpi_level *l, const wpi_curve *c, const wpi_rise *r) {
    const double entries = l->entries.value;
    const double length =
        ((double)c->points[r->full].bytes - quiet_bytes(c, r)) / (double)r->stride_bytes;
    if (r->full <= r->quiet + 3) {
        wpi_number_unknown(&l->sets,
                           "the step is complete within %.0f page%s: no ramp to read sets "
                           "and ways off",
                           length, length < 1.5 ? "" : "s");
        l->ways = l->sets;
        wpi_number_explain(&l->entries,
                           "flat to %.6g MB, complete at %.6g MB; sets of fewer entries would be "
                           "complete there, too, but their ramp is not in the curve",
                           quiet_bytes(c, r) / MIB, (double)c->points[r->full].bytes / MIB);
        return;
    }
    const double ways = round(ramp_slope(c, r) - 1);
    const double sets = ways >= 1 ? round(entries / ways) : 0;
    if (ways < 1 || fabs(sets - length) > 2 + 0.03 * length || sets * ways != entries) {
        wpi_number_unknown(&l->sets, "the ramp from %.6g to %.6g MB is not that of equal sets",
                           quiet_bytes(c, r) / MIB, (double)c->points[r->full].bytes / MIB);
        l->ways = l->sets;
        return;
    }
    wpi_number_set(&l->sets, sets, 0.8);
    wpi_number_set(&l->ways, ways, 0.8);
    wpi_number_explain(&l->ways, "from the slope of the ramp; it is %.0f pages long", length);
    l->sets.confidence = 0.8;
    l->way_groups[0] = (wpi_way_group){(uint32_t)sets, (uint32_t)ways};
    l->way_group_count = 1;
}

static void set_page(wpi_level *l, const family *f, const wpi_hierarchy *h) {
    const uint32_t page = page_member(f);
    const wpi_rise *r = &f->members[page];
    const wpi_curve *c = f->curves[page];
    const double bytes = (double)r->stride_bytes;
    if (!shows_less_below(f, page)) {
        unknown_geometry(l, "no smaller stride shows less of the rise: the page may be smaller");
        return;
    }
    wpi_number_set(&l->page_bytes, bytes, f->has_echo ? 0.95 : 0.8);
    l->fill_bytes = l->page_bytes;
    if (!f->has_echo)
        wpi_number_explain(&l->page_bytes, "larger strides were not measured as far as this");
    const double first_page = h->levels[0].fill_bytes.value;
    if (h->level_count > 1 && h->levels[0].fill_bytes.is_known && bytes > first_page)
        wpi_number_explain(&l->page_bytes,
                           "a product: one entry for %.0f pages, or %.0f entries filled by a miss, "
                           "take the same time",
                           bytes / first_page, bytes / first_page);
    const double gap = (busy_bytes(c, r) - quiet_bytes(c, r)) / bytes;
    wpi_number_set(&l->entries, floor(quiet_bytes(c, r) / bytes), gap <= 1.01 ? 0.9 : 0.5);
    if (c->noise_cycles > 0) {
        l->entries.confidence = fmin(l->entries.confidence, 0.5);
        wpi_number_explain(&l->entries,
                           "the curve is noisy: %.2g cycles are left when it is smooth",
                           c->noise_cycles);
    }
    if (gap > 1.01)
        wpi_number_explain(&l->entries, "rows are %.3g pages apart: it may be more", gap);
    set_sets(l, c, r);
}

/* Cycles grow slowly beyond the last level, by whatever else is full then. Only one stride shows
 * such a rise, and it is small. */
static bool is_drift(const families *all, uint32_t number) {
    const family *f = &all->all[number];
    double most = 0;
    for (uint32_t i = 0; i < number; i++)
        most = fmax(most, all->all[i].members[page_member(&all->all[i])].ramp_cycles);
    return f->count == 1 && !f->has_echo && f->members[0].ramp_cycles < DRIFT_SHARE * most;
}

static void set_level(wpi_hierarchy *h, const family *f) {
    wpi_level *l = &h->levels[h->level_count++];
    const uint32_t page = page_member(f);
    const wpi_rise *r = &f->members[page];
    const wpi_curve *c = f->curves[page];
    set_page(l, f, h);
    wpi_number_set(&l->reach_bytes, quiet_bytes(c, r), 0.9);
    wpi_number_set(&l->plateau_bytes, (double)c->points[r->full].bytes, 0.8);
    /* A rise far beyond the ramp is not part of it, unless it is small. */
    const double cycles = r->cycles <= 1.05 * r->ramp_cycles ? r->cycles : r->ramp_cycles;
    wpi_number_set(&l->miss_cycles, cycles, l->page_bytes.is_known ? 0.9 : 0.5);
    if (!l->page_bytes.is_known)
        wpi_number_explain(&l->miss_cycles, "at strides of %.6g KB; it may be a part of it",
                           (double)r->stride_bytes / 1024);
    const wpi_number *first = &h->levels[0].fill_bytes;
    if (first->is_known && l->fill_bytes.is_known)
        wpi_number_set(&l->fill_pages, l->fill_bytes.value / first->value, 0.8);
    else
        wpi_number_unknown(&l->fill_pages, "the page size or the fill is unknown");
}

/* ---- sharing ---- */

/* The level with this page whose entries are the nearest to the matrix' pages. */
static wpi_level *level_of(wpi_hierarchy *h, const wpi_matrix *m) {
    wpi_level *best = NULL;
    double least = 0.25;
    for (uint32_t i = 0; i < h->level_count; i++) {
        wpi_level *l = &h->levels[i];
        if (!l->page_bytes.is_known || l->page_bytes.value != (double)m->stride_bytes) continue;
        const double far = fabs(log(l->entries.value / (double)m->pages));
        if (far < least) best = l;
        if (far < least) least = far;
    }
    return best;
}

static void set_sharing(wpi_hierarchy *h, const wpi_curves *c) {
    for (uint32_t i = 0; i < h->level_count; i++)
        wpi_number_unknown(&h->levels[i].sharing.count, "no sharing file of this page and size");
    for (size_t i = 0; i < c->matrix_count; i++) {
        const wpi_matrix *m = &c->matrices[i];
        wpi_level *l = level_of(h, m);
        if (l == NULL) continue;
        h->sm_count = m->sm_count;
        wpi_sharing_from_matrix(m->cycles, m->sm_count, l->miss_cycles.value, &l->sharing);
    }
    wpi_floorplan_fill(h);
}

static wp_status clean_all(const wpi_curves *c, wpi_curves *out, wp_error *err) {
    out->curves = wpi_calloc(c->curve_count + 1, sizeof *out->curves);
    if (out->curves == NULL) return WP_FAIL(err, NOMEM, "curves");
    for (; out->curve_count < c->curve_count; out->curve_count++)
        WP_TRY(wpi_curve_clean(&c->curves[out->curve_count], &out->curves[out->curve_count], err));
    return WP_STATUS_OK;
}

wp_status wpi_curves_infer(const wpi_curves *c, wpi_hierarchy **out, wp_error *err) {
    *out = NULL;
    wp_status status = WP_STATUS_OK;
    wpi_curves clean = {0};
    families *all = wpi_calloc(1, sizeof *all);
    wpi_hierarchy *h = wpi_calloc(1, sizeof *h);
    if (all == NULL || h == NULL) WP_TRY_GOTO(WP_FAIL(err, NOMEM, "hierarchy"), done);
    WP_TRY_GOTO(clean_all(c, &clean, err), done);
    WP_TRY_GOTO(collect(&clean, all, err), done);
    for (uint32_t i = 0; i < all->count; i++)
        if (!is_drift(all, i)) set_level(h, &all->all[i]);
    for (size_t i = 0; i < c->curve_count; i++)
        h->samples += c->curves[i].count;
    wpi_number_set(&h->levels_known, h->level_count, 0.8);
    wpi_number_explain(&h->levels_known, "as far as the curves go");
    wpi_number_set(&h->base_cycles, all->base_cycles, 0.8);
    wpi_number_explain(&h->base_cycles, "where the lowest curve begins");
    set_sharing(h, c);
    *out = h;
    h = NULL;
done:
    for (size_t i = 0; i < clean.curve_count; i++)
        wpi_free(clean.curves[i].points);
    wpi_free(clean.curves);
    wpi_free(h);
    wpi_free(all);
    return status;
}
