/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/same_code.h"

LLVMIntPredicate wpi_predicate_inverse(LLVMIntPredicate predicate) {
    switch (predicate) {
    case LLVMIntEQ: return LLVMIntNE;
    case LLVMIntNE: return LLVMIntEQ;
    case LLVMIntUGT: return LLVMIntULE;
    case LLVMIntUGE: return LLVMIntULT;
    case LLVMIntULT: return LLVMIntUGE;
    case LLVMIntULE: return LLVMIntUGT;
    case LLVMIntSGT: return LLVMIntSLE;
    case LLVMIntSGE: return LLVMIntSLT;
    case LLVMIntSLT: return LLVMIntSGE;
    default: return LLVMIntSGT;
    }
}

LLVMIntPredicate wpi_predicate_swapped(LLVMIntPredicate predicate) {
    switch (predicate) {
    case LLVMIntUGT: return LLVMIntULT;
    case LLVMIntUGE: return LLVMIntULE;
    case LLVMIntULT: return LLVMIntUGT;
    case LLVMIntULE: return LLVMIntUGE;
    case LLVMIntSGT: return LLVMIntSLT;
    case LLVMIntSGE: return LLVMIntSLE;
    case LLVMIntSLT: return LLVMIntSGT;
    case LLVMIntSLE: return LLVMIntSGE;
    default: return predicate;
    }
}

bool wpi_is_pure_operation(LLVMValueRef instruction) {
    return LLVMIsABinaryOperator(instruction) || LLVMIsACastInst(instruction) ||
           LLVMIsACmpInst(instruction) || LLVMIsASelectInst(instruction) ||
           LLVMIsAGetElementPtrInst(instruction) || LLVMIsAExtractElementInst(instruction) ||
           LLVMIsAInsertElementInst(instruction) || LLVMIsAExtractValueInst(instruction) ||
           LLVMIsAInsertValueInst(instruction) || LLVMIsAUnaryOperator(instruction);
}

bool wpi_is_division(LLVMValueRef instruction) {
    if (!LLVMIsABinaryOperator(instruction)) return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem || opcode == LLVMSRem;
}
