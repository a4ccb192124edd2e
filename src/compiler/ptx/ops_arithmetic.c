/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic: add sub mul mad fma div rem neg abs min max with carry chains, and the special
 * functions. Directed roundings call the device library, by the names in clang's headers. */
#include <stdio.h>
#include <string.h>

#include "compiler/ptx/ptx.h"

/* A subnormal float as a zero of its sign (.ftz). */
static LLVMValueRef flush(wpi_ptx *t, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef size = wpi_ptx_intrinsic(t, "llvm.fabs", type, &value, 1);
    LLVMValueRef is_small =
        LLVMBuildFCmp(t->b, LLVMRealOLT, size, wpi_ptx_real(type, 0x1p-126), "");
    LLVMValueRef zero = wpi_ptx_intrinsic(t, "llvm.copysign", type,
                                          (LLVMValueRef[]){wpi_ptx_real(type, 0.0), value}, 2);
    return LLVMBuildSelect(t->b, is_small, zero, value, "");
}

static bool flushes(wpi_ptx_type type, bool is_ftz) {
    return is_ftz && type.kind == WP_PTX_FLOAT && type.bits == 32;
}

LLVMValueRef wpi_ptx_read_flushed(wpi_ptx *t, unsigned index, wpi_ptx_type type, bool is_ftz) {
    LLVMValueRef value = wpi_ptx_read(t, index, type);
    return flushes(type, is_ftz) ? flush(t, value) : value;
}

static LLVMValueRef saturate(wpi_ptx *t, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    value = wpi_ptx_intrinsic(t, "llvm.maxnum", type,
                              (LLVMValueRef[]){value, wpi_ptx_real(type, 0.0)}, 2); /* NaN to 0 */
    return wpi_ptx_intrinsic(t, "llvm.minnum", type,
                             (LLVMValueRef[]){value, wpi_ptx_real(type, 1.0)}, 2);
}

void wpi_ptx_write_float(wpi_ptx *t, wpi_ptx_type type, LLVMValueRef value, bool is_ftz,
                         bool is_sat) {
    if (flushes(type, is_ftz)) value = flush(t, value);
    if (is_sat) value = saturate(t, value);
    wpi_ptx_write(t, 0, type, value);
}

/* __nv_fadd_rz and its kin: f or d, operation, rounding. */
static LLVMValueRef directed(wpi_ptx *t, const char *operation, wpi_ptx_type type, char rounding,
                             LLVMValueRef *args, unsigned count) {
    if (type.lanes > 1 || type.bits < 32) wpi_ptx_fail(t, NULL);
    char name[40];
    bool is_fma = strcmp(operation, "fma") == 0, is_single = type.bits == 32;
    snprintf(name, sizeof name, "__nv_%s%s%s_r%c",
             is_fma      ? ""
             : is_single ? "f"
                         : "d",
             operation, is_fma && is_single ? "f" : "",
             rounding == 'z'   ? 'z'
             : rounding == 'm' ? 'd'
                               : 'u');
    return wpi_ptx_call(t, name, LLVMTypeOf(args[0]), args, count);
}

static bool is_directed(char rounding) {
    return rounding != 0 && rounding != 'n';
}

/* ---- carry ---- */

/* a + b (+ CF) or a - b (- borrow) with one more word of room: the bit above the result is the
 * carry or the borrow. The flag of a subtraction is that of a + ~b + 1, set if there is no borrow:
 * nvcc's division of 128 bits adds with the flag of a subtraction. */
static LLVMValueRef with_carry(wpi_ptx *t, bool is_sub, LLVMValueRef a, LLVMValueRef b, bool is_in,
                               bool is_out) {
    LLVMTypeRef type = LLVMTypeOf(a);
    unsigned bits = LLVMGetIntTypeWidth(type);
    LLVMTypeRef wide = LLVMIntTypeInContext(t->c->context, 2 * bits);
    if (is_in && !t->carry)
        wpi_ptx_fail(t, "the carry flag was not set before it in this asm block");
    LLVMValueRef x = LLVMBuildZExt(t->b, a, wide, ""), y = LLVMBuildZExt(t->b, b, wide, "");
    LLVMValueRef sum = is_sub ? LLVMBuildSub(t->b, x, y, "") : LLVMBuildAdd(t->b, x, y, "");
    if (is_in && t->carry) {
        LLVMValueRef flag = is_sub ? LLVMBuildNot(t->b, t->carry, "") : t->carry;
        LLVMValueRef in = LLVMBuildZExt(t->b, flag, wide, "");
        sum = is_sub ? LLVMBuildSub(t->b, sum, in, "") : LLVMBuildAdd(t->b, sum, in, "");
    }
    if (is_out) {
        LLVMValueRef above = LLVMBuildLShr(t->b, sum, LLVMConstInt(wide, bits, 0), "");
        LLVMValueRef flag = LLVMBuildTrunc(t->b, above, t->c->i1, "");
        t->carry = is_sub ? LLVMBuildNot(t->b, flag, "") : flag;
    }
    return LLVMBuildTrunc(t->b, sum, type, "");
}

static LLVMValueRef saturating(wpi_ptx *t, bool is_sub, LLVMValueRef a, LLVMValueRef b) {
    return wpi_ptx_intrinsic(t, is_sub ? "llvm.ssub.sat" : "llvm.sadd.sat", LLVMTypeOf(a),
                             (LLVMValueRef[]){a, b}, 2);
}

static void add_or_sub(wpi_ptx *t, bool is_sub, bool is_carry_in) {
    bool is_cc = wpi_ptx_has(t, "cc"), is_ftz = wpi_ptx_has(t, "ftz"),
         is_sat = wpi_ptx_has(t, "sat");
    char rounding = wpi_ptx_rounding(t);
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    LLVMValueRef a = wpi_ptx_read_flushed(t, 1, type, is_ftz),
                 b = wpi_ptx_read_flushed(t, 2, type, is_ftz);
    if (wpi_ptx_is_float(type)) {
        LLVMValueRef result;
        if (is_cc || is_carry_in) wpi_ptx_fail(t, NULL);
        if (is_directed(rounding))
            result = directed(t, is_sub ? "sub" : "add", type, rounding, (LLVMValueRef[]){a, b}, 2);
        else
            result = is_sub ? LLVMBuildFSub(t->b, a, b, "") : LLVMBuildFAdd(t->b, a, b, "");
        wpi_ptx_write_float(t, type, result, is_ftz, is_sat);
        return;
    }
    if (rounding || is_ftz || !wpi_ptx_is_integer(type)) wpi_ptx_fail(t, NULL);
    LLVMValueRef result;
    if (is_cc || is_carry_in)
        result = type.lanes == 1 ? with_carry(t, is_sub, a, b, is_carry_in, is_cc) : a;
    else if (is_sat)
        result = saturating(t, is_sub, a, b);
    else
        result = is_sub ? LLVMBuildSub(t->b, a, b, "") : LLVMBuildAdd(t->b, a, b, "");
    wpi_ptx_write(t, 0, type, result);
}

static void emit_add(wpi_ptx *t) {
    add_or_sub(t, false, false);
}
static void emit_sub(wpi_ptx *t) {
    add_or_sub(t, true, false);
}
static void emit_addc(wpi_ptx *t) {
    add_or_sub(t, false, true);
}
static void emit_subc(wpi_ptx *t) {
    add_or_sub(t, true, true);
}

/* ---- multiply ---- */

typedef enum half { HALF_LOW, HALF_HIGH, HALF_WIDE } half;

static half take_half(wpi_ptx *t) {
    static const char *const names[] = {"lo", "hi", "wide", NULL};
    int i = wpi_ptx_choice(t, names);
    if (i < 0) wpi_ptx_fail(t, NULL);
    return i < 0 ? HALF_LOW : (half)i;
}

/* The low, high or whole product of two integers of `type`. */
static LLVMValueRef product(wpi_ptx *t, wpi_ptx_type type, half part, LLVMValueRef a,
                            LLVMValueRef b) {
    if (part == HALF_LOW) return LLVMBuildMul(t->b, a, b, "");
    LLVMTypeRef wide = LLVMIntTypeInContext(t->c->context, 2 * type.bits);
    LLVMValueRef x = wpi_ptx_resize(t, a, wpi_ptx_is_signed(type), wide);
    LLVMValueRef y = wpi_ptx_resize(t, b, wpi_ptx_is_signed(type), wide);
    LLVMValueRef whole = LLVMBuildMul(t->b, x, y, "");
    if (part == HALF_WIDE) return whole;
    LLVMValueRef shifted = LLVMBuildLShr(t->b, whole, LLVMConstInt(wide, type.bits, 0), "");
    return LLVMBuildTrunc(t->b, shifted, wpi_ptx_llvm(t, type), "");
}

static wpi_ptx_type product_type(wpi_ptx_type type, half part) {
    return part == HALF_WIDE ? wpi_ptx_type_of(type.kind, 2 * type.bits) : type;
}

/* The type of an integer or float multiplication, which determines whether .lo/.hi/.wide
 * applies. */
static wpi_ptx_type multiply_type(wpi_ptx *t, half *part) {
    wpi_ptx_type type = wpi_ptx_type_take(t);
    *part = HALF_LOW;
    if (wpi_ptx_is_integer(type) && type.lanes == 1)
        *part = take_half(t);
    else if (!wpi_ptx_is_float(type))
        wpi_ptx_fail(t, NULL);
    return type;
}

static void emit_mul(wpi_ptx *t) {
    half part;
    wpi_ptx_type type = multiply_type(t, &part);
    wpi_ptx_expect(t, 3, 3);
    if (wpi_ptx_is_float(type)) {
        char rounding = wpi_ptx_rounding(t);
        bool is_ftz = wpi_ptx_has(t, "ftz"), is_sat = wpi_ptx_has(t, "sat");
        LLVMValueRef a = wpi_ptx_read_flushed(t, 1, type, is_ftz),
                     b = wpi_ptx_read_flushed(t, 2, type, is_ftz);
        LLVMValueRef result = is_directed(rounding)
                                  ? directed(t, "mul", type, rounding, (LLVMValueRef[]){a, b}, 2)
                                  : LLVMBuildFMul(t->b, a, b, "");
        wpi_ptx_write_float(t, type, result, is_ftz, is_sat);
        return;
    }
    LLVMValueRef a = wpi_ptx_read(t, 1, type), b = wpi_ptx_read(t, 2, type);
    wpi_ptx_write(t, 0, product_type(type, part), product(t, type, part, a, b));
}

/* fma: with 16-bit floats in double, where product and nearly every sum are exact. */
static void fused(wpi_ptx *t, wpi_ptx_type type) {
    char rounding = wpi_ptx_rounding(t);
    bool is_ftz = wpi_ptx_has(t, "ftz"), is_sat = wpi_ptx_has(t, "sat"),
         is_relu = wpi_ptx_has(t, "relu");
    wpi_ptx_expect(t, 4, 4);
    LLVMValueRef x[3];
    LLVMTypeRef compute = wpi_ptx_llvm(t, type);
    if (type.bits == 16)
        compute = type.lanes > 1 ? LLVMVectorType(t->c->f64, type.lanes) : t->c->f64;
    for (unsigned i = 0; i < 3; i++) {
        x[i] = wpi_ptx_read_flushed(t, i + 1, type, is_ftz);
        if (type.bits == 16) x[i] = LLVMBuildFPExt(t->b, x[i], compute, "");
    }
    LLVMValueRef result = is_directed(rounding) ? directed(t, "fma", type, rounding, x, 3)
                                                : wpi_ptx_intrinsic(t, "llvm.fma", compute, x, 3);
    if (is_relu) {
        LLVMValueRef zero = wpi_ptx_real(compute, 0.0);
        LLVMValueRef is_less = LLVMBuildFCmp(t->b, LLVMRealOLT, result, zero, "");
        result = LLVMBuildSelect(t->b, is_less, zero, result, "");
    }
    wpi_ptx_write_float(t, type, result, is_ftz, is_sat);
}

static void emit_fma(wpi_ptx *t) {
    wpi_ptx_type type = wpi_ptx_type_take(t);
    if (!wpi_ptx_is_float(type)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    fused(t, type);
}

static void multiply_add(wpi_ptx *t, bool is_carry_in) {
    half part;
    wpi_ptx_type type = multiply_type(t, &part);
    if (wpi_ptx_is_float(type)) {
        fused(t, type);
        return;
    }
    bool is_cc = wpi_ptx_has(t, "cc"), is_sat = wpi_ptx_has(t, "sat");
    wpi_ptx_type result_type = product_type(type, part);
    wpi_ptx_expect(t, 4, 4);
    LLVMValueRef a = wpi_ptx_read(t, 1, type), b = wpi_ptx_read(t, 2, type);
    LLVMValueRef c = wpi_ptx_read(t, 3, result_type);
    LLVMValueRef whole = product(t, type, part, a, b), result;
    if (is_cc || is_carry_in)
        result = with_carry(t, false, whole, c, is_carry_in, is_cc);
    else if (is_sat)
        result = saturating(t, false, whole, c);
    else
        result = LLVMBuildAdd(t->b, whole, c, "");
    wpi_ptx_write(t, 0, result_type, result);
}

static void emit_mad(wpi_ptx *t) {
    multiply_add(t, false);
}
static void emit_madc(wpi_ptx *t) {
    multiply_add(t, true);
}

/* mul24, mad24: the low 24 bits of both factors; .hi is bits 16 to 47 of the product. */
static LLVMValueRef product24(wpi_ptx *t, wpi_ptx_type type, half part) {
    LLVMTypeRef narrow = LLVMIntTypeInContext(t->c->context, 24), wide = t->c->i64;
    LLVMValueRef x[2];
    for (unsigned i = 0; i < 2; i++) {
        x[i] = LLVMBuildTrunc(t->b, wpi_ptx_read(t, i + 1, type), narrow, "");
        x[i] = wpi_ptx_resize(t, x[i], wpi_ptx_is_signed(type), wide);
    }
    LLVMValueRef whole = LLVMBuildMul(t->b, x[0], x[1], "");
    if (part == HALF_HIGH) whole = LLVMBuildLShr(t->b, whole, LLVMConstInt(wide, 16, 0), "");
    return LLVMBuildTrunc(t->b, whole, t->c->i32, "");
}

static void emit_mul24(wpi_ptx *t) {
    half part = take_half(t);
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    wpi_ptx_write(t, 0, type, product24(t, type, part));
}

static void emit_mad24(wpi_ptx *t) {
    half part = take_half(t);
    bool is_sat = wpi_ptx_has(t, "sat");
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 4, 4);
    LLVMValueRef whole = product24(t, type, part), c = wpi_ptx_read(t, 3, type);
    wpi_ptx_write(t, 0, type,
                  is_sat ? saturating(t, false, whole, c) : LLVMBuildAdd(t->b, whole, c, ""));
}

/* ---- divide ---- */

/* The CPU traps where GPUs give all ones (x / 0) or wrap (MIN / -1). */
static void divide(wpi_ptx *t, wpi_ptx_type type, bool is_rem) {
    wpi_ptx_expect(t, 3, 3);
    bool is_signed = wpi_ptx_is_signed(type);
    LLVMTypeRef llvm = wpi_ptx_llvm(t, type);
    LLVMValueRef a = wpi_ptx_read(t, 1, type), b = wpi_ptx_read(t, 2, type);
    LLVMValueRef zero = LLVMConstInt(llvm, 0, 0), one = LLVMConstInt(llvm, 1, 0);
    LLVMValueRef ones = LLVMConstAllOnes(llvm);
    LLVMValueRef is_zero = LLVMBuildICmp(t->b, LLVMIntEQ, b, zero, "");
    LLVMValueRef is_minus = LLVMBuildICmp(t->b, LLVMIntEQ, b, ones, "");
    LLVMValueRef safe = LLVMBuildSelect(t->b, is_zero, one, b, "");
    LLVMValueRef result;
    if (is_signed) {
        safe = LLVMBuildSelect(t->b, is_minus, one, safe, "");
        result = is_rem ? LLVMBuildSRem(t->b, a, safe, "") : LLVMBuildSDiv(t->b, a, safe, "");
        if (!is_rem)
            result = LLVMBuildSelect(t->b, is_minus, LLVMBuildNeg(t->b, a, ""), result, "");
    } else {
        result = is_rem ? LLVMBuildURem(t->b, a, safe, "") : LLVMBuildUDiv(t->b, a, safe, "");
    }
    wpi_ptx_write(t, 0, type, LLVMBuildSelect(t->b, is_zero, is_rem ? a : ones, result, ""));
}

static void emit_div(wpi_ptx *t) {
    wpi_ptx_type type = wpi_ptx_type_take(t);
    if (!wpi_ptx_is_float(type)) {
        divide(t, type, false);
        return;
    }
    static const char *const names[] = {"approx", "full", NULL};
    (void)wpi_ptx_choice(t, names);
    char rounding = wpi_ptx_rounding(t);
    bool is_ftz = wpi_ptx_has(t, "ftz");
    wpi_ptx_expect(t, 3, 3);
    LLVMValueRef a = wpi_ptx_read_flushed(t, 1, type, is_ftz),
                 b = wpi_ptx_read_flushed(t, 2, type, is_ftz);
    LLVMValueRef result = is_directed(rounding)
                              ? directed(t, "div", type, rounding, (LLVMValueRef[]){a, b}, 2)
                              : LLVMBuildFDiv(t->b, a, b, "");
    wpi_ptx_write_float(t, type, result, is_ftz, false);
}

static void emit_rem(wpi_ptx *t) {
    wpi_ptx_type type = wpi_ptx_type_take(t);
    if (!wpi_ptx_is_integer(type))
        wpi_ptx_fail(t, NULL);
    else
        divide(t, type, true);
}

/* ---- signs, least and greatest ---- */

static void emit_neg(wpi_ptx *t) {
    bool is_ftz = wpi_ptx_has(t, "ftz");
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef a = wpi_ptx_read_flushed(t, 1, type, is_ftz);
    wpi_ptx_write(t, 0, type,
                  wpi_ptx_is_float(type) ? LLVMBuildFNeg(t->b, a, "") : LLVMBuildNeg(t->b, a, ""));
}

static void emit_abs(wpi_ptx *t) {
    bool is_ftz = wpi_ptx_has(t, "ftz");
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef a = wpi_ptx_read_flushed(t, 1, type, is_ftz);
    if (wpi_ptx_is_float(type))
        a = wpi_ptx_intrinsic(t, "llvm.fabs", LLVMTypeOf(a), &a, 1);
    else
        a = wpi_ptx_intrinsic(t, "llvm.abs", LLVMTypeOf(a),
                              (LLVMValueRef[]){a, LLVMConstInt(t->c->i1, 0, 0)}, 2);
    wpi_ptx_write(t, 0, type, a);
}

static void least_or_greatest(wpi_ptx *t, bool is_max) {
    bool is_ftz = wpi_ptx_has(t, "ftz"), is_nan = wpi_ptx_has(t, "NaN"),
         is_relu = wpi_ptx_has(t, "relu");
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    LLVMValueRef x[2] = {wpi_ptx_read_flushed(t, 1, type, is_ftz),
                         wpi_ptx_read_flushed(t, 2, type, is_ftz)};
    LLVMTypeRef llvm = wpi_ptx_llvm(t, type);
    if (!wpi_ptx_is_float(type)) {
        LLVMValueRef result = wpi_ptx_minmax(t, is_max, wpi_ptx_is_signed(type), x[0], x[1]);
        if (is_relu) result = wpi_ptx_minmax(t, true, true, result, wpi_ptx_integer(llvm, 0));
        wpi_ptx_write(t, 0, type, result);
        return;
    }
    const char *name = is_nan ? (is_max ? "llvm.maximum" : "llvm.minimum")
                              : (is_max ? "llvm.maxnum" : "llvm.minnum");
    LLVMValueRef result = wpi_ptx_intrinsic(t, name, llvm, x, 2);
    if (!is_nan) { /* PTX orders -0 before +0, these intrinsics do not: equal numbers by their bits
                    */
        LLVMTypeRef bits = LLVMIntTypeInContext(t->c->context, type.bits == 64 ? 64 : 32);
        if (type.lanes > 1) bits = LLVMVectorType(bits, type.lanes);
        LLVMValueRef a = LLVMBuildBitCast(t->b, x[0], bits, ""),
                     b = LLVMBuildBitCast(t->b, x[1], bits, "");
        LLVMValueRef same = is_max ? LLVMBuildAnd(t->b, a, b, "") : LLVMBuildOr(t->b, a, b, "");
        LLVMValueRef is_equal = LLVMBuildFCmp(t->b, LLVMRealOEQ, x[0], x[1], "");
        result =
            LLVMBuildSelect(t->b, is_equal, LLVMBuildBitCast(t->b, same, llvm, ""), result, "");
    }
    if (is_relu) {
        LLVMValueRef zero = wpi_ptx_real(llvm, 0.0);
        LLVMValueRef is_less = LLVMBuildFCmp(t->b, LLVMRealOLT, result, zero, "");
        result = LLVMBuildSelect(t->b, is_less, zero, result, "");
    }
    wpi_ptx_write_float(t, type, result, is_ftz, false);
}

static void emit_min(wpi_ptx *t) {
    least_or_greatest(t, false);
}
static void emit_max(wpi_ptx *t) {
    least_or_greatest(t, true);
}

/* sad: c + |a - b| */
static void emit_sad(wpi_ptx *t) {
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 4, 4);
    bool is_signed = wpi_ptx_is_signed(type);
    LLVMValueRef a = wpi_ptx_read(t, 1, type), b = wpi_ptx_read(t, 2, type);
    LLVMValueRef size = LLVMBuildSub(t->b, wpi_ptx_minmax(t, true, is_signed, a, b),
                                     wpi_ptx_minmax(t, false, is_signed, a, b), "");
    wpi_ptx_write(t, 0, type, LLVMBuildAdd(t->b, wpi_ptx_read(t, 3, type), size, ""));
}

/* ---- dot products of bytes ---- */

static LLVMValueRef field(wpi_ptx *t, LLVMValueRef word, unsigned shift, unsigned bits,
                          bool is_signed) {
    LLVMValueRef low = LLVMBuildLShr(t->b, word, wpi_const32(t->c, shift), "");
    low = LLVMBuildTrunc(t->b, low, LLVMIntTypeInContext(t->c->context, bits), "");
    return wpi_ptx_resize(t, low, is_signed, t->c->i32);
}

static void dot(wpi_ptx *t, unsigned terms, unsigned a_bits, unsigned b_first) {
    wpi_ptx_type a_type = wpi_ptx_type_take(t), b_type = wpi_ptx_type_take(t);
    wpi_ptx_type word = wpi_ptx_type_of(WP_PTX_BITS, 32);
    wpi_ptx_expect(t, 4, 4);
    LLVMValueRef a = wpi_ptx_read(t, 1, word), b = wpi_ptx_read(t, 2, word);
    LLVMValueRef sum = wpi_ptx_read(t, 3, word);
    for (unsigned i = 0; i < terms; i++) {
        LLVMValueRef x = field(t, a, i * a_bits, a_bits, wpi_ptx_is_signed(a_type));
        LLVMValueRef y = field(t, b, b_first + i * 8, 8, wpi_ptx_is_signed(b_type));
        sum = LLVMBuildAdd(t->b, sum, LLVMBuildMul(t->b, x, y, ""), "");
    }
    wpi_ptx_write(t, 0, word, sum);
}

static void emit_dp4a(wpi_ptx *t) {
    dot(t, 4, 8, 0);
}
static void emit_dp2a(wpi_ptx *t) {
    dot(t, 2, 16, take_half(t) == HALF_HIGH ? 16 : 0);
}

/* ---- special functions ---- */

/* One operand, approximate or rounded; `name` is a function of the device library for floats, or
 * NULL for a square root or reciprocal computed here. */
static void special(wpi_ptx *t, const char *name) {
    bool is_sqrt = strstr(t->s->parts[0], "sqrt") != NULL, is_inverse = t->s->parts[0][0] == 'r';
    bool is_approximate = wpi_ptx_has(t, "approx"), is_ftz = wpi_ptx_has(t, "ftz");
    char rounding = wpi_ptx_rounding(t);
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    bool is_half = type.bits == 16; /* ex2 and tanh have these */
    if (!wpi_ptx_is_float(type) || is_approximate == (rounding != 0) ||
        (name && (type.bits == 64 || rounding)) || (is_half && !name) || (name && type.lanes > 1)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    LLVMValueRef a = wpi_ptx_read_flushed(t, 1, type, is_ftz);
    LLVMTypeRef llvm = LLVMTypeOf(a);
    LLVMValueRef result = a;
    if (name) {
        result = wpi_ptx_call(t, name, llvm, &a, 1);
    } else if (is_directed(rounding)) {
        result = directed(t, is_sqrt ? "sqrt" : "rcp", type, rounding, &a, 1);
    } else {
        if (is_sqrt) result = wpi_ptx_intrinsic(t, "llvm.sqrt", llvm, &a, 1);
        if (is_inverse) result = LLVMBuildFDiv(t->b, wpi_ptx_real(llvm, 1.0), result, "");
    }
    wpi_ptx_write_float(t, type, result, is_ftz, false);
}

static void emit_root(wpi_ptx *t) {
    special(t, NULL);
}
static void emit_sin(wpi_ptx *t) {
    special(t, "__nv_fast_sinf");
}
static void emit_cos(wpi_ptx *t) {
    special(t, "__nv_fast_cosf");
}
static void emit_lg2(wpi_ptx *t) {
    special(t, "__nv_fast_log2f");
}
static void emit_ex2(wpi_ptx *t) {
    special(t, "__nv_exp2f");
}
static void emit_tanh(wpi_ptx *t) {
    special(t, "__nv_tanhf");
}

static void emit_copysign(wpi_ptx *t) { /* the sign of a, the value of b */
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    if (!wpi_ptx_is_float(type)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    LLVMValueRef x[2] = {wpi_ptx_read(t, 2, type), wpi_ptx_read(t, 1, type)};
    wpi_ptx_write(t, 0, type, wpi_ptx_intrinsic(t, "llvm.copysign", LLVMTypeOf(x[0]), x, 2));
}

const wpi_ptx_row wpi_ptx_arithmetic[] = {
    {"add", emit_add},     {"sub", emit_sub},     {"addc", emit_addc}, {"subc", emit_subc},
    {"mul", emit_mul},     {"mad", emit_mad},     {"madc", emit_madc}, {"fma", emit_fma},
    {"mul24", emit_mul24}, {"mad24", emit_mad24}, {"div", emit_div},   {"rem", emit_rem},
    {"neg", emit_neg},     {"abs", emit_abs},     {"min", emit_min},   {"max", emit_max},
    {"sad", emit_sad},     {"dp4a", emit_dp4a},   {"dp2a", emit_dp2a}, {"rcp", emit_root},
    {"sqrt", emit_root},   {"rsqrt", emit_root},  {"sin", emit_sin},   {"cos", emit_cos},
    {"lg2", emit_lg2},     {"ex2", emit_ex2},     {"tanh", emit_tanh}, {"copysign", emit_copysign},
    {NULL, NULL},
};
