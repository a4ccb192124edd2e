/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/edit.h"

#include <string.h>

#include "base/must.h"
#include "compiler/ir/map.h"

LLVMValueRef *wpi_users(LLVMValueRef value, uint32_t *count) {
    uint32_t n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(value); u; u = LLVMGetNextUse(u))
        n++;
    LLVMValueRef *users = wpi_must_calloc(n ? n : 1, sizeof *users);
    uint32_t i = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(value); u; u = LLVMGetNextUse(u))
        users[i++] = LLVMGetUser(u);
    *count = n;
    return users;
}

void wpi_phi_add(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from) {
    LLVMAddIncoming(phi, &value, &from, 1);
}

int wpi_operand_find(LLVMValueRef user, LLVMValueRef value, int start) {
    int count = LLVMGetNumOperands(user);
    for (int i = start; i < count; i++)
        if (LLVMGetOperand(user, (unsigned)i) == value) return i;
    return -1;
}

LLVMBasicBlockRef wpi_block_split_before(LLVMValueRef instruction) {
    LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
    LLVMBasicBlockRef front = LLVMInsertBasicBlockInContext(context, block, "front");

    uint32_t count;
    LLVMValueRef *users = wpi_users(LLVMBasicBlockAsValue(block), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!LLVMIsATerminatorInst(users[i])) continue;
        for (unsigned s = 0; s < LLVMGetNumSuccessors(users[i]); s++)
            if (LLVMGetSuccessor(users[i], s) == block) LLVMSetSuccessor(users[i], s, front);
    }
    wpi_free(users);

    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(builder, front);
    while (LLVMGetFirstInstruction(block) != instruction) {
        LLVMValueRef first = LLVMGetFirstInstruction(block);
        LLVMInstructionRemoveFromParent(first);
        LLVMInsertIntoBuilder(builder, first);
    }
    LLVMBuildBr(builder, block);
    LLVMDisposeBuilder(builder);
    return front;
}

void wpi_builder_after(LLVMBuilderRef builder, LLVMValueRef value) {
    LLVMValueRef next = LLVMGetNextInstruction(value);
    if (LLVMIsAPHINode(value))
        while (LLVMIsAPHINode(next))
            next = LLVMGetNextInstruction(next);
    LLVMPositionBuilderBefore(builder, next);
}

void wpi_builder_before_use(LLVMBuilderRef builder, LLVMValueRef user, unsigned index) {
    if (LLVMIsAPHINode(user))
        LLVMPositionBuilderBefore(builder,
                                  LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, index)));
    else
        LLVMPositionBuilderBefore(builder, user);
}

/* Replaces the frozen operand that kept the builder from folding an operation to a constant
 * expression. */
static void unfreeze(LLVMValueRef made, LLVMValueRef frozen, LLVMValueRef constant) {
    for (int o = wpi_operand_find(made, frozen, 0); o >= 0;
         o = wpi_operand_find(made, frozen, o + 1))
        LLVMSetOperand(made, (unsigned)o, constant);
    LLVMInstructionEraseFromParent(frozen);
}

/* Builds the instruction for a constant expression. LLVM 19 has constant expressions for these
 * opcodes only. */
static LLVMValueRef materialize(LLVMBuilderRef builder, LLVMValueRef expression) {
    LLVMValueRef constant = LLVMGetOperand(expression, 0), made;
    LLVMValueRef first = LLVMBuildFreeze(builder, constant, "");
    LLVMTypeRef type = LLVMTypeOf(expression);
    LLVMOpcode opcode = LLVMGetConstOpcode(expression);
    if (opcode == LLVMGetElementPtr) {
        unsigned count = (unsigned)LLVMGetNumOperands(expression) - 1;
        LLVMValueRef *indices = wpi_must_calloc(count ? count : 1, sizeof *indices);
        for (unsigned i = 0; i < count; i++)
            indices[i] = LLVMGetOperand(expression, i + 1);
        made = LLVMBuildInBoundsGEP2(builder, LLVMGetGEPSourceElementType(expression), first,
                                     indices, count, "");
        wpi_free(indices);
    } else if (LLVMGetNumOperands(expression) == 2) {
        made = LLVMBuildBinOp(builder, opcode, first, LLVMGetOperand(expression, 1), "");
    } else {
        made = LLVMBuildCast(builder, opcode, first, type, "");
    }
    unfreeze(made, first, constant);
    return made;
}

static LLVMValueRef rebuild_aggregate(LLVMBuilderRef builder, LLVMValueRef aggregate) {
    LLVMValueRef made = LLVMGetUndef(LLVMTypeOf(aggregate));
    LLVMTypeRef type = LLVMTypeOf(aggregate);
    LLVMTypeRef index_type = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(aggregate); i++) {
        LLVMValueRef constant = LLVMGetOperand(aggregate, i);
        LLVMValueRef element = LLVMBuildFreeze(builder, constant, "");
        made =
            LLVMGetTypeKind(type) == LLVMVectorTypeKind
                ? LLVMBuildInsertElement(builder, made, element, LLVMConstInt(index_type, i, 0), "")
                : LLVMBuildInsertValue(builder, made, element, i, "");
        unfreeze(made, element, constant);
    }
    return made;
}

static bool is_aggregate(LLVMValueRef value) {
    return LLVMIsAConstantArray(value) || LLVMIsAConstantStruct(value) ||
           LLVMIsAConstantVector(value);
}

void wpi_constant_expand_uses(LLVMContextRef context, LLVMValueRef constant) {
    uint32_t count;
    LLVMValueRef *users = wpi_users(constant, &count);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    wpi_map seen = {0};
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef user = users[i];
        if (wpi_map_has(&seen, user)) continue;
        wpi_map_set(&seen, user, user);
        bool aggregate = is_aggregate(user);
        if (!aggregate && !LLVMIsAConstantExpr(user)) continue;
        wpi_constant_expand_uses(context,
                                 user); /* now only instructions (and initialisers) use it */
        uint32_t places;
        LLVMValueRef *instructions = wpi_users(user, &places);
        for (uint32_t p = 0; p < places; p++) {
            LLVMValueRef at = instructions[p];
            if (!LLVMIsAInstruction(at)) continue;
            int operand = wpi_operand_find(at, user, 0);
            if (operand < 0) continue; /* done with an earlier use by the same instruction */
            wpi_map by_block = {0};    /* a phi needs one value for all edges from a block */
            for (; operand >= 0; operand = wpi_operand_find(at, user, operand + 1)) {
                wpi_builder_before_use(builder, at, (unsigned)operand);
                LLVMBasicBlockRef block = LLVMGetInsertBlock(builder);
                LLVMValueRef made = LLVMIsAPHINode(at) ? wpi_map_get(&by_block, block) : NULL;
                if (!made)
                    made =
                        aggregate ? rebuild_aggregate(builder, user) : materialize(builder, user);
                wpi_map_set(&by_block, block, made);
                LLVMSetOperand(at, (unsigned)operand, made);
            }
            wpi_map_deinit(&by_block);
        }
        wpi_free(instructions);
    }
    wpi_map_deinit(&seen);
    LLVMDisposeBuilder(builder);
    wpi_free(users);
}

void wpi_replace_in_function(LLVMValueRef from, LLVMValueRef to, LLVMValueRef function) {
    uint32_t count;
    LLVMValueRef *users = wpi_users(from, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!LLVMIsAInstruction(users[i])) continue;
        if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(users[i])) != function) continue;
        for (int op = wpi_operand_find(users[i], from, 0); op >= 0;
             op = wpi_operand_find(users[i], from, op + 1))
            LLVMSetOperand(users[i], (unsigned)op, to);
    }
    wpi_free(users);
}

LLVMBasicBlockRef *wpi_blocks_rpo(LLVMValueRef function, uint32_t *count) {
    uint32_t total = LLVMCountBasicBlocks(function), depth = 0, done = 0;
    LLVMBasicBlockRef *order = wpi_must_calloc(total, sizeof *order);
    LLVMBasicBlockRef *stack = wpi_must_calloc(total, sizeof *stack);
    uint32_t *next = wpi_must_calloc(total, sizeof *next);
    wpi_map seen = {0};
    stack[depth++] = LLVMGetEntryBasicBlock(function);
    wpi_map_set(&seen, stack[0], stack[0]);
    while (depth) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(stack[depth - 1]);
        unsigned successors = LLVMGetNumSuccessors(terminator);
        if (next[depth - 1] == successors) {
            order[total - ++done] = stack[--depth];
            continue;
        }
        /* last successor first, so that the first comes first in the result */
        LLVMBasicBlockRef successor = LLVMGetSuccessor(terminator, successors - ++next[depth - 1]);
        if (wpi_map_has(&seen, successor)) continue;
        wpi_map_set(&seen, successor, successor);
        next[depth] = 0;
        stack[depth++] = successor;
    }
    for (uint32_t i = 0; i < done; i++)
        order[i] = order[total - done + i];
    wpi_map_deinit(&seen);
    wpi_free(stack);
    wpi_free(next);
    *count = done;
    return order;
}

LLVMValueRef wpi_called_function(LLVMValueRef instruction) {
    if (!LLVMIsACallInst(instruction)) return NULL;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    return LLVMIsAFunction(callee) ? callee : NULL;
}

LLVMValueRef wpi_uses_read_phi(LLVMBuilderRef builder, LLVMValueRef instruction,
                               LLVMBasicBlockRef block) {
    LLVMBasicBlockRef own = LLVMGetInstructionParent(instruction);
    uint32_t count;
    LLVMValueRef *users = wpi_users(instruction, &count), phi = NULL;
    for (uint32_t u = 0; u < count; u++) {
        if (LLVMGetInstructionParent(users[u]) == own) continue;
        if (!phi) {
            LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(block));
            phi = LLVMBuildPhi(builder, LLVMTypeOf(instruction), "");
        }
        for (int o = wpi_operand_find(users[u], instruction, 0); o >= 0;
             o = wpi_operand_find(users[u], instruction, o + 1))
            LLVMSetOperand(users[u], (unsigned)o, phi);
    }
    wpi_free(users);
    return phi;
}

void wpi_branch_mark_rare(LLVMContextRef context, LLVMValueRef branch) {
    LLVMTypeRef type = LLVMInt32TypeInContext(context);
    LLVMMetadataRef node[] = {LLVMMDStringInContext2(context, "branch_weights", 14),
                              LLVMValueAsMetadata(LLVMConstInt(type, 1, 0)),
                              LLVMValueAsMetadata(LLVMConstInt(type, 1u << 20, 0))};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, node, 3)));
}

void wpi_function_drop_body(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind)
                LLVMReplaceAllUsesWith(i, LLVMGetPoison(LLVMTypeOf(i)));
    LLVMBasicBlockRef next;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = next) {
        LLVMValueRef i;
        next = LLVMGetNextBasicBlock(b);
        while ((i = LLVMGetLastInstruction(b)))
            LLVMInstructionEraseFromParent(i);
    }
    while (LLVMGetFirstBasicBlock(function))
        LLVMDeleteBasicBlock(LLVMGetFirstBasicBlock(function));
}

bool wpi_function_is_address_taken(LLVMValueRef function) {
    for (LLVMUseRef u = LLVMGetFirstUse(function); u; u = LLVMGetNextUse(u))
        if (wpi_called_function(LLVMGetUser(u)) != function ||
            wpi_operand_find(LLVMGetUser(u), function, 0) != LLVMGetNumOperands(LLVMGetUser(u)) - 1)
            return true;
    return false;
}

unsigned wpi_argument_number(LLVMValueRef argument) {
    LLVMValueRef function = LLVMGetParamParent(argument);
    unsigned p = 0;
    while (LLVMGetParam(function, p) != argument)
        p++;
    return p;
}

bool wpi_argument_has(LLVMValueRef argument, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(LLVMGetParamParent(argument),
                                       wpi_argument_number(argument) + 1, kind) != NULL;
}

static void forget_exact(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMSDiv: LLVMSetExact(i, 0); break;
    case LLVMZExt: LLVMSetNNeg(i, 0); break;
    case LLVMOr: LLVMSetIsDisjoint(i, 0); break;
    default: break;
    }
}

void wpi_module_forget_exact(LLVMModuleRef module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                forget_exact(i);
}
