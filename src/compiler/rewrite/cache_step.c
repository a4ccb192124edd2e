/* SPDX-License-Identifier: Apache-2.0 */
/* What a turn of a loop adds to a number or an address, and how far two addresses are apart. */
#include <llvm-c/Target.h>

#include "base/must.h"
#include "compiler/rewrite/cache_run.h"

enum { DEPTH = 24 };

typedef enum wrap { MAY_WRAP, NOT_SIGNED, NOT_UNSIGNED } wrap;

bool wpi_run_is_in_loop(const wpi_run_survey *s, LLVMBasicBlockRef block) {
    const uint32_t b = wpi_map_index(&s->l->found.index, block);
    return b != UINT32_MAX && s->loop->contains[b];
}

bool wpi_run_is_invariant(const wpi_run_survey *s, LLVMValueRef value) {
    return !LLVMIsAInstruction(value) || !wpi_run_is_in_loop(s, LLVMGetInstructionParent(value));
}

static bool keeps(LLVMValueRef i, wrap need) {
    return need == MAY_WRAP || (need == NOT_SIGNED ? LLVMGetNSW(i) : LLVMGetNUW(i));
}

static bool constant_of(LLVMValueRef value, int64_t *constant) {
    if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64) return false;
    *constant = LLVMConstIntGetSExtValue(value);
    return *constant > INT32_MIN && *constant < INT32_MAX;
}

static bool step_of(wpi_run_survey *s, LLVMValueRef v, wrap need, int depth, int64_t *step);

/* The bytes that a turn adds to what a GEP gives; where it is a step itself, its indices are
 * constants and `step` is what they add. */
static bool gep_step(wpi_run_survey *s, LLVMValueRef gep, bool is_whole, int depth, int64_t *step) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->k->c->module);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    *step = 0;
    if (!is_whole && !step_of(s, LLVMGetOperand(gep, 0), MAY_WRAP, depth, step)) return false;
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        LLVMTypeRef index_type = LLVMTypeOf(index);
        int64_t moved = 0;
        if (LLVMGetTypeKind(index_type) != LLVMIntegerTypeKind) return false;
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
            if (is_whole) *step += (int64_t)LLVMOffsetOfElement(layout, type, field);
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        const wrap need = LLVMGetIntTypeWidth(index_type) < 64 ? NOT_SIGNED : MAY_WRAP;
        if (is_whole ? !constant_of(index, &moved) : !step_of(s, index, need, depth, &moved))
            return false;
        *step += moved * (int64_t)LLVMABISizeOfType(layout, type);
    }
    return *step > INT32_MIN && *step < INT32_MAX;
}

static bool phi_step(wpi_run_survey *s, LLVMValueRef phi, wrap need, int64_t *step) {
    bool is_first = true;
    for (unsigned n = 0; n < LLVMCountIncoming(phi); n++) {
        if (!wpi_run_is_in_loop(s, LLVMGetIncomingBlock(phi, n))) continue;
        LLVMValueRef next = LLVMGetIncomingValue(phi, n);
        int64_t moved;
        if (!LLVMIsAInstruction(next) || LLVMGetNumOperands(next) < 2 ||
            LLVMGetOperand(next, 0) != phi)
            return false;
        if (LLVMGetInstructionOpcode(next) == LLVMGetElementPtr) {
            if (!gep_step(s, next, true, 0, &moved)) return false;
        } else if (LLVMGetInstructionOpcode(next) != LLVMAdd || !keeps(next, need) ||
                   !constant_of(LLVMGetOperand(next, 1), &moved)) {
            return false;
        }
        if (!is_first && moved != *step) return false;
        *step = moved;
        is_first = false;
    }
    return !is_first;
}

static bool scaled_step(wpi_run_survey *s, LLVMValueRef v, wrap need, int depth, int64_t *step) {
    int64_t factor;
    const bool is_shift = LLVMGetInstructionOpcode(v) == LLVMShl;
    if (!keeps(v, need) || !constant_of(LLVMGetOperand(v, 1), &factor)) return false;
    if (is_shift && (factor < 0 || factor > 20)) return false;
    if (!step_of(s, LLVMGetOperand(v, 0), need, depth, step)) return false;
    *step *= is_shift ? INT64_C(1) << factor : factor;
    return *step > INT32_MIN && *step < INT32_MAX;
}

static bool sum_step(wpi_run_survey *s, LLVMValueRef v, wrap need, int depth, int64_t *step) {
    int64_t other;
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMOr ? !LLVMGetIsDisjoint(v) : !keeps(v, need)) return false;
    if (!step_of(s, LLVMGetOperand(v, 0), need, depth, step) ||
        !step_of(s, LLVMGetOperand(v, 1), need, depth, &other))
        return false;
    *step += op == LLVMSub ? -other : other;
    return *step > INT32_MIN && *step < INT32_MAX;
}

/* Tested where a line begins: so many turns do not wrap it around. */
static bool widen(wpi_run_survey *s, LLVMValueRef number, bool is_signed, int depth,
                  int64_t *step) {
    if (!step_of(s, number, MAY_WRAP, depth, step)) return false;
    if (*step == 0) return true;
    if (s->widened_count == WPI_RUN_WIDENED || LLVMGetIntTypeWidth(LLVMTypeOf(number)) < 32)
        return false;
    s->widened[s->widened_count++] = (wpi_run_widened){number, *step, is_signed};
    return true;
}

/* What a turn adds to a value: false if that is not a constant. `need`: also as a number of more
 * bits, so that it must not wrap around. */
static bool step_of(wpi_run_survey *s, LLVMValueRef v, wrap need, int depth, int64_t *step) {
    *step = 0;
    if (wpi_run_is_invariant(s, v)) return true;
    if (depth == 0) return false;
    depth--;
    LLVMValueRef from = LLVMGetNumOperands(v) > 0 ? LLVMGetOperand(v, 0) : NULL;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMPHI:
        return LLVMGetInstructionParent(v) == s->loop->header && phi_step(s, v, need, step);
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr: return sum_step(s, v, need, depth, step);
    case LLVMMul:
    case LLVMShl: return scaled_step(s, v, need, depth, step);
    case LLVMSExt:
        if (need == NOT_UNSIGNED) return false;
        return step_of(s, from, NOT_SIGNED, depth, step) || widen(s, from, true, depth, step);
    case LLVMZExt:
        return step_of(s, from, NOT_UNSIGNED, depth, step) ||
               (LLVMGetNNeg(v) && step_of(s, from, NOT_SIGNED, depth, step)) ||
               widen(s, from, false, depth, step);
    case LLVMGetElementPtr: return need == MAY_WRAP && gep_step(s, v, false, depth, step);
    case LLVMAddrSpaceCast: return step_of(s, from, need, depth, step);
    default: return false;
    }
}

/* The value that `v`, whose step is known, has in the turn that begins, without what LLVM knows of
 * it only where `v` itself is. */
LLVMValueRef wpi_run_at_header(const wpi_run_survey *s, LLVMValueRef v) {
    LLVMBuilderRef at = s->k->c->builder;
    if (wpi_run_is_invariant(s, v) || LLVMIsAPHINode(v)) return v;
    LLVMValueRef from = wpi_run_at_header(s, LLVMGetOperand(v, 0));
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMOr: return LLVMBuildAdd(at, from, wpi_run_at_header(s, LLVMGetOperand(v, 1)), "");
    case LLVMSub: return LLVMBuildSub(at, from, wpi_run_at_header(s, LLVMGetOperand(v, 1)), "");
    case LLVMMul: return LLVMBuildMul(at, from, LLVMGetOperand(v, 1), "");
    case LLVMShl: return LLVMBuildShl(at, from, LLVMGetOperand(v, 1), "");
    case LLVMSExt: return LLVMBuildSExt(at, from, LLVMTypeOf(v), "");
    case LLVMZExt: return LLVMBuildZExt(at, from, LLVMTypeOf(v), "");
    case LLVMAddrSpaceCast: return LLVMBuildAddrSpaceCast(at, from, LLVMTypeOf(v), "");
    default: break; /* a GEP */
    }
    LLVMValueRef indices[16];
    const unsigned count = (unsigned)LLVMGetNumOperands(v) - 1;
    WP_CHECK(count <= 16);
    for (unsigned i = 0; i < count; i++)
        indices[i] = wpi_run_at_header(s, LLVMGetOperand(v, i + 1));
    return LLVMBuildGEP2(at, LLVMGetGEPSourceElementType(v), from, indices, count, "");
}

/* ---- distances ---- */

static uint64_t leaf_print(wpi_run_survey *s, LLVMValueRef v) {
    uint32_t n = wpi_map_index(&s->leaves, v);
    if (n == UINT32_MAX) {
        n = s->leaf_count++;
        wpi_map_set_index(&s->leaves, v, n);
    }
    uint64_t x = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

static uint64_t print_of(wpi_run_survey *s, LLVMValueRef v, int depth);

static uint64_t gep_print(wpi_run_survey *s, LLVMValueRef gep, int depth) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->k->c->module);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    uint64_t print = print_of(s, LLVMGetOperand(gep, 0), depth);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
            print += LLVMOffsetOfElement(layout, type, field);
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        print += print_of(s, index, depth) * LLVMABISizeOfType(layout, type);
    }
    return print;
}

/* The value for arbitrary values of what it is computed from, the same for all addresses of the
 * loop: two that differ by a small number do so always, unless something wraps around. */
static uint64_t print_of(wpi_run_survey *s, LLVMValueRef v, int depth) {
    int64_t constant;
    if (LLVMIsAConstantInt(v))
        return constant_of(v, &constant) ? (uint64_t)constant : leaf_print(s, v);
    if (!LLVMIsAInstruction(v) || LLVMIsAPHINode(v) || depth == 0) return leaf_print(s, v);
    depth--;
    LLVMValueRef from = LLVMGetNumOperands(v) > 0 ? LLVMGetOperand(v, 0) : NULL;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMOr:
        if (!LLVMGetIsDisjoint(v)) return leaf_print(s, v);
        return print_of(s, from, depth) + print_of(s, LLVMGetOperand(v, 1), depth);
    case LLVMAdd: return print_of(s, from, depth) + print_of(s, LLVMGetOperand(v, 1), depth);
    case LLVMSub: return print_of(s, from, depth) - print_of(s, LLVMGetOperand(v, 1), depth);
    case LLVMMul:
        if (!constant_of(LLVMGetOperand(v, 1), &constant)) return leaf_print(s, v);
        return print_of(s, from, depth) * (uint64_t)constant;
    case LLVMShl:
        if (!constant_of(LLVMGetOperand(v, 1), &constant) || constant < 0 || constant > 20)
            return leaf_print(s, v);
        return print_of(s, from, depth) << constant;
    case LLVMSExt:
    case LLVMZExt:
    case LLVMAddrSpaceCast: return print_of(s, from, depth);
    case LLVMGetElementPtr: return gep_print(s, v, depth);
    default: return leaf_print(s, v);
    }
}

bool wpi_run_step(wpi_run_survey *s, LLVMValueRef value, int64_t *step) {
    return step_of(s, value, MAY_WRAP, DEPTH, step);
}

uint64_t wpi_run_print(wpi_run_survey *s, LLVMValueRef address) {
    return print_of(s, address, DEPTH);
}
