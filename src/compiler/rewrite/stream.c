/* SPDX-License-Identifier: Apache-2.0 */
/* The streamed form of a kernel is made in a module that has the kernel only (alone.h). */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "base/stream_window_abi.h"
#include "base/text.h"
#include "compiler/ir/clone.h"
#include "compiler/rewrite/alone.h"
#include "compiler/rewrite/rewrite.h"
#include "compiler/rewrite/stream.h"
#include "compiler/rewrite/stream_argument.h"

static LLVMValueRef copy_with_thread(wpi_stream *s) {
    wpi_compile *c = s->c;
    const unsigned count = LLVMCountParams(s->kernel->function);
    LLVMTypeRef *types = wpi_must_calloc(count + 1, sizeof *types);
    LLVMGetParamTypes(wpi_function_type(s->kernel->function), types);
    types[count] = c->ptr;
    LLVMValueRef body = LLVMAddFunction(c->module, "wp.stream.compute",
                                        LLVMFunctionType(c->none, types, count + 1, 0));
    wpi_free(types);
    LLVMSetLinkage(body, LLVMInternalLinkage);
    wpi_function_attribute(c, body, "mustprogress");
    wpi_clone_body(s->kernel->function, body);
    return body;
}

/* ---- the sibling ---- */

static void call_slice(wpi_stream *s, LLVMValueRef sibling, LLVMValueRef slice, LLVMValueRef thread,
                       LLVMBasicBlockRef last) {
    const unsigned count = LLVMCountParams(slice);
    LLVMValueRef *args = wpi_must_calloc(count, sizeof *args);
    for (unsigned i = 0; i + 1 < count; i++)
        args[i] = LLVMGetParam(sibling, i);
    args[count - 1] = thread;
    LLVMBuildCall2(s->c->builder, wpi_function_type(slice), slice, args, count, "");
    LLVMBuildBr(s->c->builder, last);
    wpi_free(args);
    wpi_function_attribute(s->c, slice, "alwaysinline");
}

/* Declares the sibling, and opens it with the memory of the thread. */
static LLVMValueRef open_sibling(wpi_stream *s, uint64_t thread_bytes, LLVMValueRef *launch,
                                 LLVMValueRef *thread) {
    wpi_compile *c = s->c;
    char *suffix = wpi_stream_suffix(s->mask);
    LLVMValueRef sibling = wpi_rewrite_sibling(c, s->kernel, suffix, &c->ptr, 1, s->has_windows);
    wpi_free(suffix);
    *launch = LLVMGetParam(sibling, LLVMCountParams(sibling) - 1);
    LLVMSetValueName2(*launch, "launch", 6);
    LLVMPositionBuilderAtEnd(c->builder,
                             LLVMAppendBasicBlockInContext(c->context, sibling, "entry"));
    *thread = LLVMBuildAlloca(c->builder, LLVMArrayType2(c->i8, thread_bytes), "thread");
    LLVMSetAlignment(*thread, 16);
    return sibling;
}

static LLVMValueRef sibling_of_slices(wpi_stream *s, LLVMValueRef addresses, LLVMValueRef compute) {
    wpi_compile *c = s->c;
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
    wpi_compile *c = s->c;
    LLVMValueRef launch, thread;
    LLVMValueRef sibling = open_sibling(s, sizeof(wpi_window_thread), &launch, &thread);
    LLVMBasicBlockRef last = LLVMAppendBasicBlockInContext(c->context, sibling, "last");
    LLVMValueRef begin[] = {thread, launch, wpi_const32(c, s->facts.windows)};
    (void)wpi_stream_call(c, "window_begin", c->none, begin, 3);
    call_slice(s, sibling, s->body, thread, last);
    LLVMPositionBuilderAtEnd(c->builder, last);
    LLVMValueRef end[] = {thread, wpi_const32(c, s->write_classes != 0)};
    (void)wpi_stream_call(c, "window_end", c->none, end, 2);
    LLVMBuildRetVoid(c->builder);
    return sibling;
}

static void add_facts(const wpi_stream *s, LLVMValueRef sibling) {
    wpi_compile *c = s->c;
    size_t length;
    char *name = wpi_format("%s" WPI_STREAM_FACTS, LLVMGetValueName2(sibling, &length));
    LLVMValueRef bytes =
        LLVMConstStringInContext2(c->context, (const char *)&s->facts, sizeof s->facts, 1);
    LLVMValueRef global =
        LLVMAddGlobalInAddressSpace(c->module, LLVMTypeOf(bytes), name, WP_SPACE_GLOBAL);
    LLVMSetInitializer(global, bytes);
    LLVMSetExternallyInitialized(global, 1);
    LLVMSetAlignment(global, 16);
    wpi_free(name);
}

/* Where windows are faster, unless the program asks for address threads; NULL: they are not. Caller
 * frees. */
static char *find_preference(const wpi_stream *s) {
    LLVMValueRef read = NULL;
    if ((s->mask & WPI_STREAM_AHEAD) == 0) read = wpi_stream_byte_after_byte(s);
    return read != NULL ? wpi_stream_place(read) : NULL;
}

static wp_status make_slices(wpi_stream *s, LLVMValueRef *sibling, wp_error *err) {
    LLVMValueRef addresses, compute;
    char *preferred = find_preference(s);
    wp_status status = wpi_stream_cut(s, err);
    if (status == WP_STATUS_OK) status = wpi_stream_slice(s, &addresses, &compute, err);
    if (status == WP_STATUS_OK && preferred != NULL) {
        s->facts.prefers_windows = 1;
        status = wpi_stream_need_windows(s, "single bytes are read one after the other, at",
                                         preferred, err);
    }
    if (status == WP_STATUS_OK) *sibling = sibling_of_slices(s, addresses, compute);
    wpi_free(preferred);
    return status;
}

static wp_status stream_kernel(wpi_stream *s, wpi_alone *alone, wp_error *err) {
    LLVMValueRef sibling;
    s->body = copy_with_thread(s);
    WP_TRY(wpi_stream_make_plain(s, err));
    WP_TRY(wpi_stream_find_accesses(s, err));
    if (s->facts.followed_count != 0) s->has_lines = false; /* their slots are not in lines */
    s->facts.has_lines = s->has_lines;
    if (s->has_windows) {
        wpi_stream_use_windows(s);
        sibling = sibling_with_windows(s);
    } else {
        WP_TRY(make_slices(s, &sibling, err));
    }
    add_facts(s, sibling);
    WP_TRY(wpi_alone_link(alone, s->has_windows ? "windowlib.bc" : "streamlib.bc", "__wp_stream_",
                          err));
    return wpi_compile_run(s->c,
                           "always-inline,globaldce,function(instcombine<no-verify-fixpoint>,sroa,"
                           "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
                           "dse,instcombine<no-verify-fixpoint>,simplifycfg,adce)",
                           NULL, err);
}

/* One way of streaming it. `why` has why windows are needed, or no reason. UNSUPPORTED: it gets
 * the reason why it would not fail with them, if so. */
static wp_status stream_with(const wpi_alone_program *program, const char *kernel, uint64_t mask,
                             wpi_stream_facts *why, wp_error *err) {
    const bool has_windows = why->reason[0] != '\0';
    wpi_stream s = {.has_windows = has_windows,
                    .has_lines = !has_windows && (mask & WPI_STREAM_LINES) != 0,
                    .mask = mask,
                    .facts.prefers_windows = why->prefers_windows};
    wpi_alone alone = {0};
    wp_status status;
    memcpy(s.facts.reason, why->reason, WPI_STREAM_REASON);
    WP_TRY_GOTO(wpi_alone_init(&alone, program, kernel, err), done);
    s.c = alone.c;
    s.kernel = alone.kernel;
    status = stream_kernel(&s, &alone, err);
    if (status == WP_STATUS_UNSUPPORTED) *why = s.facts;
    if (status == WP_STATUS_OK) status = wpi_alone_return(&alone, err);
done:
    for (uint32_t i = 0; i < s.unknown_count; i++)
        wpi_free(s.unknowns[i].place);
    wpi_free(s.unknowns);
    wpi_map_deinit(&s.indices);
    wpi_alone_deinit(&alone);
    return status;
}

wp_status wpi_rewrite_stream(wpi_compile *c, const char *argument, wp_error *err) {
    wpi_stream_facts why = {0};
    const wpi_kernel_ir *kernel;
    wpi_alone_program program;
    uint64_t mask;
    WP_TRY(wpi_stream_argument_find(c, argument, &kernel, &mask, err));
    wpi_alone_program_init(&program, c);
    if ((mask & WPI_STREAM_ALL_DATA) != 0)
        (void)snprintf(why.reason, sizeof why.reason, "the program asks for all data");
    const bool is_asked = why.reason[0] != '\0';
    wp_status status = stream_with(&program, kernel->name, mask, &why, err);
    if (!is_asked && status == WP_STATUS_UNSUPPORTED && why.reason[0] != '\0')
        status = stream_with(&program, kernel->name, mask, &why, err);
    wpi_alone_program_deinit(&program);
    if (status != WP_STATUS_OK || (mask & WPI_STREAM_LINES) == 0) return status;
    char *suffix = wpi_stream_suffix(mask);
    char *streamed = wpi_format("%s$%s", kernel->name, suffix);
    status = wpi_rewrite_cache_streamed(c, kernel->name, streamed, err);
    wpi_free(streamed);
    wpi_free(suffix);
    return status;
}
