/* SPDX-License-Identifier: Apache-2.0 */
/* A pair of chases is measured A, B, B, A: a steady drift cancels. The first rounds give the noise,
 * and with it the number of further rounds; the error is the larger of the estimates from the
 * rounds' spread and from the batches' differences. */
#include "probe/measure/search.h"

#include <math.h>

#include "base/alloc.h"

#define MEDIAN_ERROR 1.2533     /* of a median of n, times sqrt(n), in standard deviations */
#define SURE_Z 5.5              /* standard deviations at which a decision is sure */
#define ABOVE_ERROR_CYCLES 0.04 /* values closer to a border are decided without certainty */
#define BATCHES 8u
#define BATCH_LOADS ((uint64_t)1 << 20) /* few enough that the clock hardly drifts in a batch */

typedef enum pair_kind { AGAINST_CONTROL, AGAINST_LOADS, CONTROLS } pair_kind;

struct wpi_pair {
    pair_kind kind;
    wpi_chase_order order;
    uint64_t stride_bytes, loads, loads_before, hot;
    /* Of the batches, weighed by their rounds. */
    uint64_t rounds, batches;
    double sum, square_sum;    /* of rounds * difference, rounds * difference^2 */
    double variance_per_round; /* of a round of A plus one of B */
};

wp_status wpi_search_init(wpi_search *s, const wpi_sampler *sampler,
                          const wpi_infer_options *options, wp_error *err) {
    *s = (wpi_search){.sampler = sampler, .worst_z = INFINITY};
    if (options != NULL) s->options = *options;
    wpi_infer_options *o = &s->options;
    if (o->memory_bytes == 0 || o->memory_bytes > sampler->memory_bytes)
        o->memory_bytes = sampler->memory_bytes;
    if (o->samples_max == 0) o->samples_max = 20000;
    if (o->loads_max == 0) o->loads_max = (uint64_t)1 << 34;
    if (o->stride_min == 0) o->stride_min = 4096;
    if (o->stride_max == 0) o->stride_max = (uint64_t)32 << 20;
    if (o->loads_per_round_max == 0) o->loads_per_round_max = 1 << 18;
    if (o->seed == 0) o->seed = 1;
    if (o->rounds_min == 0) o->rounds_min = 32;
    if (o->stride_min < 2 * WPI_CHASE_LINE_BYTES || o->stride_max < o->stride_min ||
        (o->stride_min & (o->stride_min - 1)) != 0)
        return WP_FAIL(err, INVALID,
                       "pages from %llu to %llu bytes: expected powers of two from 256",
                       (unsigned long long)o->stride_min, (unsigned long long)o->stride_max);
    return WP_STATUS_OK;
}

void wpi_search_deinit(wpi_search *s) {
    wpi_free(s->pairs);
    s->pairs = NULL;
}

uint64_t wpi_search_loads_max(const wpi_search *s, uint64_t stride_bytes) {
    const uint64_t fitting = s->options.memory_bytes / stride_bytes;
    return fitting < s->options.loads_per_round_max ? fitting : s->options.loads_per_round_max;
}

/* ---- pairs ---- */

static wpi_pair *pair_of(wpi_search *s, wpi_pair wanted) {
    for (size_t i = s->pair_count; i-- > 0;) {
        wpi_pair *p = &s->pairs[i];
        if (p->loads == wanted.loads && p->stride_bytes == wanted.stride_bytes &&
            p->loads_before == wanted.loads_before && p->kind == wanted.kind &&
            p->order == wanted.order && p->hot == wanted.hot)
            return p;
    }
    if (s->pair_count == s->pair_capacity) {
        const size_t capacity = s->pair_capacity == 0 ? 64 : 2 * s->pair_capacity;
        wpi_pair *more = wpi_realloc(s->pairs, capacity * sizeof *more);
        if (more == NULL) return NULL;
        s->pairs = more;
        s->pair_capacity = capacity;
    }
    s->pairs[s->pair_count] = wanted;
    return &s->pairs[s->pair_count++];
}

static void chases_of(const wpi_search *s, const wpi_pair *p, wpi_chase *a, wpi_chase *b) {
    *a = (wpi_chase){.stride_bytes = p->stride_bytes,
                     .loads = p->loads,
                     .order = p->order,
                     .seed = s->options.seed,
                     .hot = p->hot,
                     .sm = WPI_SM_ANY,
                     .is_control = p->kind == CONTROLS};
    *b = *a;
    if (p->kind == AGAINST_CONTROL)
        b->is_control = true;
    else
        b->loads = p->loads_before;
}

static wp_status sample(wpi_search *s, wpi_chase *chase, uint32_t rounds, wpi_timing *out,
                        wp_error *err) {
    const uint64_t loads = chase->loads * (uint64_t)rounds;
    if (s->samples >= s->options.samples_max || loads > s->options.loads_max - s->loads) {
        s->is_spent = true;
        return WP_FAIL(err, UNSUPPORTED, "the budget of %llu samples and %llu loads is spent",
                       (unsigned long long)s->options.samples_max,
                       (unsigned long long)s->options.loads_max);
    }
    if (wpi_chase_places(chase) > s->options.memory_bytes / chase->stride_bytes)
        return WP_FAIL(err, NOT_FOUND, "memory is too small to continue");
    chase->repeats = rounds;
    s->samples++;
    s->loads += loads;
    if (s->options.progress != NULL && s->samples % 16 == 0)
        s->options.progress(s->options.progress_object, "chases", s->samples);
    return s->sampler->chase(s->sampler->object, chase, out, err);
}

static double square(double x) {
    return x * x;
}

static wp_status batch(wpi_search *s, wpi_pair *p, uint32_t rounds, wp_error *err) {
    wpi_chase a, b;
    wpi_timing first, middle, last;
    const uint32_t half = rounds / 2 + 1;
    chases_of(s, p, &a, &b);
    WP_TRY(sample(s, &a, half, &first, err));
    WP_TRY(sample(s, &b, 2 * half, &middle, err));
    last = first; /* a device without noise has no drift either */
    if (first.spread_cycles > 0 || middle.spread_cycles > 0)
        WP_TRY(sample(s, &a, half, &last, err));
    const double of_a = first.rounds + last.rounds, of_b = middle.rounds;
    if (of_a < 2 || of_b < 1) return WP_FAIL(err, DEVICE, "the pointer chase has no timed round");
    const double now = fmin(of_a, of_b), before = (double)p->rounds;
    const double difference = (first.median_cycles + last.median_cycles) / 2 - middle.median_cycles;
    const double variance = (square(first.spread_cycles) + square(last.spread_cycles)) / 2 +
                            square(middle.spread_cycles);
    p->variance_per_round = (p->variance_per_round * before + variance * now) / (before + now);
    p->rounds += (uint64_t)now;
    p->batches++;
    p->sum += now * difference;
    p->square_sum += now * square(difference);
    return WP_STATUS_OK;
}

static wpi_estimate estimate(const wpi_pair *p) {
    const double rounds = (double)p->rounds;
    wpi_estimate e = {.cycles = p->sum / rounds};
    /* The spread of few rounds is inexact. */
    const double doubt = 1 + 3 / sqrt(rounds);
    e.error_cycles = doubt * MEDIAN_ERROR * sqrt(p->variance_per_round / rounds);
    if (p->batches >= 4) {
        const double variance = p->square_sum / rounds - e.cycles * e.cycles;
        const double scatter = sqrt(fmax(variance, 0) / (double)(p->batches - 1));
        e.error_cycles = fmax(e.error_cycles, scatter);
    }
    return e;
}

/* Measures until the error is at most `error_max`, or, with a border, until the side of it is
 * sure. */
static wp_status refine(wpi_search *s, wpi_pair *p, double error_max, const double *border,
                        wpi_estimate *out, wp_error *err) {
    if (p->rounds == 0) WP_TRY(batch(s, p, s->options.rounds_min, err));
    for (;;) {
        const wpi_estimate e = *out = estimate(p);
        if (e.error_cycles <= error_max) return WP_STATUS_OK;
        double wanted = error_max;
        if (border != NULL) {
            const double distance = fabs(e.cycles - *border);
            if (distance >= SURE_Z * e.error_cycles) return WP_STATUS_OK;
            wanted = fmax(wanted, distance / (SURE_Z + 1));
        }
        const double factor = e.error_cycles / wanted;
        const double more = (double)p->rounds * fmin(fmax(factor * factor - 1, 0.25), 64);
        const double rounds = fmin(ceil(more / BATCHES), (double)(BATCH_LOADS / p->loads));
        for (uint32_t i = 0; i < BATCHES; i++)
            WP_TRY(batch(s, p, (uint32_t)fmax(rounds, s->options.rounds_min), err));
    }
}

/* ---- queries ---- */

/* The misses of one level in a round over `pages` entries: equal sets overflow in turn, others in
 * any order. */
static wp_status missing_entries(wpi_search *s, const wpi_found *f, uint64_t pages, double *out,
                                 wp_error *err) {
    wpi_estimate e;
    *out = (double)pages;
    if (pages <= f->entries) *out = 0;
    if (pages <= f->entries || pages >= f->busy_loads) return WP_STATUS_OK;
    *out = (double)((pages - f->entries) * (f->entries / f->sets + 1));
    if (f->busy_loads == f->entries + f->sets) return WP_STATUS_OK;
    WP_TRY(wpi_search_extra(s, f->page_bytes, pages, f->entries, f->miss_cycles / 4, &e, err));
    *out = e.cycles / f->miss_cycles;
    return WP_STATUS_OK;
}

static uint64_t parts(uint64_t bytes, uint64_t of_bytes) {
    return (bytes + of_bytes - 1) / of_bytes;
}

/* Cycles per load of known levels' misses in a control chase, whose lines are adjacent. */
static wp_status control_cycles(wpi_search *s, uint64_t loads, double *cycles, wp_error *err) {
    const uint64_t bytes = loads * WPI_CHASE_LINE_BYTES;
    *cycles = 0;
    for (uint32_t i = 0; i < s->found_count; i++) {
        const wpi_found *f = &s->found[i];
        const uint64_t pages = parts(bytes, f->page_bytes), fills = parts(bytes, f->fill_bytes);
        double missing = 0;
        WP_TRY(missing_entries(s, f, pages, &missing, err));
        *cycles += f->miss_cycles * missing / (double)pages * (double)fills / (double)loads;
    }
    return WP_STATUS_OK;
}

static wp_status rise(wpi_search *s, uint64_t stride, uint64_t loads, wpi_chase_order order,
                      double error_max, const double *border, wpi_estimate *out, wp_error *err) {
    double given_back = 0;
    WP_TRY(control_cycles(s, loads, &given_back, err));
    const double moved = border != NULL ? *border - given_back : 0;
    wpi_pair *p = pair_of(
        s, (wpi_pair){
               .kind = AGAINST_CONTROL, .stride_bytes = stride, .loads = loads, .order = order});
    if (p == NULL) return WP_FAIL(err, NOMEM, "samples of a search");
    WP_TRY(refine(s, p, error_max, border != NULL ? &moved : NULL, out, err));
    out->cycles += given_back;
    return WP_STATUS_OK;
}

wp_status wpi_search_reuse(wpi_search *s, uint64_t stride, uint64_t hot, uint64_t cold,
                           double error_max, wpi_estimate *out, wp_error *err) {
    const uint64_t loads = 2 * (hot + cold);
    double given_back = 0;
    WP_TRY(control_cycles(s, loads, &given_back, err));
    wpi_pair *p = pair_of(s, (wpi_pair){.kind = AGAINST_CONTROL,
                                        .stride_bytes = stride,
                                        .loads = loads,
                                        .hot = hot,
                                        .order = WPI_ORDER_REUSE});
    if (p == NULL) return WP_FAIL(err, NOMEM, "samples of a search");
    WP_TRY(refine(s, p, error_max, NULL, out, err));
    out->cycles += given_back;
    return WP_STATUS_OK;
}

wp_status wpi_search_rise(wpi_search *s, uint64_t stride, uint64_t loads, wpi_chase_order order,
                          double error_max, wpi_estimate *out, wp_error *err) {
    return rise(s, stride, loads, order, error_max, NULL, out, err);
}

static bool decide(wpi_search *s, const wpi_estimate *e, double border) {
    const double z = fabs(e->cycles - border) / fmax(e->error_cycles, 1e-12);
    if (z < s->worst_z) s->worst_z = z;
    return e->cycles > border;
}

wp_status wpi_search_is_above(wpi_search *s, uint64_t stride, uint64_t loads, wpi_chase_order order,
                              double border, bool *out, wp_error *err) {
    wpi_estimate e;
    WP_TRY(rise(s, stride, loads, order, ABOVE_ERROR_CYCLES, &border, &e, err));
    *out = decide(s, &e, border);
    return WP_STATUS_OK;
}

/* Controls access each line; their TLB misses are at most a line's share of each known fill. */
static double control_slack(const wpi_search *s) {
    double cycles = 0;
    for (uint32_t i = 0; i < s->found_count; i++)
        cycles += s->found[i].miss_cycles * WPI_CHASE_LINE_BYTES / (double)s->found[i].fill_bytes;
    return cycles;
}

/* Whether a data cache overflows between the two numbers of lines: then only chases less controls
 * can be compared. A line's share of a TLB miss does not count. */
static wp_status has_cache_step(wpi_search *s, uint64_t loads, uint64_t before, bool *out,
                                wp_error *err) {
    wpi_pair *p = pair_of(s, (wpi_pair){.kind = CONTROLS,
                                        .stride_bytes = s->options.stride_min,
                                        .loads = loads,
                                        .loads_before = before});
    if (p == NULL) return WP_FAIL(err, NOMEM, "samples of a search");
    const double border = 1.05 * control_slack(s) + 0.5;
    wpi_estimate e;
    WP_TRY(refine(s, p, 0.1 * border, &border, &e, err));
    *out = e.cycles > border;
    return WP_STATUS_OK;
}

/* As cycles of a round of `loads`. Chases less controls where controls stay in the first level or
 * data caches take part; else chases alone, which have half the noise. */
static wp_status extra(wpi_search *s, uint64_t stride, uint64_t loads, uint64_t before,
                       double error_max, const double *border, wpi_estimate *out, wp_error *err) {
    const double scale = (double)loads;
    double given_back = 0;
    WP_TRY(control_cycles(s, loads, &given_back, err));
    bool with_controls = given_back == 0 && loads <= 64;
    if (!with_controls) WP_TRY(has_cache_step(s, loads, before, &with_controls, err));
    if (with_controls) {
        wpi_estimate e, less;
        const double each = error_max / scale / 1.5;
        WP_TRY(rise(s, stride, before, WPI_ORDER_STRIDED, each, NULL, &less, err));
        const double at = border != NULL ? less.cycles + *border / scale : 0;
        WP_TRY(
            rise(s, stride, loads, WPI_ORDER_STRIDED, each, border != NULL ? &at : NULL, &e, err));
        out->cycles = (e.cycles - less.cycles) * scale;
        out->error_cycles = hypot(e.error_cycles, less.error_cycles) * scale;
        return WP_STATUS_OK;
    }
    wpi_pair *p = pair_of(s, (wpi_pair){.kind = AGAINST_LOADS,
                                        .stride_bytes = stride,
                                        .loads = loads,
                                        .loads_before = before});
    if (p == NULL) return WP_FAIL(err, NOMEM, "samples of a search");
    const double at = border != NULL ? *border / scale : 0;
    WP_TRY(refine(s, p, error_max / scale, border != NULL ? &at : NULL, out, err));
    out->cycles *= scale;
    out->error_cycles *= scale;
    return WP_STATUS_OK;
}

wp_status wpi_search_extra(wpi_search *s, uint64_t stride, uint64_t loads, uint64_t before,
                           double error_max, wpi_estimate *out, wp_error *err) {
    return extra(s, stride, loads, before, error_max, NULL, out, err);
}

wp_status wpi_search_is_extra(wpi_search *s, uint64_t stride, uint64_t loads, uint64_t before,
                              double border, bool *out, wp_error *err) {
    wpi_estimate e;
    WP_TRY(extra(s, stride, loads, before, 0.1 * border, &border, &e, err));
    *out = decide(s, &e, border);
    return WP_STATUS_OK;
}
