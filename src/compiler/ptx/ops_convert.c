/* SPDX-License-Identifier: Apache-2.0 */
/* Moves and conversions: mov (packing and unpacking too), cvt, cvta. */
#include <stdio.h>
#include <string.h>

#include "compiler/ptx/ptx.h"

/* ---- mov ---- */

static LLVMValueRef pack(wpi_ptx *t, const wpi_ptx_operand *list, wpi_ptx_type type) {
    LLVMTypeRef whole = wpi_ptx_llvm(t, type);
    wpi_ptx_type part = wpi_ptx_type_of(WP_PTX_BITS, type.bits / list->count);
    LLVMValueRef result = LLVMConstInt(whole, 0, 0);
    for (unsigned i = 0; i < list->count; i++) {
        LLVMValueRef x = wpi_ptx_read_operand(t, &t->s->pool[list->first + i], part);
        x = LLVMBuildZExt(t->b, x, whole, "");
        x = LLVMBuildShl(t->b, x, LLVMConstInt(whole, i * part.bits, 0), "");
        result = LLVMBuildOr(t->b, result, x, "");
    }
    return result;
}

static void unpack(wpi_ptx *t, const wpi_ptx_operand *list, wpi_ptx_type type, LLVMValueRef whole) {
    wpi_ptx_type part = wpi_ptx_type_of(WP_PTX_BITS, type.bits / list->count);
    for (unsigned i = 0; i < list->count; i++) {
        LLVMValueRef x =
            LLVMBuildLShr(t->b, whole, LLVMConstInt(LLVMTypeOf(whole), i * part.bits, 0), "");
        x = LLVMBuildTrunc(t->b, x, wpi_ptx_llvm(t, part), "");
        wpi_ptx_write_operand(t, &t->s->pool[list->first + i], part, x);
    }
}

static void emit_mov(wpi_ptx *t) {
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    const wpi_ptx_operand *to = wpi_ptx_operand_at(t, 0), *from = wpi_ptx_operand_at(t, 1);
    bool is_unpack = to->kind == WP_PTX_OPERAND_LIST, is_pack = from->kind == WP_PTX_OPERAND_LIST;
    const wpi_ptx_operand *list = is_unpack ? to : from;
    if ((is_unpack || is_pack) &&
        (type.kind != WP_PTX_BITS || list->count > 8 || type.bits % list->count != 0)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    if (!is_unpack && !is_pack && type.kind != WP_PTX_PREDICATE) {
        LLVMValueRef whole = wpi_ptx_read_raw(t, from); /* a pointer stays one */
        if (whole && wpi_ptx_write_raw(t, to, whole)) return;
        type = wpi_ptx_type_of(WP_PTX_BITS, type.bits * type.lanes);
        if (from->kind != WP_PTX_OPERAND_NAME && from->kind != WP_PTX_OPERAND_INTEGER)
            type.kind = WP_PTX_FLOAT; /* a literal of the width, whatever the notation */
    }
    LLVMValueRef value = is_pack ? pack(t, from, type) : wpi_ptx_read_operand(t, from, type);
    if (is_unpack)
        unpack(t, to, type, value);
    else
        wpi_ptx_write_operand(t, to, type, value);
}

/* ---- cvt ---- */

static LLVMValueRef clamp_integer(wpi_ptx *t, LLVMValueRef value, wpi_ptx_type from,
                                  wpi_ptx_type to) {
    unsigned bits = 2 * (from.bits > to.bits ? from.bits : to.bits);
    LLVMTypeRef wide = LLVMIntTypeInContext(t->c->context, bits);
    bool is_signed = wpi_ptx_is_signed(to);
    uint64_t most = UINT64_MAX >> (64 - to.bits + (is_signed ? 1 : 0));
    LLVMValueRef high = LLVMConstInt(wide, most, 0);
    LLVMValueRef low = LLVMConstInt(wide, is_signed ? ~most : 0, 1);
    value = wpi_ptx_resize(t, value, wpi_ptx_is_signed(from), wide);
    value = wpi_ptx_minmax(t, false, true, value, high);
    return wpi_ptx_minmax(t, true, true, value, low);
}

static void integer_to_integer(wpi_ptx *t, wpi_ptx_type to, wpi_ptx_type from, bool is_sat) {
    LLVMValueRef value = wpi_ptx_read(t, 1, from);
    bool is_signed = wpi_ptx_is_signed(from);
    if (is_sat) value = clamp_integer(t, value, from, to);
    wpi_ptx_write(t, 0, to, wpi_ptx_resize(t, value, is_signed, wpi_ptx_llvm(t, to)));
}

static LLVMValueRef to_integral(wpi_ptx *t, LLVMValueRef value, char rounding) {
    const char *name = rounding == 'n'   ? "llvm.rint"
                       : rounding == 'z' ? "llvm.trunc"
                       : rounding == 'm' ? "llvm.floor"
                                         : "llvm.ceil";
    return wpi_ptx_intrinsic(t, name, LLVMTypeOf(value), &value, 1);
}

static void float_to_integer(wpi_ptx *t, wpi_ptx_type to, wpi_ptx_type from, char rounding,
                             bool is_ftz) {
    LLVMValueRef value = wpi_ptx_read_flushed(t, 1, from, is_ftz);
    if (rounding == 0) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    if (rounding != 'z') value = to_integral(t, value, rounding);
    LLVMTypeRef llvm = wpi_ptx_llvm(t, to), types[2] = {llvm, LLVMTypeOf(value)};
    const char *name = wpi_ptx_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(
        t->c->module, LLVMLookupIntrinsicID(name, strlen(name)), types, 2);
    LLVMValueRef result =
        LLVMBuildCall2(t->b, wpi_function_type(function), function, &value, 1, "");
    if (from.bits == 64 || to.bits == 64) { /* NaN: the top bit alone, elsewhere 0 */
        LLVMValueRef is_nan = LLVMBuildFCmp(t->b, LLVMRealUNO, value, value, "");
        LLVMValueRef top = LLVMConstInt(llvm, UINT64_C(1) << (to.bits - 1), 0);
        result = LLVMBuildSelect(t->b, is_nan, top, result, "");
    }
    wpi_ptx_write(t, 0, to, result);
}

static void integer_to_float(wpi_ptx *t, wpi_ptx_type to, wpi_ptx_type from, char rounding,
                             bool is_sat) {
    bool is_signed = wpi_ptx_is_signed(from);
    LLVMValueRef value = wpi_ptx_read(t, 1, from), result;
    bool is_exact = from.bits < 32 || (from.bits == 32 && to.bits == 64);
    if (to.kind == WP_PTX_BFLOAT && !is_exact) {
        wpi_ptx_fail(t, NULL); /* would round twice */
        return;
    }
    if (rounding == 0 || rounding == 'n' || is_exact) {
        LLVMTypeRef llvm = wpi_ptx_llvm(t, to);
        result = is_signed ? LLVMBuildSIToFP(t->b, value, llvm, "")
                           : LLVMBuildUIToFP(t->b, value, llvm, "");
    } else {
        char name[40];
        snprintf(name, sizeof name, "__nv_%s%s2%s_r%c", is_signed ? "" : "u",
                 from.bits == 64 ? "ll" : "int", to.bits == 64 ? "double" : "float",
                 rounding == 'z'   ? 'z'
                 : rounding == 'm' ? 'd'
                                   : 'u');
        if (to.bits == 16) wpi_ptx_fail(t, NULL);
        result = wpi_ptx_call(t, name, wpi_ptx_llvm(t, to), &value, 1);
    }
    wpi_ptx_write_float(t, to, result, false, is_sat);
}

/* To 16 bits by a directed rounding: the nearest value, or its neighbour if that lies on the wrong
 * side. Neighbours differ by 1 as integers, larger in magnitude by +1. */
static LLVMValueRef narrow_directed(wpi_ptx *t, wpi_ptx_type to, LLVMValueRef value,
                                    char rounding) {
    LLVMBuilderRef b = t->b;
    LLVMTypeRef wide = LLVMTypeOf(value), word = LLVMInt16TypeInContext(t->c->context);
    LLVMTypeRef narrow = to.kind == WP_PTX_BFLOAT ? LLVMBFloatTypeInContext(t->c->context)
                                                  : LLVMHalfTypeInContext(t->c->context);
    LLVMValueRef nearest = LLVMBuildFPTrunc(b, value, narrow, "");
    LLVMValueRef bits = LLVMBuildBitCast(b, nearest, word, "");
    LLVMValueRef back = LLVMBuildFPExt(b, nearest, wide, "");
    LLVMValueRef is_negative = LLVMBuildICmp(b, LLVMIntSLT, bits, LLVMConstNull(word), "");
    LLVMValueRef is_above = LLVMBuildFCmp(b, LLVMRealOGT, back, value, "");
    LLVMValueRef is_below = LLVMBuildFCmp(b, LLVMRealOLT, back, value, "");
    LLVMValueRef is_wrong = rounding == 'z'
                                ? LLVMBuildSelect(b, is_negative, is_below, is_above, "")
                            : rounding == 'm' ? is_above
                                              : is_below;
    LLVMValueRef grows = rounding == 'z'   ? LLVMConstNull(t->c->i1)
                         : rounding == 'm' ? is_negative
                                           : LLVMBuildNot(b, is_negative, "");
    LLVMValueRef step =
        LLVMBuildSelect(b, grows, LLVMConstInt(word, 1, 0), LLVMConstInt(word, 0xffff, 0), "");
    LLVMValueRef next = LLVMBuildAdd(b, bits, step, "");
    bits = LLVMBuildSelect(b, is_wrong, next, bits, "");
    return LLVMBuildFPExt(b, LLVMBuildBitCast(b, bits, narrow, ""), t->c->f32, "");
}

static void float_to_float(wpi_ptx *t, wpi_ptx_type to, wpi_ptx_type from, char rounding,
                           char integral, bool is_ftz, bool is_sat, bool is_relu) {
    LLVMValueRef value = wpi_ptx_read_flushed(t, 1, from, is_ftz);
    if (integral) value = to_integral(t, value, integral);
    bool is_narrowing = to.bits < from.bits || (to.bits == 16 && to.kind != from.kind);
    if (is_narrowing && rounding && rounding != 'n' && to.bits == 16 && from.bits >= 32) {
        value = narrow_directed(t, to, value, rounding);
    } else if (is_narrowing && rounding && rounding != 'n') {
        char name[40];
        snprintf(name, sizeof name, "__nv_double2float_r%c",
                 rounding == 'z'   ? 'z'
                 : rounding == 'm' ? 'd'
                                   : 'u');
        if (from.bits != 64 || to.bits != 32) wpi_ptx_fail(t, NULL);
        value = wpi_ptx_call(t, name, t->c->f32, &value, 1);
    } else if (to.bits == 32 && from.bits == 64) {
        value = LLVMBuildFPTrunc(t->b, value, t->c->f32, "");
    } else if (to.bits == 64 && from.bits < 64) {
        value = LLVMBuildFPExt(t->b, value, t->c->f64, "");
    }
    if (is_relu) {
        LLVMValueRef zero = wpi_ptx_real(LLVMTypeOf(value), 0.0);
        LLVMValueRef is_less = LLVMBuildFCmp(t->b, LLVMRealOLT, value, zero, "");
        value = LLVMBuildSelect(t->b, is_less, zero, value, "");
    }
    wpi_ptx_write_float(t, to, value, is_ftz, is_sat);
}

/* cvt.rn.f16x2.f32 d, high, low */
static void floats_to_pair(wpi_ptx *t, wpi_ptx_type to, wpi_ptx_type from, char rounding,
                           bool is_relu) {
    wpi_ptx_expect(t, 3, 3);
    if (rounding != 'n' || from.kind != WP_PTX_FLOAT || from.bits != 32) wpi_ptx_fail(t, NULL);
    LLVMTypeRef pair = wpi_ptx_llvm(t, to);
    LLVMValueRef value = LLVMGetUndef(pair);
    if (t->status != WP_STATUS_OK) return;
    for (unsigned i = 0; i < 2; i++)
        value = LLVMBuildInsertElement(t->b, value, wpi_ptx_read(t, 2 - i, from),
                                       wpi_const32(t->c, i), "");
    if (is_relu) {
        LLVMValueRef is_less = LLVMBuildFCmp(t->b, LLVMRealOLT, value, wpi_ptx_real(pair, 0.0), "");
        value = LLVMBuildSelect(t->b, is_less, wpi_ptx_real(pair, 0.0), value, "");
    }
    wpi_ptx_write(t, 0, to, value);
}

/* cvt.rna.tf32.f32: 13 bits less, ties away from zero */
static void float_to_tf32(wpi_ptx *t) {
    wpi_ptx_type word = wpi_ptx_type_of(WP_PTX_BITS, 32);
    (void)wpi_ptx_has(t, "f32");
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef bits = wpi_ptx_read(t, 1, word),
                 value = wpi_ptx_read(t, 1, wpi_ptx_type_of(WP_PTX_FLOAT, 32));
    LLVMValueRef rounded = LLVMBuildAdd(t->b, bits, wpi_const32(t->c, 0x1000), "");
    rounded = LLVMBuildAnd(t->b, rounded, wpi_const32(t->c, 0xffffe000), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(t->b, LLVMRealUNO, value, value, "");
    wpi_ptx_write(t, 0, word,
                  LLVMBuildSelect(t->b, is_nan, wpi_const32(t->c, 0x7fffffff), rounded, ""));
}

/* cvt.rn.satfinite.e4m3x2.f32 d, high, low; cvt.rn.satfinite.e4m3x2.f16x2 d, a; and the way back,
 * cvt.rn.f16x2.e4m3x2 d, a. `format`: e4m3x2 or e5m2x2. */
static void convert_eights(wpi_ptx *t, const char *format) {
    const wpi_ptx_type single = wpi_ptx_type_of(WP_PTX_FLOAT, 32),
                       both = wpi_ptx_type_of(WP_PTX_BITS, 16);
    const bool is_result = strcmp(t->s->parts[t->s->part_count - 1], format) != 0;
    const bool is_relu = wpi_ptx_has(t, "relu"), is_pair = wpi_ptx_has(t, "f16x2");
    LLVMValueRef args[3] = {NULL, NULL, wpi_const32(t->c, is_relu)};
    char name[40];
    if (wpi_ptx_rounding(t) != 'n' || (is_result && !wpi_ptx_has(t, "satfinite")) ||
        (!is_pair && !(is_result && wpi_ptx_has(t, "f32"))))
        wpi_ptx_fail(t, NULL);
    wpi_ptx_expect(t, is_pair ? 2 : 3, is_pair ? 2 : 3);
    if (t->status != WP_STATUS_OK) return;
    if (!is_result) {
        snprintf(name, sizeof name, "__wp_ptx_cvt_f16x2_%s", format);
        args[0] = wpi_ptx_read(t, 1, both);
        args[1] = args[2];
        wpi_ptx_write(t, 0, wpi_ptx_type_of(WP_PTX_BITS, 32),
                      wpi_ptx_call(t, name, t->c->i32, args, 2));
        return;
    }
    if (is_pair) {
        const wpi_ptx_type halves = {WP_PTX_FLOAT, 16, 2};
        LLVMValueRef value = wpi_ptx_read(t, 1, halves);
        for (unsigned i = 0; i < 2 && t->status == WP_STATUS_OK; i++)
            args[i] = LLVMBuildFPExt(
                t->b, LLVMBuildExtractElement(t->b, value, wpi_const32(t->c, 1 - i), ""), t->c->f32,
                "");
    } else {
        args[0] = wpi_ptx_read(t, 1, single);
        args[1] = wpi_ptx_read(t, 2, single);
    }
    if (t->status != WP_STATUS_OK) return;
    snprintf(name, sizeof name, "__wp_ptx_cvt_%s", format);
    wpi_ptx_write(t, 0, both,
                  wpi_ptx_call(t, name, LLVMInt16TypeInContext(t->c->context), args, 3));
}

static void emit_cvt(wpi_ptx *t) {
    static const char *const eights[] = {"e4m3x2", "e5m2x2", NULL};
    static const char *const to_whole[] = {"rni", "rzi", "rmi", "rpi", NULL};
    if (wpi_ptx_has(t, "tf32")) {
        if (!wpi_ptx_has(t, "rna")) wpi_ptx_fail(t, NULL);
        float_to_tf32(t);
        return;
    }
    const int eight = wpi_ptx_choice(t, eights);
    if (eight >= 0) {
        convert_eights(t, eights[eight]);
        return;
    }
    int whole = wpi_ptx_choice(t, to_whole);
    char integral = whole < 0 ? 0 : to_whole[whole][1], rounding = wpi_ptx_rounding(t);
    bool is_ftz = wpi_ptx_has(t, "ftz"), is_sat = wpi_ptx_has(t, "sat"),
         is_relu = wpi_ptx_has(t, "relu");
    wpi_ptx_type to = wpi_ptx_type_take(t), from = wpi_ptx_type_take(t);
    bool from_float = wpi_ptx_is_float(from), to_float = wpi_ptx_is_float(to);
    if (to.lanes == 2 && to_float && from.lanes == 1) {
        floats_to_pair(t, to, from, rounding, is_relu);
        return;
    }
    wpi_ptx_expect(t, 2, 2);
    if (to.lanes > 1 || from.lanes > 1 || to.kind == WP_PTX_PREDICATE ||
        from.kind == WP_PTX_PREDICATE || (!to_float && to.bits > 64) ||
        (!from_float && from.bits > 64) || (is_relu && !to_float)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    if (from_float && to_float)
        float_to_float(t, to, from, rounding, integral, is_ftz, is_sat, is_relu);
    else if (from_float)
        float_to_integer(t, to, from, integral, is_ftz);
    else if (to_float)
        integer_to_float(t, to, from, rounding, is_sat);
    else
        integer_to_integer(t, to, from, is_sat);
}

/* Address spaces are ranges of the one host address space: nothing to convert. */
static void emit_cvta(wpi_ptx *t) {
    static const char *const spaces[] = {"global", "shared",          "shared::cta", "local",
                                         "const",  "shared::cluster", NULL};
    const bool is_to = wpi_ptx_has(t, "to");
    const int space = wpi_ptx_choice(t, spaces);
    if (space < 0) wpi_ptx_fail(t, NULL);
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    if (t->is_module && !is_to && (space == 1 || space == 2) && t->status == WP_STATUS_OK) {
        /* a shared address may be 32 bits, zeros above them */
        LLVMValueRef value = wpi_ptx_read(t, 1, type);
        if (LLVMTypeOf(value) != t->c->i64 && LLVMTypeOf(value) != t->c->i32)
            wpi_ptx_fail(t, NULL);
        else
            wpi_ptx_write(t, 0, type, wpi_ptx_as_integer(t, wpi_ptx_shared_pointer(t, value)));
        return;
    }
    LLVMValueRef whole = wpi_ptx_read_raw(t, wpi_ptx_operand_at(t, 1));
    if (whole && wpi_ptx_write_raw(t, wpi_ptx_operand_at(t, 0), whole)) return;
    wpi_ptx_write(t, 0, type, wpi_ptx_read(t, 1, type));
}

const wpi_ptx_row wpi_ptx_convert[] = {
    {"mov", emit_mov},
    {"cvt", emit_cvt},
    {"cvta", emit_cvta},
    {NULL, NULL},
};
