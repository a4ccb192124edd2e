/* SPDX-License-Identifier: Apache-2.0 */
/* Video instructions. The SIMD ones (vadd2, vset4 …) treat a word as two halves or four bytes:
 *
 *     a, b ──split, extend──► <2 or 4 x i32> ──operation──► clamp (.sat) ──► narrow
 *                                                                        └─► sum into c (.add)
 *
 * The scalar ones (vadd, vmin …) compute on one selected byte, half or word of each operand. */
#include <stdio.h>
#include <string.h>

#include "compiler/ptx/ptx.h"

typedef enum operation { ADD, SUB, AVERAGE, DIFFERENCE, MIN, MAX, SET } operation;

static LLVMValueRef clamp(wpi_ptx *t, LLVMValueRef value, wpi_ptx_type_of to, unsigned bits) {
    LLVMTypeRef type = LLVMTypeOf(value);
    bool is_signed = wpi_ptx_is_signed(to);
    uint64_t most = (UINT64_C(1) << (bits - (is_signed ? 1 : 0))) - 1;
    value = wpi_ptx_minmax(t, false, true, value, wpi_ptx_integer(type, most));
    return wpi_ptx_minmax(t, true, true, value, wpi_ptx_integer(type, is_signed ? ~most : 0));
}

static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge", NULL};

/* Operands are exact (wider than their types), so that every comparison is a signed one. */
static LLVMValueRef compute(wpi_ptx *t, operation what, int comparison, LLVMValueRef a,
                            LLVMValueRef b) {
    static const LLVMIntPredicate predicates[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
                                                  LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef zero = wpi_ptx_integer(type, 0), one = wpi_ptx_integer(type, 1);
    switch (what) {
    case ADD: return LLVMBuildAdd(t->b, a, b, "");
    case SUB: return LLVMBuildSub(t->b, a, b, "");
    case MIN: return wpi_ptx_minmax(t, false, true, a, b);
    case MAX: return wpi_ptx_minmax(t, true, true, a, b);
    case DIFFERENCE:
        return LLVMBuildSub(t->b, wpi_ptx_minmax(t, true, true, a, b),
                            wpi_ptx_minmax(t, false, true, a, b), "");
    case AVERAGE: { /* halves go up where the sum is not negative */
        LLVMValueRef sum = LLVMBuildAdd(t->b, a, b, "");
        LLVMValueRef is_up = LLVMBuildICmp(t->b, LLVMIntSGE, sum, zero, "");
        sum = LLVMBuildAdd(t->b, sum, LLVMBuildZExt(t->b, is_up, type, ""), "");
        return LLVMBuildAShr(t->b, sum, one, "");
    }
    default:
        return LLVMBuildZExt(t->b, LLVMBuildICmp(t->b, predicates[comparison], a, b, ""), type, "");
    }
}

/* ---- SIMD ---- */

/* A destination mask .b3210 or .h10 as a vector of i1; NULL: all lanes. */
static LLVMValueRef lane_mask(wpi_ptx *t, const char *selector, unsigned lanes) {
    if (!selector[0]) return NULL;
    LLVMValueRef on[4];
    for (unsigned i = 0; i < lanes; i++)
        on[i] = LLVMConstInt(t->c->i1, 0, 0);
    if (selector[0] != (lanes == 4 ? 'b' : 'h')) wpi_ptx_fail(t, NULL);
    for (const char *c = selector + 1; *c; c++) {
        unsigned lane = (unsigned)(*c - '0');
        if (lane >= lanes)
            wpi_ptx_fail(t, NULL);
        else
            on[lane] = LLVMConstInt(t->c->i1, 1, 0);
    }
    return LLVMConstVector(on, lanes);
}

static void simd(wpi_ptx *t, operation what, unsigned lanes) {
    wpi_ptx_type_of word = wpi_ptx_type_of(WP_PTX_BITS, 32);
    int comparison = what == SET ? wpi_ptx_choice(t, comparisons) : 0;
    bool is_sat = wpi_ptx_has(t, "sat"), is_add = wpi_ptx_has(t, "add");
    wpi_ptx_type_of to = what == SET ? word : wpi_ptx_type_take(t);
    wpi_ptx_type_of types[2] = {wpi_ptx_type_take(t), wpi_ptx_type_take(t)};
    wpi_ptx_expect(t, 4, 4);
    if (comparison < 0) wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return;
    unsigned bits = 32 / lanes;
    LLVMTypeRef narrow = LLVMVectorType(LLVMIntTypeInContext(t->c->context, bits), lanes);
    LLVMTypeRef wide = LLVMVectorType(t->c->i32, lanes);
    LLVMValueRef x[2];
    for (unsigned i = 0; i < 2; i++) {
        x[i] = LLVMBuildBitCast(t->b, wpi_ptx_read(t, i + 1, word), narrow, "");
        x[i] = wpi_ptx_is_signed(types[i]) ? LLVMBuildSExt(t->b, x[i], wide, "")
                                           : LLVMBuildZExt(t->b, x[i], wide, "");
    }
    LLVMValueRef result = compute(t, what, comparison, x[0], x[1]);
    if (is_sat) result = clamp(t, result, to, bits);
    wpi_ptx_operand_at d = *wpi_ptx_operand_at(t, 0);
    LLVMValueRef mask = lane_mask(t, d.selector, lanes), c = wpi_ptx_read(t, 3, word);
    d.selector[0] = '\0';
    if (is_add) {
        for (unsigned i = 0; i < lanes; i++) {
            LLVMValueRef lane = LLVMBuildExtractElement(t->b, result, wpi_const32(t->c, i), "");
            bool is_off = mask && LLVMIsNull(LLVMGetAggregateElement(mask, i));
            if (!is_off) c = LLVMBuildAdd(t->b, c, lane, "");
        }
        wpi_ptx_write_operand(t, &d, word, c);
        return;
    }
    result = LLVMBuildTrunc(t->b, result, narrow, "");
    if (mask)
        result = LLVMBuildSelect(t->b, mask, result, LLVMBuildBitCast(t->b, c, narrow, ""), "");
    wpi_ptx_write_operand(t, &d, word, LLVMBuildBitCast(t->b, result, t->c->i32, ""));
}

/* ---- scalar ---- */

/* Position and width of .b2, .h1 or nothing. */
static unsigned selected_bits(wpi_ptx *t, const char *selector, unsigned *shift) {
    *shift = 0;
    if (!selector[0]) return 32;
    unsigned bits = selector[0] == 'b' ? 8 : 16, index = (unsigned)(selector[1] - '0');
    if ((selector[0] != 'b' && selector[0] != 'h') || index >= 32 / bits || selector[2])
        wpi_ptx_fail(t, NULL);
    *shift = index * bits % 32;
    return bits;
}

static LLVMValueRef read_part(wpi_ptx *t, unsigned index, wpi_ptx_type_of type) {
    wpi_ptx_operand_at o = *wpi_ptx_operand_at(t, index);
    unsigned shift, bits = selected_bits(t, o.selector, &shift);
    o.selector[0] = '\0';
    LLVMValueRef value = wpi_ptx_read_operand(t, &o, wpi_ptx_type_of(WP_PTX_BITS, 32));
    value = LLVMBuildLShr(t->b, value, wpi_const32(t->c, shift), "");
    value = LLVMBuildTrunc(t->b, value, LLVMIntTypeInContext(t->c->context, bits), "");
    return wpi_ptx_resize(t, value, wpi_ptx_is_signed(type), t->c->i64);
}

static void scalar(wpi_ptx *t, operation what) {
    static const char *const seconds[] = {"add", "min", "max", NULL};
    wpi_ptx_type_of word = wpi_ptx_type_of(WP_PTX_BITS, 32);
    int comparison = what == SET ? wpi_ptx_choice(t, comparisons) : 0;
    bool is_sat = wpi_ptx_has(t, "sat");
    int second = wpi_ptx_choice(t, seconds);
    wpi_ptx_type_of to = what == SET ? word : wpi_ptx_type_take(t);
    wpi_ptx_type_of a = wpi_ptx_type_take(t), b = wpi_ptx_type_take(t);
    wpi_ptx_operand_at d = *wpi_ptx_operand_at(t, 0);
    unsigned shift, bits = selected_bits(t, d.selector, &shift);
    bool has_c = second >= 0 || bits < 32;
    wpi_ptx_expect(t, has_c ? 4 : 3, has_c ? 4 : 3);
    if (comparison < 0 || (second >= 0 && bits < 32)) wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef result = compute(t, what, comparison, read_part(t, 1, a), read_part(t, 2, b));
    if (is_sat) result = clamp(t, result, to, bits);
    result = LLVMBuildTrunc(t->b, result, t->c->i32, "");
    if (has_c) {
        LLVMValueRef c = wpi_ptx_read(t, 3, word);
        if (second == 0) {
            result = LLVMBuildAdd(t->b, result, c, "");
        } else if (second > 0) {
            result = wpi_ptx_minmax(t, second == 2, wpi_ptx_is_signed(to), result, c);
        } else {
            uint32_t mask = (uint32_t)((UINT64_C(1) << bits) - 1) << shift;
            LLVMValueRef kept = LLVMBuildAnd(t->b, c, wpi_const32(t->c, ~mask), "");
            result = LLVMBuildShl(t->b, result, wpi_const32(t->c, shift), "");
            result = LLVMBuildOr(t->b, kept,
                                 LLVMBuildAnd(t->b, result, wpi_const32(t->c, mask), ""), "");
        }
    }
    d.selector[0] = '\0';
    wpi_ptx_write_operand(t, &d, word, result);
}

#define VIDEO(name, what)                                                                          \
    static void emit_##name(wpi_ptx *t) {                                                          \
        scalar(t, what);                                                                           \
    }                                                                                              \
    static void emit_##name##2(wpi_ptx * t) {                                                      \
        simd(t, what, 2);                                                                          \
    }                                                                                              \
    static void emit_##name##4(wpi_ptx * t) {                                                      \
        simd(t, what, 4);                                                                          \
    }

VIDEO(vadd, ADD)
VIDEO(vsub, SUB)
VIDEO(vabsdiff, DIFFERENCE)
VIDEO(vmin, MIN)
VIDEO(vmax, MAX)
VIDEO(vset, SET)

static void emit_vavrg2(wpi_ptx *t) {
    simd(t, AVERAGE, 2);
}
static void emit_vavrg4(wpi_ptx *t) {
    simd(t, AVERAGE, 4);
}

#define ROWS(name) {#name, emit_##name}, {#name "2", emit_##name##2}, {#name "4", emit_##name##4}

const wpi_ptx_row wpi_ptx_video[] = {
    ROWS(vadd),   ROWS(vsub), ROWS(vabsdiff),          ROWS(vmin),
    ROWS(vmax),   ROWS(vset), {"vavrg2", emit_vavrg2}, {"vavrg4", emit_vavrg4},
    {NULL, NULL},
};
