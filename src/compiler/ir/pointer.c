/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/pointer.h"

#include "base/must.h"
#include "compiler/ir/map.h"

LLVMOpcode wpi_opcode_of(LLVMValueRef value) {
    if (LLVMIsAConstantExpr(value)) return LLVMGetConstOpcode(value);
    return LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : LLVMUnreachable;
}

LLVMValueRef wpi_pointer_base(LLVMValueRef pointer) {
    for (;;) {
        const LLVMOpcode opcode = wpi_opcode_of(pointer);
        if (opcode != LLVMGetElementPtr && opcode != LLVMAddrSpaceCast && opcode != LLVMBitCast)
            return pointer;
        LLVMValueRef below = LLVMGetOperand(pointer, 0);
        if (LLVMGetTypeKind(LLVMTypeOf(below)) != LLVMPointerTypeKind) return pointer;
        pointer = below;
    }
}

/* ---- roots ---- */

/* Values of an address still to be examined. */
typedef struct worklist {
    LLVMValueRef *items;
    uint32_t count, capacity;
    wpi_map seen;
} worklist;

static void push(worklist *list, LLVMValueRef value) {
    if (wpi_map_has(&list->seen, value)) return;
    wpi_map_set_index(&list->seen, value, 0);
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        list->items = wpi_must_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = value;
}

wpi_pointer_roots_of wpi_pointer_roots_of(LLVMValueRef pointer) {
    wpi_pointer_roots_of found = {.count = 0};
    worklist list = {0};
    push(&list, pointer);
    for (uint32_t s = 0; s < list.count; s++) {
        LLVMValueRef value = list.items[s];
        switch (wpi_opcode_of(value)) {
        case LLVMGetElementPtr:
        case LLVMAddrSpaceCast:
        case LLVMBitCast:
        case LLVMFreeze: push(&list, LLVMGetOperand(value, 0)); break;
        case LLVMPHI:
            for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
                push(&list, LLVMGetIncomingValue(value, i));
            break;
        case LLVMSelect:
            for (unsigned o = 1; o < 3; o++)
                push(&list, LLVMGetOperand(value, o));
            break;
        default:
            if (found.count == WP_POINTER_ROOTS_MAX)
                found.is_incomplete = true;
            else
                found.items[found.count++] = value;
        }
    }
    wpi_map_deinit(&list.seen);
    wpi_free(list.items);
    return found;
}

/* ---- offsets ---- */

wpi_gep_walk_begin wpi_gep_walk_begin(LLVMTargetDataRef layout, LLVMValueRef gep) {
    return (wpi_gep_walk_begin){layout, gep, LLVMGetGEPSourceElementType(gep), 1};
}

bool wpi_gep_next(wpi_gep_walk_begin *w, LLVMValueRef *index, uint64_t *bytes) {
    if (w->operand >= (unsigned)LLVMGetNumOperands(w->gep)) return false;
    *index = LLVMGetOperand(w->gep, w->operand);
    if (w->operand > 1 && LLVMGetTypeKind(w->type) == LLVMStructTypeKind) {
        const unsigned field = (unsigned)LLVMConstIntGetZExtValue(*index);
        *bytes = LLVMOffsetOfElement(w->layout, w->type, field);
        w->type = LLVMStructGetTypeAtIndex(w->type, field);
        *index = NULL;
    } else {
        if (w->operand > 1) w->type = LLVMGetElementType(w->type);
        *bytes = LLVMABISizeOfType(w->layout, w->type);
    }
    w->operand++;
    return true;
}
