/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of an asm block as SSA values. A register has bits: an integer of its width, an i1
 * for a predicate, or a pointer, which is kept until an instruction computes with it, so that
 * address analyses still find its origin. Values get types when an instruction reads them. */
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ptx/ptx.h"

void wpi_ptx_declare(wpi_ptx *t, const char *name, wpi_ptx_type type, LLVMValueRef value) {
    if (t->register_count == t->register_capacity) {
        t->register_capacity = t->register_capacity ? 2 * t->register_capacity : 16;
        wpi_ptx_register *grown =
            wpi_must_realloc(t->registers, t->register_capacity * sizeof *t->registers);
        t->registers = grown;
    }
    wpi_ptx_register *r = &t->registers[t->register_count++];
    *r = (wpi_ptx_register){
        .is_predicate = type.kind == WP_PTX_PREDICATE,
        .bits = type.bits * type.lanes,
        .depth = t->depth,
        .value = value,
        .has_slot = t->is_module || (t->labels.count > 0 && !value),
    };
    r->name = wpi_ptx_name_add(&t->names, name, strlen(name));
    int *last = wpi_ptx_name_number(r->name);
    r->shadowed = *last;
    *last = (int)(t->register_count - 1);
}

void wpi_ptx_forget(wpi_ptx *t, unsigned count) {
    while (t->register_count > count) {
        const wpi_ptx_register *r = &t->registers[--t->register_count];
        *wpi_ptx_name_number(r->name) = r->shadowed;
    }
}

void wpi_ptx_declare_symbol(wpi_ptx *t, const char *name, LLVMValueRef address) {
    wpi_ptx_declare(t, name, wpi_ptx_type_of(WP_PTX_BITS, 64), address);
    t->registers[t->register_count - 1].is_symbol = true;
    t->registers[t->register_count - 1].has_slot = false;
}

wpi_ptx_register *wpi_ptx_find(wpi_ptx *t, const char *name) {
    wpi_ptx_name *entry = wpi_ptx_name_find(t->names, name);
    int index = entry ? *wpi_ptx_name_number(entry) : -1;
    if (index < 0) return NULL;
    wpi_ptx_register *r = &t->registers[index];
    return r->alias[0] ? wpi_ptx_find(t, r->alias) : r;
}

LLVMValueRef wpi_ptx_frame(wpi_ptx *t, LLVMTypeRef type) {
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(t->function);
    LLVMPositionBuilderBefore(t->b, LLVMGetFirstInstruction(entry));
    LLVMValueRef place = LLVMBuildAlloca(t->b, type, "");
    LLVMPositionBuilderBefore(t->b, t->anchor);
    return place;
}

static LLVMValueRef slot_of(wpi_ptx *t, wpi_ptx_register *r) {
    if (!r->slot) r->slot = wpi_ptx_frame(t, LLVMIntTypeInContext(t->c->context, r->bits));
    return r->slot;
}

LLVMValueRef wpi_ptx_value(wpi_ptx *t, wpi_ptx_register *r) {
    if (!r->has_slot) return r->value;
    return LLVMBuildLoad2(t->b, LLVMIntTypeInContext(t->c->context, r->bits), slot_of(t, r), "");
}

void wpi_ptx_set_value(wpi_ptx *t, wpi_ptx_register *r, LLVMValueRef value) {
    if (!r->has_slot)
        r->value = value;
    else
        LLVMBuildStore(t->b, wpi_ptx_as_integer(t, value), slot_of(t, r));
}

void wpi_ptx_alias(wpi_ptx *t, const char *name, const char *target) {
    wpi_ptx_declare(t, name, wpi_ptx_type_of(WP_PTX_BITS, 32), NULL);
    snprintf(t->registers[t->register_count - 1].alias, sizeof t->registers->alias, "%s", target);
}

LLVMTypeRef wpi_ptx_llvm(const wpi_ptx *t, wpi_ptx_type type) {
    LLVMTypeRef one = t->c->i1;
    if (wpi_ptx_is_float(type))
        one = type.bits == 64 ? t->c->f64 : t->c->f32;
    else if (type.kind != WP_PTX_PREDICATE)
        one = LLVMIntTypeInContext(t->c->context, type.bits ? type.bits : 32);
    return type.lanes > 1 ? LLVMVectorType(one, type.lanes) : one;
}

static LLVMTypeRef integer_type(const wpi_ptx *t, unsigned bits) {
    return LLVMIntTypeInContext(t->c->context, bits);
}

LLVMValueRef wpi_ptx_as_integer(wpi_ptx *t, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: return value;
    case LLVMPointerTypeKind: return LLVMBuildPtrToInt(t->b, value, t->c->i64, "");
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return LLVMBuildBitCast(t->b, value, t->c->i16, "");
    case LLVMFloatTypeKind: return LLVMBuildBitCast(t->b, value, t->c->i32, "");
    case LLVMDoubleTypeKind: return LLVMBuildBitCast(t->b, value, t->c->i64, "");
    default: break;
    }
    unsigned lane = LLVMGetIntTypeWidth(
        LLVMTypeOf(wpi_ptx_as_integer(t, LLVMGetUndef(LLVMGetElementType(type)))));
    return LLVMBuildBitCast(t->b, value, integer_type(t, lane * LLVMGetVectorSize(type)), "");
}

LLVMValueRef wpi_ptx_resize(wpi_ptx *t, LLVMValueRef value, bool is_signed, LLVMTypeRef type) {
    return LLVMBuildIntCast2(t->b, value, type, is_signed, "");
}

/* Bits of the right width to the value that instructions compute with. */
static LLVMValueRef from_bits(wpi_ptx *t, LLVMValueRef bits, wpi_ptx_type type) {
    LLVMTypeRef wanted = wpi_ptx_llvm(t, type);
    if (!wpi_ptx_is_float(type) || type.bits > 16) return LLVMBuildBitCast(t->b, bits, wanted, "");
    LLVMTypeRef half = LLVMHalfTypeInContext(t->c->context), word = t->c->i32, narrow = t->c->i16;
    if (type.lanes > 1) {
        half = LLVMVectorType(half, type.lanes);
        word = LLVMVectorType(word, type.lanes);
        narrow = LLVMVectorType(narrow, type.lanes);
    }
    if (type.kind == WP_PTX_FLOAT)
        return LLVMBuildFPExt(t->b, LLVMBuildBitCast(t->b, bits, half, ""), wanted, "");
    LLVMValueRef wide = LLVMBuildZExt(t->b, LLVMBuildBitCast(t->b, bits, narrow, ""), word, "");
    return LLVMBuildBitCast(t->b, LLVMBuildShl(t->b, wide, wpi_ptx_integer(word, 16), ""), wanted,
                            "");
}

/* float to bfloat, to nearest even; NaN becomes the canonical one. */
static LLVMValueRef round_bfloat(wpi_ptx *t, LLVMValueRef value, LLVMTypeRef word,
                                 LLVMTypeRef narrow) {
    LLVMValueRef bits = LLVMBuildBitCast(t->b, value, word, "");
    LLVMValueRef odd = LLVMBuildAnd(t->b, LLVMBuildLShr(t->b, bits, wpi_ptx_integer(word, 16), ""),
                                    wpi_ptx_integer(word, 1), "");
    LLVMValueRef up = LLVMBuildAdd(t->b, odd, wpi_ptx_integer(word, 0x7fff), "");
    LLVMValueRef rounded =
        LLVMBuildLShr(t->b, LLVMBuildAdd(t->b, bits, up, ""), wpi_ptx_integer(word, 16), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(t->b, LLVMRealUNO, value, value, "");
    LLVMValueRef result = LLVMBuildSelect(t->b, is_nan, wpi_ptx_integer(word, 0x7fff), rounded, "");
    return LLVMBuildTrunc(t->b, result, narrow, "");
}

/* The inverse of from_bits. `value` may be wider than `type` says: doubles round to 16 bits too. */
static LLVMValueRef to_bits(wpi_ptx *t, LLVMValueRef value, wpi_ptx_type type) {
    if (!wpi_ptx_is_float(type) || type.bits > 16) return wpi_ptx_as_integer(t, value);
    LLVMTypeRef half = LLVMHalfTypeInContext(t->c->context), word = t->c->i32, narrow = t->c->i16;
    LLVMTypeRef single = t->c->f32;
    if (type.lanes > 1) {
        half = LLVMVectorType(half, type.lanes);
        word = LLVMVectorType(word, type.lanes);
        narrow = LLVMVectorType(narrow, type.lanes);
        single = LLVMVectorType(single, type.lanes);
    }
    if (type.kind == WP_PTX_FLOAT)
        return wpi_ptx_as_integer(t, LLVMBuildFPTrunc(t->b, value, half, ""));
    if (LLVMTypeOf(value) != single) value = LLVMBuildFPTrunc(t->b, value, single, "");
    return wpi_ptx_as_integer(t, round_bfloat(t, value, word, narrow));
}

static LLVMValueRef literal(wpi_ptx *t, const wpi_ptx_operand *o, wpi_ptx_type type) {
    if (type.lanes > 1) {
        wpi_ptx_fail(t, NULL);
        return LLVMGetUndef(wpi_ptx_llvm(t, type));
    }
    uint64_t bits = o->value;
    if (o->kind != WP_PTX_OPERAND_INTEGER) {
        bool is_wanted_single = type.bits == 32;
        if (o->kind == WP_PTX_OPERAND_REAL64 && is_wanted_single) {
            double wide;
            memcpy(&wide, &bits, sizeof wide);
            float single = (float)wide;
            uint32_t single_bits;
            memcpy(&single_bits, &single, sizeof single);
            bits = single_bits;
        } else if (o->kind == WP_PTX_OPERAND_REAL32 && type.bits == 64) {
            float single;
            uint32_t single_bits = (uint32_t)bits;
            memcpy(&single, &single_bits, sizeof single);
            double wide = (double)single;
            memcpy(&bits, &wide, sizeof bits);
        }
    }
    if (type.kind == WP_PTX_PREDICATE) return LLVMConstInt(t->c->i1, bits != 0, 0);
    LLVMTypeRef raw = integer_type(t, type.bits);
    return from_bits(t, LLVMConstInt(raw, bits, wpi_ptx_is_signed(type) || type.bits > 64), type);
}

LLVMValueRef wpi_ptx_read_raw(wpi_ptx *t, const wpi_ptx_operand *o) {
    if (o->kind != WP_PTX_OPERAND_NAME || o->is_negated || o->selector[0] || o->value) return NULL;
    wpi_ptx_register *r = wpi_ptx_find(t, o->name);
    return r && !r->is_predicate ? wpi_ptx_value(t, r) : NULL;
}

LLVMValueRef wpi_ptx_read_operand(wpi_ptx *t, const wpi_ptx_operand *o, wpi_ptx_type type) {
    LLVMTypeRef wanted = wpi_ptx_llvm(t, type);
    if (o->kind == WP_PTX_OPERAND_INTEGER || o->kind == WP_PTX_OPERAND_REAL32 ||
        o->kind == WP_PTX_OPERAND_REAL64)
        return literal(t, o, type);
    if (o->kind != WP_PTX_OPERAND_NAME || o->selector[0]) {
        wpi_ptx_fail(t, NULL);
        return LLVMGetUndef(wanted);
    }
    bool is_predicate = type.kind == WP_PTX_PREDICATE;
    if (o->is_negated && !is_predicate) wpi_ptx_fail(t, NULL);
    LLVMValueRef value;
    wpi_ptx_register *r = wpi_ptx_find(t, o->name);
    if (r) {
        if (r->is_predicate != is_predicate) {
            wpi_ptx_fail(t, "a predicate stands for a number, or a number for a predicate");
            return LLVMGetUndef(wanted);
        }
        value = wpi_ptx_value(t, r);
        if (!value) value = LLVMGetUndef(integer_type(t, r->bits));
    } else {
        value = is_predicate ? wpi_ptx_special_predicate(t, o->name) : wpi_ptx_special(t, o->name);
        if (!value) {
            char why[120];
            snprintf(why, sizeof why, "\"%.60s\" is not a register that is known here", o->name);
            wpi_ptx_fail(t, why);
            return LLVMGetUndef(wanted);
        }
    }
    if (is_predicate) return o->is_negated ? LLVMBuildNot(t->b, value, "") : value;
    value = wpi_ptx_as_integer(t, value);
    if (o->value)
        value = LLVMBuildAdd(t->b, value, LLVMConstInt(LLVMTypeOf(value), o->value, 0), "");
    value =
        wpi_ptx_resize(t, value, wpi_ptx_is_signed(type), integer_type(t, type.bits * type.lanes));
    return from_bits(t, value, type);
}

LLVMValueRef wpi_ptx_read(wpi_ptx *t, unsigned index, wpi_ptx_type type) {
    return wpi_ptx_read_operand(t, wpi_ptx_operand_at(t, index), type);
}

bool wpi_ptx_write_raw(wpi_ptx *t, const wpi_ptx_operand *o, LLVMValueRef value) {
    wpi_ptx_register *r = o->kind == WP_PTX_OPERAND_NAME && !o->is_negated && !o->selector[0]
                              ? wpi_ptx_find(t, o->name)
                              : NULL;
    if (!r || r->is_predicate || r->is_symbol) return false;
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned bits = LLVMGetTypeKind(type) == LLVMPointerTypeKind ? 64 : LLVMGetIntTypeWidth(type);
    if (bits != r->bits) return false;
    wpi_ptx_set_value(t, r, value);
    return true;
}

void wpi_ptx_write_operand(wpi_ptx *t, const wpi_ptx_operand *o, wpi_ptx_type type,
                           LLVMValueRef value) {
    if (o->kind == WP_PTX_OPERAND_SINK) return;
    wpi_ptx_register *r = o->kind == WP_PTX_OPERAND_NAME && !o->is_negated && !o->selector[0]
                              ? wpi_ptx_find(t, o->name)
                              : NULL;
    if (!r || r->is_symbol || r->is_predicate != (type.kind == WP_PTX_PREDICATE)) {
        wpi_ptx_fail(t, r ? "the destination is of another kind than the result" : NULL);
        return;
    }
    if (!r->is_predicate)
        value = wpi_ptx_resize(t, to_bits(t, value, type), wpi_ptx_is_signed(type),
                               integer_type(t, r->bits));
    wpi_ptx_set_value(t, r, value);
}

void wpi_ptx_write(wpi_ptx *t, unsigned index, wpi_ptx_type type, LLVMValueRef value) {
    wpi_ptx_write_operand(t, wpi_ptx_operand_at(t, index), type, value);
}

LLVMValueRef wpi_ptx_integer(LLVMTypeRef type, uint64_t value) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return LLVMConstInt(type, value, 1);
    LLVMValueRef one = LLVMConstInt(LLVMGetElementType(type), value, 1), lanes[8];
    unsigned count = LLVMGetVectorSize(type);
    WP_CHECK(count <= 8);
    for (unsigned i = 0; i < count; i++)
        lanes[i] = one;
    return LLVMConstVector(lanes, count);
}

LLVMValueRef wpi_ptx_real(LLVMTypeRef type, double value) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return LLVMConstReal(type, value);
    LLVMValueRef one = LLVMConstReal(LLVMGetElementType(type), value), lanes[8];
    unsigned count = LLVMGetVectorSize(type);
    WP_CHECK(count <= 8);
    for (unsigned i = 0; i < count; i++)
        lanes[i] = one;
    return LLVMConstVector(lanes, count);
}

LLVMValueRef wpi_ptx_intrinsic(wpi_ptx *t, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                               unsigned count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    WP_CHECK(id != 0);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(t->c->module, id, &type, 1);
    return LLVMBuildCall2(t->b, wpi_function_type(function), function, args, count, "");
}

LLVMValueRef wpi_ptx_call(wpi_ptx *t, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                          unsigned count) {
    LLVMTypeRef types[8];
    WP_CHECK(count <= 8);
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMValueRef function = LLVMGetNamedFunction(t->c->module, name);
    if (!function) {
        function = wpi_compile_declare(t->c, name, result, types, count);
        bool is_llvm = strncmp(name, "llvm.", 5) == 0; /* has its attributes */
        if (!is_llvm) wpi_function_attribute(t->c, function, "nounwind");
        /* functions that wait for other threads must not move between branches; pure ones may */
        if (strncmp(name, "__wp_", 5) == 0 && strncmp(name, "__wp_ptx_", 9) != 0)
            wpi_function_attribute(t->c, function, "convergent");
    }
    return LLVMBuildCall2(t->b, wpi_function_type(function), function, args, count, "");
}

LLVMValueRef wpi_ptx_minmax(wpi_ptx *t, bool is_max, bool is_signed, LLVMValueRef a,
                            LLVMValueRef b) {
    const char *name =
        is_signed ? (is_max ? "llvm.smax" : "llvm.smin") : (is_max ? "llvm.umax" : "llvm.umin");
    return wpi_ptx_intrinsic(t, name, LLVMTypeOf(a), (LLVMValueRef[]){a, b}, 2);
}
