/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/rewrite/alone.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/rewrite/rewrite.h"

/* ---- variables: the copy declares them, the program defines them ---- */

static bool is_variable(LLVMValueRef global) {
    const bool has_value = LLVMIsExternallyInitialized(global) || !LLVMIsGlobalConstant(global);
    return has_value && LLVMGetPointerAddressSpace(LLVMTypeOf(global)) != WP_SPACE_SHARED;
}

static bool is_hidden(LLVMValueRef global) {
    const LLVMLinkage linkage = LLVMGetLinkage(global);
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

static void show(wpi_alone_program *program, LLVMValueRef global) {
    LLVMSetLinkage(global, LLVMExternalLinkage);
    program->shown[program->shown_count++] = global;
}

/* Hidden variables, and hidden functions of which the address may be compared, get a linkage with
 * which the copy can refer to them, until it is linked back. */
static void show_hidden(wpi_alone_program *program) {
    LLVMModuleRef module = program->c->module;
    uint32_t most = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        most++;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        most++;
    program->shown = wpi_must_calloc(most + 1, sizeof *program->shown);
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
        if (!LLVMIsDeclaration(g) && is_variable(g) && is_hidden(g)) show(program, g);
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && is_hidden(f) && wpi_function_is_address_taken(f))
            show(program, f);
}

void wpi_alone_program_init(wpi_alone_program *program, wpi_compile *c) {
    *program = (wpi_alone_program){.c = c};
    show_hidden(program);
    program->bitcode = LLVMWriteBitcodeToMemoryBuffer(c->module);
}

void wpi_alone_program_deinit(wpi_alone_program *program) {
    for (uint32_t i = 0; i < program->shown_count; i++)
        LLVMSetLinkage(program->shown[i], LLVMInternalLinkage);
    wpi_free(program->shown);
    LLVMDisposeMemoryBuffer(program->bitcode);
    *program = (wpi_alone_program){0};
}

static void declare_variables(wpi_compile *c) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        if (LLVMIsDeclaration(g) || !is_variable(g)) continue;
        LLVMSetInitializer(g, NULL);
        LLVMSetLinkage(g, LLVMExternalLinkage);
        LLVMSetComdat(g, NULL);
    }
}

/* ---- the kernel alone ---- */

/* The copy declares kernels, which kernels may launch, and functions that pointers are for, so that
 * their addresses are those of the program's. */
static void declare(LLVMValueRef function) {
    wpi_function_drop_body(function);
    LLVMSetLinkage(function, LLVMExternalLinkage);
    LLVMSetComdat(function, NULL);
    LLVMGlobalClearMetadata(function);
}

static void declare_pointed(wpi_compile *c, LLVMValueRef kernel) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (f != kernel && !LLVMIsDeclaration(f) && wpi_function_is_address_taken(f)) declare(f);
}

static void declare_other_kernels(wpi_compile *c, LLVMValueRef kernel) {
    for (uint32_t k = 0; k < c->kernel_count; k++)
        if (c->kernels[k].function != kernel) declare(c->kernels[k].function);
}

static wp_status inline_calls(wpi_compile *c, LLVMValueRef kernel, wp_error *err) {
    wpi_rewrite_drop_lists(c);
    declare_variables(c);
    declare_other_kernels(c, kernel);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || f == kernel) continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        LLVMSetVisibility(f, LLVMDefaultVisibility);
        wpi_function_attribute_remove(f, "noinline");
        wpi_function_attribute_remove(f, "optnone");
        wpi_function_attribute(c, f, "alwaysinline");
    }
    WP_TRY(wpi_compile_run(c, "always-inline,globaldce", NULL, err));
    declare_pointed(c, kernel);
    return wpi_compile_run(c,
                           "globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,"
                           "simplifycfg)",
                           NULL, err);
}

wp_status wpi_alone_init(wpi_alone *alone, const wpi_alone_program *program, const char *kernel,
                         wp_error *err) {
    *alone = (wpi_alone){.program = program->c};
    WP_TRY(wpi_compile_create(LLVMGetBufferStart(program->bitcode),
                              LLVMGetBufferSize(program->bitcode), &alone->c, err));
    for (uint32_t k = 0; k < alone->c->kernel_count; k++)
        if (strcmp(alone->c->kernels[k].name, kernel) == 0) alone->kernel = &alone->c->kernels[k];
    if (alone->kernel == NULL)
        return WP_FAIL(err, NOT_FOUND, "the device code has no kernel %s", kernel);
    return inline_calls(alone->c, alone->kernel->function, err);
}

/* ---- the device library ---- */

static char *library_path(const char *file, wp_error *err) {
    char *self = NULL;
    if (wpi_self_path(&self, err) != WP_STATUS_OK) return NULL;
    char *bin = wpi_path_dir(self), *prefix = wpi_path_dir(bin);
    char *folder = wpi_path_join(prefix, "lib/warpage"), *path = wpi_path_join(folder, file);
    wpi_free(folder);
    wpi_free(prefix);
    wpi_free(bin);
    wpi_free(self);
    return path;
}

static wp_status open_library(wpi_compile *c, const char *file, LLVMModuleRef *out, wp_error *err) {
    char *path = library_path(file, err);
    if (path == NULL) return WP_STATUS_IO;
    wp_status status = wpi_compile_read_library(c, path, out, err);
    wpi_free(path);
    return status;
}

static void drop_target(LLVMValueRef function) {
    static const char *const names[] = {"target-cpu", "target-features"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        LLVMRemoveStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         names[i], (unsigned)strlen(names[i]));
}

/* The library's threads take turns with the host, and its halves of a block have barriers of their
 * own, which a check of the program does not see. */
static void take_as_checked(wpi_compile *c, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) || wpi_access_of(i).kind != WP_ACCESS_NONE)
                wpi_lower_note(c, i, WP_LIBRARY_METADATA);
}

wp_status wpi_alone_link(wpi_alone *alone, const char *file, const char *prefix, wp_error *err) {
    wpi_compile *c = alone->c;
    LLVMModuleRef library = NULL;
    WP_TRY(open_library(c, file, &library, err));
    LLVMSetTarget(library, LLVMGetTarget(c->module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(c->module));
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f)) {
        drop_target(f);
        take_as_checked(c, f);
    }
    if (LLVMLinkModules2(c->module, library))
        return WP_FAIL(err, TOOLCHAIN, "%s does not fit the program; reinstall warpage", file);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        if (!LLVMIsDeclaration(f) &&
            strncmp(LLVMGetValueName2(f, &length), prefix, strlen(prefix)) == 0)
            LLVMSetLinkage(f, LLVMInternalLinkage);
    }
    return WP_STATUS_OK;
}

/* ---- back into the program ---- */

wp_status wpi_alone_return(wpi_alone *alone, wp_error *err) {
    declare(alone->kernel->function);
    WP_TRY(wpi_compile_run(alone->c, "globaldce", NULL, err));
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(alone->c->module);
    LLVMModuleRef made = NULL;
    wp_status status = WP_STATUS_OK;
    if (LLVMParseBitcodeInContext2(alone->program->context, bitcode, &made) ||
        LLVMLinkModules2(alone->program->module, made))
        status = WP_FAIL(err, TOOLCHAIN, "the other form of a kernel does not fit the program");
    LLVMDisposeMemoryBuffer(bitcode);
    return status;
}

void wpi_alone_deinit(wpi_alone *alone) {
    wpi_compile_destroy(alone->c);
    *alone = (wpi_alone){0};
}
