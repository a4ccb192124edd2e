/* SPDX-License-Identifier: Apache-2.0 */
/* The steps from bitcode to PTX text. */
#include "compiler/nvptx/nvptx.h"
#include "compiler/ir/edit.h"

#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Support.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/machine/block_lines.h"
#include "compiler/passes.h"

/* Removes attributes that tie a function to a target, and those that keep the library's functions
 * from being inlined. */
void wpi_ptx_drop_target(LLVMValueRef function) {
    static const char *const names[] = {"target-cpu", "target-features", "tune-cpu", "no-builtins"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        LLVMRemoveStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         names[i], (unsigned)strlen(names[i]));
}

static void make_internal(LLVMValueRef global) {
    LLVMSetComdat(global, NULL);
    LLVMSetVisibility(global, LLVMDefaultVisibility);
    LLVMSetLinkage(global, LLVMInternalLinkage);
}

/* Internalises everything except kernels and variables that the host can write, so that unused code
 * is removed. */
static void internalise(wpi_compile *c, bool is_relocatable) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        wpi_ptx_drop_target(f);
        if (LLVMIsDeclaration(f) || is_relocatable) continue;
        if (!wpi_compile_is_kernel(c, f)) {
            make_internal(f);
        } else {
            LLVMSetComdat(f, NULL);
            LLVMSetLinkage(f, LLVMExternalLinkage);
        }
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g && !is_relocatable;
         g = LLVMGetNextGlobal(g)) {
        if (LLVMIsDeclaration(g) || LLVMGetLinkage(g) == LLVMAppendingLinkage) continue;
        if (!LLVMIsExternallyInitialized(g) || LLVMIsGlobalConstant(g)) {
            make_internal(g);
        } else if (LLVMGetLinkage(g) != LLVMInternalLinkage) {
            LLVMSetComdat(g, NULL);
            LLVMSetLinkage(g, LLVMExternalLinkage);
        }
    }
}

/* Removes the lists that keep variables alive for other tools. */
static void drop_lists(wpi_compile *c) {
    static const char *const names[] = {"llvm.used", "llvm.compiler.used",
                                        "llvm.global.annotations"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(c->module, names[i]);
        if (list) LLVMDeleteGlobal(list);
    }
}

static wp_status emit(wpi_compile *c, LLVMTargetMachineRef machine, char **text, wp_error *err) {
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, c->module, LLVMAssemblyFile, &message,
                                            &buffer)) {
        wp_status status = WP_FAIL(err, TOOLCHAIN, "PTX: %s", message);
        LLVMDisposeMessage(message);
        return status;
    }
    *text = wpi_must_strndup(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return WP_STATUS_OK;
}

/* LLVM 19 writes nothing for __cluster_dims__: adds the directives behind the kernel's parameters.
 */
static void add_cluster_dims(const wpi_kernel_ir *kernel, char **text) {
    const uint32_t *dim = kernel->cluster_dim;
    char *entry = wpi_format(".entry %s(", kernel->name);
    const char *at = strstr(*text, entry);
    wpi_free(entry);
    const char *end = at ? strstr(at, "\n)\n") : NULL;
    if (at && !end) end = strchr(at, ')');
    if (!end) return;
    end = strchr(end, ')') + 1;
    char *made = wpi_format("%.*s\n.explicitcluster\n.reqnctapercluster %u, %u, %u%s",
                            (int)(end - *text), *text, dim[0], dim[1], dim[2], end);
    wpi_free(*text);
    *text = made;
}

/* PTX has no instruction and no library function for conversions between floating point and more
 * than 64 bits; LLVM expands them. */
static void expand_wide_conversions(void) {
    static bool is_done;
    const char *const words[] = {"wpcc", "-expand-fp-convert-bits=64"};
    if (!is_done) LLVMParseCommandLineOptions(2, words, NULL);
    is_done = true;
}

static wp_status compile(wpi_compile *c, const wpi_ptx_options *options, char **text,
                         wp_error *err) {
    uint32_t arch = options->arch, version = 0;
    bool is_specific = false;
    wpi_ptx_version(c, &arch, &version, &is_specific);
    for (uint32_t k = 0; k < c->kernel_count; k++)
        if (c->kernels[k].cluster_dim[0] != 0 && arch < 90) {
            arch = 90; /* with PTX 7.8 */
            wpi_ptx_version(c, &arch, &version, &is_specific);
        }
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_pass_limits(c, err)); /* LLVM would end the process */
    WP_TRY(wpi_target_nvptx_at(arch, version, is_specific, &machine, err));
    LLVMStripModuleDebugInfo(c->module);
    if (options->has_block_lines) wpi_blocks_to_lines(c);
    LLVMSetCurrentDebugLocation2(c->builder, NULL);
    wp_status status;
    drop_lists(c);
    internalise(c, options->is_relocatable);
    WP_TRY_GOTO(wpi_compile_run(c, "globaldce", machine, err), done);
    WP_TRY_GOTO(wpi_ptx_lower(c, arch, err), done);
    WP_TRY_GOTO(wpi_ptx_link_library(c, options, err), done);
    WP_TRY_GOTO(wpi_compile_verify(c, "nvptx", err), done);
    WP_TRY_GOTO(wpi_compile_run(c,
                                "cgscc(inline),function(sroa,early-cse<memssa>,"
                                "instcombine<no-verify-fixpoint>,simplifycfg),globaldce",
                                machine, err),
                done);
    wpi_module_forget_exact(c->module);
    expand_wide_conversions();
    status = emit(c, machine, text, err);
    for (uint32_t k = 0; status == WP_STATUS_OK && k < c->kernel_count; k++)
        if (c->kernels[k].cluster_dim[0] != 0) add_cluster_dims(&c->kernels[k], text);
done:
    LLVMDisposeTargetMachine(machine);
    return status;
}

wp_status wpi_ptx_compile(const void *bitcode, size_t size_bytes, const wpi_ptx_options *options,
                          char **text, wp_error *err) {
    *text = NULL;
    wpi_compile *c = NULL;
    WP_TRY(wpi_compile_create(bitcode, size_bytes, &c, err));
    wp_status status = compile(c, options, text, err);
    wpi_compile_destroy(c);
    return status;
}

uint32_t wpi_ptx_arch(const char *text) {
    static const char target[] = "\n.target sm_";
    const char *at = strstr(text, target);
    return at ? (uint32_t)strtoul(at + sizeof target - 1, NULL, 10) : 0;
}
