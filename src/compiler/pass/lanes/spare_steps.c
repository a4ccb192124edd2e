/* SPDX-License-Identifier: Apache-2.0 */
/* Drops steps that order nothing. The lanes of a warp meet before and after each load and store of
 * a matrix (ops_tensor.c), and each meeting ends a region. Between two loads it is of no use:
 *
 *     meet  load  meet  load  meet  store  meet  product
 *                 ^^^^
 *
 * A step is needed if an access since the meeting before it and one up to the next may touch the
 * same byte, one of them a store. What happened before the block, and happens behind it, is taken
 * to be both. Runs before steps are added that follow from the program's own accesses. */
#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

enum { READS = 1, WRITES = 2, UNKNOWN = READS | WRITES };

/* Whether all lanes that run this block wait for each other here. */
static bool is_meeting(LLVMValueRef instruction) {
    if (!wpi_lower_is_stop(instruction)) return false;
    const uint32_t op = wpi_lower_stop_op(instruction), kind = WP_STOP_KIND(op);
    if (kind == WP_STOP_STEP || kind == WP_STOP_BARRIER) return true;
    if ((op & WP_STOP_FLAG_ACTIVE) != 0) return false;
    LLVMValueRef mask = LLVMGetOperand(instruction, 2);
    return ((kind >= WP_STOP_WARP_SYNC && kind <= WP_STOP_REDUX_XOR) || kind == WP_STOP_MATRIX) &&
           LLVMIsAConstantInt(mask) && LLVMConstIntGetZExtValue(mask) == UINT32_MAX;
}

static bool is_step(LLVMValueRef instruction) {
    return wpi_lower_is_stop(instruction) &&
           WP_STOP_KIND(wpi_lower_stop_op(instruction)) == WP_STOP_STEP;
}

static bool is_own(LLVMValueRef pointer) {
    return LLVMIsAAllocaInst(wpi_pointer_base(pointer));
}

/* How an instruction may touch memory that lanes share. */
static unsigned touch_of(LLVMValueRef instruction) {
    if (wpi_lower_is_stop(instruction)) return 0;
    const wpi_ir_access a = wpi_access_of(instruction);
    if (a.kind == WP_ACCESS_NONE) {
        LLVMValueRef callee =
            LLVMIsACallInst(instruction) ? wpi_called_function(instruction) : NULL;
        const bool is_plain =
            !LLVMIsACallInst(instruction) || (callee && (wpi_lower_stands_for_value(instruction) ||
                                                         wpi_function_has(callee, "speculatable")));
        return is_plain ? 0 : UNKNOWN;
    }
    if (a.pointer == NULL || a.is_ordered) return UNKNOWN;
    unsigned touch = 0;
    if (wpi_access_reads(&a) && !is_own(a.source ? a.source : a.pointer)) touch |= READS;
    if (wpi_access_writes(&a) && !is_own(a.pointer)) touch |= WRITES;
    return touch;
}

/* What is touched behind a step before the next meeting. */
static unsigned touch_after(LLVMValueRef step) {
    unsigned touch = 0;
    LLVMValueRef i = LLVMGetNextInstruction(step);
    for (; i && !is_meeting(i); i = LLVMGetNextInstruction(i))
        touch |= touch_of(i);
    return i ? touch : UNKNOWN;
}

static void drop_steps(LLVMBasicBlockRef block) {
    unsigned before = UNKNOWN;
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!is_meeting(i)) {
            before |= touch_of(i);
            continue;
        }
        const unsigned after = is_step(i) && !LLVMGetFirstUse(i) ? touch_after(i) : UNKNOWN;
        const bool is_needed = before != 0 && after != 0 && ((before | after) & WRITES) != 0;
        if (is_step(i) && !LLVMGetFirstUse(i) && !is_needed)
            LLVMInstructionEraseFromParent(i);
        else
            before = 0;
    }
}

wp_status wpi_pass_spare_steps(wpi_compile *c, wp_error *err) {
    (void)err;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            drop_steps(b);
    return WP_STATUS_OK;
}
