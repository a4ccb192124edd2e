/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work is done in a module of its own that has the kernel only, so that LLVM's passes, which
 * run on whole modules, leave the program as it is:
 *
 *     program ─copy─► kernel alone, calls inlined ─► slices ─► sibling ─link─► program
 */
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/stream_window_abi.h"
#include "base/text.h"
#include "compiler/ir/clone.h"
#include "compiler/rewrite/rewrite.h"
#include "compiler/rewrite/stream.h"
#include "compiler/rewrite/stream_argument.h"

/* ---- variables: the copy declares them, the program defines them ---- */

static bool is_variable(LLVMValueRef global) {
    const bool has_value = LLVMIsExternallyInitialized(global) || !LLVMIsGlobalConstant(global);
    return has_value && LLVMGetPointerAddressSpace(LLVMTypeOf(global)) != WP_SPACE_SHARED;
}

static bool is_hidden(LLVMValueRef global) {
    const LLVMLinkage linkage = LLVMGetLinkage(global);
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

/* Hidden variables get a name that the copy can refer to, for as long as it is needed. */
static LLVMValueRef *show_variables(wp_compile *c, uint32_t *count) {
    uint32_t most = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
        most++;
    LLVMValueRef *shown = wp_must_calloc(most + 1, sizeof *shown);
    *count = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        if (LLVMIsDeclaration(g) || !is_variable(g) || !is_hidden(g)) continue;
        LLVMSetLinkage(g, LLVMExternalLinkage);
        shown[(*count)++] = g;
    }
    return shown;
}

static void hide_variables(LLVMValueRef *shown, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        LLVMSetLinkage(shown[i], LLVMInternalLinkage);
    wp_free(shown);
}

static void declare_variables(wp_compile *c) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        if (LLVMIsDeclaration(g) || !is_variable(g)) continue;
        LLVMSetInitializer(g, NULL);
        LLVMSetLinkage(g, LLVMExternalLinkage);
        LLVMSetComdat(g, NULL);
    }
}

/* ---- the kernel alone ---- */

static wp_status inline_calls(wp_compile *c, LLVMValueRef kernel, wp_error *err) {
    wpi_rewrite_drop_lists(c);
    declare_variables(c);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || f == kernel) continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        LLVMSetVisibility(f, LLVMDefaultVisibility);
        wpi_function_attribute_remove(f, "noinline");
        wpi_function_attribute_remove(f, "optnone");
        wpi_function_attribute(c, f, "alwaysinline");
    }
    return wpi_compile_run(c,
                           "always-inline,globaldce,function(sroa,early-cse,"
                           "instcombine<no-verify-fixpoint>,simplifycfg)",
                           NULL, err);
}

static LLVMValueRef copy_with_thread(wpi_stream *s) {
    wp_compile *c = s->c;
    const unsigned count = LLVMCountParams(s->kernel->function);
    LLVMTypeRef *types = wp_must_calloc(count + 1, sizeof *types);
    LLVMGetParamTypes(wpi_function_type(s->kernel->function), types);
    types[count] = c->ptr;
    LLVMValueRef body = LLVMAddFunction(c->module, "wp.stream.compute",
                                        LLVMFunctionType(c->none, types, count + 1, 0));
    wp_free(types);
    LLVMSetLinkage(body, LLVMInternalLinkage);
    wpi_function_attribute(c, body, "mustprogress");
    wpi_clone_body(s->kernel->function, body);
    return body;
}

/* ---- the device library ---- */

static wp_status open_library(wp_compile *c, const char *name, LLVMModuleRef *out, wp_error *err) {
    char *self = NULL, *data = NULL;
    size_t size_bytes = 0;
    WP_TRY(wp_self_path(&self, err));
    char *bin = wp_path_dir(self), *prefix = wp_path_dir(bin);
    char *folder = wp_path_join(prefix, "lib/warpage"), *path = wp_path_join(folder, name);
    wp_status status = wp_file_read(path, &data, &size_bytes, err);
    if (status == WP_STATUS_OK) {
        LLVMMemoryBufferRef buffer =
            LLVMCreateMemoryBufferWithMemoryRangeCopy(data, size_bytes, "streamlib");
        if (LLVMParseBitcodeInContext2(c->context, buffer, out))
            status =
                WP_FAIL(err, TOOLCHAIN, "%s is not bitcode of LLVM 19; reinstall warpage", path);
        LLVMDisposeMemoryBuffer(buffer);
    }
    wp_free(data);
    wp_free(path);
    wp_free(folder);
    wp_free(prefix);
    wp_free(bin);
    wp_free(self);
    return status;
}

static void drop_target(LLVMValueRef function) {
    static const char *const names[] = {"target-cpu", "target-features"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        LLVMRemoveStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         names[i], (unsigned)strlen(names[i]));
}

static wp_status link_library(const wpi_stream *s, wp_error *err) {
    wp_compile *c = s->c;
    LLVMModuleRef library = NULL;
    WP_TRY(open_library(c, s->has_windows ? "windowlib.bc" : "streamlib.bc", &library, err));
    LLVMSetTarget(library, LLVMGetTarget(c->module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(c->module));
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f))
        drop_target(f);
    if (LLVMLinkModules2(c->module, library))
        return WP_FAIL(err, TOOLCHAIN, "the streaming library does not fit the program");
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        if (!LLVMIsDeclaration(f) &&
            strncmp(LLVMGetValueName2(f, &length), "__wp_stream_", 12) == 0)
            LLVMSetLinkage(f, LLVMInternalLinkage);
    }
    return WP_STATUS_OK;
}

/* ---- the sibling ---- */

static void call_slice(wpi_stream *s, LLVMValueRef sibling, LLVMValueRef slice, LLVMValueRef thread,
                       LLVMBasicBlockRef last) {
    const unsigned count = LLVMCountParams(slice);
    LLVMValueRef *args = wp_must_calloc(count, sizeof *args);
    for (unsigned i = 0; i + 1 < count; i++)
        args[i] = LLVMGetParam(sibling, i);
    args[count - 1] = thread;
    LLVMBuildCall2(s->c->builder, wpi_function_type(slice), slice, args, count, "");
    LLVMBuildBr(s->c->builder, last);
    wp_free(args);
    wpi_function_attribute(s->c, slice, "alwaysinline");
}

/* Declares the sibling, and opens it with the memory of the thread. */
static LLVMValueRef open_sibling(wpi_stream *s, uint64_t thread_bytes, LLVMValueRef *launch,
                                 LLVMValueRef *thread) {
    wp_compile *c = s->c;
    char *suffix = wpi_stream_suffix(s->mask);
    LLVMValueRef sibling = wpi_rewrite_sibling(c, s->kernel, suffix, &c->ptr, 1, s->has_windows);
    wp_free(suffix);
    *launch = LLVMGetParam(sibling, LLVMCountParams(sibling) - 1);
    LLVMSetValueName2(*launch, "launch", 6);
    LLVMPositionBuilderAtEnd(c->builder,
                             LLVMAppendBasicBlockInContext(c->context, sibling, "entry"));
    *thread = LLVMBuildAlloca(c->builder, LLVMArrayType2(c->i8, thread_bytes), "thread");
    LLVMSetAlignment(*thread, 16);
    return sibling;
}

static LLVMValueRef sibling_of_slices(wpi_stream *s, LLVMValueRef addresses, LLVMValueRef compute) {
    wp_compile *c = s->c;
    LLVMValueRef launch, thread;
    LLVMValueRef sibling = open_sibling(s, sizeof(wpi_stream_thread), &launch, &thread);
    LLVMBasicBlockRef ahead = LLVMAppendBasicBlockInContext(c->context, sibling, "addresses");
    LLVMBasicBlockRef work = LLVMAppendBasicBlockInContext(c->context, sibling, "compute");
    LLVMBasicBlockRef last = LLVMAppendBasicBlockInContext(c->context, sibling, "last");
    LLVMValueRef begin[] = {thread, launch};
    (void)wpi_stream_call(c, "begin", c->none, begin, 2);
    LLVMValueRef half = wpi_stream_call(c, "is_computing", c->i32, &launch, 1);
    LLVMValueRef is_computing =
        LLVMBuildICmp(c->builder, LLVMIntNE, half, wpi_const32(c, 0), "is.computing");
    LLVMBuildCondBr(c->builder, is_computing, work, ahead);
    LLVMPositionBuilderAtEnd(c->builder, ahead);
    call_slice(s, sibling, addresses, thread, last);
    LLVMPositionBuilderAtEnd(c->builder, work);
    call_slice(s, sibling, compute, thread, last);
    LLVMPositionBuilderAtEnd(c->builder, last);
    (void)wpi_stream_call(c, "end", c->none, &thread, 1);
    LLVMBuildRetVoid(c->builder);
    return sibling;
}

static LLVMValueRef sibling_with_windows(wpi_stream *s) {
    wp_compile *c = s->c;
    LLVMValueRef launch, thread;
    LLVMValueRef sibling = open_sibling(s, sizeof(wpi_window_thread), &launch, &thread);
    LLVMBasicBlockRef last = LLVMAppendBasicBlockInContext(c->context, sibling, "last");
    LLVMValueRef begin[] = {thread, launch, wpi_const32(c, s->facts.windows),
                            wpi_const32(c, s->facts.granule)};
    (void)wpi_stream_call(c, "window_begin", c->none, begin, 4);
    call_slice(s, sibling, s->body, thread, last);
    LLVMPositionBuilderAtEnd(c->builder, last);
    LLVMValueRef end[] = {thread, wpi_const32(c, s->write_classes != 0)};
    (void)wpi_stream_call(c, "window_end", c->none, end, 2);
    LLVMBuildRetVoid(c->builder);
    return sibling;
}

static void add_facts(const wpi_stream *s, LLVMValueRef sibling) {
    wp_compile *c = s->c;
    size_t length;
    char *name = wp_format("%s" WPI_STREAM_FACTS, LLVMGetValueName2(sibling, &length));
    LLVMValueRef bytes =
        LLVMConstStringInContext2(c->context, (const char *)&s->facts, sizeof s->facts, 1);
    LLVMValueRef global =
        LLVMAddGlobalInAddressSpace(c->module, LLVMTypeOf(bytes), name, WP_SPACE_GLOBAL);
    LLVMSetInitializer(global, bytes);
    LLVMSetExternallyInitialized(global, 1);
    LLVMSetAlignment(global, 16);
    wp_free(name);
}

static wp_status stream_kernel(wpi_stream *s, wp_error *err) {
    LLVMValueRef addresses, compute, sibling, kernel = s->kernel->function;
    WP_TRY(inline_calls(s->c, kernel, err));
    s->body = copy_with_thread(s);
    WP_TRY(wpi_stream_find_accesses(s, err));
    if (s->has_windows) {
        wpi_stream_use_windows(s);
        sibling = sibling_with_windows(s);
    } else {
        WP_TRY(wpi_stream_cut(s, err));
        WP_TRY(wpi_stream_slice(s, &addresses, &compute, err));
        sibling = sibling_of_slices(s, addresses, compute);
    }
    add_facts(s, sibling);
    WP_TRY(link_library(s, err));
    LLVMSetValueName2(kernel, "wp.stream.kernel", 16);
    LLVMSetLinkage(kernel, LLVMInternalLinkage);
    return wpi_compile_run(s->c,
                           "always-inline,globaldce,function(instcombine<no-verify-fixpoint>,sroa,"
                           "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
                           "dse,instcombine<no-verify-fixpoint>,simplifycfg,adce),globaldce",
                           NULL, err);
}

/* ---- back into the program ---- */

static wp_status link_back(wp_compile *c, LLVMMemoryBufferRef bitcode, wp_error *err) {
    LLVMModuleRef made = NULL;
    if (LLVMParseBitcodeInContext2(c->context, bitcode, &made) || LLVMLinkModules2(c->module, made))
        return WP_FAIL(err, TOOLCHAIN, "the streamed kernel does not fit the program");
    return WP_STATUS_OK;
}

static void stream_deinit(wpi_stream *s) {
    for (uint32_t i = 0; i < s->unknown_count; i++)
        wp_free(s->unknowns[i].place);
    wp_free(s->unknowns);
    wpi_compile_destroy(s->c);
}

/* One way of streaming it. `reason`: why windows are needed, or NULL. */
static wp_status stream_with(wpi_stream *s, LLVMMemoryBufferRef program, const char *argument,
                             const char *reason, wp_error *err) {
    *s = (wpi_stream){.has_windows = reason != NULL};
    if (reason != NULL) (void)snprintf(s->facts.reason, sizeof s->facts.reason, "%s", reason);
    WP_TRY(wpi_compile_create(LLVMGetBufferStart(program), LLVMGetBufferSize(program), &s->c, err));
    WP_TRY(wpi_stream_argument_find(s->c, argument, &s->kernel, &s->mask, err));
    return stream_kernel(s, err);
}

wp_status wpi_rewrite_stream(wp_compile *c, const char *argument, wp_error *err) {
    wpi_stream s;
    char reason[WPI_STREAM_REASON];
    uint32_t shown_count;
    LLVMValueRef *shown = show_variables(c, &shown_count);
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(c->module);
    wp_status status = stream_with(&s, bitcode, argument, NULL, err);
    if (status == WP_STATUS_UNSUPPORTED && s.facts.reason[0] != '\0') {
        memcpy(reason, s.facts.reason, sizeof reason);
        stream_deinit(&s);
        status = stream_with(&s, bitcode, argument, reason, err);
    }
    LLVMDisposeMemoryBuffer(bitcode);
    if (status == WP_STATUS_OK) {
        bitcode = LLVMWriteBitcodeToMemoryBuffer(s.c->module);
        status = link_back(c, bitcode, err);
        LLVMDisposeMemoryBuffer(bitcode);
    }
    hide_variables(shown, shown_count);
    stream_deinit(&s);
    return status;
}
