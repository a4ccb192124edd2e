/* SPDX-License-Identifier: Apache-2.0 */
/* Floats to integers as GPUs convert them: values out of range end at the bounds. The host's
 * instruction is undefined there, so that its operand must be brought into range before.
 *
 *     unsigned 32 bits:  NaN, negative → 0;  below 2^31: as it is;  below 2^32: less 2^31, and the
 *                        top bit afterwards;  else: all ones
 *
 * Compares and selects become vectors; LLVM's own saturating conversions do not, on x86. */
#include <string.h>

#include "compiler/context.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/lower_pass.h"

#define TWO_31 2147483648.0

typedef struct conversion {
    wpi_compile *c;
    LLVMBuilderRef at;
    LLVMTypeRef from; /* float or double */
} conversion;

static LLVMValueRef number(const conversion *v, double value) {
    return LLVMConstReal(v->from, value);
}

/* x if it is above the bound, which is taken for NaN, too. */
static LLVMValueRef at_least(const conversion *v, LLVMValueRef x, double bound) {
    LLVMValueRef is_above = LLVMBuildFCmp(v->at, LLVMRealOGT, x, number(v, bound), "");
    return LLVMBuildSelect(v->at, is_above, x, number(v, bound), "");
}

static LLVMValueRef reaches(const conversion *v, LLVMValueRef x, double bound) {
    return LLVMBuildFCmp(v->at, LLVMRealOGE, x, number(v, bound), "");
}

static LLVMValueRef is_nan(const conversion *v, LLVMValueRef x) {
    return LLVMBuildFCmp(v->at, LLVMRealUNO, x, x, "");
}

static LLVMValueRef pick(const conversion *v, LLVMValueRef is, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(v->at, is, a, b, "");
}

static bool is_double(const conversion *v) {
    return LLVMGetTypeKind(v->from) == LLVMDoubleTypeKind;
}

static LLVMValueRef to_signed_word(const conversion *v, LLVMValueRef x) {
    LLVMTypeRef i32 = v->c->i32;
    LLVMValueRef from_least = at_least(v, x, -TWO_31);
    LLVMValueRef is_over = reaches(v, from_least, is_double(v) ? TWO_31 - 1 : TWO_31);
    LLVMValueRef inside = pick(v, is_over, number(v, 0), from_least);
    LLVMValueRef word = LLVMBuildFPToSI(v->at, inside, i32, "");
    word = pick(v, is_over, wpi_const32(v->c, INT32_MAX), word);
    return is_double(v) ? word : pick(v, is_nan(v, x), LLVMConstNull(i32), word);
}

static LLVMValueRef to_unsigned_word(const conversion *v, LLVMValueRef x) {
    LLVMValueRef positive = at_least(v, x, 0);
    LLVMValueRef is_high = reaches(v, positive, TWO_31), is_over = reaches(v, positive, 2 * TWO_31);
    LLVMValueRef less = LLVMBuildFSub(v->at, positive, number(v, TWO_31), "");
    LLVMValueRef inside = pick(v, is_over, number(v, 0), pick(v, is_high, less, positive));
    LLVMValueRef word = LLVMBuildFPToSI(v->at, inside, v->c->i32, "");
    LLVMValueRef top = wpi_const32(v->c, 0x80000000u);
    word = pick(v, is_high, LLVMBuildXor(v->at, word, top, ""), word);
    word = pick(v, is_over, wpi_const32(v->c, UINT32_MAX), word);
    return is_double(v) ? pick(v, is_nan(v, x), top, word) : word;
}

static LLVMValueRef to_others(const conversion *v, LLVMValueRef x, bool is_signed, LLVMTypeRef to) {
    const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMTypeRef types[] = {to, v->from};
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(
        v->c->module, LLVMLookupIntrinsicID(name, strlen(name)), types, 2);
    LLVMValueRef made = LLVMBuildCall2(v->at, wpi_function_type(function), function, &x, 1, "");
    const unsigned bits = LLVMGetIntTypeWidth(to);
    if (bits != 64 && !is_double(v)) return made;
    return pick(v, is_nan(v, x), LLVMConstInt(to, UINT64_C(1) << (bits - 1), 0), made);
}

LLVMValueRef wpi_saturated_conversion(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef x,
                                      bool is_signed, LLVMTypeRef to) {
    conversion v = {.c = c, .at = at, .from = LLVMTypeOf(x)};
    if (LLVMGetTypeKind(v.from) != LLVMFloatTypeKind && !is_double(&v)) {
        v.from = LLVMFloatTypeInContext(c->context);
        x = LLVMBuildFPExt(at, x, v.from, "");
    }
    if (to != c->i32) return to_others(&v, x, is_signed, to);
    return is_signed ? to_signed_word(&v, x) : to_unsigned_word(&v, x);
}
