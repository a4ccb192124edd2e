/* SPDX-License-Identifier: Apache-2.0 */
/* First detects a level: the longest chase, at strides that grow by four, one of which shows at
 * least a quarter of any level's delay. Then finds, at all strides around it, the most loads
 * without misses: the level with the smallest reach is the next. */
#include "probe/infer/steps.h"

#include <math.h>

#define LOADS_TO_DETECT 5120u /* 4096 entries, direct mapped, miss two fifths of them */
#define LOADS_TO_TRACK 32768u
#define SAME_DISTANCE 1.25 /* a small delay rises above the border late; real steps double it */
#define STRIDES_MAX 40u

uint64_t wpi_steps_busy_loads(const wpi_search *s, uint64_t stride) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->found_count; i++) {
        const wpi_found *f = &s->found[i];
        const uint64_t parts = stride < f->page_bytes ? f->page_bytes / stride : 1;
        if (f->busy_loads * parts > most) most = f->busy_loads * parts;
    }
    return most;
}

double wpi_steps_known_cycles(const wpi_search *s) {
    double cycles = 0;
    for (uint32_t i = 0; i < s->found_count; i++)
        cycles += s->found[i].miss_cycles;
    return cycles;
}

uint64_t wpi_steps_stride_first(const wpi_search *s) {
    return s->found_count == 0 ? s->options.stride_min : s->found[s->found_count - 1].fill_bytes;
}

static double border_of(const wpi_search *s) {
    return wpi_steps_known_cycles(s) + WPI_STEP_CYCLES;
}

static uint64_t loads_at(const wpi_search *s, uint64_t stride, uint64_t wanted) {
    const uint64_t most = wpi_search_loads_max(s, stride);
    return most < wanted ? most : wanted;
}

static wp_status is_busy(wpi_search *s, uint64_t stride, uint64_t loads, bool *out, wp_error *err) {
    return wpi_search_is_above(s, stride, loads, WPI_ORDER_STRIDED, border_of(s), out, err);
}

/* The first stride at which the longest chase shows a new level; 0: none does. */
static wp_status detect(wpi_search *s, uint64_t *stride_seen, wp_error *err) {
    *stride_seen = 0;
    uint64_t stride = wpi_steps_stride_first(s);
    while (stride <= 4 * s->options.stride_max) {
        const uint64_t loads = loads_at(s, stride, LOADS_TO_DETECT);
        if (loads < 2) return WP_STATUS_OK;
        bool is_seen = false;
        WP_TRY(is_busy(s, stride, loads, &is_seen, err));
        if (is_seen) {
            *stride_seen = stride;
            return WP_STATUS_OK;
        }
        stride *= loads < LOADS_TO_DETECT ? 2 : 4;
    }
    return WP_STATUS_OK;
}

/* Approximately the most loads without misses, below `busy`, which has some; exact if few. */
static wp_status last_quiet(wpi_search *s, uint64_t stride, uint64_t busy, uint64_t *quiet,
                            wp_error *err) {
    uint64_t low = 1, high = busy;
    while (high - low > (low < 64 ? 1 : low / 64)) {
        uint64_t middle = low + (high - low) / 2;
        if (high > 4 * low) middle = (uint64_t)sqrt((double)low * (double)high);
        if (middle <= low) middle = low + 1;
        bool is_above = false;
        WP_TRY(is_busy(s, stride, middle, &is_above, err));
        *(is_above ? &high : &low) = middle;
    }
    *quiet = low;
    return WP_STATUS_OK;
}

/* *quiet 0: no misses within memory. `guess`: where misses may begin; 0: unknown. */
static wp_status quiet_at(wpi_search *s, uint64_t stride, uint64_t guess, uint64_t *quiet,
                          wp_error *err) {
    const uint64_t most = loads_at(s, stride, LOADS_TO_TRACK);
    uint64_t busy = guess == 0 || guess > most ? most : guess;
    *quiet = 0;
    if (most < 2) return WP_STATUS_OK;
    for (;;) {
        bool is_above = false;
        WP_TRY(is_busy(s, stride, busy, &is_above, err));
        if (is_above) break;
        if (busy == most) return WP_STATUS_OK;
        busy = 2 * busy < most ? 2 * busy : most;
    }
    return last_quiet(s, stride, busy, quiet, err);
}

typedef struct track {
    uint64_t strides[STRIDES_MAX], quiet[STRIDES_MAX];
    bool is_behind[STRIDES_MAX]; /* this level hits for a while after the levels before miss all */
    uint32_t count;
} track;

/* Quiet loads are known to a thirty-second: if that does not decide, tests busy loads. */
static wp_status ask_behind(wpi_search *s, uint64_t stride, uint64_t quiet, bool *out,
                            wp_error *err) {
    const uint64_t busy = wpi_steps_busy_loads(s, stride);
    bool is_above = true;
    *out = quiet > busy + busy / 16;
    if (*out || busy == 0 || quiet + quiet / 16 + 1 < busy ||
        busy > wpi_search_loads_max(s, stride))
        return WP_STATUS_OK;
    WP_TRY(is_busy(s, stride, busy, &is_above, err));
    *out = !is_above;
    return WP_STATUS_OK;
}

static wp_status follow(wpi_search *s, uint64_t seen, track *t, wp_error *err) {
    uint64_t stride = seen, guess = 0;
    const uint64_t first = wpi_steps_stride_first(s);
    for (int i = 0; i < 2 && stride > first; i++)
        stride /= 2;
    t->count = 0;
    for (; stride <= 4 * s->options.stride_max && t->count < STRIDES_MAX; stride *= 2) {
        uint64_t *quiet = &t->quiet[t->count];
        WP_TRY(quiet_at(s, stride, guess, quiet, err));
        WP_TRY(ask_behind(s, stride, *quiet, &t->is_behind[t->count], err));
        t->strides[t->count++] = stride;
        guess = *quiet == 0 ? 0 : *quiet / 2 + *quiet / 32 + 2;
        if (wpi_search_loads_max(s, stride) < 4) break;
    }
    return WP_STATUS_OK;
}

static double distance(const track *t, uint32_t i) {
    return t->quiet[i] == 0 ? INFINITY : (double)t->quiet[i] * (double)t->strides[i];
}

static void choose(const wpi_search *s, const track *t, wpi_step *step) {
    uint32_t least = 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (distance(t, i) <= distance(t, least)) least = i;
    const double limit = SAME_DISTANCE * distance(t, least);
    uint32_t top = least;
    while (top > 0 && !t->is_behind[top])
        top--;
    while (top + 1 < t->count && distance(t, top + 1) <= limit && t->is_behind[top + 1])
        top++;
    *step = (wpi_step){.stride_bytes = t->strides[top], .quiet_loads = t->quiet[top]};
    step->is_hidden = !t->is_behind[top] || distance(t, top) > limit;
    if (top + 1 == t->count) {
        step->is_memory_end = true;
        return;
    }
    const double next = distance(t, top + 1);
    step->is_memory_end = next == INFINITY;
    step->has_own_end = next != INFINITY && next > limit &&
                        t->quiet[top + 1] > wpi_steps_busy_loads(s, t->strides[top + 1]);
}

wp_status wpi_steps_find(wpi_search *s, wpi_step *step, bool *found, wp_error *err) {
    uint64_t seen = 0;
    track t = {0};
    *found = false;
    *step = (wpi_step){0};
    WP_TRY(detect(s, &seen, err));
    if (seen == 0) return WP_STATUS_OK;
    WP_TRY(follow(s, seen, &t, err));
    choose(s, &t, step);
    *found = step->quiet_loads != 0;
    return WP_STATUS_OK;
}
