/* SPDX-License-Identifier: Apache-2.0 */
/* The description of the code as constants of base/abi.h, and the constructor that registers it.
 * Struct layouts are those of the host, so plain LLVM structs of the same fields match. */
#include <llvm-c/Comdat.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/passes.h"

static LLVMValueRef constant_global(wpi_compile *c, LLVMValueRef value, const char *name) {
    LLVMValueRef global = LLVMAddGlobal(c->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

static LLVMValueRef text(wpi_compile *c, const char *bytes) {
    return constant_global(c, LLVMConstStringInContext2(c->context, bytes, strlen(bytes), 0),
                           "wp.text");
}

static LLVMValueRef record(wpi_compile *c, LLVMValueRef *fields, unsigned count) {
    return LLVMConstStructInContext(c->context, fields, count, 0);
}

/* An array of `count` records of one shape, or NULL for none. */
static LLVMValueRef array(wpi_compile *c, LLVMValueRef *items, uint32_t count, const char *name) {
    if (!count) return LLVMConstNull(c->ptr);
    return constant_global(c, LLVMConstArray2(LLVMTypeOf(items[0]), items, count), name);
}

/* For the scheduler, a kernel in whole form has one region. */
static uint32_t region_count(const wpi_kernel_ir *kernel) {
    if (!kernel->regions) return 0;
    return kernel->whole ? 1 : kernel->region_count;
}

static LLVMValueRef regions_of(wpi_compile *c, const wpi_kernel_ir *kernel) {
    LLVMValueRef *items = wpi_must_calloc(kernel->region_count + 1, sizeof *items);
    for (uint32_t s = 0; s < region_count(kernel); s++) {
        const wpi_stop_point *stop = &kernel->stops[s];
        uint32_t flags = stop->is_alike ? WP_CPU_REGION_ALIKE : 0;
        if (s && stop->is_plain && stop->op == WP_STOP_BARRIER) flags = WP_CPU_REGION_PLAIN;
        LLVMValueRef run = kernel->whole ? kernel->whole : kernel->regions[s];
        LLVMValueRef fields[] = {run, wpi_const32(c, s ? stop->op : WP_STOP_NONE),
                                 wpi_const32(c, flags), wpi_const64(c, stop->b)};
        items[s] = record(c, fields, 4);
    }
    LLVMValueRef made = array(c, items, region_count(kernel), "wp.regions");
    wpi_free(items);
    return made;
}

static LLVMValueRef params_of(wpi_compile *c, const wpi_kernel_ir *kernel) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    unsigned align = LLVMGetEnumAttributeKindForName("align", 5);
    unsigned count = LLVMCountParams(kernel->function);
    LLVMValueRef *items = wpi_must_calloc(count + 1, sizeof *items);
    for (unsigned p = 0; p < count; p++) {
        LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(kernel->function, p + 1, byval);
        LLVMTypeRef type = attribute ? LLVMGetTypeAttributeValue(attribute)
                                     : LLVMTypeOf(LLVMGetParam(kernel->function, p));
        /* A structure may have a larger alignment than its members; accesses rely on it. */
        uint32_t alignment = LLVMABIAlignmentOfType(layout, type);
        LLVMAttributeRef aligned = LLVMGetEnumAttributeAtIndex(kernel->function, p + 1, align);
        if (attribute && aligned && LLVMGetEnumAttributeValue(aligned) > alignment)
            alignment = (uint32_t)LLVMGetEnumAttributeValue(aligned);
        LLVMValueRef fields[] = {wpi_const32(c, (uint32_t)LLVMABISizeOfType(layout, type)),
                                 wpi_const32(c, alignment)};
        items[p] = record(c, fields, 2);
    }
    LLVMValueRef made = array(c, items, count, "wp.params");
    wpi_free(items);
    return made;
}

static LLVMValueRef kernel_record(wpi_compile *c, const wpi_kernel_ir *kernel) {
    LLVMValueRef null = LLVMConstNull(c->ptr);
    LLVMValueRef cluster[3];
    for (int i = 0; i < 3; i++)
        cluster[i] = wpi_const32(c, kernel->cluster_dim[i]);
    LLVMValueRef fields[] = {
        text(c, kernel->name),
        regions_of(c, kernel),
        kernel->thread ? kernel->thread : null,
        params_of(c, kernel),
        wpi_const32(c, region_count(kernel)),
        wpi_const32(c, LLVMCountParams(kernel->function)),
        wpi_const32(c, kernel->shared_static_bytes),
        wpi_const32(c, kernel->frame_bytes),
        wpi_const32(c, kernel->local_bytes),
        wpi_const32(c, kernel->register_estimate),
        wpi_const32(c, kernel->max_threads),
        wpi_const32(c, kernel->flags),
        LLVMConstArray2(c->i32, cluster, 3),
    };
    return record(c, fields, sizeof fields / sizeof *fields);
}

static LLVMValueRef variable_record(wpi_compile *c, const wpi_variable_ir *variable) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    uint64_t size = LLVMABISizeOfType(layout, LLVMGlobalGetValueType(variable->global));
    LLVMValueRef address = variable->cell ? variable->cell : variable->global;
    if (LLVMTypeOf(address) != c->ptr) address = LLVMConstAddrSpaceCast(address, c->ptr);
    LLVMValueRef fields[] = {text(c, variable->name), address, wpi_const64(c, size),
                             wpi_const32(c, (uint32_t)variable->kind),
                             wpi_const32(c, variable->flags)};
    return record(c, fields, 5);
}

/* Programs read arrays of small elements as int4 and similar; GPUs align variables accordingly. */
static void widen_alignment(wpi_compile *c, LLVMValueRef global) {
    enum { WIDE = 256, VECTOR = 16 };
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    uint64_t size = LLVMABISizeOfType(layout, LLVMGlobalGetValueType(global));
    unsigned wanted = size >= WIDE ? WIDE : VECTOR;
    if (LLVMGetAlignment(global) < wanted) LLVMSetAlignment(global, wanted);
}

/* Variables are defined by one copy; the other refers to them by a name that belongs to this image.
 */
static void share_variables(wpi_compile *c) {
    uint32_t number = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        size_t length;
        const char *name = LLVMGetValueName2(g, &length);
        if (LLVMIsDeclaration(g) || LLVMIsGlobalConstant(g) || strncmp(name, "llvm.", 5) == 0)
            continue;
        char shared[64];
        snprintf(shared, sizeof shared, "wp_var_%016llx_%u", (unsigned long long)c->image_id,
                 number++);
        LLVMSetValueName2(g, shared, strlen(shared));
        LLVMSetExternallyInitialized(g, 0);
        widen_alignment(c, g);
        LLVMSetComdat(g, NULL);
        LLVMSetUnnamedAddress(g, LLVMNoUnnamedAddr);
        LLVMSetLinkage(g, LLVMExternalLinkage);
        LLVMSetVisibility(g, LLVMHiddenVisibility);
        if (c->refers_to_variables) LLVMSetInitializer(g, NULL);
    }
}

static void add_constructor(wpi_compile *c, LLVMValueRef code) {
    LLVMValueRef function =
        LLVMAddFunction(c->module, "wp.register", LLVMFunctionType(c->none, NULL, 0, 0));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(c->builder, LLVMAppendBasicBlockInContext(c->context, function, ""));
    LLVMValueRef enter = wpi_compile_declare(c, "wp_cpu_code_register", c->none, &c->ptr, 1);
    LLVMBuildCall2(c->builder, wpi_function_type(enter), enter, &code, 1, "");
    LLVMBuildRetVoid(c->builder);
    LLVMValueRef fields[] = {wpi_const32(c, 101), function, LLVMConstNull(c->ptr)};
    LLVMValueRef entry = record(c, fields, 3);
    LLVMValueRef list =
        LLVMAddGlobal(c->module, LLVMArrayType2(LLVMTypeOf(entry), 1), "llvm.global_ctors");
    LLVMSetInitializer(list, LLVMConstArray2(LLVMTypeOf(entry), &entry, 1));
    LLVMSetLinkage(list, LLVMAppendingLinkage);
}

/* Exports the code of a variant, which is looked up by name. */
static void export_code(LLVMValueRef code) {
    LLVMSetValueName2(code, WP_VARIANT_CODE_SYMBOL, strlen(WP_VARIANT_CODE_SYMBOL));
    LLVMSetLinkage(code, LLVMExternalLinkage);
}

wp_status wpi_pass_table(wpi_compile *c, wp_error *err) {
    (void)err;
    share_variables(c);
    uint32_t most = c->kernel_count > c->variable_count ? c->kernel_count : c->variable_count;
    LLVMValueRef *items = wpi_must_calloc(most + 1, sizeof *items);
    for (uint32_t k = 0; k < c->kernel_count; k++)
        items[k] = kernel_record(c, &c->kernels[k]);
    LLVMValueRef kernels = array(c, items, c->kernel_count, "wp.kernels");
    for (uint32_t v = 0; v < c->variable_count; v++)
        items[v] = variable_record(c, &c->variables[v]);
    uint32_t variable_count = c->refers_to_variables ? 0 : c->variable_count;
    LLVMValueRef variables = array(c, items, variable_count, "wp.variables");
    wpi_free(items);
    LLVMValueRef fields[] = {wpi_const32(c, WP_ABI_VERSION),
                             wpi_const32(c, (uint32_t)c->isa),
                             wpi_const64(c, c->image_id),
                             kernels,
                             variables,
                             wpi_const32(c, c->kernel_count),
                             wpi_const32(c, variable_count)};
    LLVMValueRef code = constant_global(c, record(c, fields, 7), "wp.code");
    if (wpi_compile_is_own(c))
        add_constructor(c, code);
    else
        export_code(code);
    return WP_STATUS_OK;
}
