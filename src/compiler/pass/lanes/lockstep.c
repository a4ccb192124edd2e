/* SPDX-License-Identifier: Apache-2.0 */
/* Forward progress and lockstep, made explicit as stops.
 *
 * Old warp-synchronous code relies on the lanes of a warp running in step: `volatile` shared memory
 * without __syncwarp. A step before each volatile shared access lets the scheduler keep the lanes
 * together. In global memory, where `volatile` is also for other blocks, they are for code in which
 * a lane stores to one place and, without a branch between, loads from another of the same array,
 * as the last steps of a sum do, in functions that never wait. (Shared memory that is not volatile:
 * warp_synchronous.c; all accesses: --lockstep.) Code that runs in step with simulated time needs
 * none: its lanes stop before every access, until the model makes it for all that execute it
 * together.
 *
 * A loop that waits for another thread (a lock, a flag, a ticket) must let that thread run. A loop
 * waits if its condition depends on a volatile or atomic access inside it, by value or by the
 * branches that select a value. It yields on the back edge to its header, so that a lock taken at
 * the first try costs nothing.
 *
 * Some of these loops retry without waiting for a particular thread: a compare-and-swap of a value
 * computed from the old one, or from the one that the last swap found, fails only if another
 * thread's succeeded, and a loop that accesses a different address in every round does not wait for
 * it. A loop whose source has a mark (wp_word_retries) in every round is taken at its word. Their
 * yields are noted, so that the trace pass can tell whether a kernel waits for other blocks. */
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/map.h"
#include "compiler/ir/pointer.h"
#include "compiler/ir/postdom.h"
#include "compiler/ir/same_code.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

#define SLICE_DEPTH_MAX 64

static bool is_volatile_shared(LLVMValueRef instruction) {
    const wpi_ir_access a = wpi_access_of(instruction);
    return (a.kind == WP_ACCESS_READ || a.kind == WP_ACCESS_WRITE) &&
           LLVMGetVolatile(instruction) && wpi_access_space(&a) == WP_SPACE_SHARED;
}

/* Whether other lanes may access the same memory. */
static bool is_common(LLVMValueRef instruction) {
    const wpi_ir_access a = wpi_access_of(instruction);
    if (a.kind != WP_ACCESS_READ && a.kind != WP_ACCESS_WRITE && a.kind != WP_ACCESS_ATOMIC)
        return false;
    const unsigned space = wpi_access_space(&a);
    return (space == WP_SPACE_GENERIC || space == WP_SPACE_GLOBAL || space == WP_SPACE_SHARED) &&
           !LLVMIsAAllocaInst(wpi_pointer_base(a.pointer));
}

bool wpi_lockstep_is_whole(LLVMValueRef function) {
    return LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         WP_LOCKSTEP_ATTRIBUTE,
                                         (unsigned)strlen(WP_LOCKSTEP_ATTRIBUTE)) != NULL;
}

static void add_steps(wpi_compile *c, LLVMValueRef function) {
    const bool is_whole = wpi_lockstep_is_whole(function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (is_whole ? !is_common(i) : !is_volatile_shared(i)) continue;
            LLVMPositionBuilderBefore(c->builder, i);
            wpi_lower_stop(c, c->builder, WP_STOP_STEP, NULL, NULL, NULL);
        }
}

/* ---- exchange in global memory ---- */

/* A volatile access to memory that may be global. */
static bool is_volatile_global(const wpi_ir_access *a) {
    if (a->kind != WP_ACCESS_READ && a->kind != WP_ACCESS_WRITE) return false;
    const uint32_t space = wpi_access_space(a);
    return LLVMGetVolatile(a->instruction) &&
           (space == WP_SPACE_GENERIC || space == WP_SPACE_GLOBAL) &&
           !LLVMIsAAllocaInst(wpi_pointer_base(a->pointer));
}

/* Whether straight code loads from another place of the array that it stores to. */
static bool is_exchanged(const wpi_ir_access *store) {
    LLVMBasicBlockRef block = LLVMGetInstructionParent(store->instruction);
    LLVMValueRef base = wpi_pointer_base(store->pointer);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        const wpi_ir_access load = wpi_access_of(i);
        if (load.kind == WP_ACCESS_READ && load.pointer != store->pointer &&
            is_volatile_global(&load) && wpi_pointer_base(load.pointer) == base)
            return true;
    }
    return false;
}

/* Arrays in global memory by which the lanes of a warp exchange values in this block of code. */
static void find_exchanged(LLVMBasicBlockRef block, wpi_map *arrays) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        const wpi_ir_access a = wpi_access_of(i);
        if (a.kind != WP_ACCESS_WRITE || !is_volatile_global(&a) || !is_exchanged(&a)) continue;
        LLVMValueRef base = wpi_pointer_base(a.pointer);
        wpi_map_set(arrays, base, base);
    }
}

static bool is_exchange(const wpi_map *arrays, LLVMValueRef instruction) {
    const wpi_ir_access a = wpi_access_of(instruction);
    return is_volatile_global(&a) && wpi_map_has(arrays, wpi_pointer_base(a.pointer));
}

static void add_exchange_steps(wpi_compile *c, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        wpi_map arrays = {0};
        find_exchanged(b, &arrays);
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!is_exchange(&arrays, i)) continue;
            LLVMPositionBuilderBefore(c->builder, i);
            wpi_lower_stop(c, c->builder, WP_STOP_STEP, NULL, NULL, NULL);
        }
        wpi_map_deinit(&arrays);
    }
}

/* ---- loops that wait ---- */

/* Whether an access reads data that other threads write. Local memory is private: a delay loop over
 * a volatile local variable waits for no other thread. */
static bool sees_other_threads(LLVMValueRef instruction) {
    const wpi_ir_access a = wpi_access_of(instruction);
    return a.kind == WP_ACCESS_ATOMIC || (a.kind == WP_ACCESS_READ && a.is_ordered &&
                                          !LLVMIsAAllocaInst(wpi_pointer_base(a.pointer)));
}

typedef enum patience { GOES_ON = 0, TRIES, WAITS } patience;

static patience more_patient(patience a, patience b) {
    return a > b ? a : b;
}

static bool is_inside(const wpi_loops *l, const wpi_loop *loop, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return false;
    uint32_t block = wpi_map_index(&l->index, LLVMGetInstructionParent(value));
    return block != UINT32_MAX && loop->contains[block];
}

/* Whether a value is provably the same in every round. */
static bool stays(const wpi_loops *l, const wpi_loop *loop, LLVMValueRef value, int depth) {
    if (!is_inside(l, loop, value)) return true;
    if (depth > SLICE_DEPTH_MAX || !wpi_is_pure_operation(value)) return false;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value); o++)
        if (!stays(l, loop, LLVMGetOperand(value, o), depth + 1)) return false;
    return true;
}

/* Whether `value` is, in rounds after the first, what the swap found the round before. Only phis
 * lie between them. */
static bool is_found_by(const wpi_loops *l, const wpi_loop *loop, LLVMValueRef swap,
                        LLVMValueRef value, int depth) {
    if (!is_inside(l, loop, value) || depth > SLICE_DEPTH_MAX) return false;
    if (LLVMIsAExtractValueInst(value))
        return LLVMGetOperand(value, 0) == swap && LLVMGetIndices(value)[0] == 0;
    for (unsigned w = 0; LLVMIsAPHINode(value) && w < LLVMCountIncoming(value); w++)
        if (is_found_by(l, loop, swap, LLVMGetIncomingValue(value, w), depth + 1)) return true;
    return false;
}

/* How a loop behaves whose condition depends on this access. */
static patience patience_of(const wpi_loops *l, const wpi_loop *loop, LLVMValueRef access) {
    if (!stays(l, loop, LLVMGetOperand(access, 0), 0)) return TRIES;
    bool is_update = LLVMIsAAtomicCmpXchgInst(access) &&
                     (!stays(l, loop, LLVMGetOperand(access, 2), 0) ||
                      is_found_by(l, loop, access, LLVMGetOperand(access, 1), 0));
    return is_update ? TRIES : WAITS;
}

/* Result for the branch at a block's end; GOES_ON while it is being followed. */
typedef struct branch_patience {
    bool is_known;
    patience is;
} branch_patience;

/* State for following a value through one loop. */
typedef struct slice {
    const wpi_loops *l;
    const wpi_loop *loop;
    const uint32_t *postdom;   /* immediate ones, by block */
    branch_patience *branches; /* by block, in a loop: each is followed once */
    wpi_map seen;
} slice;

/* The value with which the loop continues; ANY: unknown. */
typedef enum outcome { IF_FALSE = 0, IF_TRUE = 1, ANY } outcome;

static patience depends_on_others(slice *s, LLVMValueRef value, outcome on, int depth);

/* Whether all but one of a branch's successors end the kernel, as a trap does. */
static bool has_one_way_on(LLVMValueRef terminator) {
    uint32_t ways = 0;
    for (unsigned w = 0; w < LLVMGetNumSuccessors(terminator); w++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetSuccessor(terminator, w));
        ways += !LLVMIsAUnreachableInst(end);
    }
    return ways == 1;
}

/* Whether the branch at the end of `b` decides whether block `x` is reached: `x` is on a path from
 * `b` before its post-dominator. */
static bool decides_on(const slice *s, uint32_t b, uint32_t x) {
    const uint32_t count = s->l->block_count, meet = s->postdom[b];
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(s->l->blocks[b]);
    if (has_one_way_on(terminator)) return false;
    for (unsigned w = 0; w < LLVMGetNumSuccessors(terminator); w++) {
        uint32_t at = wpi_map_index(&s->l->index, LLVMGetSuccessor(terminator, w));
        for (; at < count && at != meet; at = s->postdom[at])
            if (at == x) return true;
    }
    return false;
}

static patience patience_of_branch(slice *s, uint32_t b, int depth) {
    branch_patience *known = &s->branches[b];
    if (known->is_known) return known->is;
    *known = (branch_patience){.is_known = true, .is = GOES_ON};
    slice own = {.l = s->l, .loop = s->loop, .postdom = s->postdom, .branches = s->branches};
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(s->l->blocks[b]);
    known->is = depends_on_others(&own, LLVMGetOperand(terminator, 0), ANY, depth);
    wpi_map_deinit(&own.seen);
    return known->is;
}

/* The result for the nearest branches that lead to block `x`. A branch that does not depend on
 * other threads' writes is replaced by those that lead to it. A branch that retries ends the
 * search, as code after it has retried. */
static patience depends_on_branches(slice *s, uint32_t x, wpi_map *blocks, int depth) {
    patience found = GOES_ON;
    LLVMValueRef self = LLVMBasicBlockAsValue(s->l->blocks[x]);
    if (depth > SLICE_DEPTH_MAX || x == s->loop->header || wpi_map_has(blocks, self)) return found;
    wpi_map_set(blocks, self, self);
    for (uint32_t b = 0; b < s->l->block_count && found != WAITS; b++) {
        if (!s->loop->contains[b] || !decides_on(s, b, x)) continue;
        patience here = patience_of_branch(s, b, depth + 1);
        if (here == GOES_ON) here = depends_on_branches(s, b, blocks, depth + 1);
        found = more_patient(found, here);
    }
    return found;
}

/* A flag such as `done` is a phi of constants. It depends on the branches on paths by which the
 * loop continues. A loop that only retries needs no yield. The edges into the loop's header are the
 * entry and the back edge. */
static bool waits_on_ways(slice *s, LLVMValueRef phi, outcome on, int depth) {
    const uint32_t merge = wpi_map_index(&s->l->index, LLVMGetInstructionParent(phi));
    patience found = GOES_ON;
    if (merge == s->loop->header) return false;
    for (unsigned w = 0; w < LLVMCountIncoming(phi) && found != WAITS; w++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, w);
        if (!LLVMIsAConstantInt(value)) continue; /* followed as a value */
        if (on != ANY && LLVMConstIntGetZExtValue(value) != (unsigned)on) continue;
        const uint32_t from = wpi_map_index(&s->l->index, LLVMGetIncomingBlock(phi, w));
        if (from == UINT32_MAX || !s->loop->contains[from]) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(s->l->blocks[from]);
        if (LLVMGetNumSuccessors(terminator) > 1) found = patience_of_branch(s, from, depth + 1);
        wpi_map blocks = {0};
        if (found == GOES_ON) found = depends_on_branches(s, from, &blocks, depth + 1);
        wpi_map_deinit(&blocks);
    }
    return found == WAITS;
}

/* The thread's own variable that a load reads; NULL: it reads something else. */
static LLVMValueRef own_variable(LLVMValueRef value) {
    if (!LLVMIsALoadInst(value)) return NULL;
    LLVMValueRef base = wpi_pointer_base(LLVMGetOperand(value, 0));
    return LLVMIsAAllocaInst(base) ? base : NULL;
}

/* A flag that stays in memory, as `volatile bool done` does: it depends on what is stored there
 * and, as a phi, on the branches that lead to the stores. */
static bool waits_on_stores(slice *s, LLVMValueRef variable, int depth) {
    patience found = GOES_ON;
    for (uint32_t b = 0; b < s->l->block_count && found != WAITS; b++) {
        if (!s->loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(s->l->blocks[b]); i && found != WAITS;
             i = LLVMGetNextInstruction(i)) {
            const wpi_ir_access a = wpi_access_of(i);
            if (a.kind != WP_ACCESS_WRITE || wpi_pointer_base(a.pointer) != variable) continue;
            found = depends_on_others(s, a.value, ANY, depth + 1);
            wpi_map blocks = {0};
            if (found != WAITS) found = depends_on_branches(s, b, &blocks, depth + 1);
            wpi_map_deinit(&blocks);
        }
    }
    return found == WAITS;
}

/* The value of `operand` with which the loop continues, if it continues with `on` of `value`. */
static outcome outcome_of(LLVMValueRef value, LLVMValueRef operand, outcome on) {
    if (LLVMIsAPHINode(value) || on == ANY) return on;
    const bool is_not = LLVMGetInstructionOpcode(value) == LLVMXor &&
                        LLVMIsAConstantInt(LLVMGetOperand(value, 1)) &&
                        LLVMGetOperand(value, 0) == operand;
    return !is_not ? ANY : on == IF_TRUE ? IF_FALSE : IF_TRUE;
}

/* Whether `value` depends, inside the loop, on other threads' writes. */
static patience depends_on_others(slice *s, LLVMValueRef value, outcome on, int depth) {
    if (depth > SLICE_DEPTH_MAX || !is_inside(s->l, s->loop, value) || wpi_map_has(&s->seen, value))
        return GOES_ON;
    wpi_map_set(&s->seen, value, value);
    if (sees_other_threads(value)) return patience_of(s->l, s->loop, value);
    LLVMValueRef variable = own_variable(value);
    if (variable) return waits_on_stores(s, variable, depth) ? WAITS : GOES_ON;
    patience found = GOES_ON;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value) && found != WAITS; o++) {
        LLVMValueRef operand = LLVMGetOperand(value, o);
        found = more_patient(
            found, depends_on_others(s, operand, outcome_of(value, operand, on), depth + 1));
    }
    if (found != WAITS && LLVMIsAPHINode(value) && waits_on_ways(s, value, on, depth)) return WAITS;
    return found;
}

static patience patience_of_loop(const wpi_loops *l, const wpi_loop *loop,
                                 const uint32_t *postdom) {
    slice s = {.l = l,
               .loop = loop,
               .postdom = postdom,
               .branches = wpi_must_calloc(l->block_count, sizeof *s.branches)};
    patience found = GOES_ON;
    for (uint32_t b = 0; b < l->block_count && found != WAITS; b++) {
        if (!loop->contains[b]) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(l->blocks[b]);
        const unsigned ways = LLVMGetNumSuccessors(terminator);
        unsigned stays_at = 0, leaves = 0; /* a successor that stays, number of those that leave */
        for (unsigned w = 0; w < ways; w++)
            if (loop->contains[wpi_map_index(&l->index, LLVMGetSuccessor(terminator, w))])
                stays_at = w;
            else
                leaves++;
        if (leaves == 0 || (leaves + 1 == ways && has_one_way_on(terminator))) continue;
        const bool is_plain = ways == 2 && leaves == 1;
        const outcome on = !is_plain ? ANY : stays_at == 0 ? IF_TRUE : IF_FALSE;
        found = more_patient(found, depends_on_others(&s, LLVMGetOperand(terminator, 0), on, 0));
    }
    wpi_map_deinit(&s.seen);
    wpi_free(s.branches);
    return found;
}

bool wpi_lockstep_waits(const wpi_loops *l, uint32_t loop, const uint32_t *postdom) {
    return patience_of_loop(l, &l->loops[loop], postdom) == WAITS;
}

/* Whether the loop has a pause for the host, which marks it as waiting for the host. */
static bool has_host_pause(const wpi_loops *l, const wpi_loop *loop) {
    for (uint32_t b = 0; b < l->block_count; b++) {
        if (!loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            if (wpi_lower_is_stop(i) && wpi_lower_stop_op(i) == (WP_STOP_YIELD | WP_STOP_FLAG_HOST))
                return true;
    }
    return false;
}

/* Marks that the source puts into loops that retry, as lower_asm leaves them. */
static bool is_retry_mark(LLVMValueRef instruction) {
    return wpi_lower_is_stop(instruction) && wpi_lower_has_note(instruction, WP_TRIES_METADATA);
}

/* Whether every round of the loop executes a mark, which is not one of a loop within. */
static bool has_retry_mark(const wpi_loops *l, uint32_t loop) {
    const wpi_loop *own = &l->loops[loop];
    for (uint32_t b = 0; b < l->block_count; b++) {
        if (!own->contains[b] || !wpi_loops_dominates(l, b, own->latch)) continue;
        bool is_within = false;
        for (uint32_t i = 0; i < l->loop_count; i++)
            is_within |= l->loops[i].header != own->header && own->contains[l->loops[i].header] &&
                         l->loops[i].contains[b];
        for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[b]); i && !is_within;
             i = LLVMGetNextInstruction(i))
            if (is_retry_mark(i)) return true;
    }
    return false;
}

static void remove_retry_marks(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (is_retry_mark(i)) LLVMInstructionEraseFromParent(i);
        }
}

/* Whether there is a loop that waits. */
static bool add_yields(wpi_compile *c, LLVMValueRef function) {
    wpi_loops l;
    bool waits = false;
    wpi_loops_init(&l, function);
    patience *found = wpi_must_calloc(l.loop_count + 1, sizeof *found);
    uint32_t *postdom =
        l.loop_count == 0 ? NULL : wpi_postdominators(l.blocks, l.block_count, &l.index);
    for (uint32_t i = 0; i < l.loop_count; i++) { /* all loops, before edges change */
        found[i] = patience_of_loop(&l, &l.loops[i], postdom);
        if (found[i] == WAITS && has_retry_mark(&l, i)) found[i] = TRIES;
    }
    wpi_free(postdom);
    remove_retry_marks(function);
    for (uint32_t i = 0; i < l.loop_count; i++) {
        const patience is = found[i];
        waits = waits || is != GOES_ON;
        if (is == GOES_ON || (is == WAITS && has_host_pause(&l, &l.loops[i]))) continue;
        LLVMBasicBlockRef latch = l.blocks[l.loops[i].latch], header = l.blocks[l.loops[i].header];
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(latch);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            if (LLVMGetSuccessor(terminator, s) != header) continue;
            LLVMBasicBlockRef edge = wpi_edge_split(latch, s);
            LLVMPositionBuilderBefore(c->builder, LLVMGetBasicBlockTerminator(edge));
            LLVMValueRef stop = wpi_lower_stop(c, c->builder, WP_STOP_YIELD, NULL, NULL, NULL);
            if (is == TRIES) wpi_lower_note(c, stop, WP_TRIES_METADATA);
        }
    }
    wpi_free(found);
    wpi_loops_deinit(&l);
    return waits;
}

wp_status wpi_pass_lockstep(wpi_compile *c, wp_error *err) {
    (void)err;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        if (!c->variant.is_in_step) add_steps(c, f);
        const bool waits = add_yields(c, f);
        if (!c->variant.is_in_step && !waits && !wpi_lockstep_is_whole(f)) add_exchange_steps(c, f);
    }
    return WP_STATUS_OK;
}
