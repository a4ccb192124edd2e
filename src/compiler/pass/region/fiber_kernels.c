/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that stop inside functions that were not inlined run one fiber per thread: the kernel and
 * its calls of wp_rt_stop are unchanged. */
#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/region/regions.h"

LLVMValueRef wpi_load_settled(LLVMBuilderRef at, LLVMTypeRef type, LLVMValueRef address) {
    LLVMValueRef load = LLVMBuildLoad2(at, type, address, "");
    wpi_mark_settled_load(load);
    return load;
}

static void note(wpi_compile *c, LLVMValueRef load, const char *kind, uint64_t value) {
    LLVMMetadataRef number = LLVMValueAsMetadata(wpi_const64(c, value));
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(c->context, kind, (unsigned)strlen(kind)),
                    LLVMMetadataAsValue(c->context, LLVMMDNodeInContext2(c->context, &number, 1)));
}

/* Marks a structure's address as dereferenceable. */
static void note_extent(wpi_compile *c, LLVMValueRef address, LLVMTypeRef type) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    note(c, address, "dereferenceable", LLVMABISizeOfType(layout, type));
    note(c, address, "align", LLVMABIAlignmentOfType(layout, type));
}

void wpi_kernel_load_args(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef kernel,
                          LLVMValueRef block, LLVMValueRef *out) {
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMValueRef field = wpi_lower_block_field(c, at, block, offsetof(wp_cpu_block, args));
    LLVMValueRef args = wpi_load_settled(at, c->ptr, field);
    for (unsigned p = 0; p < LLVMCountParams(kernel); p++) {
        LLVMValueRef index = wpi_const64(c, p * sizeof(void *));
        LLVMValueRef place = LLVMBuildInBoundsGEP2(at, c->i8, args, &index, 1, "");
        LLVMValueRef pointer = wpi_load_settled(at, c->ptr, place);
        LLVMAttributeRef by_address = LLVMGetEnumAttributeAtIndex(kernel, p + 1, byval);
        if (by_address) note_extent(c, pointer, LLVMGetTypeAttributeValue(by_address));
        LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(kernel, p));
        out[p] = by_address ? pointer : wpi_load_settled(at, type, pointer);
        if (by_address && LLVMTypeOf(pointer) != type)
            out[p] = LLVMBuildAddrSpaceCast(at, pointer, type, "");
    }
}

static void number_stops(LLVMValueRef function, uint32_t *point, wpi_compile *c) {
    uint32_t count;
    LLVMBasicBlockRef *blocks = wpi_blocks_rpo(function, &count);
    for (uint32_t b = 0; b < count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(blocks[b]); i; i = LLVMGetNextInstruction(i))
            if (wpi_lower_is_stop(i)) LLVMSetOperand(i, 1, wpi_const32(c, ++*point));
    wpi_free(blocks);
}

LLVMValueRef wpi_fiber_build(wpi_compile *c, wpi_kernel_ir *kernel) {
    uint32_t point = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) number_stops(f, &point, c);

    char name[512];
    snprintf(name, sizeof name, "%.480s.thread", kernel->name);
    LLVMValueRef function =
        LLVMAddFunction(c->module, name, LLVMFunctionType(c->none, &c->ptr, 1, 0));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(c->builder,
                             LLVMAppendBasicBlockInContext(c->context, function, "entry"));
    unsigned count = LLVMCountParams(kernel->function);
    LLVMValueRef *args = wpi_must_calloc(count + 1, sizeof *args);
    wpi_kernel_load_args(c, c->builder, kernel->function, LLVMGetParam(function, 0), args);
    LLVMValueRef call = LLVMBuildCall2(c->builder, wpi_function_type(kernel->function),
                                       kernel->function, args, count, "");
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    for (unsigned p = 1; p <= count; p++) {
        LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(kernel->function, p, byval);
        if (attribute) LLVMAddCallSiteAttribute(call, p, attribute);
    }
    LLVMBuildRetVoid(c->builder);
    wpi_free(args);
    return function;
}
