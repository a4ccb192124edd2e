/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes in step that part within a round of a loop meet again before the next.
 *
 *     for (…) { if (p < half) { step; s[p] = …; } … step; }
 *
 * Of lanes at several steps those at the first in the code go on. A lane that skips the access goes
 * round and comes to the loop's first step, before lanes that have the access still to make. GPUs
 * join the lanes after the branch. So a loop that has steps which not every round makes, or has
 * them in a loop within, gets one at its end, unless a barrier or an operation of the warp follows
 * there anyway. A loop that waits for others gets none: the lane that it waits for may be behind
 * it. */
#include "base/must.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/postdom.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

typedef struct flow {
    wpi_loops loops;
    uint32_t *postdom;
    bool *has_step, *has_meeting; /* [block] */
    bool any;
} flow;

/* Whether lanes of a warp wait for each other there, or other threads may have to run. */
static bool is_meeting(uint32_t kind) {
    return kind != WP_STOP_STEP && kind != WP_STOP_BARRIER_ARRIVE && kind != WP_STOP_CLUSTER_ARRIVE;
}

static void find_stops(flow *f) {
    const wpi_loops *l = &f->loops;
    f->has_step = wpi_must_calloc(l->block_count + 1, sizeof(bool));
    f->has_meeting = wpi_must_calloc(l->block_count + 1, sizeof(bool));
    for (uint32_t b = 0; b < l->block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (!wpi_lower_is_stop(i)) continue;
            const uint32_t kind = WP_STOP_KIND(wpi_lower_stop_op(i));
            f->has_step[b] |= kind == WP_STOP_STEP;
            f->has_meeting[b] |= is_meeting(kind);
            f->any |= kind == WP_STOP_STEP;
        }
}

/* Whether each lane that passes block `b` of the loop comes to a meeting in the same round. */
static bool meets_later(const flow *f, const wpi_loop *loop, uint32_t b) {
    for (; b < f->loops.block_count && loop->contains[b]; b = f->postdom[b]) {
        if (f->has_meeting[b]) return true;
        if (b == loop->latch) return false;
    }
    return false;
}

static bool is_in_inner_loop(const flow *f, const wpi_loop *loop, uint32_t b) {
    for (uint32_t i = 0; i < f->loops.loop_count; i++) {
        const wpi_loop *inner = &f->loops.loops[i];
        if (inner->header != loop->header && loop->contains[inner->header] && inner->contains[b])
            return true;
    }
    return false;
}

static bool parts_lanes(const flow *f, const wpi_loop *loop) {
    for (uint32_t b = 0; b < f->loops.block_count; b++) {
        if (!loop->contains[b] || !f->has_step[b] || meets_later(f, loop, b)) continue;
        if (!wpi_loops_dominates(&f->loops, b, loop->latch) || is_in_inner_loop(f, loop, b))
            return true;
    }
    return false;
}

/* Whether a round may end by letting other threads run, as lockstep has it for loops that wait. */
static bool yields(const flow *f, const wpi_loop *loop) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(f->loops.blocks[loop->latch]);
    LLVMValueRef stop = LLVMGetPreviousInstruction(end);
    return stop && wpi_lower_is_stop(stop) &&
           WP_STOP_KIND(wpi_lower_stop_op(stop)) == WP_STOP_YIELD;
}

static void rejoin(wpi_compile *c, LLVMValueRef function) {
    flow f = {0};
    wpi_loops_init(&f.loops, function);
    if (f.loops.loop_count != 0) find_stops(&f);
    if (f.any) {
        const wpi_loops *l = &f.loops;
        f.postdom = wpi_postdominators(l->blocks, l->block_count, &l->index);
        for (uint32_t i = 0; i < l->loop_count; i++) {
            if (yields(&f, &l->loops[i]) || !parts_lanes(&f, &l->loops[i])) continue;
            LLVMPositionBuilderBefore(c->builder,
                                      LLVMGetBasicBlockTerminator(l->blocks[l->loops[i].latch]));
            wpi_lower_stop(c, c->builder, WP_STOP_STEP, NULL, NULL, NULL);
        }
    }
    wpi_free(f.postdom);
    wpi_free(f.has_step);
    wpi_free(f.has_meeting);
    wpi_loops_deinit(&f.loops);
}

wp_status wpi_pass_rejoin(wpi_compile *c, wp_error *err) {
    (void)err;
    if (c->variant.is_in_step) return WP_STATUS_OK; /* it has no steps */
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) rejoin(c, f);
    return WP_STATUS_OK;
}
