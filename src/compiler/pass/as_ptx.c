/* SPDX-License-Identifier: Apache-2.0 */
/* Memory accesses as the PTX back end makes them.
 *
 * The pipeline below has the passes of nvptx.c and then those of LLVM's NVPTX target before
 * instruction selection, as far as they affect memory. Inline PTX and intrinsics are still present,
 * and stay separate from plain accesses as in PTX. */
#include <llvm-c/Comdat.h>
#include <string.h>

#include "base/fail.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/pass/trace/trace_pass.h"
#include "compiler/passes.h"

static LLVMValueRef first_behind_allocas(LLVMValueRef function) {
    LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    while (LLVMIsAAllocaInst(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* Host code can only pass addresses of global memory. */
static void mark_global(wpi_compile *c, LLVMValueRef pointer) {
    LLVMTypeRef global = LLVMPointerTypeInContext(c->context, WP_SPACE_GLOBAL);
    LLVMValueRef there = LLVMBuildAddrSpaceCast(c->builder, pointer, global, "");
    LLVMValueRef back = LLVMBuildAddrSpaceCast(c->builder, there, c->ptr, "");
    LLVMReplaceAllUsesWith(pointer, back);
    LLVMSetOperand(there, 0, pointer);
}

/* Whether the pointer was loaded from a structure argument of the kernel. */
static bool is_member(LLVMValueRef i) {
    if (!LLVMIsALoadInst(i)) return false;
    LLVMValueRef base = wpi_pointer_base(LLVMGetOperand(i, 0));
    return LLVMIsAArgument(base) && wpi_argument_has(base, "byval");
}

static void mark_kernel(wpi_compile *c, LLVMValueRef kernel) {
    for (unsigned p = 0; p < LLVMCountParams(kernel); p++) {
        LLVMValueRef param = LLVMGetParam(kernel, p);
        if (LLVMTypeOf(param) != c->ptr || wpi_argument_has(param, "byval")) continue;
        LLVMPositionBuilderBefore(c->builder, first_behind_allocas(kernel));
        mark_global(c, param);
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMTypeOf(i) != c->ptr || !is_member(i)) continue;
            wpi_builder_after(c->builder, i);
            mark_global(c, i);
        }
}

/* Marks read-only loads while attributes are valid: lowering inline PTX invalidates them. */
static void mark_read_only(wpi_compile *c) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (!wpi_access_is_plain_read(i)) continue;
                unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 0)));
                if (space == WP_SPACE_GLOBAL && wpi_trace_is_read_only(c, i))
                    wpi_lower_mark_cache(c, i, WP_TRACE_CACHE_READ_ONLY);
            }
}

/* Functions of the device library are inlined in PTX before loads are optimised. Here they are not,
 * so attributes mark that they access only memory whose address is an argument. */
static void mark_library(wpi_compile *c) {
    enum { NO_MEMORY = 0, ARGUMENTS_ONLY = 3 }; /* LLVM's encoding of memory(...) */
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        if (!LLVMIsDeclaration(f) || strncmp(LLVMGetValueName2(f, &length), "__nv_", 5) != 0)
            continue;
        bool has_pointer = false;
        for (unsigned p = 0; p < LLVMCountParams(f); p++)
            has_pointer |= LLVMTypeOf(LLVMGetParam(f, p)) == c->ptr;
        LLVMAttributeRef memory =
            LLVMCreateEnumAttribute(c->context, kind, has_pointer ? ARGUMENTS_ONLY : NO_MEMORY);
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, memory);
        wpi_function_attribute(c, f, "nounwind");
        wpi_function_attribute(c, f, "willreturn");
    }
}

wp_status wpi_pass_as_ptx(wpi_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_nvptx(&machine, err));
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || wpi_compile_is_kernel(c, f)) continue;
        LLVMSetComdat(f, NULL);
        LLVMSetVisibility(f, LLVMDefaultVisibility);
        LLVMSetLinkage(f, LLVMInternalLinkage);
    }
    mark_library(c);
    WP_TRY(wpi_compile_run(c,
                           "globaldce,cgscc(inline),function(sroa,early-cse<memssa>,"
                           "instcombine<no-verify-fixpoint>,simplifycfg),globaldce",
                           machine, err));
    for (uint32_t k = 0; k < c->kernel_count; k++)
        mark_kernel(c, c->kernels[k].function);
    wpi_module_forget_exact(c->module);
    WP_TRY(wpi_compile_run(c,
                           "function(sroa,infer-address-spaces,separate-const-offset-from-gep,"
                           "speculative-execution,slsr,gvn,nary-reassociate,early-cse,gvn,"
                           "load-store-vectorizer,sroa)",
                           machine, err));
    mark_read_only(c);
    return WP_STATUS_OK;
}
