/* SPDX-License-Identifier: Apache-2.0 */
/* Skips threads that a guard excludes.
 *
 *     for (i = 0; i < count; i++)          lo, hi = the range of i in which the guard holds
 *         if (base + i < n) body     ►     for (i = lo; i < hi; i++) body
 *
 * The loops are thread loops of region_build. Guards compare a value that grows by one with each
 * thread with a uniform one: `tid < half`, `block * size + tid < n`, `tid == 0`. A run-time check,
 * once per loop, ensures that nothing wraps; otherwise the old loop with its guard runs.
 *
 * Excluded threads must have no effect, and must not change values that the loop carries from
 * thread to thread (a vote). Writing back a value that was read counts as no effect. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/same_code.h"
#include "compiler/ir/thread_loop.h"
#include "compiler/passes.h"

typedef struct candidate {
    wpi_thread_loop loop;
    LLVMValueRef guard;      /* the compare of the header's branch */
    wpi_linear_guard passes; /* the body runs when it holds … */
    bool body_is_true;       /* … which is when the guard is true */
    LLVMBasicBlockRef skip;  /* the header's successor for excluded threads */
} candidate;

/* Whether an edge to `block` only leads to `latch`. */
static bool falls_through(LLVMBasicBlockRef block, LLVMBasicBlockRef latch) {
    for (int steps = 0; block != latch; steps++) {
        LLVMValueRef first = LLVMGetFirstInstruction(block);
        if (steps > 4 || !LLVMIsABranchInst(first) || LLVMIsConditional(first)) return false;
        block = LLVMGetSuccessor(first, 0);
    }
    return true;
}

static bool has_effect(LLVMValueRef i) {
    const wpi_ir_access a = wpi_access_of(i);
    if (a.kind == WP_ACCESS_READ) return LLVMGetVolatile(i);
    if (a.kind != WP_ACCESS_NONE) return true;
    LLVMValueRef callee = wpi_called_function(i);
    return LLVMIsACallInst(i) && !(callee && LLVMGetIntrinsicID(callee));
}

static bool is_zero(LLVMValueRef value) {
    return LLVMIsAConstantInt(value) && LLVMIsNull(value);
}

/* The value of `value`, computed in the latch or before it, for an excluded thread. */
static LLVMValueRef when_skipped(const candidate *k, LLVMValueRef value, int depth) {
    if (!LLVMIsAInstruction(value) || depth > 4) return value;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
    if (block == k->loop.header) return value;
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
    LLVMBasicBlockRef from = k->loop.header; /* straight blocks from the header to the phi */
    for (LLVMBasicBlockRef at = k->skip; at != block;
         at = LLVMGetSuccessor(LLVMGetBasicBlockTerminator(at), 0)) {
        if (at == k->loop.latch) return value;
        from = at;
    }
    for (unsigned n = 0; n < LLVMCountIncoming(value); n++)
        if (LLVMGetIncomingBlock(value, n) == from)
            return when_skipped(k, LLVMGetIncomingValue(value, n), depth + 1);
    return value;
}

/* Whether a store writes back the value that the header read there. */
static bool is_idle_when_skipped(const candidate *k, LLVMValueRef store) {
    if (!LLVMIsAStoreInst(store) || LLVMGetVolatile(store)) return false;
    LLVMValueRef value = when_skipped(k, LLVMGetOperand(store, 0), 0);
    if (LLVMIsUndef(value)) return true; /* or poison: never read */
    if (!LLVMIsALoadInst(value) || LLVMGetInstructionParent(value) != k->loop.header ||
        LLVMGetOperand(value, 0) != LLVMGetOperand(store, 1))
        return false;
    for (LLVMValueRef i = value; i; i = LLVMGetNextInstruction(i))
        if (has_effect(i)) return false;
    return true;
}

/* The value with which a carried phi's loop begins. */
static LLVMValueRef initial_of(const candidate *k, LLVMValueRef phi) {
    return LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == k->loop.latch ? 1 : 0);
}

/* The phi of the header whose latch value is `value`, and which excluded threads do not change. */
static LLVMValueRef carried_by(const candidate *k, LLVMValueRef value) {
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->loop.header); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        if (phi == k->loop.index || LLVMCountIncoming(phi) != 2) continue;
        unsigned back = LLVMGetIncomingBlock(phi, 0) == k->loop.latch ? 0 : 1;
        if (LLVMGetIncomingValue(phi, back) == value && when_skipped(k, value, 0) == phi)
            return phi;
    }
    return NULL;
}

/* Whether the loop has one entry, and one exit, at the latch, and only carried values are used
 * outside. */
static bool is_closed(const candidate *k) {
    const wpi_thread_loop *t = &k->loop;
    const wpi_loops *l = t->loops;
    for (uint32_t b = 0; b < l->block_count; b++) {
        if (!t->loop->contains[b]) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(l->blocks[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            uint32_t to = wpi_map_index(&l->index, LLVMGetSuccessor(terminator, s));
            if (!t->loop->contains[to] && l->blocks[b] != t->latch) return false;
        }
        for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
                LLVMValueRef user = LLVMGetUser(u);
                if (wpi_thread_loop_has(t, user)) continue;
                if (!LLVMIsAPHINode(user) || LLVMGetInstructionParent(user) != k->loop.exit ||
                    !carried_by(k, i))
                    return false;
            }
    }
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->loop.header); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        unsigned back = LLVMGetIncomingBlock(phi, 0) == k->loop.latch ? 0 : 1;
        if (phi != k->loop.index && !carried_by(k, LLVMGetIncomingValue(phi, back))) return false;
    }
    return true;
}

static bool match(const wpi_loops *loops, const wpi_loop *loop, candidate *k) {
    *k = (candidate){0};
    wpi_thread_loop *t = &k->loop;
    if (!wpi_thread_loop_match(loops, loop, t) || !is_zero(t->start)) return false;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(t->header);
    if (t->header == t->latch || !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch))
        return false;
    k->guard = LLVMGetCondition(branch);
    bool true_skips = falls_through(LLVMGetSuccessor(branch, 0), t->latch);
    bool false_skips = falls_through(LLVMGetSuccessor(branch, 1), t->latch);
    if (true_skips == false_skips || !wpi_linear_guard_match(t, k->guard, &k->passes)) return false;
    k->body_is_true = false_skips;
    k->skip = LLVMGetSuccessor(branch, false_skips ? 1 : 0);
    if (!k->body_is_true) k->passes.predicate = wpi_predicate_inverse(k->passes.predicate);
    if (k->passes.predicate == LLVMIntNE) return false;
    /* Code that every thread executes, guard or not, must have no effect. */
    LLVMBasicBlockRef common[] = {t->header, t->latch};
    for (int b = 0; b < 2; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(common[b]); i; i = LLVMGetNextInstruction(i))
            if (has_effect(i) && !is_idle_when_skipped(k, i)) return false;
    return is_closed(k);
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
    LLVMValueRef distance = LLVMBuildSub(at, k->passes.limit, first, "");
    LLVMValueRef up_to = least(at, distance, count);                          /* i < distance */
    LLVMValueRef with = LLVMBuildAdd(at, least(at, distance, last), one, ""); /* i <= distance */
    switch (k->passes.predicate) {
    case LLVMIntEQ: {
        LLVMValueRef inside = LLVMBuildICmp(at, LLVMIntULE, distance, last, "");
        return (range){LLVMBuildSelect(at, inside, distance, zero, ""),
                       LLVMBuildSelect(at, inside, with, zero, "")};
    }
    case LLVMIntULT:
    case LLVMIntSLT:
    case LLVMIntULE:
    case LLVMIntSLE: {
        LLVMValueRef begins = LLVMBuildICmp(at, k->passes.predicate, first, k->passes.limit, "");
        bool strict = k->passes.predicate == LLVMIntULT || k->passes.predicate == LLVMIntSLT;
        return (range){zero, LLVMBuildSelect(at, begins, strict ? up_to : with, zero, "")};
    }
    default: {
        LLVMValueRef all = LLVMBuildICmp(at, k->passes.predicate, first, k->passes.limit, "");
        bool strict = k->passes.predicate == LLVMIntUGT || k->passes.predicate == LLVMIntSGT;
        return (range){LLVMBuildSelect(at, all, zero, strict ? with : up_to, ""), count};
    }
    }
}

/* Adds the values at the loop's exit for the case that no thread is left: carried values keep their
 * initial values. */
static void pass_by(const candidate *k, LLVMBasicBlockRef from) {
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->loop.exit); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        unsigned n = 0;
        while (LLVMGetIncomingBlock(phi, n) != k->loop.latch)
            n++;
        LLVMValueRef value = LLVMGetIncomingValue(phi, n), carried = carried_by(k, value);
        wpi_phi_add(phi, carried ? initial_of(k, carried) : value, from);
    }
}

/* Sets the initial value of a phi in the copy's loop. */
static void begin_with(wpi_compile *c, const candidate *k, const wpi_map *values, LLVMValueRef phi,
                       LLVMValueRef value) {
    LLVMValueRef old = wpi_map_get(values, phi);
    LLVMPositionBuilderBefore(c->builder, old);
    LLVMValueRef made = LLVMBuildPhi(c->builder, LLVMTypeOf(phi), "");
    unsigned back = LLVMGetIncomingBlock(phi, 0) == k->loop.latch ? 0 : 1;
    wpi_phi_add(made, value, LLVMGetIncomingBlock(old, 1 - back));
    wpi_phi_add(made, LLVMGetIncomingValue(old, back), LLVMGetIncomingBlock(old, back));
    LLVMReplaceAllUsesWith(old, made);
    LLVMInstructionEraseFromParent(old);
}

/* ---- votes ---- */

/* carried = carried | (base + i < n): the result for all threads is that of the first. */
typedef struct vote {
    LLVMValueRef phi, compare;
    wpi_linear_guard wants;
} vote;

enum { VOTES_MOST = 2 };

/* The compare behind casts, and behind the phi that is false for excluded threads. */
static LLVMValueRef wish_of(LLVMValueRef value) {
    while (LLVMIsACastInst(value))
        value = LLVMGetOperand(value, 0);
    if (!LLVMIsAPHINode(value) || LLVMCountIncoming(value) != 2) return value;
    for (unsigned n = 0; n < 2; n++)
        if (is_zero(LLVMGetIncomingValue(value, n))) return LLVMGetIncomingValue(value, 1 - n);
    return value;
}

static bool is_upper_bound(LLVMIntPredicate p) {
    return p == LLVMIntULT || p == LLVMIntULE || p == LLVMIntSLT || p == LLVMIntSLE;
}

static uint32_t find_votes(const candidate *k, vote *out) {
    uint32_t count = 0;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->loop.header);
         LLVMIsAPHINode(phi) && count < VOTES_MOST; phi = LLVMGetNextInstruction(phi)) {
        unsigned back = LLVMGetIncomingBlock(phi, 0) == k->loop.latch ? 0 : 1;
        LLVMValueRef sum = LLVMGetIncomingValue(phi, back);
        if (!LLVMIsABinaryOperator(sum) || LLVMGetInstructionOpcode(sum) != LLVMOr) continue;
        int own = wpi_operand_find(sum, phi, 0);
        if (own < 0) continue;
        vote *v = &out[count];
        v->phi = phi;
        v->compare = wish_of(LLVMGetOperand(sum, (unsigned)(1 - own)));
        LLVMUseRef use = LLVMGetFirstUse(v->compare);
        if (LLVMIsAICmpInst(v->compare) && v->compare != k->guard && use && !LLVMGetNextUse(use) &&
            wpi_linear_guard_match(&k->loop, v->compare, &v->wants) &&
            is_upper_bound(v->wants.predicate))
            count++;
    }
    return count;
}

/* ---- the next turn ---- */

enum { AHEAD_LINES = 4, AHEAD_LOADS = 2, LINE_BYTES = 64 };

static LLVMValueRef without_extension(LLVMValueRef value) {
    return LLVMIsAZExtInst(value) || LLVMIsASExtInst(value) ? LLVMGetOperand(value, 0) : value;
}

/* Prefetches the first lines of a block's next iteration of a grid-stride loop: they are far away,
 * and a block's part is too short for the processor's prefetcher. `next`: base + i of the first
 * thread then. */
static void look_ahead(wpi_compile *c, const candidate *k, LLVMValueRef next) {
    const wpi_thread_loop *t = &k->loop;
    uint32_t loads = 0;
    for (uint32_t b = 0; b < t->loops->block_count; b++) {
        if (!t->loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(t->loops->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            LLVMValueRef gep = LLVMIsALoadInst(i) ? LLVMGetOperand(i, 0) : NULL;
            if (!gep || !LLVMIsAGetElementPtrInst(gep) || LLVMGetNumOperands(gep) != 2 ||
                LLVMTypeOf(gep) != c->ptr || wpi_thread_loop_has(t, LLVMGetOperand(gep, 0)) ||
                without_extension(LLVMGetOperand(gep, 1)) != k->passes.linear ||
                loads++ >= AHEAD_LOADS)
                continue;
            LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(gep, 1));
            LLVMValueRef index = LLVMIsASExtInst(LLVMGetOperand(gep, 1))
                                     ? LLVMBuildSExt(c->builder, next, type, "")
                                     : LLVMBuildZExtOrBitCast(c->builder, next, type, "");
            LLVMValueRef first = LLVMBuildGEP2(c->builder, LLVMGetGEPSourceElementType(gep),
                                               LLVMGetOperand(gep, 0), &index, 1, "");
            for (uint32_t line = 0; line < AHEAD_LINES; line++) {
                LLVMValueRef offset = wpi_const64(c, line * LINE_BYTES);
                wpi_prefetch(c, LLVMBuildGEP2(c->builder, c->i8, first, &offset, 1, ""));
            }
        }
    }
}

/* Shorter loops are better unrolled than vectorised. */
#define VECTOR_LEAST 8u

/* `if (tid < 16)`: the number of threads, when it is a constant of at most a warp, else 0. */
static uint32_t few_threads(const candidate *k, LLVMValueRef first) {
    LLVMIntPredicate p = k->passes.predicate;
    if (!is_zero(first) || !LLVMIsAConstantInt(k->passes.limit) ||
        (p != LLVMIntULT && p != LLVMIntSLT))
        return 0;
    uint64_t limit = LLVMConstIntGetZExtValue(k->passes.limit);
    return limit <= WP_WARP_LANES ? (uint32_t)limit : 0;
}

static void narrow(wpi_compile *c, candidate *k) {
    LLVMBuilderRef at = c->builder;
    LLVMTypeRef type = LLVMTypeOf(k->passes.linear);
    LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(k->loop.before));
    LLVMValueRef zero = wpi_const32(c, 0);
    LLVMValueRef last32 = LLVMBuildSub(at, k->loop.count, wpi_const32(c, 1), "");
    wpi_linear_ends ends = wpi_linear_ends_build(&k->loop, at, &k->passes, zero, last32);
    LLVMBasicBlockRef place = LLVMInsertBasicBlockInContext(c->context, k->loop.header, "range");
    wpi_map values = {0}, made = {0};
    wpi_map_set(&values, k->guard, LLVMConstInt(c->i1, k->body_is_true, 0));
    vote votes[VOTES_MOST];
    uint32_t vote_count = find_votes(k, votes);
    for (uint32_t v = 0; v < vote_count; v++) {
        wpi_linear_ends own = wpi_linear_ends_build(&k->loop, at, &votes[v].wants, zero, last32);
        ends.is_plain = LLVMBuildAnd(at, ends.is_plain, own.is_plain, "");
        wpi_map_set(&values, votes[v].compare, LLVMConstNull(c->i1));
    }
    /* Such a short loop profits from a constant trip count. */
    uint32_t few = few_threads(k, ends.first);
    if (few) {
        LLVMValueRef are_there =
            LLVMBuildICmp(at, LLVMIntUGE, k->loop.count, wpi_const32(c, few), "");
        ends.is_plain = LLVMBuildAnd(at, ends.is_plain, are_there, "");
    }
    wpi_thread_loop_version(c, &k->loop, ends.is_plain, place, &values, &made);
    wpi_thread_loop_restate(c, &k->loop, &k->passes, ends.first, &values);

    LLVMPositionBuilderAtEnd(at, place);
    LLVMValueRef count = LLVMBuildZExtOrBitCast(at, k->loop.count, type, "");
    LLVMValueRef last = LLVMBuildZExtOrBitCast(at, last32, type, "");
    range r = holds(k, at, ends.first, count, last);
    LLVMValueRef lo = LLVMBuildTruncOrBitCast(at, r.lo, c->i32, "");
    LLVMValueRef hi = few ? wpi_const32(c, few) : LLVMBuildTruncOrBitCast(at, r.hi, c->i32, "");
    LLVMValueRef cast[VOTES_MOST];
    for (uint32_t v = 0; v < vote_count; v++) {
        const wpi_linear_guard *wants = &votes[v].wants;
        LLVMValueRef first = wpi_linear_ends_build(&k->loop, at, wants, lo, lo).first;
        LLVMValueRef wish = LLVMBuildICmp(at, wants->predicate, first, wants->limit, "");
        wish = LLVMBuildZExt(at, wish, LLVMTypeOf(votes[v].phi), "");
        if (LLVMTypeOf(first) == type) look_ahead(c, k, first);
        cast[v] = LLVMBuildOr(at, initial_of(k, votes[v].phi), wish, "");
    }
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntULT, lo, hi, ""),
                    wpi_map_get(&made, k->loop.header), k->loop.exit);
    pass_by(k, place);
    LLVMSetOperand(wpi_map_get(&values, k->loop.bound), 1, hi);
    begin_with(c, k, &values, k->loop.index, lo);
    for (uint32_t v = 0; v < vote_count; v++)
        begin_with(c, k, &values, votes[v].phi, cast[v]);
    if (few >= VECTOR_LEAST)
        wpi_loop_hint(c, wpi_map_get(&made, k->loop.latch), "llvm.loop.unroll.disable");
    wpi_thread_loop_set_rare(c, &k->loop);
    wpi_map_deinit(&values);
    wpi_map_deinit(&made);
}

/* Changes one loop, which invalidates the analysis. */
static bool narrow_one(wpi_compile *c, LLVMValueRef function) {
    wpi_loops l;
    wpi_loops_init(&l, function);
    bool changed = false;
    for (uint32_t i = 0; i < l.loop_count && !changed; i++) {
        candidate k;
        changed = match(&l, &l.loops[i], &k);
        if (changed) narrow(c, &k);
    }
    wpi_loops_deinit(&l);
    return changed;
}

wp_status wpi_pass_narrow(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        for (uint32_t s = 0; c->kernels[n].regions && s < c->kernels[n].region_count; s++) {
            wpi_thread_loops_prepare(c->kernels[n].regions[s]);
            while (narrow_one(c, c->kernels[n].regions[s])) {
            }
        }
    return WP_STATUS_OK;
}
