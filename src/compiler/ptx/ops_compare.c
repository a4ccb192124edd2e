/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons and selections: setp set selp slct testp. */
#include <stdio.h>
#include <string.h>

#include "compiler/ptx/ptx.h"

/* Each comparison: on unsigned, signed and floating numbers; -1: there is none. */
static const struct comparison {
    const char *name;
    int for_unsigned, for_signed, for_float;
} comparisons[] = {
    {"eq", LLVMIntEQ, LLVMIntEQ, LLVMRealOEQ},
    {"ne", LLVMIntNE, LLVMIntNE, LLVMRealONE},
    {"lt", LLVMIntULT, LLVMIntSLT, LLVMRealOLT},
    {"le", LLVMIntULE, LLVMIntSLE, LLVMRealOLE},
    {"gt", LLVMIntUGT, LLVMIntSGT, LLVMRealOGT},
    {"ge", LLVMIntUGE, LLVMIntSGE, LLVMRealOGE},
    {"lo", LLVMIntULT, LLVMIntULT, -1},
    {"ls", LLVMIntULE, LLVMIntULE, -1},
    {"hi", LLVMIntUGT, LLVMIntUGT, -1},
    {"hs", LLVMIntUGE, LLVMIntUGE, -1},
    {"equ", -1, -1, LLVMRealUEQ},
    {"neu", -1, -1, LLVMRealUNE},
    {"ltu", -1, -1, LLVMRealULT},
    {"leu", -1, -1, LLVMRealULE},
    {"gtu", -1, -1, LLVMRealUGT},
    {"geu", -1, -1, LLVMRealUGE},
    {"num", -1, -1, LLVMRealORD},
    {"nan", -1, -1, LLVMRealUNO},
};

/* Builds the opcode's comparison of operands 1 and 2; `type` is that of the operands. */
static LLVMValueRef compare(wpi_ptx *t, const struct comparison *how, wpi_ptx_type type,
                            bool is_ftz) {
    LLVMValueRef a = wpi_ptx_read_flushed(t, 1, type, is_ftz);
    LLVMValueRef b = wpi_ptx_read_flushed(t, 2, type, is_ftz);
    int predicate = !how                      ? -1
                    : wpi_ptx_is_float(type)  ? how->for_float
                    : wpi_ptx_is_signed(type) ? how->for_signed
                                              : how->for_unsigned;
    if (predicate < 0 || (type.lanes > 1 && !wpi_ptx_is_float(type)) ||
        type.kind == WP_PTX_PREDICATE) {
        wpi_ptx_fail(t, NULL);
        return LLVMGetUndef(t->c->i1);
    }
    if (wpi_ptx_is_float(type)) return LLVMBuildFCmp(t->b, (LLVMRealPredicate)predicate, a, b, "");
    return LLVMBuildICmp(t->b, (LLVMIntPredicate)predicate, a, b, "");
}

static const struct comparison *take_comparison(wpi_ptx *t) {
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (wpi_ptx_has(t, comparisons[i].name)) return &comparisons[i];
    return NULL;
}

/* Combines with the predicate of operand 3, if the opcode does. */
static LLVMValueRef combine(wpi_ptx *t, int operation, LLVMValueRef value) {
    if (operation < 0) return value;
    LLVMValueRef other = wpi_ptx_read(t, 3, wpi_ptx_type_of(WP_PTX_PREDICATE, 1));
    LLVMOpcode opcode = operation == 0 ? LLVMAnd : operation == 1 ? LLVMOr : LLVMXor;
    return LLVMBuildBinOp(t->b, opcode, value, other, "");
}

static const char *const operations[] = {"and", "or", "xor", NULL};

/* setp.lt.f16x2 p|q, a, b: p of the low half, q of the high one. */
static void set_pair_of_predicates(wpi_ptx *t, const struct comparison *how, wpi_ptx_type type,
                                   bool is_ftz, int operation) {
    const wpi_ptx_type predicate = wpi_ptx_type_of(WP_PTX_PREDICATE, 1);
    const wpi_ptx_operand *q = wpi_ptx_second(t, 0);
    LLVMValueRef are_true = compare(t, how, type, is_ftz);
    if (!q) wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef half[2];
    for (unsigned i = 0; i < 2; i++)
        half[i] = combine(t, operation,
                          LLVMBuildExtractElement(t->b, are_true, wpi_const32(t->c, i), ""));
    wpi_ptx_write(t, 0, predicate, half[0]);
    wpi_ptx_write_operand(t, q, predicate, half[1]);
}

static void emit_setp(wpi_ptx *t) {
    const struct comparison *how = take_comparison(t);
    int operation = wpi_ptx_choice(t, operations);
    bool is_ftz = wpi_ptx_has(t, "ftz");
    wpi_ptx_type type = wpi_ptx_type_take(t), predicate = wpi_ptx_type_of(WP_PTX_PREDICATE, 1);
    wpi_ptx_expect(t, operation < 0 ? 3 : 4, operation < 0 ? 3 : 4);
    if (type.lanes > 1) {
        set_pair_of_predicates(t, how, type, is_ftz, operation);
        return;
    }
    LLVMValueRef is_true = compare(t, how, type, is_ftz);
    LLVMValueRef first = combine(t, operation, is_true);
    const wpi_ptx_operand *q = wpi_ptx_second(t, 0);
    LLVMValueRef second = q ? combine(t, operation, LLVMBuildNot(t->b, is_true, "")) : NULL;
    wpi_ptx_write(t, 0, predicate, first);
    if (q) wpi_ptx_write_operand(t, q, predicate, second);
}

static void emit_set(wpi_ptx *t) {
    const struct comparison *how = take_comparison(t);
    int operation = wpi_ptx_choice(t, operations);
    bool is_ftz = wpi_ptx_has(t, "ftz");
    wpi_ptx_type result = wpi_ptx_type_take(t), type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, operation < 0 ? 3 : 4, operation < 0 ? 3 : 4);
    LLVMValueRef is_true = compare(t, how, type, is_ftz);
    LLVMTypeRef llvm = wpi_ptx_llvm(t, result);
    if (type.lanes > 1) { /* two results: 1.0 each, or 16 bits each */
        if (operation >= 0 ||
            (result.lanes == 1 && (result.bits != 32 || wpi_ptx_is_float(result))))
            wpi_ptx_fail(t, NULL);
        if (t->status != WP_STATUS_OK) return;
        LLVMTypeRef masks = LLVMVectorType(LLVMInt16TypeInContext(t->c->context), 2);
        wpi_ptx_write(
            t, 0, result,
            result.lanes > 1
                ? LLVMBuildUIToFP(t->b, is_true, llvm, "")
                : LLVMBuildBitCast(t->b, LLVMBuildSExt(t->b, is_true, masks, ""), llvm, ""));
        return;
    }
    is_true = combine(t, operation, is_true);
    wpi_ptx_write(t, 0, result,
                  wpi_ptx_is_float(result) ? LLVMBuildUIToFP(t->b, is_true, llvm, "")
                                           : LLVMBuildSExt(t->b, is_true, llvm, ""));
}

static void emit_selp(wpi_ptx *t) {
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 4, 4);
    LLVMValueRef p = wpi_ptx_read(t, 3, wpi_ptx_type_of(WP_PTX_PREDICATE, 1));
    LLVMValueRef a = wpi_ptx_read(t, 1, type), b = wpi_ptx_read(t, 2, type);
    wpi_ptx_write(t, 0, type, LLVMBuildSelect(t->b, p, a, b, ""));
}

/* slct d, a, b, c: c >= 0 ? a : b */
static void emit_slct(wpi_ptx *t) {
    bool is_ftz = wpi_ptx_has(t, "ftz");
    wpi_ptx_type type = wpi_ptx_type_take(t), tested = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 4, 4);
    LLVMValueRef c = wpi_ptx_read_flushed(t, 3, tested, is_ftz), is_positive;
    if (wpi_ptx_is_float(tested))
        is_positive = LLVMBuildFCmp(t->b, LLVMRealOGE, c, wpi_ptx_real(LLVMTypeOf(c), 0.0), "");
    else
        is_positive = LLVMBuildICmp(t->b, LLVMIntSGE, c, LLVMConstInt(LLVMTypeOf(c), 0, 0), "");
    LLVMValueRef a = wpi_ptx_read(t, 1, type), b = wpi_ptx_read(t, 2, type);
    wpi_ptx_write(t, 0, type, LLVMBuildSelect(t->b, is_positive, a, b, ""));
}

static void emit_testp(wpi_ptx *t) {
    /* masks of llvm.is.fpclass: NaNs 0x3, infinities 0x204, normals 0x108, subnormals 0x90, zeros
     * 0x60 */
    static const char *const names[] = {"finite", "infinite",  "number", "notanumber",
                                        "normal", "subnormal", NULL};
    static const uint32_t masks[] = {0x1f8, 0x204, 0x3fc, 0x3, 0x108, 0x90};
    int i = wpi_ptx_choice(t, names);
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    if (i < 0 || !wpi_ptx_is_float(type)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    LLVMValueRef args[2] = {wpi_ptx_read(t, 1, type), wpi_const32(t->c, masks[i])};
    LLVMValueRef is_true = wpi_ptx_intrinsic(t, "llvm.is.fpclass", LLVMTypeOf(args[0]), args, 2);
    wpi_ptx_write(t, 0, wpi_ptx_type_of(WP_PTX_PREDICATE, 1), is_true);
}

const wpi_ptx_row wpi_ptx_compare[] = {
    {"setp", emit_setp}, {"set", emit_set},     {"selp", emit_selp},
    {"slct", emit_slct}, {"testp", emit_testp}, {NULL, NULL},
};
