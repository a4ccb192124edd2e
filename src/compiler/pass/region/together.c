/* SPDX-License-Identifier: Apache-2.0 */
/* Code that only some threads execute becomes code that all threads run through together.
 *
 *     if (x < n) { A; for (k = 0; k < m; k++) B; C }
 *
 * becomes        if (x < n) A;  for (k = 0; k < m; k++) if (x < n) B;  if (x < n) C
 *
 * Inside the guard, all active threads take the same path: every branch depends only on uniform
 * values. So excluded threads can follow without effect, and the loop becomes one of the whole
 * block, which `cuts` can cut. Done only if that loop gains by it (ir/loop_stride.h).
 *
 *     parting ──► arm: uniform branches, loops ──► join
 *        └───────────────────────────────────────┘
 *
 *     parting: any active? ──► arm' ──► rejoin ──► left ───► join
 *        └─ none ─────────────────────────┴──► skipped ──┘
 *
 * In arm', each block executes pure arithmetic for all threads and the rest under the guard. A
 * value from under the guard is poison in excluded threads, which never use it. The path through
 * arm' is that of an active thread, so it terminates; if a round finds none, arm' is skipped. */
#include <stddef.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/loop_stride.h"
#include "compiler/ir/postdom.h"
#include "compiler/ir/same_code.h"
#include "compiler/pass/region/regions.h"
#include "compiler/passes.h"

typedef struct arm {
    wpi_compile *c;
    const wpi_loops *loops; /* blocks and loops of the kernel */
    const wpi_uniform *uniform;
    LLVMBasicBlockRef parting, first, join;
    unsigned side;  /* of the parting block's branch: the arm's */
    bool *contains; /* [block_count] */
    LLVMValueRef guard;
} arm;

static bool is_in_arm(const arm *a, LLVMBasicBlockRef block) {
    uint32_t index = wpi_map_index(&a->loops->index, block);
    return index != UINT32_MAX && a->contains[index];
}

/* Whether every thread may execute an instruction: no effect, no trap, and operands that every
 * thread has. */
static bool is_for_all(const arm *a, LLVMValueRef i) {
    if (LLVMIsAPHINode(i) || wpi_lower_stands_for_value(i)) return true;
    if (!wpi_is_pure_operation(i) || wpi_is_division(i)) return false;
    for (int o = 0; o < LLVMGetNumOperands(i); o++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)o);
        if (LLVMIsAInstruction(operand) && is_in_arm(a, LLVMGetInstructionParent(operand)) &&
            !is_for_all(a, operand))
            return false;
    }
    return true;
}

static bool find_arm(arm *a) {
    const wpi_loops *l = a->loops;
    uint32_t *stack = wpi_must_calloc(l->block_count + 1, sizeof *stack), depth = 0;
    uint32_t first = wpi_map_index(&l->index, a->first);
    a->contains[first] = true;
    stack[depth++] = first;
    while (depth) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(l->blocks[stack[--depth]]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            LLVMBasicBlockRef block = LLVMGetSuccessor(terminator, s);
            uint32_t to = wpi_map_index(&l->index, block);
            if (block == a->join || a->contains[to]) continue;
            a->contains[to] = true;
            stack[depth++] = to;
        }
    }
    wpi_free(stack);
    return !is_in_arm(a, a->parting);
}

/* Whether the arm is entered only from the parting block, has uniform branches, and no stops. */
static bool is_uniform_arm(const arm *a) {
    const wpi_loops *l = a->loops;
    for (uint32_t b = 0; b < l->block_count; b++) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(l->blocks[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator) && !a->contains[b]; s++) {
            LLVMBasicBlockRef to = LLVMGetSuccessor(terminator, s);
            bool is_way_in = l->blocks[b] == a->parting && to == a->first && s == a->side;
            if (is_in_arm(a, to) && !is_way_in) return false;
        }
        if (!a->contains[b]) continue;
        unsigned ways = LLVMGetNumSuccessors(terminator);
        if (ways == 0 || !LLVMIsABranchInst(terminator)) return false;
        if (ways > 1) {
            LLVMValueRef condition = LLVMGetCondition(terminator);
            bool is_own =
                LLVMIsAInstruction(condition) && is_in_arm(a, LLVMGetInstructionParent(condition));
            if (!wpi_uniform_is(a->uniform, condition) || (is_own && !is_for_all(a, condition)))
                return false;
        }
        for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (wpi_lower_is_stop(i)) return false;
            /* a uniform phi must not depend on values computed under the guard */
            if (!LLVMIsAPHINode(i) || !wpi_uniform_is(a->uniform, i)) continue;
            for (unsigned n = 0; n < LLVMCountIncoming(i); n++) {
                LLVMValueRef value = LLVMGetIncomingValue(i, n);
                if (LLVMIsAInstruction(value) && is_in_arm(a, LLVMGetInstructionParent(value)) &&
                    !is_for_all(a, value))
                    return false;
            }
        }
    }
    return true;
}

/* Whether the arm has a loop that could be cut if it were outside. */
static bool has_loop_to_cut(const arm *a) {
    for (uint32_t i = 0; i < a->loops->loop_count; i++) {
        const wpi_loop *loop = &a->loops->loops[i];
        if (a->contains[loop->header] && wpi_stride_favours_turns(a->uniform, a->loops, loop))
            return true;
    }
    return false;
}

static bool match(arm *a, uint32_t parting, unsigned side, const uint32_t *postdominators) {
    const wpi_loops *l = a->loops;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(l->blocks[parting]);
    if (postdominators[parting] >= l->block_count) return false;
    a->parting = l->blocks[parting];
    a->side = side;
    a->first = LLVMGetSuccessor(branch, side);
    a->join = l->blocks[postdominators[parting]];
    a->guard = LLVMGetCondition(branch);
    memset(a->contains, 0, l->block_count * sizeof *a->contains);
    return a->first != a->join && find_arm(a) && has_loop_to_cut(a) && is_uniform_arm(a);
}

/* ---- the change ---- */

static void redirect_exits(const arm *a, LLVMBasicBlockRef to) {
    for (uint32_t b = 0; b < a->loops->block_count; b++) {
        if (!a->contains[b]) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(a->loops->blocks[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++)
            if (LLVMGetSuccessor(terminator, s) == a->join) LLVMSetSuccessor(terminator, s, to);
    }
}

/* Redirects all edges from the arm to the join to `rejoin`, and adds one from `left` to the
 * join. */
static void unify_exits(const arm *a, LLVMBasicBlockRef rejoin, LLVMBasicBlockRef left) {
    LLVMBuilderRef at = a->c->builder;
    LLVMValueRef next;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(a->join); LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        LLVMPositionBuilderAtEnd(at, rejoin);
        LLVMValueRef inner = LLVMBuildPhi(at, LLVMTypeOf(phi), "");
        LLVMPositionBuilderBefore(at, phi);
        LLVMValueRef outer = LLVMBuildPhi(at, LLVMTypeOf(phi), "");
        for (unsigned n = 0; n < LLVMCountIncoming(phi); n++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, n);
            LLVMValueRef value = LLVMGetIncomingValue(phi, n);
            wpi_phi_add(is_in_arm(a, from) ? inner : outer, value == phi ? outer : value, from);
        }
        wpi_phi_add(outer, inner, left);
        LLVMReplaceAllUsesWith(phi, outer);
        LLVMInstructionEraseFromParent(phi);
    }
    redirect_exits(a, rejoin);
    LLVMPositionBuilderAtEnd(at, left);
    LLVMBuildBr(at, a->join);
}

static LLVMValueRef guard_branch(const arm *a, LLVMBasicBlockRef in, LLVMBasicBlockRef out) {
    return LLVMBuildCondBr(a->c->builder, a->guard, a->side ? out : in, a->side ? in : out);
}

/* Makes uses outside of its block read a value from under the guard through a phi at the block's
 * end. */
static void merge_value(const arm *a, LLVMValueRef value, LLVMBasicBlockRef under,
                        LLVMBasicBlockRef before, LLVMBasicBlockRef after) {
    LLVMValueRef phi = wpi_uses_read_phi(a->c->builder, value, after);
    if (!phi) return;
    wpi_phi_add(phi, value, under);
    wpi_phi_add(phi, LLVMGetPoison(LLVMTypeOf(value)), before);
}

/* Reorders a block: instructions for all threads first, the rest under the guard, then the block's
 * end. */
static void guard_block(const arm *a, LLVMBasicBlockRef block) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block), next, guarded = NULL;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != end && !guarded;
         i = LLVMGetNextInstruction(i))
        if (!is_for_all(a, i)) guarded = i;
    if (!guarded) return;
    for (LLVMValueRef i = guarded; i != end; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!is_for_all(a, i)) continue;
        LLVMInstructionRemoveFromParent(i);
        LLVMPositionBuilderBefore(a->c->builder, guarded);
        LLVMInsertIntoBuilder(a->c->builder, i);
    }
    LLVMBasicBlockRef under = wpi_block_split_before(end), before = wpi_block_split_before(guarded);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(a->c->builder, before);
    guard_branch(a, under, block);
    for (LLVMValueRef i = guarded; !LLVMIsATerminatorInst(i); i = LLVMGetNextInstruction(i))
        merge_value(a, i, under, before, block);
}

static void walk_together(const arm *a, wpi_region_step step) {
    wpi_compile *c = a->c;
    LLVMBasicBlockRef rejoin = LLVMInsertBasicBlockInContext(c->context, a->join, "rejoin");
    LLVMBasicBlockRef left = LLVMInsertBasicBlockInContext(c->context, a->join, "left");
    unify_exits(a, rejoin, left);
    LLVMBasicBlockRef skipped = wpi_edge_split(a->parting, 1 - a->side);
    LLVMPositionBuilderAtEnd(c->builder, rejoin);
    guard_branch(a, left, skipped);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(a->parting));
    LLVMPositionBuilderAtEnd(c->builder, a->parting);
    wpi_region_join(c, step);
    LLVMValueRef enters = a->guard;
    if (a->side) enters = LLVMBuildNot(c->builder, enters, "");
    LLVMValueRef vote = LLVMBuildZExt(c->builder, enters, c->i64, "");
    LLVMValueRef any = wpi_lower_stop(c, c->builder, WP_STOP_ROUND, NULL, NULL, vote);
    any = LLVMBuildICmp(c->builder, LLVMIntNE, any, wpi_const64(c, 0), "");
    LLVMBuildCondBr(c->builder, any, a->first, skipped);
    for (uint32_t b = 0; b < a->loops->block_count; b++)
        if (a->contains[b]) guard_block(a, a->loops->blocks[b]);
}

/* Changes one arm, which invalidates the analyses. */
static bool change_one(wpi_compile *c, LLVMValueRef kernel) {
    wpi_loops loops;
    wpi_uniform uniform;
    wpi_loops_init(&loops, kernel);
    wpi_region_uniform_init(&uniform, kernel);
    uint32_t *postdominators = wpi_postdominators(loops.blocks, loops.block_count, &loops.index);
    arm a = {.c = c,
             .loops = &loops,
             .uniform = &uniform,
             .contains = wpi_must_calloc(loops.block_count + 1, sizeof(bool))};
    wpi_region_step step = wpi_region_step_for_cuts(c, &uniform);
    bool changed = false, is_suited = loops.loop_count && step != WP_STEP_LOST;
    for (uint32_t b = 0; b < loops.block_count && is_suited && !changed; b++) {
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(loops.blocks[b]);
        if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch) ||
            wpi_uniform_is_partial(&uniform, loops.blocks[b]) ||
            wpi_uniform_is(&uniform, LLVMGetCondition(branch)))
            continue;
        for (unsigned side = 0; side < 2 && !changed; side++) {
            changed = match(&a, b, side, postdominators);
            if (changed) walk_together(&a, step);
        }
    }
    wpi_free(a.contains);
    wpi_free(postdominators);
    wpi_uniform_deinit(&uniform);
    wpi_loops_deinit(&loops);
    return changed;
}

wp_status wpi_pass_together(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        while (change_one(c, c->kernels[n].function)) {
        }
    return WP_STATUS_OK;
}
