/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/infer/cpu_levels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "probe/infer/hierarchy_number.h"
#include "probe/measure/timed_rounds.h"

#define REPEATS 16u /* rounds of a sample */
#define TRIES 61u   /* samples of a point */
#define CONTESTS 15u
#define PAGES_FIRST 8u    /* that any TLB holds */
#define PAGES_OUTER 8192u /* where the search ends */
#define STEPS_PER_OCTAVE 4
#define STEP_MIN_CYCLES 1.0 /* a smaller step is no TLB */
#define FLAT_SHARE 0.04     /* of a plateau, by which its points may differ */
#define MISS_SHARE 0.3      /* of a miss's time, per round: from here on some load misses */
#define NOISE_CYCLES 0.12
#define SURE 0.95        /* two readings agree */
#define SHARING_SURE 0.7 /* a busy machine looks like sharing */
#define READINGS 9u      /* at most */
#define BEHIND 1.25

typedef struct reader {
    const wpi_sampler *sampler;
    const wpi_infer_options *options;
    uint64_t page_bytes;
    uint64_t seed; /* of the order: some orders hide that a set is overfull */
    uint64_t samples, loads;
} reader;

/* ---- points ---- */

/* Samples of a busy machine are sometimes too high or too low, as the clock changes, too. */
static wp_status typical(reader *r, uint64_t pages, bool is_control, double *out, wp_error *err) {
    double cycles[TRIES];
    for (uint32_t i = 0; i < TRIES; i++) {
        wpi_timing timing;
        const wpi_chase chase = {.stride_bytes = r->page_bytes,
                                 .loads = pages,
                                 .order = WPI_ORDER_SHUFFLED,
                                 .seed = r->seed,
                                 .is_control = is_control,
                                 .sm = WPI_SM_ANY,
                                 .repeats = REPEATS};
        WP_TRY(r->sampler->chase(r->sampler->object, &chase, &timing, err));
        cycles[i] = timing.median_cycles;
        r->samples++;
        r->loads += pages * REPEATS;
    }
    *out = wpi_rounds_median(cycles, TRIES);
    if (r->options->progress != NULL)
        r->options->progress(r->options->progress_object, "pages", r->samples);
    return WP_STATUS_OK;
}

static wp_status added(reader *r, uint64_t pages, double *out, wp_error *err) {
    double far = 0, near = 0;
    WP_TRY(typical(r, pages, false, &far, err));
    WP_TRY(typical(r, pages, true, &near, err));
    *out = far - near;
    return WP_STATUS_OK;
}

/* ---- the first TLB ---- */

typedef struct plateau {
    uint64_t first_pages; /* on it */
    double cycles;
} plateau;

/* Three consecutive points with the same, positive cost; `cycles` 0: there are none. */
static wp_status find_plateau(reader *r, plateau *out, wp_error *err) {
    double before = 0, last = 0;
    uint64_t before_pages = 0, pages = PAGES_FIRST;
    *out = (plateau){0};
    for (int step = 0; pages < PAGES_OUTER && pages * r->page_bytes <= r->sampler->memory_bytes;
         step++) {
        double here = 0;
        WP_TRY(added(r, pages, &here, err));
        const double room = FLAT_SHARE * here;
        if (before > STEP_MIN_CYCLES && fabs(here - last) < room && fabs(here - before) < room) {
            *out = (plateau){before_pages, (before + last + here) / 3};
            return WP_STATUS_OK;
        }
        before = last;
        last = here;
        before_pages = pages;
        pages = (uint64_t)(PAGES_FIRST * exp2((step + 1) / (double)STEPS_PER_OCTAVE));
    }
    return WP_STATUS_OK;
}

/* Limits: added cycles per load, and per round. */
typedef struct border {
    double limit_cycles, limit_of_round;
} border;

static wp_status is_below(reader *r, uint64_t pages, const border *b, bool *out, wp_error *err) {
    double cycles = 0;
    WP_TRY(added(r, pages, &cycles, err));
    *out = cycles < b->limit_cycles + b->limit_of_round / (double)pages;
    return WP_STATUS_OK;
}

/* The last count of pages in [fits, misses) that is below the border. */
static wp_status last_below(reader *r, uint64_t fits, uint64_t misses, const border *b,
                            uint64_t *out, wp_error *err) {
    while (misses - fits > 1) {
        const uint64_t middle = fits + (misses - fits) / 2;
        bool fits_too = false;
        WP_TRY(is_below(r, middle, b, &fits_too, err));
        if (fits_too)
            fits = middle;
        else
            misses = middle;
    }
    *out = fits;
    return WP_STATUS_OK;
}

/* One reading, and the two points around it again; `*out` 0: they disagree. */
static wp_status read_once(reader *r, const plateau *p, uint64_t *out, wp_error *err) {
    const border b = {NOISE_CYCLES, MISS_SHARE * p->cycles};
    bool fits = false, misses_fit = true;
    WP_TRY(last_below(r, PAGES_FIRST, p->first_pages, &b, out, err));
    WP_TRY(is_below(r, *out, &b, &fits, err));
    WP_TRY(is_below(r, *out + 1, &b, &misses_fit, err));
    if (!fits || misses_fit) *out = 0;
    return WP_STATUS_OK;
}

/* Repeats readings with different orders until two agree. */
static wp_status read_entries(reader *r, const plateau *p, wpi_level *level, wp_error *err) {
    uint64_t read[READINGS] = {0}, agreed = 0;
    for (unsigned i = 0; i < READINGS && agreed == 0; i++) {
        r->seed++;
        WP_TRY(read_once(r, p, &read[i], err));
        for (unsigned j = 0; j < i; j++)
            if (read[j] == read[i]) agreed = read[i];
    }
    if (agreed == 0) {
        wpi_number_unknown(&level->entries, "no two measurements agree; is the machine busy?");
        wpi_number_unknown(&level->reach_bytes, "depends on the entries, which are unknown");
        return WP_STATUS_OK;
    }
    wpi_number_set(&level->entries, (double)agreed, SURE);
    wpi_number_set(&level->reach_bytes, (double)agreed * (double)r->page_bytes, SURE);
    return WP_STATUS_OK;
}

/* ---- sharing ---- */

/* The least of several contests: if entries stay in one of them, the other processor does not evict
 * them; a thread that was descheduled loses its entries for other reasons. */
static wp_status contest_least(reader *r, const wpi_contest *contest, double *out, wp_error *err) {
    wpi_timing timing;
    *out = INFINITY;
    for (unsigned i = 0; i < CONTESTS; i++) {
        WP_TRY(r->sampler->contest(r->sampler->object, contest, &timing, err));
        *out = fmin(*out, timing.median_cycles);
        r->samples++;
    }
    return WP_STATUS_OK;
}

static wp_status shares(reader *r, const wpi_level *level, uint32_t a, uint32_t b, bool *out,
                        wp_error *err) {
    const uint64_t pages = (uint64_t)level->entries.value;
    const wpi_contest with_itself = {a, a, r->page_bytes, pages, pages, REPEATS};
    const wpi_contest with_other = {a, b, r->page_bytes, pages, pages, REPEATS};
    double alone = 0, together = 0;
    WP_TRY(contest_least(r, &with_itself, &alone, err));
    WP_TRY(contest_least(r, &with_other, &together, err));
    *out = alone - together < level->miss_cycles.value / 2;
    return WP_STATUS_OK;
}

/* Compares each processor with the first of each group. */
static wp_status read_sharing(reader *r, wpi_level *level, wp_error *err) {
    wpi_sharing_groups *s = &level->sharing;
    uint32_t firsts[WPI_PROBE_SMS_MAX], groups = 0;
    s->sm_count = r->sampler->sm_count;
    for (uint32_t sm = 0; sm < s->sm_count; sm++) {
        uint32_t group = 0;
        bool is_shared = false;
        while (group < groups && !is_shared) {
            WP_TRY(shares(r, level, sm, firsts[group], &is_shared, err));
            group += !is_shared;
        }
        if (group == groups) firsts[groups++] = sm;
        s->group_of[sm] = group;
    }
    wpi_number_set(&s->count, groups, SHARING_SURE);
    return WP_STATUS_OK;
}

/* ---- further levels ---- */

static wp_status read_behind(reader *r, const plateau *p, wpi_hierarchy *h, wp_error *err) {
    uint64_t pages = p->first_pages, fits = pages;
    double cycles = p->cycles;
    const double limit = BEHIND * p->cycles;
    while (cycles < limit) {
        fits = pages;
        pages = pages * 5 / 4;
        if (pages > PAGES_OUTER || pages * r->page_bytes > r->sampler->memory_bytes) {
            wpi_number_explain(&h->levels_known, "no other level was found up to %" PRIu64 " pages",
                               fits);
            return WP_STATUS_OK;
        }
        WP_TRY(added(r, pages, &cycles, err));
    }
    WP_TRY(last_below(r, fits, pages, &(border){.limit_cycles = limit}, &fits, err));
    wpi_number_explain(&h->levels_known,
                       "more than %" PRIu64
                       " pages take even longer: an L2 TLB whose sets cannot be "
                       "measured, or caches that page walks fill",
                       fits);
    return WP_STATUS_OK;
}

static wp_status read_all(reader *r, wpi_hierarchy *h, wp_error *err) {
    plateau p;
    double base = 0;
    WP_TRY(typical(r, PAGES_FIRST, false, &base, err));
    wpi_number_set(&h->base_cycles, base, 1);
    WP_TRY(find_plateau(r, &p, err));
    if (p.first_pages == 0) {
        wpi_number_unknown(&h->levels_known,
                           "loads do not become reliably slower at any number of pages");
        return WP_STATUS_OK;
    }
    wpi_level *level = &h->levels[0];
    h->level_count = 1;
    wpi_number_set(&h->levels_known, 1, SURE / 2);
    wpi_number_set(&level->page_bytes, (double)r->page_bytes, 1);
    wpi_number_set(&level->miss_cycles, p.cycles, SURE);
    WP_TRY(read_entries(r, &p, level, err));
    WP_TRY(read_behind(r, &p, h, err));
    if (level->entries.is_known && !r->options->is_sharing_skipped)
        WP_TRY(read_sharing(r, level, err));
    return WP_STATUS_OK;
}

/* Numbers that were not reached get the common reason for being unknown. */
static void explain_unknown(wpi_number *number, const char *reason) {
    if (!number->is_known && number->reason[0] == '\0') wpi_number_unknown(number, "%s", reason);
}

wp_status wpi_cpu_levels_read(const wpi_sampler *sampler, uint64_t page_bytes,
                              const wpi_infer_options *options, wpi_hierarchy **out,
                              wp_error *err) {
    wp_error why = {0};
    reader r = {.sampler = sampler, .options = options, .page_bytes = page_bytes};
    wpi_hierarchy *h = *out = wpi_calloc(1, sizeof *h);
    if (h == NULL) return WP_FAIL(err, NOMEM, "what is known of TLBs");
    h->sm_count = sampler->sm_count;
    const bool is_cut = read_all(&r, h, &why) != WP_STATUS_OK;
    wpi_level *level = &h->levels[0];
    static const char no_ramp[] = "its replacement is not LRU, so its sets cannot be measured";
    wpi_number *const of_sets[] = {&level->sets, &level->ways, &level->fill_bytes};
    wpi_number *const others[] = {&level->entries, &level->reach_bytes, &level->sharing.count,
                                  &h->levels_known};
    for (size_t i = 0; i < sizeof of_sets / sizeof of_sets[0]; i++)
        explain_unknown(of_sets[i], no_ramp);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        explain_unknown(others[i], is_cut ? why.message : "not requested");
    h->samples = r.samples;
    h->loads = r.loads;
    return WP_STATUS_OK;
}
