/* SPDX-License-Identifier: Apache-2.0 */
/* The compile context: loading a module, finding its kernels and variables, small shared helpers.
 */
#include "compiler/context.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context) {
    /* Without a handler LLVM prints warnings to stderr and exits on errors; calls return a status
     * anyway. */
    (void)info;
    (void)context;
}

static void cache_types(wpi_compile *c) {
    c->i1 = LLVMInt1TypeInContext(c->context);
    c->i8 = LLVMInt8TypeInContext(c->context);
    c->i16 = LLVMInt16TypeInContext(c->context);
    c->i32 = LLVMInt32TypeInContext(c->context);
    c->i64 = LLVMInt64TypeInContext(c->context);
    c->f32 = LLVMFloatTypeInContext(c->context);
    c->f64 = LLVMDoubleTypeInContext(c->context);
    c->ptr = LLVMPointerTypeInContext(c->context, 0);
    c->none = LLVMVoidTypeInContext(c->context);
}

static wpi_kernel_ir *kernel_of(wpi_compile *c, LLVMValueRef function) {
    for (uint32_t i = 0; i < c->kernel_count; i++)
        if (c->kernels[i].function == function) return &c->kernels[i];
    return NULL;
}

static bool is_key(const char *key, unsigned length, const char *name) {
    return length == strlen(name) && memcmp(key, name, length) == 0;
}

static void add_bound(wpi_kernel_ir *kernel, const char *key, unsigned length, uint32_t value) {
    if (length == 8 && memcmp(key, "maxntid", 7) == 0) /* x, y, z */
        kernel->max_threads = (kernel->max_threads == 0 ? 1 : kernel->max_threads) * value;
    else if (is_key(key, length, "minctasm"))
        kernel->min_blocks = value;
    else if (is_key(key, length, "maxnreg"))
        kernel->registers_max = value;
    else if (length == 13 && memcmp(key, "cluster_dim_", 12) == 0 && key[12] >= 'x')
        kernel->cluster_dim[key[12] - 'x'] = value;
}

/* nvvm.annotations: !{function, !"kernel", i32 1}, !{function, !"maxntidx", i32 n}, … ; a node may
 * carry several name/value pairs. */
static void read_annotations(wpi_compile *c) {
    unsigned count = LLVMGetNamedMetadataNumOperands(c->module, "nvvm.annotations");
    if (count == 0) return;
    LLVMValueRef *nodes = wpi_must_calloc(count, sizeof *nodes);
    LLVMGetNamedMetadataOperands(c->module, "nvvm.annotations", nodes);
    c->kernels = wpi_must_calloc(count, sizeof *c->kernels);
    for (int round = 0; round < 2; round++) { /* kernels first, then their bounds */
        for (unsigned n = 0; n < count; n++) {
            unsigned operands = LLVMGetMDNodeNumOperands(nodes[n]);
            LLVMValueRef *values = wpi_must_calloc(operands, sizeof *values);
            LLVMGetMDNodeOperands(nodes[n], values);
            LLVMValueRef function = values[0];
            for (unsigned i = 1; function && LLVMIsAFunction(function) && i + 1 < operands;
                 i += 2) {
                unsigned length;
                const char *key = LLVMGetMDString(values[i], &length);
                if (!key || !values[i + 1] || !LLVMIsAConstantInt(values[i + 1])) continue;
                uint32_t value = (uint32_t)LLVMConstIntGetZExtValue(values[i + 1]);
                wpi_kernel_ir *kernel = kernel_of(c, function);
                bool is_kernel = is_key(key, length, "kernel");
                if (round == 0 && is_kernel && !kernel && !LLVMIsDeclaration(function)) {
                    size_t name_length;
                    const char *name = LLVMGetValueName2(function, &name_length);
                    c->kernels[c->kernel_count].function = function;
                    c->kernels[c->kernel_count++].name = wpi_must_strndup(name, name_length);
                } else if (round == 1 && kernel) {
                    add_bound(kernel, key, length, value);
                }
            }
            wpi_free(values);
        }
    }
    wpi_free(nodes);
}

static bool is_managed(wpi_compile *c, LLVMValueRef global) {
    LLVMValueRef list = LLVMGetNamedGlobal(c->module, "llvm.global.annotations");
    LLVMValueRef array = list ? LLVMGetInitializer(list) : NULL;
    if (!array) return false;
    for (unsigned i = 0; i < LLVMGetArrayLength2(LLVMTypeOf(array)); i++) {
        LLVMValueRef entry = LLVMGetOperand(array, i);
        LLVMValueRef target = LLVMGetOperand(entry, 0), text = LLVMGetOperand(entry, 1);
        while (LLVMIsAConstantExpr(target))
            target = LLVMGetOperand(target, 0);
        while (LLVMIsAConstantExpr(text))
            text = LLVMGetOperand(text, 0);
        LLVMValueRef bytes = LLVMIsAGlobalVariable(text) ? LLVMGetInitializer(text) : NULL;
        size_t length;
        if (target == global && bytes && LLVMIsConstantString(bytes) &&
            strncmp(LLVMGetAsString(bytes, &length), "warpage.managed", 15) == 0)
            return true;
    }
    return false;
}

/* Flags of a variable, from its section, which is then removed. */
static uint32_t take_flags(LLVMValueRef global) {
    const char *section = LLVMGetSection(global);
    if (section == NULL || strcmp(section, WP_MANAGED_SECTION) != 0) return 0;
    LLVMSetSection(global, "");
    return WP_VARIABLE_OWN_PAGES;
}

static void read_variables(wpi_compile *c) {
    uint32_t capacity = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
        capacity++;
    c->variables = wpi_must_calloc(capacity ? capacity : 1, sizeof *c->variables);
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(g));
        if (LLVMIsDeclaration(g) || !LLVMIsExternallyInitialized(g) || LLVMIsGlobalConstant(g))
            continue;
        if (space != WP_SPACE_GLOBAL && space != WP_SPACE_CONSTANT) continue;
        size_t length;
        const char *name = LLVMGetValueName2(g, &length);
        c->variables[c->variable_count++] = (wpi_variable_ir){
            .global = g,
            .name = wpi_must_strndup(name, length),
            .kind = is_managed(c, g)             ? WP_VARIABLE_MANAGED
                    : space == WP_SPACE_CONSTANT ? WP_VARIABLE_CONSTANT
                                                 : WP_VARIABLE_DEVICE,
            .flags = take_flags(g),
        };
    }
}

static wpi_compile *create(void) {
    wpi_compile *c = wpi_must_calloc(1, sizeof *c);
    c->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(c->context, on_diagnostic, NULL);
    cache_types(c);
    c->builder = LLVMCreateBuilderInContext(c->context);
    return c;
}

wp_status wpi_compile_create_empty(const char *name, wpi_compile **out, wp_error *err) {
    LLVMTargetMachineRef machine;
    *out = NULL;
    WP_TRY(wpi_target_nvptx(&machine, err));
    wpi_compile *c = create();
    c->module = LLVMModuleCreateWithNameInContext(name, c->context);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(c->module, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(c->module, "nvptx64-nvidia-cuda");
    *out = c;
    return WP_STATUS_OK;
}

wp_status wpi_compile_create(const void *bitcode, size_t size_bytes, wpi_compile **out,
                             wp_error *err) {
    *out = NULL;
    wpi_compile *c = create();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, size_bytes, "device code");
    LLVMBool failed = LLVMParseBitcodeInContext2(c->context, buffer, &c->module);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed) {
        wpi_compile_destroy(c);
        return WP_FAIL(err, PARSE, "the device code is not bitcode that LLVM 19 can read");
    }
    read_annotations(c);
    read_variables(c);
    *out = c;
    return WP_STATUS_OK;
}

wp_status wpi_compile_read_library(wpi_compile *c, const char *path, LLVMModuleRef *out,
                                   wp_error *err) {
    char *data = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(path, &data, &size_bytes, err));
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, size_bytes, path);
    const LLVMBool failed = LLVMParseBitcodeInContext2(c->context, buffer, out);
    LLVMDisposeMemoryBuffer(buffer);
    wpi_free(data);
    if (failed)
        return WP_FAIL(err, TOOLCHAIN, "%s is not bitcode of LLVM 19; reinstall warpage", path);
    return WP_STATUS_OK;
}

void wpi_compile_destroy(wpi_compile *c) {
    if (!c) return;
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        wpi_free(c->kernels[i].name);
        wpi_free(c->kernels[i].regions);
        wpi_free(c->kernels[i].stops);
    }
    for (uint32_t i = 0; i < c->variable_count; i++)
        wpi_free(c->variables[i].name);
    wpi_free(c->kernels);
    wpi_free(c->variables);
    if (c->module) LLVMDisposeModule(c->module);
    LLVMDisposeBuilder(c->builder);
    LLVMContextDispose(c->context);
    wpi_free(c);
}

wp_status wpi_compile_write(wpi_compile *c, const char *path, wp_error *err) {
    for (uint32_t i = 0; i < c->variable_count; i++)
        if ((c->variables[i].flags & WP_VARIABLE_OWN_PAGES) != 0)
            LLVMSetSection(c->variables[i].global, WP_MANAGED_SECTION);
    return LLVMWriteBitcodeToFile(c->module, path) != 0 ? WP_FAIL(err, IO, "cannot write %s", path)
                                                        : WP_STATUS_OK;
}

bool wpi_compile_is_kernel(const wpi_compile *c, LLVMValueRef function) {
    for (uint32_t k = 0; k < c->kernel_count; k++)
        if (c->kernels[k].function == function) return true;
    return false;
}

wp_status wpi_compile_run(wpi_compile *c, const char *pipeline, LLVMTargetMachineRef machine,
                          wp_error *err) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failure = LLVMRunPasses(c->module, pipeline, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!failure) return WP_STATUS_OK;
    char *message = LLVMGetErrorMessage(failure);
    wp_status status = WP_FAIL(err, TOOLCHAIN, "LLVM passes \"%s\": %s", pipeline, message);
    LLVMDisposeErrorMessage(message);
    return status;
}

wp_status wpi_compile_verify(wpi_compile *c, const char *after, wp_error *err) {
    char *message = NULL;
    wp_status status = WP_STATUS_OK;
    if (LLVMVerifyModule(c->module, LLVMReturnStatusAction, &message))
        status =
            WP_FAIL(err, TOOLCHAIN, "broken device code after pass %s: %.300s", after, message);
    LLVMDisposeMessage(message);
    return status;
}

LLVMTypeRef wpi_function_type(LLVMValueRef function) {
    return LLVMGlobalGetValueType(function);
}

LLVMValueRef wpi_compile_declare(wpi_compile *c, const char *name, LLVMTypeRef result,
                                 LLVMTypeRef *params, unsigned count) {
    LLVMValueRef function = LLVMGetNamedFunction(c->module, name);
    if (function) return function;
    return LLVMAddFunction(c->module, name, LLVMFunctionType(result, params, count, 0));
}

void wpi_function_attribute(wpi_compile *c, LLVMValueRef function, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAttributeRef attribute = LLVMCreateEnumAttribute(c->context, kind, 0);
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

void wpi_function_attribute_remove(LLVMValueRef function, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMRemoveEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
}

bool wpi_function_has(LLVMValueRef function, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       kind) != NULL;
}

LLVMValueRef wpi_const32(const wpi_compile *c, uint32_t value) {
    return LLVMConstInt(c->i32, value, 0);
}

LLVMValueRef wpi_const64(const wpi_compile *c, uint64_t value) {
    return LLVMConstInt(c->i64, value, 0);
}

static wp_status make_machine(const char *triple, const char *cpu, const char *features,
                              LLVMCodeGenOptLevel level, LLVMTargetMachineRef *out, wp_error *err) {
    char *message = NULL;
    LLVMTargetRef target;
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        wp_status status =
            WP_FAIL(err, TOOLCHAIN, "this LLVM cannot compile for %s: %s", triple, message);
        LLVMDisposeMessage(message);
        return status;
    }
    *out = LLVMCreateTargetMachine(target, triple, cpu, features, level, LLVMRelocPIC,
                                   LLVMCodeModelDefault);
    return WP_STATUS_OK;
}

wp_status wpi_target_nvptx_at(uint32_t arch, uint32_t version, bool is_specific,
                              LLVMTargetMachineRef *out, wp_error *err) {
    char cpu[16], features[16];
    snprintf(cpu, sizeof cpu, "sm_%u%s", arch, is_specific ? "a" : "");
    snprintf(features, sizeof features, "+ptx%u", version);
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return make_machine("nvptx64-nvidia-cuda", cpu, features, LLVMCodeGenLevelAggressive, out, err);
}

wp_status wpi_target_nvptx(LLVMTargetMachineRef *out, wp_error *err) {
    static LLVMTargetMachineRef machine;
    if (!machine) WP_TRY(wpi_target_nvptx_at(70, 63, false, &machine, err));
    *out = machine;
    return WP_STATUS_OK;
}

static wp_status make_host(const char *cpu, LLVMCodeGenOptLevel level, LLVMTargetMachineRef *out,
                           wp_error *err) {
    if (*out) return WP_STATUS_OK;
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return make_machine("x86_64-pc-linux-gnu", cpu, "", level, out, err);
}

wp_status wpi_target_host(wp_cpu_isa isa, LLVMTargetMachineRef *out, wp_error *err) {
    static LLVMTargetMachineRef machines[2];
    const bool is_v3 = isa == WP_CPU_ISA_X86_64_V3;
    WP_TRY(make_host(is_v3 ? "x86-64-v3" : "x86-64", LLVMCodeGenLevelAggressive, &machines[is_v3],
                     err));
    *out = machines[is_v3];
    return WP_STATUS_OK;
}

wp_status wpi_target_host_quick(wp_cpu_isa isa, LLVMTargetMachineRef *out, wp_error *err) {
    static LLVMTargetMachineRef machines[2];
    const bool is_v3 = isa == WP_CPU_ISA_X86_64_V3;
    WP_TRY(make_host(is_v3 ? "x86-64-v3" : "x86-64", LLVMCodeGenLevelLess, &machines[is_v3], err));
    *out = machines[is_v3];
    return WP_STATUS_OK;
}
