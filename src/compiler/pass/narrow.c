/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that a guard leaves out are not visited.
 *
 *     for (i = 0; i < count; i++)          lo, hi = the range of i in which the guard holds
 *         if (base + i < n) body     ►     for (i = lo; i < hi; i++) body
 *
 * The loops are the thread loops that region_build made. Guards compare something that grows by one
 * with each thread against something that is the same for all: `tid < half`, `block * size + tid <
 * n`, `tid == 0`. That nothing wraps around in between is checked at run time, once a loop; if it
 * does, the guard decides as before (and LLVM keeps that case apart).
 *
 * Threads that are left out must leave nothing behind: no effect, and what the loop carries from
 * thread to thread (a vote) unchanged. Writing back what was read counts as no effect. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compiler/ir/compare.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/passes.h"

typedef struct candidate {
    LLVMBasicBlockRef header, latch, exit;
    LLVMValueRef index; /* i, a phi of the header */
    LLVMValueRef bound; /* the compare of the latch: i + 1 < count */
    LLVMValueRef count;
    LLVMValueRef guard;         /* the compare of the header's branch */
    LLVMValueRef linear;        /* base + i */
    LLVMValueRef limit;         /* n */
    LLVMIntPredicate predicate; /* the body runs when linear <predicate> limit */
    bool body_is_true;          /* … which is when the guard is true */
    LLVMBasicBlockRef skip;     /* where the header goes with threads that are left out */
} candidate;

static bool is_inside(const wp_loops *l, const wp_loop *loop, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return false;
    uint32_t block = wpi_map_index(&l->index, LLVMGetInstructionParent(value));
    return block == UINT32_MAX || loop->contains[block];
}

/* base + i, through additions of invariants and extensions. */
static bool is_linear(const wp_loops *l, const wp_loop *loop, LLVMValueRef value,
                      LLVMValueRef index, int depth) {
    if (value == index) return true;
    if (!is_inside(l, loop, value) || depth > 8) return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    LLVMValueRef x = LLVMGetNumOperands(value) > 0 ? LLVMGetOperand(value, 0) : NULL;
    if (opcode == LLVMZExt || opcode == LLVMSExt) return is_linear(l, loop, x, index, depth + 1);
    if (opcode != LLVMAdd && opcode != LLVMSub && !(opcode == LLVMOr && LLVMGetIsDisjoint(value)))
        return false;
    LLVMValueRef y = LLVMGetOperand(value, 1);
    if (!is_inside(l, loop, y)) return is_linear(l, loop, x, index, depth + 1);
    return opcode != LLVMSub && !is_inside(l, loop, x) && is_linear(l, loop, y, index, depth + 1);
}

/* The same computation for another i. */
static LLVMValueRef at_index(const wp_loops *l, const wp_loop *loop, LLVMBuilderRef at,
                             LLVMValueRef value, LLVMValueRef index, LLVMValueRef replacement) {
    if (value == index) return replacement;
    if (!is_inside(l, loop, value)) return value;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    LLVMValueRef x = at_index(l, loop, at, LLVMGetOperand(value, 0), index, replacement);
    if (opcode == LLVMZExt || opcode == LLVMSExt)
        return LLVMBuildCast(at, opcode, x, LLVMTypeOf(value), "");
    LLVMValueRef y = at_index(l, loop, at, LLVMGetOperand(value, 1), index, replacement);
    /* without the flags of the original, which need not hold at the ends of the range */
    return LLVMBuildBinOp(at, opcode == LLVMOr ? LLVMAdd : opcode, x, y, "");
}

/* Does an edge to `block` do nothing but reach `latch`? */
static bool falls_through(LLVMBasicBlockRef block, LLVMBasicBlockRef latch) {
    for (int steps = 0; block != latch; steps++) {
        LLVMValueRef first = LLVMGetFirstInstruction(block);
        if (steps > 4 || !LLVMIsABranchInst(first) || LLVMIsConditional(first)) return false;
        block = LLVMGetSuccessor(first, 0);
    }
    return true;
}

static bool has_effect(LLVMValueRef i) {
    if (LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ||
        LLVMIsAFenceInst(i))
        return true;
    if (LLVMIsALoadInst(i)) return LLVMGetVolatile(i);
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    return LLVMIsACallInst(i) && !(callee && LLVMGetIntrinsicID(callee) &&
                                   strncmp(LLVMGetValueName2(callee, &length), "llvm.mem", 8) != 0);
}

static bool is_zero(LLVMValueRef value) {
    return LLVMIsAConstantInt(value) && LLVMIsNull(value);
}

/* What `value`, computed in the latch or on the way there, is for a thread that is left out. */
static LLVMValueRef when_skipped(const candidate *k, LLVMValueRef value, int depth) {
    if (!LLVMIsAInstruction(value) || depth > 4) return value;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
    if (block == k->header) return value;
    if (LLVMIsACastInst(value)) {
        LLVMValueRef from = when_skipped(k, LLVMGetOperand(value, 0), depth + 1);
        return is_zero(from) ? LLVMConstNull(LLVMTypeOf(value)) : value;
    }
    if (LLVMIsABinaryOperator(value) && LLVMGetInstructionOpcode(value) == LLVMOr) {
        LLVMValueRef x = when_skipped(k, LLVMGetOperand(value, 0), depth + 1);
        LLVMValueRef y = when_skipped(k, LLVMGetOperand(value, 1), depth + 1);
        return is_zero(x) ? y : is_zero(y) ? x : value;
    }
    if (!LLVMIsAPHINode(value)) return value;
    LLVMBasicBlockRef from = k->header; /* straight blocks from the header to the phi */
    for (LLVMBasicBlockRef at = k->skip; at != block;
         at = LLVMGetSuccessor(LLVMGetBasicBlockTerminator(at), 0)) {
        if (at == k->latch) return value;
        from = at;
    }
    for (unsigned n = 0; n < LLVMCountIncoming(value); n++)
        if (LLVMGetIncomingBlock(value, n) == from)
            return when_skipped(k, LLVMGetIncomingValue(value, n), depth + 1);
    return value;
}

/* A store that gives memory back what the header read there. */
static bool is_idle_when_skipped(const candidate *k, LLVMValueRef store) {
    if (!LLVMIsAStoreInst(store) || LLVMGetVolatile(store)) return false;
    LLVMValueRef value = when_skipped(k, LLVMGetOperand(store, 0), 0);
    if (!LLVMIsALoadInst(value) || LLVMGetInstructionParent(value) != k->header ||
        LLVMGetOperand(value, 0) != LLVMGetOperand(store, 1))
        return false;
    for (LLVMValueRef i = value; i; i = LLVMGetNextInstruction(i))
        if (has_effect(i)) return false;
    return true;
}

/* The value with which a carried phi's loop begins. */
static LLVMValueRef initial_of(const candidate *k, LLVMValueRef phi) {
    return LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == k->latch ? 1 : 0);
}

/* The phi of the header whose value at the latch `value` is, and which threads that are left out do
 * not change. */
static LLVMValueRef carried_by(const candidate *k, LLVMValueRef value) {
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->header); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        if (phi == k->index || LLVMCountIncoming(phi) != 2) continue;
        unsigned back = LLVMGetIncomingBlock(phi, 0) == k->latch ? 0 : 1;
        if (LLVMGetIncomingValue(phi, back) == value && when_skipped(k, value, 0) == phi)
            return phi;
    }
    return NULL;
}

/* One way in, one way out, at the latch; nothing computed inside is used outside but what the loop
 * carries. */
static bool is_closed(const wp_loops *l, const wp_loop *loop, const candidate *k) {
    for (uint32_t b = 0; b < l->block_count; b++) {
        if (!loop->contains[b]) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(l->blocks[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            uint32_t to = wpi_map_index(&l->index, LLVMGetSuccessor(terminator, s));
            if (!loop->contains[to] && l->blocks[b] != k->latch) return false;
        }
        for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
                LLVMValueRef user = LLVMGetUser(u);
                if (is_inside(l, loop, user)) continue;
                if (!LLVMIsAPHINode(user) || LLVMGetInstructionParent(user) != k->exit ||
                    !carried_by(k, i))
                    return false;
            }
    }
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->header); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        unsigned back = LLVMGetIncomingBlock(phi, 0) == k->latch ? 0 : 1;
        if (phi != k->index && !carried_by(k, LLVMGetIncomingValue(phi, back))) return false;
    }
    return true;
}

static bool match_counting(candidate *k) {
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(k->latch);
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch) ||
        LLVMGetSuccessor(branch, 0) != k->header)
        return false;
    k->exit = LLVMGetSuccessor(branch, 1);
    k->bound = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(k->bound) || LLVMGetICmpPredicate(k->bound) != LLVMIntULT) return false;
    LLVMValueRef next = LLVMGetOperand(k->bound, 0);
    k->count = LLVMGetOperand(k->bound, 1);
    if (!LLVMIsAInstruction(next) || LLVMGetInstructionOpcode(next) != LLVMAdd) return false;
    k->index = LLVMGetOperand(next, 0);
    if (!LLVMIsAPHINode(k->index) || LLVMGetInstructionParent(k->index) != k->header ||
        LLVMCountIncoming(k->index) != 2)
        return false;
    LLVMValueRef step = LLVMGetOperand(next, 1);
    return LLVMIsAConstantInt(step) && LLVMConstIntGetZExtValue(step) == 1;
}

static bool match(const wp_loops *l, const wp_loop *loop, candidate *k) {
    *k = (candidate){.header = l->blocks[loop->header], .latch = l->blocks[loop->latch]};
    if (!match_counting(k) || is_inside(l, loop, k->count)) return false;
    for (unsigned n = 0; n < 2; n++) {
        LLVMValueRef start = LLVMGetIncomingValue(k->index, n);
        if (LLVMGetIncomingBlock(k->index, n) != k->latch &&
            !(LLVMIsAConstantInt(start) && LLVMIsNull(start)))
            return false;
    }
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(k->header);
    if (k->header == k->latch || !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch))
        return false;
    k->guard = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(k->guard) || !is_inside(l, loop, k->guard)) return false;
    bool true_skips = falls_through(LLVMGetSuccessor(branch, 0), k->latch);
    bool false_skips = falls_through(LLVMGetSuccessor(branch, 1), k->latch);
    if (true_skips == false_skips) return false;
    k->body_is_true = false_skips;
    k->skip = LLVMGetSuccessor(branch, false_skips ? 1 : 0);
    k->predicate = LLVMGetICmpPredicate(k->guard);
    k->linear = LLVMGetOperand(k->guard, 0);
    k->limit = LLVMGetOperand(k->guard, 1);
    if (is_inside(l, loop, k->limit)) {
        LLVMValueRef other = k->linear;
        k->linear = k->limit;
        k->limit = other;
        k->predicate = wpi_predicate_swapped(k->predicate);
    }
    if (!k->body_is_true) k->predicate = wpi_predicate_inverse(k->predicate);
    LLVMTypeRef type = LLVMTypeOf(k->linear);
    if (k->predicate == LLVMIntNE || LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(type) < 32)
        return false;
    if (is_inside(l, loop, k->limit) || k->linear == k->limit ||
        !is_linear(l, loop, k->linear, k->index, 0))
        return false;
    /* What every thread does, guard or not, must have no effect. */
    LLVMBasicBlockRef common[] = {k->header, k->latch};
    for (int b = 0; b < 2; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(common[b]); i; i = LLVMGetNextInstruction(i))
            if (has_effect(i) && !is_idle_when_skipped(k, i)) return false;
    return is_closed(l, loop, k);
}

static LLVMValueRef least(LLVMBuilderRef at, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(at, LLVMBuildICmp(at, LLVMIntULT, a, b, ""), a, b, "");
}

typedef struct range {
    LLVMValueRef lo, hi;
} range;

/* The i in [0, count) for which first + i <predicate> limit, when nothing wraps. */
static range holds(const candidate *k, LLVMBuilderRef at, LLVMValueRef first, LLVMValueRef count,
                   LLVMValueRef last) {
    LLVMTypeRef type = LLVMTypeOf(first);
    LLVMValueRef zero = LLVMConstNull(type), one = LLVMConstInt(type, 1, 0);
    LLVMValueRef distance = LLVMBuildSub(at, k->limit, first, "");
    LLVMValueRef up_to = least(at, distance, count);                          /* i < distance */
    LLVMValueRef with = LLVMBuildAdd(at, least(at, distance, last), one, ""); /* i <= distance */
    switch (k->predicate) {
    case LLVMIntEQ: {
        LLVMValueRef inside = LLVMBuildICmp(at, LLVMIntULE, distance, last, "");
        return (range){LLVMBuildSelect(at, inside, distance, zero, ""),
                       LLVMBuildSelect(at, inside, with, zero, "")};
    }
    case LLVMIntULT:
    case LLVMIntSLT:
    case LLVMIntULE:
    case LLVMIntSLE: {
        LLVMValueRef begins = LLVMBuildICmp(at, k->predicate, first, k->limit, "");
        bool strict = k->predicate == LLVMIntULT || k->predicate == LLVMIntSLT;
        return (range){zero, LLVMBuildSelect(at, begins, strict ? up_to : with, zero, "")};
    }
    default: {
        LLVMValueRef all = LLVMBuildICmp(at, k->predicate, first, k->limit, "");
        bool strict = k->predicate == LLVMIntUGT || k->predicate == LLVMIntSGT;
        return (range){LLVMBuildSelect(at, all, zero, strict ? with : up_to, ""), count};
    }
    }
}

static void add_edge(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from) {
    LLVMAddIncoming(phi, &value, &from, 1);
}

/* The loop is entered from `place`, at `lo`, or passed by. */
static void enter_from(candidate *k, LLVMBuilderRef at, LLVMBasicBlockRef place, LLVMValueRef lo) {
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->exit); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        unsigned n = 0;
        while (LLVMGetIncomingBlock(phi, n) != k->latch)
            n++;
        LLVMValueRef value = LLVMGetIncomingValue(phi, n), carried = carried_by(k, value);
        add_edge(phi, carried ? initial_of(k, carried) : value, place);
    }
    LLVMValueRef next, first = NULL;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->header); LLVMIsAPHINode(phi) && phi != first;
         phi = next) {
        next = LLVMGetNextInstruction(phi);
        LLVMPositionBuilderBefore(at, LLVMGetFirstInstruction(k->header));
        LLVMValueRef made = LLVMBuildPhi(at, LLVMTypeOf(phi), "");
        if (!first) first = made;
        unsigned back = LLVMGetIncomingBlock(phi, 0) == k->latch ? 0 : 1;
        add_edge(made, phi == k->index ? lo : initial_of(k, phi), place);
        add_edge(made, LLVMGetIncomingValue(phi, back), k->latch);
        LLVMReplaceAllUsesWith(phi, made);
        if (phi == k->index) k->index = made;
        LLVMInstructionEraseFromParent(phi);
    }
}

static void narrow(wp_compile *c, const wp_loops *l, const wp_loop *loop, candidate *k) {
    LLVMBuilderRef at = c->builder;
    unsigned outer = LLVMGetIncomingBlock(k->index, 0) == k->latch ? 1 : 0;
    LLVMBasicBlockRef before = LLVMGetIncomingBlock(k->index, outer);
    LLVMValueRef entry = LLVMGetBasicBlockTerminator(before);
    unsigned successor = 0;
    while (LLVMGetSuccessor(entry, successor) != k->header)
        successor++;

    /* The range, in a block of its own before the loop. */
    LLVMBasicBlockRef place = LLVMInsertBasicBlockInContext(c->context, k->header, "range");
    LLVMPositionBuilderAtEnd(at, place);
    LLVMTypeRef type = LLVMTypeOf(k->linear);
    LLVMValueRef last32 = LLVMBuildSub(at, k->count, wpi_const32(c, 1), "");
    LLVMValueRef first = at_index(l, loop, at, k->linear, k->index, wpi_const32(c, 0));
    LLVMValueRef final = at_index(l, loop, at, k->linear, k->index, last32);
    LLVMValueRef count = LLVMBuildZExtOrBitCast(at, k->count, type, "");
    LLVMValueRef last = LLVMBuildZExtOrBitCast(at, last32, type, "");
    bool is_signed = k->predicate >= LLVMIntSGT;
    LLVMValueRef straight =
        LLVMBuildICmp(at, LLVMIntEQ, LLVMBuildSub(at, final, first, ""), last, "");
    LLVMValueRef grows = LLVMBuildICmp(at, is_signed ? LLVMIntSLE : LLVMIntULE, first, final, "");
    LLVMValueRef is_plain = LLVMBuildAnd(at, straight, grows, "");
    range r = holds(k, at, first, count, last);
    LLVMValueRef lo = LLVMBuildSelect(at, is_plain, LLVMBuildTruncOrBitCast(at, r.lo, c->i32, ""),
                                      wpi_const32(c, 0), "");
    LLVMValueRef hi =
        LLVMBuildSelect(at, is_plain, LLVMBuildTruncOrBitCast(at, r.hi, c->i32, ""), k->count, "");
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntULT, lo, hi, ""), k->header, k->exit);
    LLVMSetSuccessor(entry, successor, place);

    enter_from(k, at, place, lo);
    LLVMSetOperand(k->bound, 1, hi);

    LLVMValueRef branch = LLVMGetBasicBlockTerminator(k->header);
    LLVMPositionBuilderBefore(at, branch);
    LLVMValueRef decided = k->body_is_true
                               ? LLVMBuildOr(at, is_plain, k->guard, "")
                               : LLVMBuildAnd(at, LLVMBuildNot(at, is_plain, ""), k->guard, "");
    LLVMSetCondition(branch, decided);
}

/* One loop at a time: each change makes the analysis stale. */
static bool narrow_one(wp_compile *c, LLVMValueRef function, wp_map *done) {
    wp_loops l;
    wpi_loops_init(&l, function);
    bool changed = false;
    for (uint32_t i = 0; i < l.loop_count && !changed; i++) {
        candidate k;
        if (wpi_map_has(done, l.blocks[l.loops[i].header]) || !match(&l, &l.loops[i], &k)) continue;
        wpi_map_set(done, k.header, k.header);
        narrow(c, &l, &l.loops[i], &k);
        changed = true;
    }
    wpi_loops_deinit(&l);
    return changed;
}

wp_status wpi_pass_narrow(wp_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        for (uint32_t s = 0; c->kernels[n].regions && s < c->kernels[n].region_count; s++) {
            wp_map done = {0};
            while (narrow_one(c, c->kernels[n].regions[s], &done)) {
            }
            wpi_map_deinit(&done);
        }
    return WP_STATUS_OK;
}
