/* SPDX-License-Identifier: Apache-2.0 */
/* In PTX an address is an integer. Once LLVM has turned slots into values, the integers that
 * accesses use are traced back to the pointers they come from (address.c): arguments, variables,
 * memory of the frame. What cannot be traced stays an integer that becomes a pointer.
 *
 * A shared address may be 32 bits, which is not enough on the CPU. The block's shared memory is
 * less than 4 GiB, so the distance from one of its variables gives the rest:
 *
 *     pointer = variable + sign-extended(low - low half of variable)
 *
 * as integers: a pointer computed from the variable would claim to point into it. */
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ptx/module.h"

static LLVMValueRef shared_variable(wpi_compile *c) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == WP_SPACE_SHARED) return g;
    return LLVMAddGlobalInAddressSpace(c->module, LLVMArrayType2(c->i8, 0), "wpi_ptx_shared_window",
                                       WP_SPACE_SHARED);
}

static LLVMValueRef from_low_half(wpi_ptx *t, LLVMValueRef low) {
    LLVMTypeRef shared = LLVMPointerTypeInContext(t->c->context, WP_SPACE_SHARED);
    LLVMValueRef start = LLVMBuildPtrToInt(t->b, shared_variable(t->c), t->c->i64, "");
    LLVMValueRef start_low = LLVMBuildTrunc(t->b, start, t->c->i32, "");
    LLVMValueRef distance = LLVMBuildSub(t->b, low, start_low, "");
    LLVMValueRef whole =
        LLVMBuildAdd(t->b, start, LLVMBuildSExt(t->b, distance, t->c->i64, ""), "");
    return LLVMBuildAddrSpaceCast(t->b, LLVMBuildIntToPtr(t->b, whole, shared, ""), t->c->ptr, "");
}

static bool is_shared_call(LLVMValueRef instruction) {
    size_t length;
    LLVMValueRef callee = wpi_called_function(instruction);
    return callee && strcmp(LLVMGetValueName2(callee, &length), WP_PTX_SHARED_POINTER) == 0;
}

/* Instructions that were replaced. They stay until the end, as pointers computed before may be
 * made of them. */
typedef struct replaced {
    LLVMValueRef *items;
    size_t count, capacity;
    wpi_map by; /* what replaces each */
} replaced;

static void recover(wpi_ptx *t, LLVMValueRef instruction, replaced *out) {
    bool is_shared = is_shared_call(instruction);
    if (!is_shared && !LLVMIsAIntToPtrInst(instruction)) return;
    t->anchor = instruction;
    LLVMPositionBuilderBefore(t->b, instruction);
    LLVMValueRef value = LLVMGetOperand(instruction, 0);
    LLVMValueRef pointer = wpi_ptx_pointer_of(t, value);
    if (!pointer && !is_shared) return;
    LLVMPositionBuilderBefore(t->b, instruction);
    if (!pointer) pointer = from_low_half(t, value);
    if (LLVMTypeOf(pointer) != LLVMTypeOf(instruction))
        pointer = LLVMBuildAddrSpaceCast(t->b, pointer, LLVMTypeOf(instruction), "");
    if (out->count == out->capacity) {
        out->capacity = out->capacity ? 2 * out->capacity : 64;
        out->items = wpi_must_realloc(out->items, out->capacity * sizeof *out->items);
    }
    out->items[out->count++] = instruction;
    wpi_map_set(&out->by, instruction, pointer);
}

static void replace_all(replaced *r) {
    for (size_t i = 0; i < r->count; i++) {
        LLVMValueRef by = wpi_map_get(&r->by, r->items[i]);
        for (size_t n = 0; n < r->count && wpi_map_has(&r->by, by); n++)
            by = wpi_map_get(&r->by, by);
        LLVMReplaceAllUsesWith(r->items[i], by == r->items[i] ? LLVMGetUndef(LLVMTypeOf(by)) : by);
    }
    for (size_t i = 0; i < r->count; i++)
        LLVMInstructionEraseFromParent(r->items[i]);
    wpi_free(r->items);
    wpi_map_deinit(&r->by);
}

static void recover_all(wpi_compile *c, LLVMValueRef function) {
    wpi_map pointers = {0}, hopeless = {0};
    replaced out = {0};
    wpi_ptx t = {.c = c,
                 .b = c->builder,
                 .function = function,
                 .pointers = &pointers,
                 .hopeless = &hopeless};
    uint32_t count;
    LLVMBasicBlockRef *blocks = wpi_blocks_rpo(function, &count);
    for (uint32_t b = 0; b < count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(blocks[b]), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            recover(&t, i, &out);
        }
    wpi_free(blocks);
    replace_all(&out);
    wpi_map_deinit(&pointers);
    wpi_map_deinit(&hopeless);
}

wp_status wpi_ptx_module_pointers(wpi_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_nvptx(&machine, err));
    WP_TRY(wpi_compile_run(c,
                           "function(simplifycfg,sroa,early-cse,"
                           "instcombine<no-verify-fixpoint>,simplifycfg)",
                           machine, err));
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) recover_all(c, f);
    LLVMValueRef shared = LLVMGetNamedFunction(c->module, WP_PTX_SHARED_POINTER);
    if (shared && !LLVMGetFirstUse(shared)) LLVMDeleteFunction(shared);
    return wpi_compile_run(c,
                           "function(infer-address-spaces,sroa,early-cse<memssa>,"
                           "instcombine<no-verify-fixpoint>,simplifycfg)",
                           machine, err);
}
