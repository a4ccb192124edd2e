/* SPDX-License-Identifier: Apache-2.0 */
/* Guards that no thread of a row fails are decided before the loop over the row.
 *
 *     for each thread:                     any = false
 *         if (bad(i)) slow            ►    for each thread: any |= bad(i)
 *         else fast                        for each thread: if (any && bad(i)) slow else fast
 *
 * The first loop only computes, and is vectorised; LLVM makes a copy of the second loop without
 * guards for the common case (simple-loop-unswitch). This applies to guards that depend only on i
 * and on uniform values; guards of accesses in an inner loop, or at a loaded address, are
 * unchanged. */
#include <stddef.h>

#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/ir/thread_loop.h"
#include "compiler/pass/check/check_pass.h"
#include "compiler/passes.h"

enum { GUARDS_MAX = 16, DEPTH_MAX = 40 };

typedef struct guards {
    LLVMValueRef branches[GUARDS_MAX];
    uint32_t count;
} guards;

/* Whether `load` is of block->guards, or (depth 1) of a word in it: readable by every thread, and
 * changed only by the runtime. */
static bool is_guard_word(LLVMValueRef load, int depth) {
    LLVMValueRef address = LLVMGetOperand(load, 0);
    uint64_t offset = 0;
    if (LLVMIsAGetElementPtrInst(address) && LLVMGetNumOperands(address) == 2 &&
        LLVMIsAConstantInt(LLVMGetOperand(address, 1))) {
        offset = LLVMConstIntGetZExtValue(LLVMGetOperand(address, 1));
        address = LLVMGetOperand(address, 0);
    }
    if (LLVMIsALoadInst(address)) return depth == 1 && is_guard_word(address, 0);
    return LLVMIsAArgument(address) && offset == offsetof(wp_cpu_block, guards) &&
           address == LLVMGetParam(LLVMGetParamParent(address), 0);
}

/* Whether the value is computed from i and invariants, by operations safe for any thread, with
 * loads of guards' words only. */
static bool is_computed(const wpi_thread_loop *t, LLVMValueRef value, int depth) {
    if (!wpi_thread_loop_has(t, value) || value == t->index) return true;
    if (depth == DEPTH_MAX || LLVMIsAPHINode(value)) return false;
    if (LLVMIsALoadInst(value) ? !(is_guard_word(value, 0) || is_guard_word(value, 1))
                               : !wpi_check_is_movable(value))
        return false;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value); o++)
        if (!is_computed(t, LLVMGetOperand(value, o), depth + 1)) return false;
    return true;
}

static void collect(const wpi_thread_loop *t, guards *g) {
    for (uint32_t b = 0; b < t->loops->block_count; b++) {
        if (!t->loop->contains[b] || g->count == GUARDS_MAX) continue;
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(t->loops->blocks[b]);
        if (LLVMIsABranchInst(branch) && LLVMIsConditional(branch) && wpi_check_is_guard(branch) &&
            wpi_thread_loop_has(t, LLVMGetCondition(branch)) &&
            is_computed(t, LLVMGetCondition(branch), 0))
            g->branches[g->count++] = branch;
    }
}

static LLVMValueRef repeat(wpi_compile *c, const wpi_thread_loop *t, wpi_map *made,
                           LLVMValueRef value) {
    LLVMValueRef copy = wpi_map_get(made, value);
    if (copy || !wpi_thread_loop_has(t, value)) return copy ? copy : value;
    copy = LLVMInstructionClone(value);
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(copy); o++)
        LLVMSetOperand(copy, o, repeat(c, t, made, LLVMGetOperand(value, o)));
    LLVMInsertIntoBuilder(c->builder, copy);
    wpi_map_set(made, value, copy);
    return copy;
}

/* Redirects the edge into the header: phis come from `done`. */
static void enter_from(LLVMBasicBlockRef header, LLVMBasicBlockRef before, LLVMBasicBlockRef done,
                       LLVMBuilderRef at) {
    for (LLVMValueRef phi = LLVMGetFirstInstruction(header), next; LLVMIsAPHINode(phi);
         phi = next) {
        next = LLVMGetNextInstruction(phi);
        LLVMPositionBuilderBefore(at, phi);
        LLVMValueRef made = LLVMBuildPhi(at, LLVMTypeOf(phi), "");
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
            LLVMBasicBlockRef block = from == before ? done : from;
            LLVMAddIncoming(made, &value, &block, 1);
        }
        LLVMReplaceAllUsesWith(phi, made);
        LLVMInstructionEraseFromParent(phi);
    }
}

static void settle(wpi_compile *c, const wpi_thread_loop *t, const guards *g) {
    LLVMBuilderRef at = c->builder;
    LLVMBasicBlockRef ask = LLVMInsertBasicBlockInContext(c->context, t->header, "ask");
    LLVMBasicBlockRef done = LLVMInsertBasicBlockInContext(c->context, t->header, "asked");
    LLVMValueRef entry = LLVMGetBasicBlockTerminator(t->before), no = LLVMConstNull(c->i1);
    wpi_map made = {0};
    LLVMPositionBuilderAtEnd(at, ask);
    LLVMValueRef i = LLVMBuildPhi(at, LLVMTypeOf(t->index), "i");
    LLVMValueRef any = LLVMBuildPhi(at, c->i1, "any"), all = any;
    wpi_map_set(&made, t->index, i);
    for (uint32_t b = 0; b < g->count; b++)
        all = LLVMBuildOr(
            at, all, LLVMBuildFreeze(at, repeat(c, t, &made, LLVMGetCondition(g->branches[b])), ""),
            "");
    LLVMValueRef next = LLVMBuildAdd(at, i, LLVMConstInt(LLVMTypeOf(i), 1, 0), "");
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntULT, next, t->count, ""), ask, done);
    LLVMAddIncoming(i, (LLVMValueRef[]){t->start, next}, (LLVMBasicBlockRef[]){t->before, ask}, 2);
    LLVMAddIncoming(any, (LLVMValueRef[]){no, all}, (LLVMBasicBlockRef[]){t->before, ask}, 2);
    LLVMPositionBuilderAtEnd(at, done);
    LLVMBuildBr(at, t->header);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(entry); s++)
        if (LLVMGetSuccessor(entry, s) == t->header) LLVMSetSuccessor(entry, s, ask);
    for (uint32_t b = 0; b < g->count; b++) {
        LLVMPositionBuilderBefore(at, g->branches[b]);
        LLVMSetCondition(g->branches[b],
                         LLVMBuildAnd(at, all, LLVMGetCondition(g->branches[b]), ""));
    }
    wpi_map_deinit(&made);
    enter_from(t->header, t->before, done, at);
}

static bool is_identity_store(const wpi_thread_loop *t, LLVMValueRef i) {
    if (!LLVMIsAStoreInst(i)) return false;
    LLVMValueRef at = LLVMGetOperand(i, 1);
    if (wpi_thread_loop_has(t, at) || !LLVMIsAGetElementPtrInst(at) ||
        LLVMGetNumOperands(at) != 2 || !LLVMIsAArgument(LLVMGetOperand(at, 0)) ||
        !LLVMIsAConstantInt(LLVMGetOperand(at, 1)))
        return false;
    uint64_t offset = LLVMConstIntGetZExtValue(LLVMGetOperand(at, 1));
    return offset >= offsetof(wp_cpu_block, thread) &&
           offset < offsetof(wp_cpu_block, is_cooperative);
}

/* Callees read the thread's identity from the block. If only guards call functions, stores it
 * before their calls only. */
static void store_late(wpi_compile *c, const wpi_thread_loop *t) {
    LLVMValueRef stores[8], calls[256];
    uint32_t store_count = 0, call_count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(t->header); i; i = LLVMGetNextInstruction(i))
        if (is_identity_store(t, i) && store_count < 8) stores[store_count++] = i;
    for (uint32_t b = 0; b < t->loops->block_count; b++) {
        if (!t->loop->contains[b]) continue;
        LLVMBasicBlockRef block = t->loops->blocks[b];
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsACallInst(i)) continue;
            LLVMValueRef callee = wpi_called_function(i);
            if (callee && LLVMGetIntrinsicID(callee)) continue;
            if (call_count == 256) return;
            calls[call_count++] = i;
        }
    }
    for (uint32_t s = 0; s < store_count; s++) {
        for (uint32_t n = 0; n < call_count; n++) {
            LLVMPositionBuilderBefore(c->builder, calls[n]);
            LLVMInsertIntoBuilder(c->builder, LLVMInstructionClone(stores[s]));
        }
        LLVMInstructionEraseFromParent(stores[s]);
    }
}

/* Changes one loop; true if there was one, after which loops must be found again. */
static bool settle_one(wpi_compile *c, LLVMValueRef function, wpi_map *seen) {
    wpi_loops loops;
    bool any = false;
    wpi_loops_init(&loops, function);
    for (uint32_t i = 0; i < loops.loop_count && !any; i++) {
        wpi_thread_loop t;
        guards g = {0};
        if (wpi_map_has(seen, loops.blocks[loops.loops[i].header])) continue;
        wpi_map_set(seen, loops.blocks[loops.loops[i].header], function);
        if (!wpi_thread_loop_match(&loops, &loops.loops[i], &t)) continue;
        collect(&t, &g);
        store_late(c, &t);
        if (!g.count) continue;
        settle(c, &t, &g);
        any = true;
    }
    wpi_loops_deinit(&loops);
    return any;
}

wp_status wpi_pass_check_loops(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        for (uint32_t s = 0; c->kernels[n].regions && s < c->kernels[n].region_count; s++) {
            wpi_map seen = {0};
            while (settle_one(c, c->kernels[n].regions[s], &seen)) {
            }
            wpi_map_deinit(&seen);
        }
    return WP_STATUS_OK;
}
