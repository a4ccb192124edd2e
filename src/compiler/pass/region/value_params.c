/* SPDX-License-Identifier: Apache-2.0 */
/* Structures that a kernel takes by value, and never writes, are constant and the same for all its
 * threads. Loads of them are marked ("invariant.load"): uniform if their address is, and free to be
 * moved and repeated like arithmetic. */
#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/region/regions.h"
#include "compiler/passes.h"

#define MARK "invariant.load"

static unsigned mark_kind(LLVMValueRef load) {
    return LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(load)), MARK, sizeof MARK - 1);
}

static bool is_in_param(LLVMValueRef address) {
    LLVMValueRef base = wpi_pointer_base(address);
    return LLVMIsAArgument(base) && wpi_argument_has(base, "byval") &&
           wpi_argument_has(base, "readonly");
}

bool wpi_is_settled_load(LLVMValueRef value) {
    return LLVMIsALoadInst(value) && LLVMGetMetadata(value, mark_kind(value));
}

bool wpi_is_param_load(LLVMValueRef value) {
    return wpi_is_settled_load(value) && is_in_param(LLVMGetOperand(value, 0));
}

void wpi_mark_settled_load(LLVMValueRef load) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(load));
    LLVMValueRef none = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0));
    LLVMSetMetadata(load, mark_kind(load), none);
}

static void mark_loads(LLVMValueRef kernel) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i) && !LLVMGetVolatile(i) && is_in_param(LLVMGetOperand(i, 0)))
                wpi_mark_settled_load(i);
}

bool wpi_params_copy_written(wpi_compile *c, LLVMValueRef kernel) {
    enum { ALIGNMENT = 16 };
    const unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    const unsigned readonly = LLVMGetEnumAttributeKindForName("readonly", 8);
    const unsigned readnone = LLVMGetEnumAttributeKindForName("readnone", 8);
    const unsigned writeonly = LLVMGetEnumAttributeKindForName("writeonly", 9);
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    bool is_any = false;
    for (unsigned p = 0; p < LLVMCountParams(kernel) && !LLVMIsDeclaration(kernel); p++) {
        LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(kernel, p + 1, byval);
        if (!attribute || LLVMGetEnumAttributeAtIndex(kernel, p + 1, readonly) ||
            LLVMGetEnumAttributeAtIndex(kernel, p + 1, readnone)) {
            continue;
        }
        LLVMValueRef param = LLVMGetParam(kernel, p);
        LLVMTypeRef type = LLVMGetTypeAttributeValue(attribute);
        LLVMPositionBuilderBefore(c->builder,
                                  LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel)));
        LLVMValueRef own = LLVMBuildAlloca(c->builder, type, "");
        LLVMSetAlignment(own, ALIGNMENT);
        LLVMReplaceAllUsesWith(param, own);
        LLVMBuildMemCpy(c->builder, own, ALIGNMENT, param, 1,
                        wpi_const64(c, LLVMABISizeOfType(layout, type)));
        LLVMRemoveEnumAttributeAtIndex(kernel, p + 1, writeonly);
        LLVMAddAttributeAtIndex(kernel, p + 1, LLVMCreateEnumAttribute(c->context, readonly, 0));
        is_any = true;
    }
    return is_any;
}

/* Of PTX, and of some large kernels, LLVM does not know which structures are only read. What is not
 * written of a copy is again the same for all threads, once the copy is in registers. */
wp_status wpi_pass_params(wpi_compile *c, wp_error *err) {
    bool is_any = false;
    for (uint32_t k = 0; k < c->kernel_count; k++)
        is_any = wpi_params_copy_written(c, c->kernels[k].function) || is_any;
    if (is_any)
        WP_TRY(wpi_compile_run(c, "function(sroa,early-cse<memssa>,simplifycfg)", NULL, err));
    for (uint32_t k = 0; k < c->kernel_count; k++)
        mark_loads(c->kernels[k].function);
    return WP_STATUS_OK;
}
