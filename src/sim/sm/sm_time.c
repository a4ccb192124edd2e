/* SPDX-License-Identifier: Apache-2.0 */
/* Where warps' time goes: by launch, and by line of the code where lines are counted. */
#include "sim/sm/sm_parts.h"

_Static_assert(WP_RUN_LINE_COUNTS - WP_RUN_LINE_TIMES == WPI_WARP_TIME_COUNT, "the same times");

/* The block that the warp executes; before its first one, the row behind the last block. */
static wpi_line_count *block_of(const wpi_warp_run *warp) {
    const wpi_warp_source *source = warp->cta->launch->source;
    const bool has_begun = warp->step_outer != 0;
    return &source->lines->blocks[has_begun ? warp->block.block : source->tables->block_count];
}

/* The access that the warp is about to make, or its block. */
static wpi_line_count *access_of(const wpi_warp_run *warp) {
    const wpi_warp_source *source = warp->cta->launch->source;
    const wp_trace_step *step = &source->tables->steps[warp->step];
    const bool is_access = warp->step < warp->step_outer && step->op == WP_TRACE_ACCESS;
    return is_access ? &source->lines->sites[step->value] : block_of(warp);
}

static bool has_lines(const wpi_warp_run *warp) {
    return warp->cta->launch->source->lines != NULL;
}

static void spend(wpi_warp_run *warp, wpi_line_count *counts, wpi_warp_time what,
                  wpi_time_ps took) {
    warp->spent_ps[what] += took;
    wpi_line_add(counts, WP_RUN_LINE_TIMES + (uint32_t)what, took);
}

void wpi_warp_spent(wpi_warp_run *warp, wpi_warp_time what, wpi_time_ps until) {
    if (until <= warp->counted_ps) return;
    wpi_line_count *counts = NULL;
    if (has_lines(warp)) counts = what == WPI_WARP_TIME_LSU ? access_of(warp) : block_of(warp);
    spend(warp, counts, what, until - warp->counted_ps);
    warp->counted_ps = until;
}

/* A warp waits for the end of an access, so its wait is divided as the access's whole time: by
 * where it was, or what it queued for. */
static void divide(wpi_warp_run *warp, wpi_line_count *counts, const wpi_answer *answer,
                   wpi_time_ps took) {
    static const wpi_warp_time what[WPI_SPENT_QUEUE] = {
        [WPI_SPENT_ISSUE] = WPI_WARP_TIME_LSU,
        [WPI_SPENT_TRANSLATION] = WPI_WARP_TIME_TRANSLATION,
        [WPI_SPENT_FAULT] = WPI_WARP_TIME_FAULT,
        [WPI_SPENT_L1] = WPI_WARP_TIME_L1,
        [WPI_SPENT_L2] = WPI_WARP_TIME_L2,
        [WPI_SPENT_DRAM] = WPI_WARP_TIME_DRAM,
        [WPI_SPENT_LINK] = WPI_WARP_TIME_LINK};
    const wpi_time_ps whole = answer->answered - answer->issued;
    const double part = whole != 0 ? (double)took / (double)whole : 0;
    wpi_time_ps rest = took, most_ps = 0;
    uint32_t most = WPI_SPENT_ISSUE;
    for (uint32_t i = 0; i < WPI_SPENT_QUEUE; i++) {
        const wpi_time_ps here = answer->spent_ps[i] + answer->queued_ps[i];
        const wpi_time_ps share = (wpi_time_ps)(part * (double)here);
        const wpi_time_ps taken = share < rest ? share : rest;
        if (taken != 0) spend(warp, counts, what[i], taken);
        rest -= taken;
        if (here <= most_ps) continue;
        most = i;
        most_ps = here;
    }
    /* of rounding, and of times beyond what a ledger holds */
    if (rest != 0) spend(warp, counts, what[most], rest);
}

/* A wait for memory of the SM. */
static wpi_warp_time what_of(const wpi_warp_run *warp, uint32_t site) {
    const wp_trace_site *from = &warp->cta->launch->source->tables->sites[site];
    return from->space == WP_TRACE_CONST ? WPI_WARP_TIME_EXECUTE : WPI_WARP_TIME_SHARED;
}

void wpi_warp_waited(wpi_warp_run *warp, uint32_t site, const wpi_answer *answer, wpi_time_ps now) {
    if (site == WPI_FENCE_SITE) {
        wpi_warp_spent(warp, WPI_WARP_TIME_FENCE, now);
        return;
    }
    if (now <= warp->counted_ps) return;
    wpi_line_count *counts =
        has_lines(warp) ? &warp->cta->launch->source->lines->sites[site] : NULL;
    if (answer == NULL)
        spend(warp, counts, what_of(warp, site), now - warp->counted_ps);
    else
        divide(warp, counts, answer, now - warp->counted_ps);
    warp->counted_ps = now;
}
