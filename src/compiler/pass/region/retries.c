/* SPDX-License-Identifier: Apache-2.0 */
/* Yields of loops that only retry.
 *
 * `lockstep` marks yields in loops that do not wait for another thread: a walk along a chain that
 * others extend, a compare-and-swap that failed because another one succeeded. Such a loop ends by
 * itself. A yield in every round would split it at its back edge, and each round would go through
 * the scheduler and the frame. Only one round in many yields, in case the loop does wait in a way
 * that `lockstep` did not detect:
 *
 *     back edge ──► rounds++; rounds % ROUNDS == 0? ─ yes ─► yield ─┐
 *                                  └──────── no ───────────────────┴──► header */
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

#define ROUNDS 1024u /* a power of two */

static LLVMValueRef make_counter(wpi_compile *c, LLVMValueRef function) {
    LLVMPositionBuilderBefore(c->builder,
                              LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef counter = LLVMBuildAlloca(c->builder, c->i32, "rounds");
    LLVMBuildStore(c->builder, wpi_const32(c, 0), counter);
    return counter;
}

static void make_rare(wpi_compile *c, LLVMValueRef stop, LLVMValueRef counter) {
    LLVMBasicBlockRef before = wpi_block_split_before(stop);
    LLVMBasicBlockRef yields = wpi_block_split_before(LLVMGetNextInstruction(stop));
    LLVMBasicBlockRef after = LLVMGetSuccessor(LLVMGetBasicBlockTerminator(yields), 0);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(c->builder, before);
    LLVMValueRef rounds = LLVMBuildAdd(c->builder, LLVMBuildLoad2(c->builder, c->i32, counter, ""),
                                       wpi_const32(c, 1), "");
    LLVMBuildStore(c->builder, rounds, counter);
    LLVMValueRef part = LLVMBuildAnd(c->builder, rounds, wpi_const32(c, ROUNDS - 1), "");
    LLVMValueRef is_due = LLVMBuildICmp(c->builder, LLVMIntEQ, part, wpi_const32(c, 0), "");
    wpi_branch_mark_rare(c->context, LLVMBuildCondBr(c->builder, is_due, yields, after));
}

static bool is_retry(LLVMValueRef instruction) {
    return wpi_lower_is_stop(instruction) && wpi_lower_has_note(instruction, WP_TRIES_METADATA);
}

wp_status wpi_pass_retries(wpi_compile *c, wp_error *err) {
    (void)err;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        uint32_t count;
        LLVMBasicBlockRef *blocks = LLVMIsDeclaration(f) ? NULL : wpi_blocks_rpo(f, &count);
        if (blocks == NULL) continue;
        LLVMValueRef counter = NULL; /* one for all such loops: more would be more values that a
                                        thread keeps across every stop */
        for (uint32_t b = 0; b < count; b++) {
            /* lockstep puts such a stop in a separate block, with the back edge. */
            LLVMValueRef first = LLVMGetFirstInstruction(blocks[b]);
            if (!first || !is_retry(first)) continue;
            if (!counter) counter = make_counter(c, f);
            make_rare(c, first, counter);
        }
        wpi_free(blocks);
    }
    return WP_STATUS_OK;
}
