/* SPDX-License-Identifier: Apache-2.0 */
/* Warp operations of whole warps (WP_CPU_REGION_ALIKE). A thread's part in one is a word, in whose
 * place it finds the result; of some shuffles a second one, the lane. So loops over threads are
 * vectors, and the scheduler has one operation for all warps, where requests may differ from thread
 * to thread. */
#include "compiler/pass/region/regions.h"

#define PERFORM_FUNCTION "wp_rt_warps"

bool wpi_region_is_of_all_lanes(LLVMValueRef stop) {
    LLVMValueRef mask = LLVMGetOperand(stop, 2);
    return (wpi_lower_stop_op(stop) & WP_STOP_FLAG_ACTIVE) != 0 ||
           (LLVMIsAConstantInt(mask) && LLVMConstIntGetZExtValue(mask) == UINT32_MAX);
}

static bool is_shuffle(uint32_t op) {
    const uint32_t kind = WP_STOP_KIND(op);
    return kind >= WP_STOP_SHFL_IDX && kind <= WP_STOP_SHFL_BFLY;
}

/* Operand and result have 32 bits, or there are none. */
static bool is_of_words(uint32_t op) {
    const uint32_t kind = WP_STOP_KIND(op);
    return (kind >= WP_STOP_WARP_SYNC && kind <= WP_STOP_VOTE_BALLOT) ||
           (kind >= WP_STOP_REDUX_ADD && kind <= WP_STOP_REDUX_XOR);
}

static bool has_own_lanes(const wpi_stop_point *stop) {
    return (stop->b & WP_WORDS_OWN_LANES) != 0;
}

static bool has_upper_zeros(LLVMValueRef value) {
    if (LLVMIsAZExtInst(value))
        return LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(value, 0))) <= 32;
    if (!LLVMIsABinaryOperator(value) || LLVMGetInstructionOpcode(value) != LLVMAnd) return false;
    LLVMValueRef mask = LLVMGetOperand(value, 1);
    return LLVMIsAConstantInt(mask) && LLVMConstIntGetZExtValue(mask) <= UINT32_MAX;
}

/* `b` is known, or only its lower half, the lane, is not. */
static bool find_operand(wpi_stop_point *stop, LLVMValueRef b) {
    const uint64_t bounds = ~(uint64_t)UINT32_MAX;
    if (LLVMIsAConstantInt(b)) {
        stop->b = LLVMConstIntGetZExtValue(b) & (bounds | (WP_WARP_LANES - 1));
        return true;
    }
    if (!LLVMIsABinaryOperator(b) || LLVMGetInstructionOpcode(b) != LLVMOr) return false;
    LLVMValueRef known = LLVMGetOperand(b, 1);
    if (!LLVMIsAConstantInt(known) || (LLVMConstIntGetZExtValue(known) & ~bounds) != 0 ||
        !has_upper_zeros(LLVMGetOperand(b, 0)))
        return false;
    stop->b = LLVMConstIntGetZExtValue(known) | WP_WORDS_OWN_LANES;
    return true;
}

void wpi_region_find_alike(wpi_stop_point *stop) {
    if (!is_of_words(stop->op) || !wpi_region_is_of_all_lanes(stop->call)) return;
    stop->is_alike = !is_shuffle(stop->op) || find_operand(stop, LLVMGetOperand(stop->call, 4));
}

void wpi_region_give_word(wpi_compile *c, LLVMBuilderRef at, const wpi_stop_point *stop,
                          LLVMValueRef a, LLVMValueRef b, wpi_word_places to) {
    if (WP_STOP_KIND(stop->op) == WP_STOP_WARP_SYNC) return;
    LLVMBuildStore(at, LLVMBuildTrunc(at, a, c->i32, ""), to.word);
    if (has_own_lanes(stop)) LLVMBuildStore(at, LLVMBuildTrunc(at, b, c->i32, ""), to.lane);
}

/* PTX's predicate of shfl: from the lanes, the reader's and its operand. */
static LLVMValueRef is_in_range(wpi_compile *c, LLVMBuilderRef at, const wpi_stop_point *stop,
                                LLVMValueRef lane, LLVMValueRef operand) {
    const uint32_t bounds = (uint32_t)(stop->b >> 32), segment = (bounds >> 8) & 31u;
    LLVMValueRef first = LLVMBuildAnd(at, lane, wpi_const32(c, segment), "");
    LLVMValueRef last = LLVMBuildOr(at, first, wpi_const32(c, bounds & ~segment & 31u), "");
    LLVMValueRef in_segment = LLVMBuildAnd(at, operand, wpi_const32(c, ~segment), "");
    switch (WP_STOP_KIND(stop->op)) {
    case WP_STOP_SHFL_UP:
        return LLVMBuildICmp(at, LLVMIntSGE, LLVMBuildSub(at, lane, operand, ""), last, "");
    case WP_STOP_SHFL_DOWN:
        return LLVMBuildICmp(at, LLVMIntULE, LLVMBuildAdd(at, lane, operand, ""), last, "");
    case WP_STOP_SHFL_BFLY:
        return LLVMBuildICmp(at, LLVMIntULE, LLVMBuildXor(at, lane, operand, ""), last, "");
    default: return LLVMBuildICmp(at, LLVMIntULE, LLVMBuildOr(at, first, in_segment, ""), last, "");
    }
}

LLVMValueRef wpi_region_take_word(wpi_compile *c, LLVMBuilderRef at, const wpi_stop_point *stop,
                                  LLVMValueRef thread, wpi_word_places from) {
    if (WP_STOP_KIND(stop->op) == WP_STOP_WARP_SYNC) return wpi_const64(c, 0);
    LLVMValueRef word = LLVMBuildZExt(at, LLVMBuildLoad2(at, c->i32, from.word, ""), c->i64, "");
    if (!is_shuffle(stop->op)) return word;
    LLVMValueRef last = wpi_const32(c, WP_WARP_LANES - 1);
    LLVMValueRef operand = has_own_lanes(stop) ? LLVMBuildLoad2(at, c->i32, from.lane, "")
                                               : wpi_const32(c, (uint32_t)stop->b);
    LLVMValueRef is_there = is_in_range(c, at, stop, LLVMBuildAnd(at, thread, last, ""),
                                        LLVMBuildAnd(at, operand, last, ""));
    LLVMValueRef predicate = LLVMBuildZExt(at, is_there, c->i64, "");
    return LLVMBuildOr(at, word, LLVMBuildShl(at, predicate, wpi_const64(c, 32), ""), "");
}

void wpi_region_perform(wpi_compile *c, const wpi_stop_point *stop, LLVMValueRef block) {
    if (WP_STOP_KIND(stop->op) == WP_STOP_WARP_SYNC) return;
    LLVMTypeRef params[] = {c->ptr, c->i32, c->i64};
    LLVMTypeRef type = LLVMFunctionType(c->none, params, 3, 0);
    LLVMValueRef function = LLVMGetNamedFunction(c->module, PERFORM_FUNCTION);
    if (!function) {
        function = LLVMAddFunction(c->module, PERFORM_FUNCTION, type);
        wpi_function_attribute(c, function, "nounwind");
    }
    LLVMValueRef args[] = {block, wpi_const32(c, stop->op), wpi_const64(c, stop->b)};
    LLVMBuildCall2(c->builder, type, function, args, 3, "");
}
