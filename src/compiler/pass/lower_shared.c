/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory. Each kernel lays out the static shared variables it can reach; dynamic shared
 * memory (`extern __shared__`) follows. Variables of functions that were not inlined come first, at
 * offsets common to all kernels:
 *
 *      block->shared ► | common | this kernel's own | dynamic …
 *
 * A block runs on one OS thread, so atomics on shared memory need no bus lock: they become a load,
 * an operation and a store. */
#include <llvm-c/Target.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

#define SHARED_STATIC_MAX_BYTES (48u * 1024u)

static uint32_t align_up(uint32_t value, uint32_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

static bool is_shared(LLVMValueRef global) {
    return LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == WP_SPACE_SHARED;
}

static bool is_used_in(LLVMValueRef global, LLVMValueRef function) {
    for (LLVMUseRef u = LLVMGetFirstUse(global); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAInstruction(user) &&
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == function)
            return true;
    }
    return false;
}

static uint32_t place(LLVMTargetDataRef layout, LLVMValueRef global, uint32_t *end) {
    LLVMTypeRef type = LLVMGlobalGetValueType(global);
    uint32_t alignment = LLVMGetAlignment(global);
    if (!alignment) alignment = LLVMABIAlignmentOfType(layout, type);
    uint32_t size = (uint32_t)LLVMABISizeOfType(layout, type);
    if (size >= 16 && alignment < 16) alignment = 16; /* arrays may be accessed as vectors */
    uint32_t offset = align_up(*end, alignment);
    *end = offset + size;
    return offset;
}

static bool is_used_outside_kernels(const wpi_compile *c, LLVMValueRef global) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !wpi_compile_is_kernel(c, f) && is_used_in(global, f))
            return true;
    return false;
}

/* Of dynamic shared memory: at least 16, and what the arrays say by which a kernel, or a function
 * that it may call, names it. */
static uint32_t dynamic_alignment(const wpi_compile *c, LLVMValueRef kernel) {
    uint32_t most = 16;
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        if (!is_shared(g) || !LLVMIsDeclaration(g)) continue;
        if (LLVMGetAlignment(g) > most && (is_used_in(g, kernel) || is_used_outside_kernels(c, g)))
            most = LLVMGetAlignment(g);
    }
    return most;
}

static void replace(wpi_compile *c, LLVMValueRef global, LLVMValueRef function, uint32_t offset) {
    LLVMValueRef start = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    LLVMPositionBuilderBefore(c->builder, start);
    LLVMValueRef function_shared = LLVMGetNamedFunction(c->module, WP_SHARED_PLACEHOLDER);
    LLVMValueRef base = LLVMBuildCall2(c->builder, wpi_function_type(function_shared),
                                       function_shared, NULL, 0, "");
    LLVMValueRef index = wpi_const64(c, offset);
    LLVMValueRef address = LLVMBuildInBoundsGEP2(c->builder, c->i8, base, &index, 1, "");
    LLVMValueRef typed = LLVMBuildAddrSpaceCast(c->builder, address, LLVMTypeOf(global), "");
    wpi_replace_in_function(global, typed, function);
}

/* ---- atomics ---- */

static LLVMValueRef combine(LLVMBuilderRef at, LLVMAtomicRMWBinOp op, LLVMValueRef old,
                            LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(old);
    LLVMValueRef one =
        LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMConstInt(type, 1, 0) : NULL;
    LLVMValueRef zero = LLVMConstNull(type);
    LLVMIntPredicate keep;
    switch (op) {
    case LLVMAtomicRMWBinOpXchg: return value;
    case LLVMAtomicRMWBinOpAdd: return LLVMBuildAdd(at, old, value, "");
    case LLVMAtomicRMWBinOpSub: return LLVMBuildSub(at, old, value, "");
    case LLVMAtomicRMWBinOpAnd: return LLVMBuildAnd(at, old, value, "");
    case LLVMAtomicRMWBinOpOr: return LLVMBuildOr(at, old, value, "");
    case LLVMAtomicRMWBinOpXor: return LLVMBuildXor(at, old, value, "");
    case LLVMAtomicRMWBinOpFAdd: return LLVMBuildFAdd(at, old, value, "");
    case LLVMAtomicRMWBinOpFSub: return LLVMBuildFSub(at, old, value, "");
    case LLVMAtomicRMWBinOpMax: keep = LLVMIntSGE; break;
    case LLVMAtomicRMWBinOpMin: keep = LLVMIntSLE; break;
    case LLVMAtomicRMWBinOpUMax: keep = LLVMIntUGE; break;
    case LLVMAtomicRMWBinOpUMin: keep = LLVMIntULE; break;
    case LLVMAtomicRMWBinOpUIncWrap: {
        LLVMValueRef wraps = LLVMBuildICmp(at, LLVMIntUGE, old, value, "");
        return LLVMBuildSelect(at, wraps, zero, LLVMBuildAdd(at, old, one, ""), "");
    }
    case LLVMAtomicRMWBinOpUDecWrap: {
        LLVMValueRef wraps = LLVMBuildOr(at, LLVMBuildICmp(at, LLVMIntEQ, old, zero, ""),
                                         LLVMBuildICmp(at, LLVMIntUGT, old, value, ""), "");
        return LLVMBuildSelect(at, wraps, value, LLVMBuildSub(at, old, one, ""), "");
    }
    default: return NULL;
    }
    return LLVMBuildSelect(at, LLVMBuildICmp(at, keep, old, value, ""), old, value, "");
}

/* Former atomics depend on the order of threads, so region_build must not mark them as
 * independent. */
static void mark_ordered(wpi_compile *c, LLVMValueRef access) {
    LLVMSetMetadata(
        access,
        LLVMGetMDKindIDInContext(c->context, WP_ORDERED_METADATA, sizeof WP_ORDERED_METADATA - 1),
        LLVMMetadataAsValue(c->context, LLVMMDNodeInContext2(c->context, NULL, 0)));
}

static void plain_rmw(wpi_compile *c, LLVMValueRef rmw) {
    LLVMBuilderRef at = c->builder;
    LLVMPositionBuilderBefore(at, rmw);
    LLVMValueRef old = LLVMBuildLoad2(at, LLVMTypeOf(rmw), LLVMGetOperand(rmw, 0), "");
    LLVMValueRef made = combine(at, LLVMGetAtomicRMWBinOp(rmw), old, LLVMGetOperand(rmw, 1));
    if (!made) {
        LLVMInstructionEraseFromParent(old);
        return;
    }
    mark_ordered(c, old);
    mark_ordered(c, LLVMBuildStore(at, made, LLVMGetOperand(rmw, 0)));
    LLVMReplaceAllUsesWith(rmw, old);
    LLVMInstructionEraseFromParent(rmw);
}

static void plain_cas(wpi_compile *c, LLVMValueRef cas) {
    LLVMBuilderRef at = c->builder;
    LLVMPositionBuilderBefore(at, cas);
    LLVMValueRef expected = LLVMGetOperand(cas, 1), desired = LLVMGetOperand(cas, 2);
    LLVMValueRef old = LLVMBuildLoad2(at, LLVMTypeOf(expected), LLVMGetOperand(cas, 0), "");
    LLVMValueRef same = LLVMBuildICmp(at, LLVMIntEQ, old, expected, "");
    LLVMValueRef made = LLVMBuildSelect(at, same, desired, old, "");
    mark_ordered(c, old);
    mark_ordered(c, LLVMBuildStore(at, made, LLVMGetOperand(cas, 0)));
    LLVMValueRef pair = LLVMBuildInsertValue(at, LLVMGetUndef(LLVMTypeOf(cas)), old, 0, "");
    LLVMReplaceAllUsesWith(cas, LLVMBuildInsertValue(at, pair, same, 1, ""));
    LLVMInstructionEraseFromParent(cas);
}

static void make_atomics_plain(wpi_compile *c, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef next;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!wpi_access_is_atomic(i) || !is_shared(LLVMGetOperand(i, 0))) continue;
            if (LLVMIsAAtomicRMWInst(i))
                plain_rmw(c, i);
            else
                plain_cas(c, i);
        }
    }
}

/* The address of dynamic shared memory in a function whose kernel is not known: shared_bytes less
 * the dynamic part. */
static LLVMValueRef dynamic_address(wpi_compile *c, LLVMTypeRef type) {
    LLVMValueRef block = wpi_lower_block(c, c->builder);
    LLVMValueRef total = LLVMBuildLoad2(
        c->builder, c->i32,
        wpi_lower_block_field(c, c->builder, block, offsetof(wp_cpu_block, shared_bytes)), "");
    LLVMValueRef dynamic = LLVMBuildLoad2(
        c->builder, c->i32,
        wpi_lower_block_field(c, c->builder, block, offsetof(wp_cpu_block, shared_dynamic_bytes)),
        "");
    LLVMValueRef offset = LLVMBuildSub(c->builder, total, dynamic, "");
    LLVMValueRef base = LLVMBuildLoad2(
        c->builder, c->ptr,
        wpi_lower_block_field(c, c->builder, block, offsetof(wp_cpu_block, shared)), "");
    LLVMValueRef address = LLVMBuildInBoundsGEP2(c->builder, c->i8, base, &offset, 1, "");
    return LLVMBuildAddrSpaceCast(c->builder, address, type, "");
}

wp_status wpi_pass_lower_shared(wpi_compile *c, wp_error *err) {
    LLVMValueRef placeholder = LLVMGetNamedFunction(c->module, WP_SHARED_PLACEHOLDER);
    if (!placeholder) {
        placeholder = wpi_compile_declare(c, WP_SHARED_PLACEHOLDER, c->ptr, NULL, 0);
        wpi_lower_mark_pure(c, placeholder);
    }
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) make_atomics_plain(c, f);

    uint32_t common = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        if (!is_shared(g)) continue;
        wpi_constant_expand_uses(c->context, g);
        if (LLVMIsDeclaration(g) || !is_used_outside_kernels(c, g)) continue;
        uint32_t offset = place(layout, g, &common);
        for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
            if (!LLVMIsDeclaration(f) && is_used_in(g, f)) replace(c, g, f, offset);
    }
    for (uint32_t k = 0; k < c->kernel_count; k++) {
        wpi_kernel_ir *kernel = &c->kernels[k];
        uint32_t end = common;
        for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
            if (is_shared(g) && !LLVMIsDeclaration(g) && is_used_in(g, kernel->function))
                replace(c, g, kernel->function, place(layout, g, &end));
        kernel->shared_static_bytes = align_up(end, 16);
        if (kernel->shared_static_bytes > SHARED_STATIC_MAX_BYTES)
            return WP_FAIL(
                err, UNSUPPORTED,
                "kernel %s has %u bytes of static shared memory, a block can have %u; make it "
                "dynamic (extern __shared__) and raise the limit with cudaFuncSetAttribute",
                kernel->name, kernel->shared_static_bytes, SHARED_STATIC_MAX_BYTES);
        kernel->shared_static_bytes = align_up(end, dynamic_alignment(c, kernel->function));
        for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
            if (is_shared(g) && LLVMIsDeclaration(g) && is_used_in(g, kernel->function))
                replace(c, g, kernel->function, kernel->shared_static_bytes);
    }
    /* Dynamic shared memory in a function of its own: its offset depends on the kernel. */
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        if (!is_shared(g) || !LLVMIsDeclaration(g)) continue;
        for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
            if (LLVMIsDeclaration(f) || !is_used_in(g, f)) continue;
            LLVMPositionBuilderBefore(c->builder,
                                      LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)));
            wpi_replace_in_function(g, dynamic_address(c, LLVMTypeOf(g)), f);
        }
    }
    LLVMValueRef next;
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = next) {
        next = LLVMGetNextGlobal(g);
        if (is_shared(g) && !LLVMGetFirstUse(g)) LLVMDeleteGlobal(g);
    }
    return WP_STATUS_OK;
}
