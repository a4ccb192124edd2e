/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/access.h"

#include <stddef.h>

enum { RANGE_SECOND = 1, RANGE_BYTES, RANGE_VOLATILE }; /* operands of memcpy, memmove, memset */

bool wpi_access_is_atomic(LLVMValueRef i) {
    return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

static bool is_ordered(LLVMValueRef i) {
    return LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
}

bool wpi_access_is_plain_read(LLVMValueRef i) {
    return LLVMIsALoadInst(i) && !is_ordered(i);
}

static void describe_range(LLVMValueRef i, wpi_ir_access *a) {
    LLVMValueRef second = LLVMGetOperand(i, RANGE_SECOND);
    const bool is_set = LLVMIsAMemSetInst(i) != NULL;
    a->kind = is_set ? WP_ACCESS_SET : WP_ACCESS_COPY;
    *(is_set ? &a->value : &a->source) = second;
    a->is_ordered = !LLVMIsNull(LLVMGetOperand(i, RANGE_VOLATILE));
}

wpi_ir_access wpi_access_of(LLVMValueRef i) {
    wpi_ir_access a = {.instruction = i};
    if (LLVMIsALoadInst(i)) {
        a.kind = WP_ACCESS_READ;
        a.type = LLVMTypeOf(i);
        a.is_ordered = is_ordered(i);
    } else if (LLVMIsAStoreInst(i)) {
        a.kind = WP_ACCESS_WRITE;
        a.operand = 1;
        a.value = LLVMGetOperand(i, 0);
        a.type = LLVMTypeOf(a.value);
        a.is_ordered = is_ordered(i);
    } else if (wpi_access_is_atomic(i)) {
        a.kind = WP_ACCESS_ATOMIC;
        a.type = LLVMTypeOf(LLVMGetOperand(i, 1));
        a.is_ordered = true;
    } else if (LLVMIsAMemIntrinsic(i)) {
        describe_range(i, &a);
    } else if (LLVMIsAFenceInst(i)) {
        a.kind = WP_ACCESS_FENCE;
        a.is_ordered = true;
        return a;
    } else {
        return a;
    }
    a.pointer = LLVMGetOperand(i, a.operand);
    return a;
}

uint64_t wpi_access_bytes(LLVMTargetDataRef layout, const wpi_ir_access *a) {
    if (a->type != NULL) return LLVMStoreSizeOfType(layout, a->type);
    if (!wpi_access_is_range(a)) return 0;
    LLVMValueRef bytes = LLVMGetOperand(a->instruction, RANGE_BYTES);
    return LLVMIsAConstantInt(bytes) ? LLVMConstIntGetZExtValue(bytes) : 0;
}

uint32_t wpi_access_space(const wpi_ir_access *a) {
    return LLVMGetPointerAddressSpace(LLVMTypeOf(a->pointer));
}
