/* SPDX-License-Identifier: Apache-2.0 */
/* The rewrite `cache`: of each kernel that has loops over its parameters' data, a form that caches
 * them (docs/rooms/cache.md). */
#include "compiler/rewrite/cache.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/ir/clone.h"
#include "compiler/ir/edit.h"
#include "compiler/rewrite/alone.h"
#include "compiler/rewrite/rewrite.h"

static uint32_t count_instructions(LLVMValueRef function) {
    uint32_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count++;
    return count;
}

/* What the front end concluded of pointers does not hold for the cached form: it keeps addresses,
 * and reads and writes memory through them at other times. */
static void forget_pointers(LLVMValueRef function) {
    static const char *const names[] = {"noalias",  "nocapture", "readonly",
                                        "readnone", "writeonly", "nofree"};
    for (unsigned p = 0; p < LLVMCountParams(function); p++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            LLVMRemoveEnumAttributeAtIndex(
                function, p + 1, LLVMGetEnumAttributeKindForName(names[n], strlen(names[n])));
}

static void make_body(wpi_cache *k) {
    wp_compile *c = k->c;
    const LLVMTypeRef more[] = {c->i32, c->i32, c->ptr};
    static const char *const names[] = {"lines", "lines_offset", "counts"};
    const unsigned own = LLVMCountParams(k->kernel->function);
    k->body = wpi_rewrite_sibling(c, k->kernel, WPI_CACHE_SUFFIX, more, 3, true);
    forget_pointers(k->body);
    for (unsigned i = 0; i < 3; i++)
        LLVMSetValueName2(LLVMGetParam(k->body, own + i), names[i], strlen(names[i]));
    k->lines = LLVMGetParam(k->body, own);
    k->offset = LLVMGetParam(k->body, own + 1);
    k->counts = LLVMGetParam(k->body, own + 2);
    wpi_clone_body(k->kernel->function, k->body);
}

static const char *reason_without_form(const wpi_cache *k, uint32_t loops) {
    if (loops == 0) return "the kernel has no loops";
    if (k->facts.structures == 0)
        return "no loop of the kernel reads or writes an array of its parameters or variables, "
               "except by atomic operations";
    return "the accesses of its loops may lie in two lines each";
}

static wp_status make_form(wpi_cache *k, wpi_alone *alone, wp_error *err) {
    wp_compile *c = k->c;
    LLVMPositionBuilderBefore(c->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(k->body)));
    WP_TRY(wpi_compile_run(c, "function(reg2mem)", NULL, err));
    LLVMPositionBuilderBefore(c->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(k->body)));
    k->thread =
        LLVMBuildAlloca(c->builder, LLVMArrayType2(c->i8, sizeof(wpi_cache_thread)), "thread");
    LLVMSetAlignment(k->thread, 8);
    wpi_cache_copy(k);
    char *library = wp_format("cachelib-%u.bc", k->facts.line_bytes);
    const wp_status linked = wpi_alone_link(alone, library, "__wp_cache_", err);
    wp_free(library);
    if (linked != WP_STATUS_OK) return linked;
    WP_TRY(wpi_compile_run(c,
                           "always-inline,globaldce,function(sroa,instcombine<no-verify-fixpoint>,"
                           "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
                           "sccp,instcombine<no-verify-fixpoint>,simplifycfg,adce),globaldce",
                           NULL, err));
    k->facts.cached_instructions = count_instructions(k->body);
    return WP_STATUS_OK;
}

static void add_facts(const wpi_cache *k) {
    wp_compile *c = k->c;
    char *name = wp_format("%s" WPI_CACHE_FACTS, k->kernel->name);
    LLVMValueRef bytes =
        LLVMConstStringInContext2(c->context, (const char *)&k->facts, sizeof k->facts, 1);
    LLVMValueRef global =
        LLVMAddGlobalInAddressSpace(c->module, LLVMTypeOf(bytes), name, WP_SPACE_GLOBAL);
    LLVMSetInitializer(global, bytes);
    LLVMSetExternallyInitialized(global, 1);
    LLVMSetAlignment(global, 16);
    wp_free(name);
}

static void add_counts(const wpi_cache *k) {
    wp_compile *c = k->c;
    LLVMTypeRef type = LLVMArrayType2(c->i64, sizeof(wpi_cache_counts) / sizeof(uint64_t));
    char *name = wp_format("%s" WPI_CACHE_COUNTS, k->kernel->name);
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(c->module, type, name, WP_SPACE_GLOBAL);
    LLVMSetInitializer(global, LLVMConstNull(type));
    LLVMSetExternallyInitialized(global, 1);
    LLVMSetAlignment(global, 8);
    wp_free(name);
}

static wp_status cache_kernel(const wpi_alone_program *program, const char *name,
                              uint32_t line_bytes, wp_error *err) {
    wpi_cache k = {.facts = {.line_bytes = line_bytes}};
    wpi_alone alone = {0};
    wpi_cache_loops loops = {0};
    wp_status status;
    WP_TRY_GOTO(wpi_alone_init(&alone, program, name, err), done);
    k.c = alone.c;
    k.kernel = alone.kernel;
    k.facts.instructions = count_instructions(k.kernel->function);
    make_body(&k);
    wpi_cache_loops_init(&loops, k.body);
    wpi_cache_note_accesses(&k, &loops);
    wpi_cache_choose_loops(&k, &loops);
    if (k.nest_count != 0) {
        WP_TRY_GOTO(make_form(&k, &alone, err), done);
        add_counts(&k);
    } else {
        (void)snprintf(k.facts.reason, sizeof k.facts.reason, "%s",
                       reason_without_form(&k, loops.count));
        k.facts.structures = 0;
        LLVMDeleteFunction(k.body);
    }
    add_facts(&k);
    status = wpi_alone_return(&alone, err);
done:
    wpi_cache_loops_deinit(&loops);
    wp_free(k.nests);
    wp_free(k.exits);
    wpi_alone_deinit(&alone);
    return status;
}

/* Loops of its own, or functions that may have some. */
static bool has_loops_in_sight(const wp_kernel_ir *kernel) {
    wp_loops loops;
    wpi_loops_init(&loops, kernel->function);
    bool has = loops.loop_count != 0;
    wpi_loops_deinit(&loops);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel->function); b && !has;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !has;
             i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = LLVMIsACallInst(i) ? wpi_called_function(i) : NULL;
            has = callee != NULL && !LLVMIsDeclaration(callee);
        }
    return has;
}

static wp_status refuse_kernel(wp_compile *c, const wp_kernel_ir *kernel, uint32_t line_bytes) {
    wpi_cache k = {.c = c, .kernel = kernel, .facts = {.line_bytes = line_bytes}};
    k.facts.instructions = count_instructions(kernel->function);
    (void)snprintf(k.facts.reason, sizeof k.facts.reason, "%s", reason_without_form(&k, 0));
    add_facts(&k);
    return WP_STATUS_OK;
}

wp_status wpi_rewrite_cache_check(const char *argument, uint32_t *line_bytes, wp_error *err) {
    *line_bytes = WPI_CACHE_LINE_BYTES;
    for (uint32_t bytes = WPI_CACHE_LINE_BYTES_MIN; argument != NULL; bytes *= 2) {
        char text[16];
        (void)snprintf(text, sizeof text, "%u", bytes);
        *line_bytes = bytes;
        if (strcmp(text, argument) == 0) break;
        if (bytes == WPI_CACHE_LINE_BYTES_MAX)
            return WP_FAIL(err, INVALID,
                           "--cache-line=%s: a line of the software cache has 8, 16 or 32 bytes",
                           argument);
    }
    return WP_STATUS_OK;
}

wp_status wpi_rewrite_cache(wp_compile *c, const char *argument, wp_error *err) {
    wpi_alone_program program;
    uint32_t line_bytes;
    wp_status status = wpi_rewrite_cache_check(argument, &line_bytes, err);
    if (status != WP_STATUS_OK) return status;
    wpi_alone_program_init(&program, c);
    for (uint32_t i = 0; i < c->kernel_count && status == WP_STATUS_OK; i++)
        status = has_loops_in_sight(&c->kernels[i])
                     ? cache_kernel(&program, c->kernels[i].name, line_bytes, err)
                     : refuse_kernel(c, &c->kernels[i], line_bytes);
    wpi_alone_program_deinit(&program);
    return status;
}
