/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/measure/points.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"

#define REPEATS 5u
#define COUNT_MAX 65536u

wp_status wpi_added_cycles(const wpi_sampler *sampler, uint64_t stride_bytes, uint64_t loads,
                           uint32_t sm, uint32_t repeats, double *out, wp_error *err) {
    wpi_timing far, near;
    wpi_chase chase = {.stride_bytes = stride_bytes, .loads = loads, .sm = sm, .repeats = repeats};
    WP_TRY(sampler->chase(sampler->object, &chase, &far, err));
    chase.is_control = true;
    WP_TRY(sampler->chase(sampler->object, &chase, &near, err));
    *out = far.median_cycles - near.median_cycles;
    return WP_STATUS_OK;
}

/* Doubles the count until it is too large, then bisects. */
static wp_status largest_below(const wpi_sampler *sampler, uint64_t stride, double limit_cycles,
                               double *out, wp_error *err) {
    uint64_t fits = 0, misses = 1;
    bool is_found = false;
    while (!is_found && misses < COUNT_MAX && misses * stride <= sampler->memory_bytes) {
        double added = 0;
        WP_TRY(wpi_added_cycles(sampler, stride, misses, WPI_SM_ANY, REPEATS, &added, err));
        is_found = added >= limit_cycles;
        if (is_found) break;
        fits = misses;
        misses *= 2;
    }
    if (!is_found)
        return WP_FAIL(
            err, NOT_FOUND,
            "loads at %llu addresses still take less than %g cycles, and there is no more "
            "memory to probe",
            (unsigned long long)fits, limit_cycles);
    while (misses - fits > 1) {
        const uint64_t middle = fits + (misses - fits) / 2;
        double added = 0;
        WP_TRY(wpi_added_cycles(sampler, stride, middle, WPI_SM_ANY, REPEATS, &added, err));
        if (added < limit_cycles)
            fits = middle;
        else
            misses = middle;
    }
    *out = (double)fits;
    return WP_STATUS_OK;
}

static wp_status contest_cycles(const wpi_sampler *sampler, const wpi_contest *contest, double *out,
                                wp_error *err) {
    wpi_timing timed, near;
    const wpi_chase control = {.stride_bytes = contest->stride_bytes,
                               .loads = contest->loads_timed,
                               .is_control = true,
                               .sm = contest->sm_timed,
                               .repeats = contest->repeats};
    if (sampler->contest == NULL)
        return WP_FAIL(err, UNSUPPORTED, "sharing cannot be measured on this device");
    WP_TRY(sampler->contest(sampler->object, contest, &timed, err));
    WP_TRY(sampler->chase(sampler->object, &control, &near, err));
    *out = timed.median_cycles - near.median_cycles;
    return WP_STATUS_OK;
}

/* The part after the '='. */
typedef struct point {
    bool is_contest, is_search;
    uint32_t timed, other;
    uint64_t stride_bytes;
    double number; /* count or cycles */
} point;

static bool parse_sms(const char **text, point *p) {
    const char *colon = strchr(*text, ':');
    char *end = NULL;
    if (colon == NULL) return true;
    p->is_contest = true;
    p->timed = (uint32_t)strtoul(*text, &end, 10);
    if (end == *text || *end != ',') return false;
    const char *second = end + 1;
    p->other = (uint32_t)strtoul(second, &end, 10);
    if (end == second || end != colon) return false;
    *text = colon + 1;
    return true;
}

static bool parse(const char *text, point *p) {
    *p = (point){0};
    if (!parse_sms(&text, p)) return false;
    const size_t length = strcspn(text, "*<");
    char *stride = wpi_strndup(text, length), *end = NULL;
    WP_CHECK(stride != NULL);
    bool is_good =
        text[length] != '\0' && wpi_parse_bytes(stride, &p->stride_bytes, NULL) == WP_STATUS_OK;
    wpi_free(stride);
    if (!is_good) return false;
    p->is_search = text[length] == '<';
    p->number = strtod(text + length + 1, &end);
    return end != text + length + 1 && *end == '\0' && p->number >= 1 && p->number < 1e9 &&
           !(p->is_search && p->is_contest);
}

wp_status wpi_point_measure(const wpi_sampler *sampler, const char *text, wpi_text *out,
                            wp_error *err) {
    const char *equals = strchr(text, '=');
    point p;
    double value = 0;
    if (equals == NULL || equals == text || !parse(equals + 1, &p))
        return WP_FAIL(err, INVALID,
                       "'%s' is not NAME=STRIDE*COUNT, NAME=STRIDE<CYCLES or "
                       "NAME=SM,SM:STRIDE*COUNT, with a stride such as 128KiB",
                       text);
    const uint64_t count = (uint64_t)p.number;
    if (p.is_search) {
        WP_TRY(largest_below(sampler, p.stride_bytes, p.number, &value, err));
    } else if (p.is_contest) {
        const wpi_contest contest = {p.timed, p.other, p.stride_bytes, count, count, REPEATS};
        WP_TRY(contest_cycles(sampler, &contest, &value, err));
    } else {
        WP_TRY(wpi_added_cycles(sampler, p.stride_bytes, count, WPI_SM_ANY, REPEATS, &value, err));
    }
    wpi_text_appendf(out, "%.*s %g\n", (int)(equals - text), text, value);
    return WP_STATUS_OK;
}
