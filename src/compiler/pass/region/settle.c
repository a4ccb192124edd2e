/* SPDX-License-Identifier: Apache-2.0 */
/* Guards that all threads of a row pass are decided before the loop.
 *
 *     for each thread: sum = i < n ? x[i] : 0; if (i + 256 < n) sum += x[i + 256]; …
 *
 * All but the last block of a grid pass every such guard, yet each thread tests it, and a
 * vectorised loop loads under a mask. Here one bit, computed from the first and the last thread of
 * the row, is set if every guard of the loop is true; each guard becomes `all or guard`, and LLVM
 * makes a loop without guards for the common case (simple-loop-unswitch). */
#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/thread_loop.h"
#include "compiler/passes.h"

#define GUARDS_MOST 8
/* The loop is copied, unless it has more instructions, of which guards are a negligible part. */
#define INSTRUCTIONS_MOST 2000u

typedef struct settled {
    LLVMValueRef compare;
    wpi_linear_guard guard;
    LLVMValueRef first; /* its value for the first thread */
} settled;

static bool is_order(LLVMIntPredicate predicate) {
    return predicate != LLVMIntEQ && predicate != LLVMIntNE;
}

/* Whether the compare is used as a condition. */
static bool decides(LLVMValueRef compare) {
    for (LLVMUseRef u = LLVMGetFirstUse(compare); u; u = LLVMGetNextUse(u))
        if (LLVMIsABranchInst(LLVMGetUser(u)) || LLVMIsASelectInst(LLVMGetUser(u))) return true;
    return false;
}

static uint32_t collect(const wpi_thread_loop *t, settled *out) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < t->loops->block_count; b++) {
        if (!t->loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(t->loops->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (i == t->bound || !decides(i)) continue;
            settled *s = &out[count];
            s->compare = i;
            if (!wpi_linear_guard_match(t, i, &s->guard) || !is_order(s->guard.predicate)) continue;
            if (++count == GUARDS_MOST) return count;
        }
    }
    return count;
}

/* Builds the test that linear <predicate> limit holds for every thread: at the end closest to the
 * limit. */
static LLVMValueRef holds_for_all(const wpi_thread_loop *t, settled *s, LLVMValueRef last,
                                  LLVMBuilderRef at) {
    wpi_linear_ends ends = wpi_linear_ends_build(t, at, &s->guard, t->start, last);
    s->first = ends.first;
    LLVMIntPredicate p = s->guard.predicate;
    bool is_upper = p == LLVMIntULT || p == LLVMIntULE || p == LLVMIntSLT || p == LLVMIntSLE;
    LLVMValueRef holds =
        LLVMBuildICmp(at, p, is_upper ? ends.last : ends.first, s->guard.limit, "");
    return LLVMBuildAnd(at, ends.is_plain, holds, "");
}

/* Whether values of the loop are used outside only by phis of its exit. */
static bool is_closed(const wpi_thread_loop *t) {
    for (uint32_t b = 0; b < t->loops->block_count; b++) {
        if (!t->loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(t->loops->blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
                LLVMValueRef user = LLVMGetUser(u);
                if (!wpi_thread_loop_has(t, user) &&
                    !(LLVMIsAPHINode(user) && LLVMGetInstructionParent(user) == t->exit))
                    return false;
            }
    }
    return true;
}

static bool is_small(const wpi_thread_loop *t) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < t->loops->block_count; b++) {
        if (!t->loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(t->loops->blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            count++;
    }
    return count <= INSTRUCTIONS_MOST;
}

static bool settle(wpi_compile *c, const wpi_thread_loop *t, wpi_map *done) {
    settled found[GUARDS_MOST];
    uint32_t count = collect(t, found);
    if (!count || !is_closed(t) || !is_small(t)) return false;
    LLVMBuilderRef at = c->builder;
    LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(t->before));
    LLVMValueRef last = LLVMBuildSub(at, t->count, wpi_const32(c, 1), ""), all = NULL;
    wpi_map values = {0}, made = {0};
    for (uint32_t g = 0; g < count; g++) {
        LLVMValueRef holds = holds_for_all(t, &found[g], last, at);
        all = all ? LLVMBuildAnd(at, all, holds, "") : holds;
        wpi_map_set(&values, found[g].compare, LLVMConstInt(c->i1, 1, 0));
    }
    wpi_thread_loop_version(c, t, all, NULL, &values, &made);
    bool from_zero = LLVMIsAConstantInt(t->start) && LLVMIsNull(t->start);
    for (uint32_t g = 0; g < count && from_zero; g++)
        wpi_thread_loop_restate(c, t, &found[g].guard, found[g].first, &values);
    wpi_map_set(done, t->header, t->header);
    wpi_map_set(done, wpi_map_get(&made, t->header), t->header);
    wpi_map_deinit(&values);
    wpi_map_deinit(&made);
    return true;
}

/* Changes one loop, which invalidates the analysis. */
static bool settle_one(wpi_compile *c, LLVMValueRef function, wpi_map *done) {
    wpi_loops loops;
    wpi_loops_init(&loops, function);
    bool changed = false;
    for (uint32_t i = 0; i < loops.loop_count && !changed; i++) {
        wpi_thread_loop t;
        changed = !wpi_map_has(done, loops.blocks[loops.loops[i].header]) &&
                  wpi_thread_loop_match(&loops, &loops.loops[i], &t) && settle(c, &t, done);
    }
    wpi_loops_deinit(&loops);
    return changed;
}

wp_status wpi_pass_settle(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        for (uint32_t s = 0; c->kernels[n].regions && s < c->kernels[n].region_count; s++) {
            wpi_thread_loops_prepare(c->kernels[n].regions[s]);
            wpi_map done = {0};
            while (settle_one(c, c->kernels[n].regions[s], &done)) {
            }
            wpi_map_deinit(&done);
        }
    return WP_STATUS_OK;
}
