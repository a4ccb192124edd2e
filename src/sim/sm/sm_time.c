/* SPDX-License-Identifier: Apache-2.0 */
/* Where a warp's time goes: what it did, or waited for, between two changes of its state. */
#include "sim/sm/sm_parts.h"

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

/* Divides a wait for memory as the access's time was: by what it spent where, or queued for. */
static void account_memory(wpi_line_count *counts, wpi_time_ps took, const wpi_answer *answer) {
    static const wp_run_line_count causes[WPI_SPENT_QUEUE] = {
        [WPI_SPENT_ISSUE] = WP_RUN_LINE_LSU_PS,
        [WPI_SPENT_TRANSLATION] = WP_RUN_LINE_TRANSLATION_PS,
        [WPI_SPENT_FAULT] = WP_RUN_LINE_FAULT_PS,
        [WPI_SPENT_L1] = WP_RUN_LINE_L1_PS,
        [WPI_SPENT_L2] = WP_RUN_LINE_L2_PS,
        [WPI_SPENT_DRAM] = WP_RUN_LINE_DRAM_PS,
        [WPI_SPENT_LINK] = WP_RUN_LINE_LINK_PS,
    };
    const wpi_time_ps whole = answer->answered - answer->issued;
    wpi_time_ps rest = took, most_ps = 0;
    uint32_t most = WPI_SPENT_ISSUE;
    for (uint32_t i = 0; i < WPI_SPENT_QUEUE && whole != 0; i++) {
        const wpi_time_ps here = answer->spent_ps[i] + answer->queued_ps[i];
        const double part = (double)here / (double)whole * (double)took;
        const wpi_time_ps part_ps = (wpi_time_ps)part < rest ? (wpi_time_ps)part : rest;
        counts->of[causes[i]] += part_ps;
        rest -= part_ps;
        if (here > most_ps) {
            most = i;
            most_ps = here;
        }
    }
    counts->of[causes[most]] += rest; /* of rounding, and of times beyond what a ledger holds */
}

static void account_wait(const wpi_warp_run *warp, wpi_time_ps took) {
    const wpi_line_counts *lines = warp->cta->launch->source->lines;
    switch (warp->waits_for) {
    case WP_TRACE_NONE: access_of(warp)->of[WP_RUN_LINE_LSU_PS] += took; break;
    case WPI_FENCE_SITE: block_of(warp)->of[WP_RUN_LINE_FENCE_PS] += took; break;
    case WPI_CODE_SITE: block_of(warp)->of[WP_RUN_LINE_CODE_PS] += took; break;
    default:
        if (warp->answer != NULL)
            account_memory(&lines->sites[warp->waits_for], took, warp->answer);
        else
            lines->sites[warp->waits_for].of[WP_RUN_LINE_SHARED_PS] += took;
    }
}

void wpi_warp_account(wpi_warp_run *warp) {
    const wpi_time_ps now = wpi_engine_now(warp->sm->engine);
    if (now <= warp->since_ps) return;
    const wpi_time_ps took = now - warp->since_ps;
    warp->since_ps = now;
    if (warp->state == WPI_WARP_WAITS) {
        account_wait(warp, took);
        return;
    }
    uint64_t *of = block_of(warp)->of;
    switch (warp->state) {
    case WPI_WARP_BUSY: {
        const wpi_time_ps issue_ps = warp->issue_ps < took ? warp->issue_ps : took;
        of[WP_RUN_LINE_ISSUE_PS] += issue_ps;
        if (warp->busy_as == WP_RUN_LINE_LSU_PS) of = access_of(warp)->of;
        of[warp->busy_as] += took - issue_ps;
        break;
    }
    case WPI_WARP_READY: of[WP_RUN_LINE_SCHEDULER_PS] += took; break;
    case WPI_WARP_QUEUES: access_of(warp)->of[WP_RUN_LINE_LSU_PS] += took; break;
    case WPI_WARP_BARRIER: of[WP_RUN_LINE_BARRIER_PS] += took; break;
    case WPI_WARP_DRAINS: of[WP_RUN_LINE_DRAIN_PS] += took; break;
    default: of[WP_RUN_LINE_OTHERS_PS] += took; break;
    }
}
