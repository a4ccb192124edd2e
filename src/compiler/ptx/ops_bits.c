/* SPDX-License-Identifier: Apache-2.0 */
/* Logic, shifts and bit fields. PTX clamps shift amounts where LLVM's shifts are undefined. */
#include <stdio.h>
#include <string.h>

#include "compiler/ptx/ptx.h"

static void two_operands(wpi_ptx *t, LLVMOpcode opcode) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    LLVMValueRef a = wpi_ptx_read(t, 1, type), b = wpi_ptx_read(t, 2, type);
    if (wpi_ptx_is_float(type)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    wpi_ptx_write(t, 0, type, LLVMBuildBinOp(t->b, opcode, a, b, ""));
}

static void emit_and(wpi_ptx *t) {
    two_operands(t, LLVMAnd);
}
static void emit_or(wpi_ptx *t) {
    two_operands(t, LLVMOr);
}
static void emit_xor(wpi_ptx *t) {
    two_operands(t, LLVMXor);
}

static void emit_not(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    wpi_ptx_write(t, 0, type, LLVMBuildNot(t->b, wpi_ptx_read(t, 1, type), ""));
}

static void emit_cnot(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMTypeRef llvm = wpi_ptx_llvm(t, type);
    LLVMValueRef is_zero =
        LLVMBuildICmp(t->b, LLVMIntEQ, wpi_ptx_read(t, 1, type), LLVMConstInt(llvm, 0, 0), "");
    wpi_ptx_write(t, 0, type, LLVMBuildZExt(t->b, is_zero, llvm, ""));
}

/* ---- shifts with amounts of any size ---- */

typedef enum direction { SHIFT_LEFT, SHIFT_RIGHT, SHIFT_RIGHT_SIGNED } direction;

/* `amount` is of the value's type, unsigned. */
static LLVMValueRef shift(wpi_ptx *t, direction way, LLVMValueRef value, LLVMValueRef amount) {
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned bits = LLVMGetIntTypeWidth(type);
    LLVMValueRef most = LLVMConstInt(type, bits - 1, 0), zero = LLVMConstInt(type, 0, 0);
    LLVMValueRef clamped = wpi_ptx_minmax(t, false, false, amount, most);
    if (way == SHIFT_RIGHT_SIGNED) return LLVMBuildAShr(t->b, value, clamped, "");
    LLVMValueRef moved = way == SHIFT_LEFT ? LLVMBuildShl(t->b, value, clamped, "")
                                           : LLVMBuildLShr(t->b, value, clamped, "");
    LLVMValueRef is_out = LLVMBuildICmp(t->b, LLVMIntUGT, amount, most, "");
    return LLVMBuildSelect(t->b, is_out, zero, moved, "");
}

/* Operand `index`, a 32-bit amount, as a number of `type`; amounts too large stay too large. */
static LLVMValueRef read_amount(wpi_ptx *t, unsigned index, LLVMTypeRef type) {
    LLVMValueRef amount = wpi_ptx_read(t, index, wpi_ptx_type_of(WP_PTX_UNSIGNED, 32));
    amount = wpi_ptx_minmax(t, false, false, amount, wpi_const32(t->c, 255));
    return wpi_ptx_resize(t, amount, false, type);
}

static void emit_shl(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    LLVMValueRef value = wpi_ptx_read(t, 1, type);
    wpi_ptx_write(t, 0, type, shift(t, SHIFT_LEFT, value, read_amount(t, 2, LLVMTypeOf(value))));
}

static void emit_shr(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    LLVMValueRef value = wpi_ptx_read(t, 1, type);
    wpi_ptx_write(t, 0, type,
                  shift(t, wpi_ptx_is_signed(type) ? SHIFT_RIGHT_SIGNED : SHIFT_RIGHT, value,
                        read_amount(t, 2, LLVMTypeOf(value))));
}

/* shf: 32 bits out of the 64 bits b:a */
static void emit_shf(wpi_ptx *t) {
    static const char *const ways[] = {"l", "r", NULL}, *const modes[] = {"clamp", "wrap", NULL};
    int way = wpi_ptx_choice(t, ways), mode = wpi_ptx_choice(t, modes);
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 4, 4);
    if (way < 0 || mode < 0 || type.bits != 32) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    LLVMValueRef low = LLVMBuildZExt(t->b, wpi_ptx_read(t, 1, type), t->c->i64, "");
    LLVMValueRef high = LLVMBuildZExt(t->b, wpi_ptx_read(t, 2, type), t->c->i64, "");
    LLVMValueRef amount = wpi_ptx_read(t, 3, type), word = wpi_const64(t->c, 32);
    amount = mode == 0 ? wpi_ptx_minmax(t, false, false, amount, wpi_const32(t->c, 32))
                       : LLVMBuildAnd(t->b, amount, wpi_const32(t->c, 31), "");
    amount = LLVMBuildZExt(t->b, amount, t->c->i64, "");
    LLVMValueRef both = LLVMBuildOr(t->b, low, LLVMBuildShl(t->b, high, word, ""), "");
    LLVMValueRef moved = way == 0
                             ? LLVMBuildLShr(t->b, LLVMBuildShl(t->b, both, amount, ""), word, "")
                             : LLVMBuildLShr(t->b, both, amount, "");
    wpi_ptx_write(t, 0, type, LLVMBuildTrunc(t->b, moved, t->c->i32, ""));
}

/* ---- bit fields ---- */

/* Operand `index` & 255, as PTX reads positions and lengths. */
static LLVMValueRef read_byte(wpi_ptx *t, unsigned index, LLVMTypeRef type) {
    LLVMValueRef value = wpi_ptx_read(t, index, wpi_ptx_type_of(WP_PTX_UNSIGNED, 32));
    value = LLVMBuildAnd(t->b, value, wpi_const32(t->c, 255), "");
    return wpi_ptx_resize(t, value, false, type);
}

/* `length` ones at the low end */
static LLVMValueRef ones(wpi_ptx *t, LLVMTypeRef type, LLVMValueRef length) {
    return LLVMBuildNot(t->b, shift(t, SHIFT_LEFT, LLVMConstAllOnes(type), length), "");
}

static void emit_bfe(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 4, 4);
    LLVMTypeRef llvm = wpi_ptx_llvm(t, type);
    LLVMValueRef value = wpi_ptx_read(t, 1, type);
    LLVMValueRef at = read_byte(t, 2, llvm), length = read_byte(t, 3, llvm);
    LLVMValueRef zero = LLVMConstInt(llvm, 0, 0), one = LLVMConstInt(llvm, 1, 0), result;
    if (!wpi_ptx_is_signed(type)) {
        result = LLVMBuildAnd(t->b, shift(t, SHIFT_RIGHT, value, at), ones(t, llvm, length), "");
    } else {
        /* the field's top bit to the word's top, then down with the sign */
        LLVMValueRef most = LLVMConstInt(llvm, type.bits - 1, 0);
        LLVMValueRef top = LLVMBuildSub(t->b, LLVMBuildAdd(t->b, at, length, ""), one, "");
        top = wpi_ptx_minmax(t, false, false, top, most);
        LLVMValueRef up = LLVMBuildSub(t->b, most, top, "");
        LLVMValueRef raised = LLVMBuildShl(t->b, value, up, "");
        result = shift(t, SHIFT_RIGHT_SIGNED, raised, LLVMBuildAdd(t->b, up, at, ""));
        LLVMValueRef is_empty = LLVMBuildICmp(t->b, LLVMIntEQ, length, zero, "");
        result = LLVMBuildSelect(t->b, is_empty, zero, result, "");
    }
    wpi_ptx_write(t, 0, type, result);
}

/* bfi f, a, b, at, length: a's low bits into b */
static void emit_bfi(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 5, 5);
    LLVMTypeRef llvm = wpi_ptx_llvm(t, type);
    LLVMValueRef a = wpi_ptx_read(t, 1, type), b = wpi_ptx_read(t, 2, type);
    LLVMValueRef at = read_byte(t, 3, llvm), length = read_byte(t, 4, llvm);
    LLVMValueRef mask = shift(t, SHIFT_LEFT, ones(t, llvm, length), at);
    LLVMValueRef in = LLVMBuildAnd(t->b, shift(t, SHIFT_LEFT, a, at), mask, "");
    LLVMValueRef kept = LLVMBuildAnd(t->b, b, LLVMBuildNot(t->b, mask, ""), "");
    wpi_ptx_write(t, 0, type, LLVMBuildOr(t->b, kept, in, ""));
}

static LLVMValueRef count_leading(wpi_ptx *t, LLVMValueRef value) {
    return wpi_ptx_intrinsic(t, "llvm.ctlz", LLVMTypeOf(value),
                             (LLVMValueRef[]){value, LLVMConstInt(t->c->i1, 0, 0)}, 2);
}

/* bfind: the highest bit that differs from the sign, or all ones */
static void emit_bfind(wpi_ptx *t) {
    bool is_amount = wpi_ptx_has(t, "shiftamt");
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMTypeRef llvm = wpi_ptx_llvm(t, type);
    LLVMValueRef value = wpi_ptx_read(t, 1, type), most = LLVMConstInt(llvm, type.bits - 1, 0);
    if (wpi_ptx_is_signed(type))
        value = LLVMBuildXor(t->b, value, LLVMBuildAShr(t->b, value, most, ""), "");
    LLVMValueRef leading = count_leading(t, value);
    LLVMValueRef found = is_amount ? leading : LLVMBuildSub(t->b, most, leading, "");
    LLVMValueRef is_none = LLVMBuildICmp(t->b, LLVMIntEQ, value, LLVMConstInt(llvm, 0, 0), "");
    found = LLVMBuildSelect(t->b, is_none, LLVMConstAllOnes(llvm), found, "");
    wpi_ptx_write(t, 0, wpi_ptx_type_of(WP_PTX_BITS, 32),
                  wpi_ptx_resize(t, found, false, t->c->i32));
}

static void emit_brev(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef value = wpi_ptx_read(t, 1, type);
    wpi_ptx_write(t, 0, type,
                  wpi_ptx_intrinsic(t, "llvm.bitreverse", LLVMTypeOf(value), &value, 1));
}

static void emit_clz(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef count = count_leading(t, wpi_ptx_read(t, 1, type));
    wpi_ptx_write(t, 0, wpi_ptx_type_of(WP_PTX_BITS, 32),
                  wpi_ptx_resize(t, count, false, t->c->i32));
}

static void emit_popc(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef value = wpi_ptx_read(t, 1, type);
    value = wpi_ptx_intrinsic(t, "llvm.ctpop", LLVMTypeOf(value), &value, 1);
    wpi_ptx_write(t, 0, wpi_ptx_type_of(WP_PTX_BITS, 32),
                  wpi_ptx_resize(t, value, false, t->c->i32));
}

/* bmsk d, at, length: a mask; szext d, a, bits: sign or zero extension */
static void emit_bmsk(wpi_ptx *t) {
    bool is_wrap = wpi_ptx_has(t, "wrap");
    if (!is_wrap && !wpi_ptx_has(t, "clamp")) wpi_ptx_fail(t, NULL);
    wpi_ptx_type_of type = wpi_ptx_type_take(t), word = wpi_ptx_type_of(WP_PTX_UNSIGNED, 32);
    wpi_ptx_expect(t, 3, 3);
    LLVMValueRef x[2] = {wpi_ptx_read(t, 1, word), wpi_ptx_read(t, 2, word)};
    for (int i = 0; i < 2; i++)
        x[i] = is_wrap ? LLVMBuildAnd(t->b, x[i], wpi_const32(t->c, 31), "")
                       : wpi_ptx_minmax(t, false, false, x[i], wpi_const32(t->c, 32));
    wpi_ptx_write(t, 0, type, shift(t, SHIFT_LEFT, ones(t, t->c->i32, x[1]), x[0]));
}

static void emit_szext(wpi_ptx *t) {
    bool is_wrap = wpi_ptx_has(t, "wrap");
    if (!is_wrap && !wpi_ptx_has(t, "clamp")) wpi_ptx_fail(t, NULL);
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    LLVMValueRef bits = wpi_ptx_read(t, 2, wpi_ptx_type_of(WP_PTX_UNSIGNED, 32));
    bits = is_wrap ? LLVMBuildAnd(t->b, bits, wpi_const32(t->c, 31), "")
                   : wpi_ptx_minmax(t, false, false, bits, wpi_const32(t->c, 32));
    LLVMValueRef up = LLVMBuildSub(t->b, wpi_const32(t->c, 32), bits, "");
    LLVMValueRef raised = shift(t, SHIFT_LEFT, wpi_ptx_read(t, 1, type), up);
    LLVMValueRef result =
        shift(t, wpi_ptx_is_signed(type) ? SHIFT_RIGHT_SIGNED : SHIFT_RIGHT, raised, up);
    wpi_ptx_write(t, 0, type, result);
}

static void emit_fns(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 4, 4);
    LLVMValueRef x[3];
    for (unsigned i = 0; i < 3; i++)
        x[i] = wpi_ptx_read(t, i + 1, type);
    wpi_ptx_write(t, 0, type, wpi_ptx_call(t, "__wp_ptx_fns_b32", t->c->i32, x, 3));
}

/* ---- bytes and truth tables ---- */

static void emit_prmt(wpi_ptx *t) {
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16", NULL};
    int mode = wpi_ptx_choice(t, modes);
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 4, 4);
    LLVMValueRef x[3];
    for (unsigned i = 0; i < 3; i++)
        x[i] = wpi_ptx_read(t, i + 1, type);
    char name[40] = "__wp_ptx_prmt_b32";
    if (mode >= 0) snprintf(name, sizeof name, "__wp_ptx_prmt_b32_%s", modes[mode]);
    wpi_ptx_write(t, 0, type, wpi_ptx_call(t, name, t->c->i32, x, 3));
}

/* lop3: bit i of the table is the result where the bits of a, b, c are i */
static void emit_lop3(wpi_ptx *t) {
    wpi_ptx_type_of type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 5, 5);
    LLVMTypeRef llvm = wpi_ptx_llvm(t, type);
    LLVMValueRef x[3], inverse[3], result = LLVMConstInt(llvm, 0, 0);
    for (unsigned i = 0; i < 3; i++) {
        x[i] = wpi_ptx_read(t, i + 1, type);
        inverse[i] = LLVMBuildNot(t->b, x[i], "");
    }
    LLVMValueRef table = wpi_ptx_read(t, 4, wpi_ptx_type_of(WP_PTX_UNSIGNED, 32));
    if (!LLVMIsAConstantInt(table)) {
        wpi_ptx_fail(t, "its truth table must be a constant");
        return;
    }
    uint64_t bits = LLVMConstIntGetZExtValue(table);
    for (unsigned i = 0; i < 8; i++) {
        if (!(bits >> i & 1)) continue;
        LLVMValueRef term =
            LLVMBuildAnd(t->b, i & 4 ? x[0] : inverse[0], i & 2 ? x[1] : inverse[1], "");
        term = LLVMBuildAnd(t->b, term, i & 1 ? x[2] : inverse[2], "");
        result = LLVMBuildOr(t->b, result, term, "");
    }
    wpi_ptx_write(t, 0, type, result);
}

const wpi_ptx_row wpi_ptx_bits[] = {
    {"and", emit_and},   {"or", emit_or},     {"xor", emit_xor},     {"not", emit_not},
    {"cnot", emit_cnot}, {"shl", emit_shl},   {"shr", emit_shr},     {"shf", emit_shf},
    {"bfe", emit_bfe},   {"bfi", emit_bfi},   {"bfind", emit_bfind}, {"brev", emit_brev},
    {"clz", emit_clz},   {"popc", emit_popc}, {"bmsk", emit_bmsk},   {"szext", emit_szext},
    {"fns", emit_fns},   {"prmt", emit_prmt}, {"lop3", emit_lop3},   {NULL, NULL},
};
