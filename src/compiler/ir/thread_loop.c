/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/thread_loop.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/clone.h"
#include "compiler/ir/same_code.h"

#define DEPTH_MOST 8

bool wpi_thread_loop_has(const wpi_thread_loop *t, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return false;
    uint32_t block = wpi_map_index(&t->loops->index, LLVMGetInstructionParent(value));
    return block == UINT32_MAX || t->loop->contains[block];
}

/* Whether the block only leads to the loop, so that invariants can be computed there. */
static bool is_way_in(LLVMBasicBlockRef block) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    return LLVMIsABranchInst(end) && !LLVMIsConditional(end);
}

static unsigned rare_kind(const wpi_loops *loops) {
    LLVMContextRef context =
        LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(loops->blocks[0])));
    return LLVMGetMDKindIDInContext(context, "wp.rare", 7);
}

bool wpi_thread_loop_match(const wpi_loops *loops, const wpi_loop *loop, wpi_thread_loop *t) {
    *t = (wpi_thread_loop){.loops = loops,
                           .loop = loop,
                           .header = loops->blocks[loop->header],
                           .latch = loops->blocks[loop->latch]};
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(t->latch);
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch) ||
        LLVMGetSuccessor(branch, 0) != t->header)
        return false;
    t->exit = LLVMGetSuccessor(branch, 1);
    t->bound = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(t->bound) || LLVMGetICmpPredicate(t->bound) != LLVMIntULT) return false;
    LLVMValueRef next = LLVMGetOperand(t->bound, 0);
    t->count = LLVMGetOperand(t->bound, 1);
    if (!LLVMIsAInstruction(next) || LLVMGetInstructionOpcode(next) != LLVMAdd) return false;
    t->index = LLVMGetOperand(next, 0);
    if (!LLVMIsAPHINode(t->index) || LLVMGetInstructionParent(t->index) != t->header ||
        LLVMCountIncoming(t->index) != 2 || wpi_thread_loop_has(t, t->count))
        return false;
    unsigned outside = LLVMGetIncomingBlock(t->index, 0) == t->latch ? 1 : 0;
    t->before = LLVMGetIncomingBlock(t->index, outside);
    t->start = LLVMGetIncomingValue(t->index, outside);
    LLVMValueRef step = LLVMGetOperand(next, 1);
    /* Loops over threads count in 32 bits; a loop of the kernel may look the same but for that. */
    return LLVMGetIntTypeWidth(LLVMTypeOf(t->index)) == 32 && LLVMIsAConstantInt(step) &&
           LLVMConstIntGetZExtValue(step) == 1 && is_way_in(t->before) &&
           !LLVMGetMetadata(branch, rare_kind(loops));
}

void wpi_thread_loops_prepare(LLVMValueRef function) {
    wpi_loops l;
    wpi_loops_init(&l, function);
    for (uint32_t i = 0; i < l.loop_count; i++) {
        LLVMBasicBlockRef header = l.blocks[l.loops[i].header];
        for (uint32_t b = 0; b < l.block_count; b++) {
            if (l.loops[i].contains[b] || is_way_in(l.blocks[b])) continue;
            LLVMValueRef end = LLVMGetBasicBlockTerminator(l.blocks[b]);
            for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
                if (LLVMGetSuccessor(end, s) == header) wpi_edge_split(l.blocks[b], s);
        }
    }
    wpi_loops_deinit(&l);
}

void wpi_thread_loop_version(wpi_compile *c, const wpi_thread_loop *t, LLVMValueRef condition,
                             LLVMBasicBlockRef way_in, wpi_map *values, wpi_map *made) {
    LLVMBasicBlockRef *blocks = wpi_must_calloc(t->loops->block_count, sizeof *blocks);
    uint32_t count = 0;
    for (uint32_t b = 0; b < t->loops->block_count; b++)
        if (t->loop->contains[b]) blocks[count++] = t->loops->blocks[b];
    if (way_in) wpi_map_set(made, t->before, way_in);
    wpi_clone_blocks(blocks, count, t->exit, values, made);
    wpi_free(blocks);
    LLVMBasicBlockRef latch = wpi_map_get(made, t->latch), header = wpi_map_get(made, t->header);
    for (LLVMValueRef phi = LLVMGetFirstInstruction(t->exit); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        unsigned n = 0;
        while (LLVMGetIncomingBlock(phi, n) != t->latch)
            n++;
        LLVMValueRef value = LLVMGetIncomingValue(phi, n), copy = wpi_map_get(values, value);
        LLVMAddIncoming(phi, copy ? &copy : &value, &latch, 1);
    }
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(t->before));
    LLVMPositionBuilderAtEnd(c->builder, t->before);
    LLVMBuildCondBr(c->builder, condition, way_in ? way_in : header, t->header);
}

void wpi_thread_loop_restate(wpi_compile *c, const wpi_thread_loop *t,
                             const wpi_linear_guard *guard, LLVMValueRef first, wpi_map *values) {
    LLVMValueRef linear = wpi_map_get(values, guard->linear);
    if (!linear || !LLVMIsABinaryOperator(linear)) return; /* i itself, or its extension */
    LLVMPositionBuilderBefore(c->builder, linear);
    LLVMValueRef index = wpi_map_get(values, t->index);
    index = LLVMBuildZExtOrBitCast(c->builder, index, LLVMTypeOf(linear), "");
    LLVMValueRef sum = guard->predicate >= LLVMIntSGT
                           ? LLVMBuildNSWAdd(c->builder, first, index, "")
                           : LLVMBuildNUWAdd(c->builder, first, index, "");
    LLVMReplaceAllUsesWith(linear, sum);
    LLVMInstructionEraseFromParent(linear);
    wpi_map_set(values, guard->linear, sum);
}

void wpi_loop_hint(wpi_compile *c, LLVMBasicBlockRef latch, const char *hint) {
    enum { PARTS_MOST = 8 };
    unsigned kind = LLVMGetMDKindIDInContext(c->context, "llvm.loop", 9);
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(latch), old = LLVMGetMetadata(branch, kind);
    LLVMValueRef had[PARTS_MOST];
    unsigned count = old ? (unsigned)LLVMGetMDNodeNumOperands(old) : 1;
    if (count >= PARTS_MOST) return;
    if (old) LLVMGetMDNodeOperands(old, had);
    LLVMMetadataRef self = LLVMTemporaryMDNode(c->context, NULL, 0), parts[PARTS_MOST + 1] = {self};
    for (unsigned n = 1; n < count; n++)
        parts[n] = LLVMValueAsMetadata(had[n]);
    LLVMMetadataRef word = LLVMMDStringInContext2(c->context, hint, strlen(hint));
    parts[count] = LLVMMDNodeInContext2(c->context, &word, 1);
    LLVMMetadataRef node = LLVMMDNodeInContext2(c->context, parts, count + 1);
    LLVMMetadataReplaceAllUsesWith(self, node);
    LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(c->context, node));
}

void wpi_thread_loop_set_rare(wpi_compile *c, const wpi_thread_loop *t) {
    LLVMMetadataRef no = LLVMValueAsMetadata(LLVMConstInt(c->i1, 0, 0));
    LLVMMetadataRef self = LLVMTemporaryMDNode(c->context, NULL, 0);
    LLVMMetadataRef parts[] = {
        self,
        LLVMMDNodeInContext2(
            c->context,
            (LLVMMetadataRef[]){
                LLVMMDStringInContext2(c->context, "llvm.loop.vectorize.enable", 26), no},
            2),
        LLVMMDNodeInContext2(
            c->context,
            (LLVMMetadataRef[]){LLVMMDStringInContext2(c->context, "llvm.loop.unroll.disable", 24)},
            1)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(c->context, parts, 3);
    LLVMMetadataReplaceAllUsesWith(self, node);
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(t->latch);
    LLVMValueRef mark = LLVMMetadataAsValue(c->context, node);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c->context, "llvm.loop", 9), mark);
    LLVMSetMetadata(branch, rare_kind(t->loops), mark);
}

void wpi_prefetch(wpi_compile *c, LLVMValueRef address) {
    LLVMTypeRef params[] = {c->ptr, c->i32, c->i32, c->i32};
    LLVMTypeRef type = LLVMFunctionType(c->none, params, 4, 0);
    LLVMValueRef function = LLVMGetNamedFunction(c->module, "llvm.prefetch.p0");
    if (!function) function = LLVMAddFunction(c->module, "llvm.prefetch.p0", type);
    LLVMValueRef args[] = {address, wpi_const32(c, 0), wpi_const32(c, 3), wpi_const32(c, 1)};
    LLVMBuildCall2(c->builder, type, function, args, 4, "");
}

static bool is_linear(const wpi_thread_loop *t, LLVMValueRef value, int depth) {
    if (value == t->index) return true;
    if (!wpi_thread_loop_has(t, value) || depth > DEPTH_MOST) return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    LLVMValueRef x = LLVMGetNumOperands(value) > 0 ? LLVMGetOperand(value, 0) : NULL;
    if (opcode == LLVMZExt || opcode == LLVMSExt) return is_linear(t, x, depth + 1);
    if (opcode != LLVMAdd && opcode != LLVMSub && !(opcode == LLVMOr && LLVMGetIsDisjoint(value)))
        return false;
    LLVMValueRef y = LLVMGetOperand(value, 1);
    if (!wpi_thread_loop_has(t, y)) return is_linear(t, x, depth + 1);
    return opcode != LLVMSub && !wpi_thread_loop_has(t, x) && is_linear(t, y, depth + 1);
}

bool wpi_thread_loop_is_linear(const wpi_thread_loop *t, LLVMValueRef value) {
    return is_linear(t, value, 0);
}

/* Repeats a computation for another i. */
static LLVMValueRef at_index(const wpi_thread_loop *t, LLVMBuilderRef at, LLVMValueRef value,
                             LLVMValueRef index) {
    if (value == t->index) return index;
    if (!wpi_thread_loop_has(t, value)) return value;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    LLVMValueRef x = at_index(t, at, LLVMGetOperand(value, 0), index);
    if (opcode == LLVMZExt || opcode == LLVMSExt)
        return LLVMBuildCast(at, opcode, x, LLVMTypeOf(value), "");
    LLVMValueRef y = at_index(t, at, LLVMGetOperand(value, 1), index);
    /* without the original's flags, which may not hold at the ends of the range */
    return LLVMBuildBinOp(at, opcode == LLVMOr ? LLVMAdd : opcode, x, y, "");
}

bool wpi_linear_guard_match(const wpi_thread_loop *t, LLVMValueRef value, wpi_linear_guard *out) {
    if (!LLVMIsAICmpInst(value) || !wpi_thread_loop_has(t, value)) return false;
    *out = (wpi_linear_guard){LLVMGetOperand(value, 0), LLVMGetOperand(value, 1),
                              LLVMGetICmpPredicate(value)};
    if (wpi_thread_loop_has(t, out->limit)) {
        *out = (wpi_linear_guard){out->limit, out->linear, wpi_predicate_swapped(out->predicate)};
    }
    LLVMTypeRef type = LLVMTypeOf(out->linear);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) >= 32 &&
           !wpi_thread_loop_has(t, out->limit) && wpi_thread_loop_has(t, out->linear) &&
           is_linear(t, out->linear, 0);
}

wpi_linear_ends wpi_linear_ends_build(const wpi_thread_loop *t, LLVMBuilderRef at,
                                      const wpi_linear_guard *guard, LLVMValueRef from,
                                      LLVMValueRef to) {
    wpi_linear_ends ends = {.first = at_index(t, at, guard->linear, from),
                            .last = at_index(t, at, guard->linear, to)};
    LLVMTypeRef type = LLVMTypeOf(guard->linear);
    LLVMValueRef steps = LLVMBuildZExtOrBitCast(at, LLVMBuildSub(at, to, from, ""), type, "");
    LLVMValueRef distance = LLVMBuildSub(at, ends.last, ends.first, "");
    bool is_signed = guard->predicate >= LLVMIntSGT;
    LLVMValueRef straight = LLVMBuildICmp(at, LLVMIntEQ, distance, steps, "");
    LLVMValueRef grows =
        LLVMBuildICmp(at, is_signed ? LLVMIntSLE : LLVMIntULE, ends.first, ends.last, "");
    ends.is_plain = LLVMBuildAnd(at, straight, grows, "");
    return ends;
}
