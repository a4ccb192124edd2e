/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/clone.h"

#include "base/must.h"

static void *mapped(const wpi_map *map, void *key) {
    void *to = wpi_map_get(map, key);
    return to ? to : key;
}

static void copy_block(LLVMBuilderRef at, LLVMBasicBlockRef block, const wpi_map *made,
                       wpi_map *values) {
    LLVMPositionBuilderAtEnd(at, wpi_map_get(made, block));
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef copy;
        if (wpi_map_has(values, i)) continue;
        if (LLVMIsAPHINode(i)) {
            copy = LLVMBuildPhi(at, LLVMTypeOf(i), "");
        } else {
            copy = LLVMInstructionClone(i);
            LLVMInsertIntoBuilder(at, copy);
        }
        wpi_map_set(values, i, copy);
    }
}

static void connect(LLVMValueRef original, const wpi_map *values, const wpi_map *made) {
    LLVMValueRef copy = wpi_map_get(values, original);
    if (!LLVMIsAInstruction(copy) || copy == original) return; /* given by the caller, not copied */
    if (LLVMIsAPHINode(original)) {
        for (unsigned n = 0; n < LLVMCountIncoming(original); n++) {
            LLVMValueRef value = mapped(values, LLVMGetIncomingValue(original, n));
            LLVMBasicBlockRef from = mapped(made, LLVMGetIncomingBlock(original, n));
            LLVMAddIncoming(copy, &value, &from, 1);
        }
        return;
    }
    for (int o = 0; o < LLVMGetNumOperands(original); o++) {
        LLVMValueRef operand = LLVMGetOperand(original, (unsigned)o);
        if (!LLVMValueIsBasicBlock(operand))
            LLVMSetOperand(copy, (unsigned)o, mapped(values, operand));
    }
    if (!LLVMIsATerminatorInst(original)) return;
    for (unsigned s = 0; s < LLVMGetNumSuccessors(original); s++)
        LLVMSetSuccessor(copy, s, mapped(made, LLVMGetSuccessor(original, s)));
}

void wpi_clone_blocks(const LLVMBasicBlockRef *blocks, uint32_t count, LLVMBasicBlockRef place,
                      wpi_map *values, wpi_map *made) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(place)));
    LLVMBuilderRef at = LLVMCreateBuilderInContext(context);
    for (uint32_t b = 0; b < count; b++)
        wpi_map_set(made, blocks[b], LLVMInsertBasicBlockInContext(context, place, "copy"));
    for (uint32_t b = 0; b < count; b++)
        copy_block(at, blocks[b], made, values);
    for (uint32_t b = 0; b < count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(blocks[b]); i; i = LLVMGetNextInstruction(i))
            connect(i, values, made);
    LLVMDisposeBuilder(at);
}

void wpi_clone_body(LLVMValueRef from, LLVMValueRef to) {
    wpi_map values = {0}, made = {0};
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(to));
    LLVMBasicBlockRef last = LLVMAppendBasicBlockInContext(context, to, "last");
    const uint32_t count = LLVMCountBasicBlocks(from);
    LLVMBasicBlockRef *blocks = wpi_must_calloc(count, sizeof *blocks);
    LLVMGetBasicBlocks(from, blocks);
    for (unsigned i = 0; i < LLVMCountParams(from); i++)
        wpi_map_set(&values, LLVMGetParam(from, i), LLVMGetParam(to, i));
    wpi_clone_blocks(blocks, count, last, &values, &made);
    LLVMDeleteBasicBlock(last);
    wpi_free(blocks);
    wpi_map_deinit(&values);
    wpi_map_deinit(&made);
}
