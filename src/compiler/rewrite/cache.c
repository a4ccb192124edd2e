/* SPDX-License-Identifier: Apache-2.0 */
/* The rewrite `cache`: of each kernel that has loops over its parameters' data, a form that caches
 * them (docs/rooms/cache.md). */
#include "compiler/rewrite/cache.h"

#include <llvm-c/Target.h>
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
    wpi_compile *c = k->c;
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

/* ---- kernels that have no other form ---- */

/* Bytes of parameters that every GPU and driver takes. */
enum { PARAMETER_BYTES_MAX = 4096 };

static uint64_t parameter_bytes(const wpi_cache *k) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(k->c->module);
    LLVMValueRef function = k->kernel->function;
    uint64_t bytes = 0;
    for (unsigned p = 0; p < LLVMCountParams(function); p++) {
        LLVMAttributeRef by_value = LLVMGetEnumAttributeAtIndex(
            function, p + 1, LLVMGetEnumAttributeKindForName("byval", 5));
        LLVMTypeRef type = by_value != NULL ? LLVMGetTypeAttributeValue(by_value)
                                            : LLVMTypeOf(LLVMGetParam(function, p));
        const uint64_t align = LLVMABIAlignmentOfType(layout, type);
        bytes = (bytes + align - 1) / align * align + LLVMABISizeOfType(layout, type);
    }
    return bytes;
}

static bool has_room_for_parameters(const wpi_cache *k) {
    const uint64_t own = parameter_bytes(k), own_aligned = (own + 7) / 8 * 8;
    return own > PARAMETER_BYTES_MAX ||
           own_aligned + 2 * sizeof(uint32_t) + sizeof(uint64_t) <= PARAMETER_BYTES_MAX;
}

/* By inline PTX, as there are no functions for it. */
static bool reads_shared_size(LLVMValueRef i) {
    size_t length = 0;
    if (!LLVMIsACallInst(i) || !LLVMIsAInlineAsm(LLVMGetCalledValue(i))) return false;
    const char *code = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(i), &length);
    return strstr(code, "dynamic_smem_size") != NULL || strstr(code, "total_smem_size") != NULL;
}

static bool knows_shared_size(const wpi_compile *c) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (reads_shared_size(i)) return true;
    return false;
}

/* NULL: it may have one. */
static const char *reason_to_refuse(const wpi_cache *k) {
    if (knows_shared_size(k->c))
        return "it reads the size of its shared memory (%dynamic_smem_size), to which lines would "
               "add";
    if (!has_room_for_parameters(k))
        return "its parameters leave less than 16 of 4096 bytes for those of the cache";
    return NULL;
}

static const char *reason_without_form(const wpi_cache *k, uint32_t loops) {
    if (k->facts.line_bytes == 0)
        return "--cache-line: a line of the software cache has 8, 16, 24 or 32 bytes";
    if (loops == 0) return "the kernel has no loops";
    if (k->has_marks) return "its loops have WP_CACHE_OFF()";
    if (k->facts.structures == 0)
        return "no loop of the kernel reads or writes an array of its parameters or variables, "
               "except by atomic operations";
    if (k->has_waits) return "its loops wait for other threads";
    if (k->has_indirect_calls) return "its loops call functions through pointers";
    return "the accesses of its loops may lie in two lines each";
}

static wp_status make_form(wpi_cache *k, wpi_alone *alone, wp_error *err) {
    wpi_compile *c = k->c;
    LLVMPositionBuilderBefore(c->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(k->body)));
    WP_TRY(wpi_compile_run(c, "function(reg2mem)", NULL, err));
    LLVMPositionBuilderBefore(c->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(k->body)));
    k->thread =
        LLVMBuildAlloca(c->builder, LLVMArrayType2(c->i8, sizeof(wpi_cache_thread)), "thread");
    LLVMSetAlignment(k->thread, 8);
    k->way = LLVMBuildAlloca(c->builder, c->i32, "way");
    wpi_cache_copy(k);
    char *library = wpi_format("cachelib-%u.bc", k->facts.line_bytes);
    const wp_status linked = wpi_alone_link(alone, library, "__wp_cache_", err);
    wpi_free(library);
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
    wpi_compile *c = k->c;
    char *name = wpi_format("%s" WPI_CACHE_FACTS, k->kernel->name);
    LLVMValueRef bytes =
        LLVMConstStringInContext2(c->context, (const char *)&k->facts, sizeof k->facts, 1);
    LLVMValueRef global =
        LLVMAddGlobalInAddressSpace(c->module, LLVMTypeOf(bytes), name, WP_SPACE_GLOBAL);
    LLVMSetInitializer(global, bytes);
    LLVMSetExternallyInitialized(global, 1);
    LLVMSetAlignment(global, 16);
    wpi_free(name);
}

static void add_counts(const wpi_cache *k) {
    wpi_compile *c = k->c;
    LLVMTypeRef type = LLVMArrayType2(c->i64, sizeof(wpi_cache_counts) / sizeof(uint64_t));
    char *name = wpi_format("%s" WPI_CACHE_COUNTS, k->kernel->name);
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(c->module, type, name, WP_SPACE_GLOBAL);
    LLVMSetInitializer(global, LLVMConstNull(type));
    LLVMSetExternallyInitialized(global, 1);
    LLVMSetAlignment(global, 8);
    wpi_free(name);
}

/* Gaps between rows keep the places of accesses aligned; 16 bytes at a time meet no bank twice. */
static uint32_t pad_bytes(const wpi_cache *k) {
    const bool is_power = (k->facts.line_bytes & (k->facts.line_bytes - 1)) == 0;
    if (k->is_dense || !is_power || k->widest_bytes > sizeof(uint64_t)) return 0;
    return k->widest_bytes > sizeof(uint32_t) ? sizeof(uint64_t) : sizeof(uint32_t);
}

static wp_status cache_kernel(const wpi_alone_program *program, const char *name, bool is_streamed,
                              const wpi_cache_options *options, wp_error *err) {
    wpi_cache k = {.is_dense = options->is_dense,
                   .has_runs = options->has_runs,
                   .facts = {.line_bytes = options->line_bytes, .ways = options->ways}};
    wpi_alone alone = {0};
    wpi_cache_loops loops = {0};
    wp_status status;
    WP_TRY_GOTO(wpi_alone_init(&alone, program, name, err), done);
    k.c = alone.c;
    k.kernel = alone.kernel;
    k.facts.instructions = count_instructions(k.kernel->function);
    make_body(&k);
    if (is_streamed) k.launch = LLVMGetParam(k.body, LLVMCountParams(k.kernel->function) - 1);
    wpi_cache_loops_init(&loops, k.body);
    wpi_cache_note_accesses(&k, &loops);
    wpi_cache_note_lanes(&k, &loops);
    if (is_streamed) k.facts.l1 = WPI_CACHE_L1_NONE;
    wpi_cache_choose_loops(&k, &loops);
    const char *refused = reason_to_refuse(&k);
    if (refused != NULL) k.nest_count = 0;
    k.facts.pad_bytes = pad_bytes(&k);
    wpi_cache_find_runs(&k, &loops);
    if (k.nest_count != 0) {
        WP_TRY_GOTO(make_form(&k, &alone, err), done);
        add_counts(&k);
    } else {
        (void)snprintf(k.facts.reason, sizeof k.facts.reason, "%s",
                       refused != NULL ? refused : reason_without_form(&k, loops.count));
        k.facts.structures = 0;
        LLVMDeleteFunction(k.body);
    }
    add_facts(&k);
    status = wpi_alone_return(&alone, err);
done:
    wpi_cache_loops_deinit(&loops);
    wpi_free(k.nests);
    wpi_free(k.choices);
    wpi_alone_deinit(&alone);
    return status;
}

/* Loops of its own, or functions that may have some. */
static bool has_loops_in_sight(const wpi_kernel_ir *kernel) {
    wpi_loops loops;
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

static wp_status refuse_kernel(wpi_compile *c, const wpi_kernel_ir *kernel,
                               const wpi_cache_options *options) {
    wpi_cache k = {.c = c, .kernel = kernel, .facts = {.line_bytes = options->line_bytes}};
    k.facts.instructions = count_instructions(kernel->function);
    (void)snprintf(k.facts.reason, sizeof k.facts.reason, "%s", reason_without_form(&k, 0));
    add_facts(&k);
    return WP_STATUS_OK;
}

/* ---- options ---- */

/* The number that `text` is, if it is one of the list; 0: it is none. */
static uint32_t number_of(const char *text, size_t length, const uint32_t *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char known[16];
        (void)snprintf(known, sizeof known, "%u", list[i]);
        if (strlen(known) == length && strncmp(known, text, length) == 0) return list[i];
    }
    return 0;
}

static bool is_key(const char *text, size_t length, const char *key) {
    return strlen(key) <= length && strncmp(text, key, strlen(key)) == 0;
}

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static wp_status read_option(const char *text, size_t length, wpi_cache_options *options,
                             wp_error *err) {
    static const uint32_t lines[] = {8, 16, 24, 32}, ways[] = {1, 2, 4};
    const char *value = memchr(text, '=', length);
    value = value != NULL ? value + 1 : text;
    const size_t value_length = length - (size_t)(value - text);
    if (is_key(text, length, "line=") || value == text) {
        options->line_bytes = number_of(value, value_length, lines, COUNT_OF(lines));
        if (options->line_bytes != 0 || (value_length == 1 && *value == '0')) return WP_STATUS_OK;
        return WP_FAIL(err, INVALID,
                       "--cache-line=%.*s: a line of the software cache has 8, 16, 24 or 32 bytes",
                       (int)value_length, value);
    }
    if (is_key(text, length, "lines=")) {
        options->ways = number_of(value, value_length, ways, COUNT_OF(ways));
        if (options->ways != 0) return WP_STATUS_OK;
        return WP_FAIL(err, INVALID,
                       "--cache-lines=%.*s: an array has 1, 2 or 4 lines of the software cache",
                       (int)value_length, value);
    }
    if (is_key(text, length, "layout=")) {
        options->is_dense = strncmp(value, "dense", value_length) == 0;
        if (value_length != 0 && (options->is_dense || strncmp(value, "padded", value_length) == 0))
            return WP_STATUS_OK;
        return WP_FAIL(err, INVALID,
                       "--cache-layout=%.*s: lines of the software cache are padded or dense",
                       (int)value_length, value);
    }
    if (is_key(text, length, "runs=")) {
        options->has_runs = strncmp(value, "on", value_length) == 0;
        if (value_length != 0 && (options->has_runs || strncmp(value, "off", value_length) == 0))
            return WP_STATUS_OK;
        return WP_FAIL(err, INVALID, "--cache-runs=%.*s: loads of whole lines are on or off",
                       (int)value_length, value);
    }
    return WP_FAIL(err, INVALID,
                   "--rewrite=cache:%.*s: unknown; there are line, lines, layout and runs",
                   (int)length, text);
}

wp_status wpi_rewrite_cache_check(const char *argument, wpi_cache_options *options, wp_error *err) {
    *options = (wpi_cache_options){
        .line_bytes = WPI_CACHE_LINE_BYTES, .ways = 1, .is_dense = true, .has_runs = true};
    while (argument != NULL) {
        const size_t length = strcspn(argument, ",");
        WP_TRY(read_option(argument, length, options, err));
        argument = argument[length] == ',' ? argument + length + 1 : NULL;
    }
    return WP_STATUS_OK;
}

wp_status wpi_rewrite_cache(wpi_compile *c, const char *argument, wp_error *err) {
    wpi_alone_program program;
    wpi_cache_options options;
    wp_status status = wpi_rewrite_cache_check(argument, &options, err);
    if (status != WP_STATUS_OK) return status;
    wpi_alone_program_init(&program, c);
    for (uint32_t i = 0; i < c->kernel_count && status == WP_STATUS_OK; i++)
        status = options.line_bytes != 0 && has_loops_in_sight(&c->kernels[i])
                     ? cache_kernel(&program, c->kernels[i].name, false, &options, err)
                     : refuse_kernel(c, &c->kernels[i], &options);
    wpi_alone_program_deinit(&program);
    return status;
}

/* ---- the streamed form of a kernel ---- */

/* What the cached form of the kernel itself was made with. */
static wpi_cache_options options_of(const wpi_compile *c, const char *kernel) {
    wpi_cache_options options = {
        .line_bytes = WPI_CACHE_LINE_BYTES, .ways = 1, .is_dense = true, .has_runs = true};
    wpi_cache_facts facts;
    size_t length = 0;
    char *name = wpi_format("%s" WPI_CACHE_FACTS, kernel);
    LLVMValueRef global = LLVMGetNamedGlobal(c->module, name);
    LLVMValueRef value = global != NULL ? LLVMGetInitializer(global) : NULL;
    const char *bytes =
        value != NULL && LLVMIsConstantString(value) ? LLVMGetAsString(value, &length) : NULL;
    wpi_free(name);
    if (bytes == NULL || length != sizeof facts) return options;
    memcpy(&facts, bytes, sizeof facts);
    options.line_bytes = facts.line_bytes;
    options.ways = facts.ways != 0 ? facts.ways : 1;
    options.is_dense = facts.pad_bytes == 0;
    return options;
}

wp_status wpi_rewrite_cache_streamed(wpi_compile *c, const char *kernel, const char *streamed,
                                     wp_error *err) {
    const wpi_cache_options options = options_of(c, kernel);
    if (options.line_bytes == 0) return WP_STATUS_OK;
    wpi_alone_program program;
    wpi_alone_program_init(&program, c);
    const wp_status status = cache_kernel(&program, streamed, true, &options, err);
    wpi_alone_program_deinit(&program);
    return status;
}
