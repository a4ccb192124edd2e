/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a fence with an adjacent atomic operation.
 *
 *     __threadfence(); atomicCAS(&head, …);      fence; lock cmpxchg   ─►   lock cmpxchg
 *
 * A locked instruction of x86 orders all accesses before it and after it, as a fence does. So if no
 * access is between a fence and an atomic operation, the operation is made sequentially consistent,
 * which is free on x86, and the fence is removed. */
#include <stddef.h>

#include "compiler/ir/access.h"
#include "compiler/passes.h"

static bool touches_memory(LLVMValueRef i) {
    return wpi_access_of(i).kind != WP_ACCESS_NONE || LLVMIsACallInst(i);
}

static LLVMValueRef neighbour(LLVMValueRef i, LLVMValueRef (*step)(LLVMValueRef)) {
    do
        i = step(i);
    while (i && !touches_memory(i));
    return i && wpi_access_is_atomic(i) ? i : NULL;
}

static void make_consistent(LLVMValueRef i) {
    if (LLVMIsAAtomicRMWInst(i)) {
        LLVMSetOrdering(i, LLVMAtomicOrderingSequentiallyConsistent);
        return;
    }
    LLVMSetCmpXchgSuccessOrdering(i, LLVMAtomicOrderingSequentiallyConsistent);
    LLVMSetCmpXchgFailureOrdering(i, LLVMAtomicOrderingSequentiallyConsistent);
}

wp_status wpi_pass_fences(wpi_compile *c, wp_error *err) {
    (void)err;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef next;
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (!LLVMIsAFenceInst(i)) continue;
                LLVMValueRef atomic = neighbour(i, LLVMGetNextInstruction);
                if (!atomic) atomic = neighbour(i, LLVMGetPreviousInstruction);
                if (!atomic) continue;
                make_consistent(atomic);
                LLVMInstructionEraseFromParent(i);
            }
        }
    return WP_STATUS_OK;
}
