/* SPDX-License-Identifier: Apache-2.0 */
/* From integers back to pointers. An address reaches inline PTX as a pointer, as a 64-bit integer
 * or, in shared memory, as the low 32 bits of one:
 *
 *     s = (unsigned)__cvta_generic_to_shared(&tile[0]) + 16 * row;
 *     asm("ld.shared.u32 %0, [%1];" …)
 *
 * So that the passes behind know which memory is accessed, the integer's computation is traced back
 * to its pointer, and repeated on pointers: ptrtoint gives the pointer, + and - become byte
 * offsets, phi and select join pointers. A value without a single such origin is completed at run
 * time: 32 bits by the address of the block's shared memory. */
#include <string.h>

#include "compiler/ir/edit.h"
#include "compiler/ptx/ptx.h"

static bool is_pointer(LLVMValueRef value) {
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

static LLVMOpcode opcode_of(LLVMValueRef value) {
    if (LLVMIsAInstruction(value)) return LLVMGetInstructionOpcode(value);
    return LLVMIsAConstantExpr(value) ? LLVMGetConstOpcode(value) : (LLVMOpcode)0;
}

/* Positions the builder right after `value`, so that the code dominates all uses of the value;
 * constants need no position. leave() restores the builder's position. */
static void enter(wpi_ptx *t, LLVMValueRef value) {
    if (LLVMIsAInstruction(value)) wpi_builder_after(t->b, value);
}

static void leave(wpi_ptx *t) {
    LLVMPositionBuilderBefore(t->b, t->anchor);
}

static LLVMValueRef generic(wpi_ptx *t, LLVMValueRef pointer) {
    if (LLVMTypeOf(pointer) == t->c->ptr) return pointer;
    return LLVMBuildAddrSpaceCast(t->b, pointer, t->c->ptr, "");
}

static LLVMValueRef step(wpi_ptx *t, LLVMValueRef value, LLVMValueRef base, LLVMValueRef offset,
                         bool is_back) {
    enter(t, value);
    offset = wpi_ptx_resize(t, offset, true, t->c->i64);
    if (is_back) offset = LLVMBuildNeg(t->b, offset, "");
    LLVMValueRef result = LLVMBuildGEP2(t->b, t->c->i8, base, &offset, 1, "");
    leave(t);
    return result;
}

static LLVMValueRef join_phi(wpi_ptx *t, LLVMValueRef value) {
    LLVMPositionBuilderBefore(t->b, value);
    LLVMValueRef phi = LLVMBuildPhi(t->b, t->c->ptr, "");
    leave(t);
    wpi_map_set(t->pointers, value, phi); /* before its operands, which may refer to it */
    for (unsigned i = 0; i < LLVMCountIncoming(value); i++) {
        LLVMValueRef pointer = wpi_ptx_pointer_of(t, LLVMGetIncomingValue(value, i));
        if (!pointer) { /* forget values built on this phi, which from now on fails at once */
            wpi_map_set(t->hopeless, value, value);
            wpi_map_deinit(t->pointers);
            LLVMReplaceAllUsesWith(phi, LLVMGetUndef(t->c->ptr));
            LLVMInstructionEraseFromParent(phi);
            return NULL;
        }
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(value, i);
        LLVMAddIncoming(phi, &pointer, &from, 1);
    }
    return phi;
}

static LLVMValueRef derive(wpi_ptx *t, LLVMValueRef value) {
    LLVMOpcode opcode = opcode_of(value);
    LLVMValueRef first = opcode == 0 ? NULL : LLVMGetOperand(value, 0);
    switch (opcode) {
    case LLVMPtrToInt: {
        enter(t, value);
        LLVMValueRef pointer = generic(t, first);
        leave(t);
        return pointer;
    }
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt: return wpi_ptx_pointer_of(t, first);
    case LLVMOr:
        if (!LLVMIsAInstruction(value) || !LLVMGetIsDisjoint(value)) return NULL;
        /* fall through: an or of disjoint bits is an addition */
        __attribute__((fallthrough));
    case LLVMAdd: {
        LLVMValueRef second = LLVMGetOperand(value, 1);
        LLVMValueRef base = wpi_ptx_pointer_of(t, first), other = wpi_ptx_pointer_of(t, second);
        if (!base == !other) return NULL; /* no pointer, or a sum of two */
        return step(t, value, base ? base : other, base ? second : first, false);
    }
    case LLVMSub: {
        LLVMValueRef base = wpi_ptx_pointer_of(t, first);
        if (!base || wpi_ptx_pointer_of(t, LLVMGetOperand(value, 1)))
            return NULL; /* a difference */
        return step(t, value, base, LLVMGetOperand(value, 1), true);
    }
    case LLVMSelect: {
        LLVMValueRef a = wpi_ptx_pointer_of(t, LLVMGetOperand(value, 1));
        LLVMValueRef b = wpi_ptx_pointer_of(t, LLVMGetOperand(value, 2));
        if (!a || !b) return NULL;
        enter(t, value);
        LLVMValueRef pointer = LLVMBuildSelect(t->b, first, a, b, "");
        leave(t);
        return pointer;
    }
    case LLVMPHI: return join_phi(t, value);
    default: return NULL;
    }
}

LLVMValueRef wpi_ptx_pointer_of(wpi_ptx *t, LLVMValueRef value) {
    if (is_pointer(value)) return generic(t, value);
    if (!LLVMIsAInstruction(value)) return LLVMIsAConstantExpr(value) ? derive(t, value) : NULL;
    if (wpi_map_has(t->hopeless, value)) return NULL;
    if (wpi_map_has(t->pointers, value)) return wpi_map_get(t->pointers, value);
    LLVMValueRef pointer = derive(t, value);
    if (pointer) wpi_map_set(t->pointers, value, pointer);
    return pointer;
}

static bool is_shared(const wpi_ptx *t) {
    for (unsigned i = 1; i < t->s->part_count; i++)
        if (strncmp(t->s->parts[i], "shared", 6) == 0) return true;
    return false;
}

LLVMValueRef wpi_ptx_shared_pointer(wpi_ptx *t, LLVMValueRef value) {
    value = wpi_ptx_resize(t, wpi_ptx_as_integer(t, value), false, t->c->i32);
    return wpi_ptx_call(t, WP_PTX_SHARED_POINTER, t->c->ptr, &value, 1);
}

LLVMValueRef wpi_ptx_address(wpi_ptx *t, unsigned index) {
    return wpi_ptx_address_in(t, index,
                              wpi_ptx_is_cluster_space(t) ? WP_PTX_PLACE_CLUSTER
                              : is_shared(t)              ? WP_PTX_PLACE_SHARED
                                                          : WP_PTX_PLACE_GLOBAL);
}

LLVMValueRef wpi_ptx_address_in(wpi_ptx *t, unsigned index, wpi_ptx_place place) {
    if (wpi_ptx_operand_at(t, index)->count != 0) wpi_ptx_fail(t, NULL);
    return wpi_ptx_base_in(t, index, place);
}

LLVMValueRef wpi_ptx_base_in(wpi_ptx *t, unsigned index, wpi_ptx_place place) {
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, index);
    LLVMValueRef none = LLVMGetUndef(t->c->ptr);
    if (o->kind != WP_PTX_OPERAND_ADDRESS) {
        wpi_ptx_fail(t, NULL);
        return none;
    }
    if (!o->name[0]) return LLVMConstIntToPtr(wpi_const64(t->c, o->value), t->c->ptr);
    wpi_ptx_register *r = wpi_ptx_find(t, o->name);
    if (!r || (!r->has_slot && !r->value) || r->is_predicate || (r->bits != 32 && r->bits != 64)) {
        wpi_ptx_fail(t, r ? "the address has no value"
                          : "its address is not a register that is known here");
        return none;
    }
    LLVMValueRef value = wpi_ptx_value(t, r);
    LLVMValueRef base = place == WP_PTX_PLACE_CLUSTER ? wpi_ptx_cluster_pointer(t, value)
                        : t->is_module && place == WP_PTX_PLACE_SHARED && !r->is_symbol
                            ? wpi_ptx_shared_pointer(t, value)
                            : wpi_ptx_pointer_of(t, value);
    if (!base &&
        r->bits == 32) { /* shared memory is shorter than 4 GiB: half an address is enough */
        base = wpi_ptx_call(t, "__wp_shared_at", t->c->ptr, &value, 1);
        base = LLVMBuildAddrSpaceCast(t->b, base, LLVMPointerTypeInContext(t->c->context, 3), "");
        base = LLVMBuildAddrSpaceCast(t->b, base, t->c->ptr, "");
    }
    if (!base) base = LLVMBuildIntToPtr(t->b, value, t->c->ptr, "");
    LLVMValueRef offset = wpi_const64(t->c, o->value);
    if (o->offset_name[0]) {
        const wpi_ptx_operand name = {.kind = WP_PTX_OPERAND_NAME, .name = o->offset_name};
        offset = wpi_ptx_read_operand(t, &name, wpi_ptx_type_of(WP_PTX_SIGNED, 64));
    } else if (o->value == 0) {
        return base;
    }
    return LLVMBuildGEP2(t->b, t->c->i8, base, &offset, 1, "");
}
