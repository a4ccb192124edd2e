/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetches the data that a block reads in the next iteration of its loop.
 *
 *     for (k = 0; k < n; k += 16) {                         all threads, turn by turn
 *         for each row: for each thread: tile[y][x] = b[(k + y) * n + x];
 *         …                                                 and ask for &b[(k + 16 + y) * n + x]
 *     }
 *
 * The rows of a tile are far apart, and the next access to each is an iteration later, so the
 * processor's prefetcher does not detect the pattern, and every row is a miss. A row's first and
 * last elements are prefetched; in longer rows the processor's prefetcher finds the rest. */
#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/same_code.h"
#include "compiler/ir/thread_loop.h"
#include "compiler/passes.h"

enum { LOADS_MOST = 4, DEPTH_MOST = 12 };

/* A loop's counter: a phi of its header that grows by `step`. */
typedef struct turn {
    LLVMValueRef counter, step;
} turn;

static bool is_inside(const wpi_loops *l, const wpi_loop *loop, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return false;
    uint32_t block = wpi_map_index(&l->index, LLVMGetInstructionParent(value));
    return block == UINT32_MAX || loop->contains[block];
}

/* phi = [start, outside], [phi + step, latch] */
static bool match_counter(const wpi_loops *l, const wpi_loop *loop, LLVMValueRef phi, turn *out) {
    LLVMBasicBlockRef latch = l->blocks[loop->latch];
    if (LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind || LLVMCountIncoming(phi) != 2)
        return false;
    unsigned back = LLVMGetIncomingBlock(phi, 0) == latch ? 0 : 1;
    if (LLVMGetIncomingBlock(phi, back) != latch) return false;
    LLVMValueRef next = LLVMGetIncomingValue(phi, back);
    /* a phi of one value is that value */
    while (LLVMIsAPHINode(next) && LLVMCountIncoming(next) == 1)
        next = LLVMGetIncomingValue(next, 0);
    if (!LLVMIsABinaryOperator(next) || LLVMGetInstructionOpcode(next) != LLVMAdd) return false;
    int own = wpi_operand_find(next, phi, 0);
    if (own < 0) return false;
    *out = (turn){phi, LLVMGetOperand(next, (unsigned)(1 - own))};
    return !is_inside(l, loop, out->step);
}

/* Rebuilds `value` with the replacements in `made`; returns it unchanged if it does not depend on
 * them. */
static LLVMValueRef restated(LLVMBuilderRef at, LLVMValueRef value, wpi_map *made, int depth) {
    LLVMValueRef known = wpi_map_get(made, value);
    if (known) return known;
    if (depth == DEPTH_MOST || !LLVMIsAInstruction(value) || !wpi_is_pure_operation(value) ||
        wpi_is_division(value))
        return value;
    LLVMValueRef copy = NULL;
    for (int o = 0; o < LLVMGetNumOperands(value); o++) {
        LLVMValueRef operand = LLVMGetOperand(value, (unsigned)o);
        LLVMValueRef other = restated(at, operand, made, depth + 1);
        if (other == operand) continue;
        if (!copy) copy = LLVMInstructionClone(value);
        LLVMSetOperand(copy, (unsigned)o, other);
    }
    if (copy) LLVMInsertIntoBuilder(at, copy);
    wpi_map_set(made, value, copy ? copy : value);
    return copy ? copy : value;
}

static bool follows_from(LLVMValueRef value, LLVMValueRef source, int depth) {
    if (value == source) return true;
    if (depth == DEPTH_MOST || !LLVMIsAInstruction(value) || !wpi_is_pure_operation(value) ||
        wpi_is_division(value))
        return false;
    for (int o = 0; o < LLVMGetNumOperands(value); o++)
        if (follows_from(LLVMGetOperand(value, (unsigned)o), source, depth + 1)) return true;
    return false;
}

/* Whether a load is at base[start + i]: neighbouring threads read neighbouring elements. */
static bool reads_a_row(const wpi_thread_loop *t, LLVMValueRef load) {
    if (!LLVMIsALoadInst(load) || LLVMGetVolatile(load)) return false;
    LLVMValueRef gep = LLVMGetOperand(load, 0);
    return LLVMIsAGetElementPtrInst(gep) && LLVMGetNumOperands(gep) == 2 &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(gep)) == WP_SPACE_GENERIC &&
           !wpi_thread_loop_has(t, LLVMGetOperand(gep, 0)) &&
           wpi_thread_loop_is_linear(t, LLVMGetOperand(gep, 1));
}

/* Prefetches the element that thread `index` of the row reads in the next iteration. */
static void ask(wpi_compile *c, const wpi_thread_loop *t, turn by, LLVMValueRef address,
                LLVMValueRef index) {
    LLVMBuilderRef at = c->builder;
    wpi_map made = {0};
    LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(t->before));
    wpi_map_set(&made, by.counter, LLVMBuildAdd(at, by.counter, by.step, ""));
    wpi_map_set(&made, t->index, index);
    LLVMValueRef place = restated(at, address, &made, 0);
    /* after the last iteration it may be any address, which is harmless */
    wpi_prefetch(c, LLVMBuildFreeze(at, place, ""));
    wpi_map_deinit(&made);
}

static uint32_t size_of(const wpi_loops *l, const wpi_loop *loop) {
    uint32_t size = 0;
    for (uint32_t b = 0; b < l->block_count; b++)
        size += loop->contains[b];
    return size;
}

/* The next loop around `inner`, or NULL. */
static const wpi_loop *around(const wpi_loops *l, const wpi_loop *inner) {
    const wpi_loop *found = NULL;
    for (uint32_t i = 0; i < l->loop_count; i++) {
        const wpi_loop *loop = &l->loops[i];
        if (loop->contains[inner->header] && size_of(l, loop) > size_of(l, inner) &&
            (!found || size_of(l, loop) < size_of(l, found)))
            found = loop;
    }
    return found;
}

/* Finds the innermost loop in whose iterations the address changes, except the loop over rows
 * around the loop over threads. */
static bool find_turn(const wpi_thread_loop *t, LLVMValueRef address, turn *out) {
    const wpi_loops *l = t->loops;
    const wpi_loop *loop = around(l, t->loop);
    while (loop && (loop = around(l, loop)))
        for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[loop->header]);
             LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi))
            if (match_counter(l, loop, phi, out) && follows_from(address, phi, 0)) return true;
    return false;
}

static void look_ahead(wpi_compile *c, const wpi_thread_loop *t) {
    uint32_t loads = 0;
    for (uint32_t b = 0; b < t->loops->block_count; b++) {
        if (!t->loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(t->loops->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            turn by;
            if (!reads_a_row(t, i) || !find_turn(t, LLVMGetOperand(i, 0), &by)) continue;
            if (loads++ == LOADS_MOST) return;
            LLVMValueRef address = LLVMGetOperand(i, 0);
            LLVMPositionBuilderBefore(c->builder, LLVMGetBasicBlockTerminator(t->before));
            LLVMValueRef last = LLVMBuildSub(c->builder, t->count, wpi_const32(c, 1), "");
            ask(c, t, by, address, t->start);
            ask(c, t, by, address, last);
        }
    }
}

wp_status wpi_pass_ahead(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++) {
        if (!c->kernels[n].whole) continue;
        wpi_thread_loops_prepare(c->kernels[n].whole);
        wpi_loops loops;
        wpi_loops_init(&loops, c->kernels[n].whole);
        for (uint32_t i = 0; i < loops.loop_count; i++) {
            wpi_thread_loop t;
            if (wpi_thread_loop_match(&loops, &loops.loops[i], &t)) look_ahead(c, &t);
        }
        wpi_loops_deinit(&loops);
    }
    return WP_STATUS_OK;
}
