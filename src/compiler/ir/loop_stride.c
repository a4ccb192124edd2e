/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/loop_stride.h"

#include <stdlib.h>

#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/lower_pass.h"

enum {
    DEPTH_MOST = 24,
    LINE_BYTES = 64,
    SHORT_BYTES = 16, /* a step that mostly stays within a line */
    CARRIED_MOST = 6  /* values of each thread stored in the frame in every iteration */
};

typedef struct walk {
    const wpi_uniform *u;
    const wpi_loops *loops;
    const wpi_loop *loop;
} walk;

static const wpi_stride unknown = {false, 0, 0};

static wpi_stride still(void) {
    return (wpi_stride){true, 0, 0};
}

static int64_t add(int64_t a, int64_t b) {
    if (a == 0) return b;
    if (b == 0) return a;
    int64_t sum;
    if (a == WP_STRIDE_FAR || b == WP_STRIDE_FAR || __builtin_add_overflow(a, b, &sum))
        return WP_STRIDE_FAR;
    return sum;
}

static int64_t scale(int64_t a, int64_t factor) {
    int64_t product;
    if (a == 0 || factor == 0) return 0;
    if (a == WP_STRIDE_FAR || __builtin_mul_overflow(a, factor, &product)) return WP_STRIDE_FAR;
    return product;
}

static wpi_stride sum_of(wpi_stride a, wpi_stride b, int64_t factor) {
    if (!a.is_known || !b.is_known) return unknown;
    return (wpi_stride){true, add(a.thread, scale(b.thread, factor)),
                        add(a.turn, scale(b.turn, factor))};
}

static bool is_still(wpi_stride a) {
    return a.is_known && a.thread == 0 && a.turn == 0;
}

static wpi_stride scaled(wpi_stride a, LLVMValueRef by) {
    int64_t factor = LLVMIsAConstantInt(by) ? LLVMConstIntGetSExtValue(by) : WP_STRIDE_FAR;
    if (!a.is_known) return unknown;
    return (wpi_stride){true, scale(a.thread, factor), scale(a.turn, factor)};
}

static bool is_in_loop(const walk *w, LLVMValueRef value) {
    uint32_t block = wpi_map_index(&w->loops->index, LLVMGetInstructionParent(value));
    return block != UINT32_MAX && w->loop->contains[block];
}

static wpi_stride stride(const walk *w, LLVMValueRef value, int depth);

/* The stride of a counter: a phi of the loop's header with an invariant increment. */
static wpi_stride stride_of_phi(const walk *w, LLVMValueRef phi, int depth) {
    if (LLVMGetInstructionParent(phi) != w->loops->blocks[w->loop->header] ||
        LLVMCountIncoming(phi) != 2)
        return wpi_uniform_is(w->u, phi) && !is_in_loop(w, phi) ? still() : unknown;
    LLVMBasicBlockRef latch = w->loops->blocks[w->loop->latch];
    unsigned back = LLVMGetIncomingBlock(phi, 0) == latch ? 0 : 1;
    LLVMValueRef next = LLVMGetIncomingValue(phi, back);
    wpi_stride start = stride(w, LLVMGetIncomingValue(phi, 1 - back), depth + 1);
    if (!LLVMIsAInstruction(next) || !start.is_known || start.turn != 0) return unknown;
    int own = wpi_operand_find(next, phi, 0);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(next);
    if (own < 0 || LLVMGetNumOperands(next) != 2) return unknown;
    LLVMValueRef step = LLVMGetOperand(next, (unsigned)(1 - own));
    int64_t unit = 1;
    if (opcode == LLVMGetElementPtr) {
        LLVMTargetDataRef layout = LLVMGetModuleDataLayout(
            LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(next))));
        unit = (int64_t)LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(next));
    } else if (opcode != LLVMAdd) {
        return unknown;
    }
    if (!is_still(stride(w, step, depth + 1))) return unknown;
    int64_t turn = LLVMIsAConstantInt(step) ? LLVMConstIntGetSExtValue(step) : WP_STRIDE_FAR;
    return (wpi_stride){true, start.thread, scale(turn, unit)};
}

static wpi_stride stride_of_address(const walk *w, LLVMValueRef gep, int depth) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(gep))));
    wpi_stride total = stride(w, LLVMGetOperand(gep, 0), depth + 1);
    wpi_gep_walk_begin part = wpi_gep_walk_begin(layout, gep);
    LLVMValueRef index;
    uint64_t bytes;
    while (wpi_gep_next(&part, &index, &bytes))
        if (index) total = sum_of(total, stride(w, index, depth + 1), (int64_t)bytes);
    return total;
}

static wpi_stride stride(const walk *w, LLVMValueRef value, int depth) {
    if (!LLVMIsAInstruction(value)) return still();
    if (depth > DEPTH_MOST) return unknown;
    if (LLVMIsAPHINode(value)) return stride_of_phi(w, value, depth);
    if (wpi_uniform_is(w->u, value) && !is_in_loop(w, value)) return still();
    LLVMValueRef callee = wpi_called_function(value);
    if (callee) {
        wpi_id id = wpi_lower_id_of(callee);
        if (id == WP_ID_TID_X || id == WP_ID_THREAD) return (wpi_stride){true, 1, 0};
        return id != WP_ID_COUNT ? still() : unknown;
    }
    if (LLVMIsAGetElementPtrInst(value)) return stride_of_address(w, value, depth);
    if (LLVMIsACastInst(value)) return stride(w, LLVMGetOperand(value, 0), depth + 1);
    if (!LLVMIsABinaryOperator(value)) return unknown;
    LLVMValueRef x = LLVMGetOperand(value, 0), y = LLVMGetOperand(value, 1);
    wpi_stride px = stride(w, x, depth + 1), py = stride(w, y, depth + 1);
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd: return sum_of(px, py, 1);
    case LLVMSub: return sum_of(px, py, -1);
    case LLVMOr: return LLVMGetIsDisjoint(value) ? sum_of(px, py, 1) : unknown;
    case LLVMMul: return is_still(py) ? scaled(px, y) : is_still(px) ? scaled(py, x) : unknown;
    case LLVMShl:
        if (!px.is_known || !LLVMIsAConstantInt(y) || LLVMConstIntGetZExtValue(y) > 40)
            return is_still(px) && is_still(py) ? still() : unknown;
        return sum_of(still(), px, (int64_t)1 << LLVMConstIntGetZExtValue(y));
    default: return is_still(px) && is_still(py) ? still() : unknown;
    }
}

wpi_stride wpi_stride_of(const wpi_uniform *u, const wpi_loops *loops, const wpi_loop *loop,
                         LLVMValueRef value) {
    const walk w = {u, loops, loop};
    return stride(&w, value, 0);
}

static bool is_innermost(const wpi_loops *l, const wpi_loop *loop) {
    for (uint32_t i = 0; i < l->loop_count; i++)
        if (&l->loops[i] != loop && loop->contains[l->loops[i].header]) return false;
    return true;
}

static bool has_stop(const wpi_loops *l, const wpi_loop *loop) {
    for (uint32_t b = 0; b < l->block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[b]); i && loop->contains[b];
             i = LLVMGetNextInstruction(i))
            if (wpi_lower_is_stop(i)) return true;
    return false;
}

static uint32_t count_carried(const wpi_uniform *u, LLVMBasicBlockRef header) {
    uint32_t count = 0;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(header); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi))
        count += !wpi_uniform_is(u, phi);
    return count;
}

bool wpi_stride_favours_turns(const wpi_uniform *u, const wpi_loops *loops, const wpi_loop *loop) {
    if (!is_innermost(loops, loop) || has_stop(loops, loop) ||
        count_carried(u, loops->blocks[loop->header]) > CARRIED_MOST)
        return false;
    bool found = false;
    for (uint32_t b = 0; b < loops->block_count; b++) {
        if (!loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(loops->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            const wpi_ir_access a = wpi_access_of(i);
            if (a.kind != WP_ACCESS_READ && a.kind != WP_ACCESS_WRITE) continue;
            wpi_stride p = wpi_stride_of(u, loops, loop, a.pointer);
            if (!p.is_known) continue;
            bool long_turn = p.turn == WP_STRIDE_FAR || llabs(p.turn) >= LINE_BYTES;
            bool long_thread = p.thread == WP_STRIDE_FAR || llabs(p.thread) >= LINE_BYTES;
            if (long_thread && !long_turn && p.turn != 0) return false;
            found |= long_turn && p.thread != 0 && p.thread != WP_STRIDE_FAR &&
                     llabs(p.thread) <= SHORT_BYTES;
        }
    }
    return found;
}
