/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/rewrite/rewrite.h"

#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/text.h"

typedef struct rewrite_row {
    const char *name;
    const char *argument; /* what it is called in messages; NULL: it takes none */
    bool is_optional;     /* … or none */
    wp_status (*run)(wpi_compile *c, const char *argument, wp_error *err);
} rewrite_row;

static const rewrite_row rewrites[] = {
    {"cache", "OPTIONS", true, wpi_rewrite_cache},
    {"counted", NULL, false, wpi_rewrite_counted},
    {"lockstep", NULL, false, wpi_rewrite_lockstep},
    {"stream", "KERNEL:MASK", false, wpi_rewrite_stream},
};
enum { REWRITE_COUNT = sizeof rewrites / sizeof *rewrites };

/* The row that `text`, NAME or NAME:ARGUMENT, names, or NULL. `*argument`: NULL if there is none.
 */
static const rewrite_row *find(const char *text, const char **argument) {
    const size_t length = strcspn(text, ":");
    *argument = text[length] != '\0' ? text + length + 1 : NULL;
    for (size_t i = 0; i < REWRITE_COUNT; i++)
        if (strlen(rewrites[i].name) == length && strncmp(rewrites[i].name, text, length) == 0)
            return &rewrites[i];
    return NULL;
}

static wp_status refuse_unknown(const char *text, wp_error *err) {
    wpi_text known = {0};
    for (size_t i = 0; i < REWRITE_COUNT; i++)
        wpi_text_appendf(&known, "%s%s", i == 0 ? "" : ", ", rewrites[i].name);
    wp_status status = WP_FAIL(err, INVALID, "--rewrite=%s: unknown rewrite; the rewrites are: %s",
                               text, wpi_text_string(&known));
    wpi_text_deinit(&known);
    return status;
}

wp_status wpi_rewrite_check(const wpi_strings *names, wp_error *err) {
    for (size_t n = 0; n < names->count; n++) {
        const char *text = names->items[n], *argument;
        const rewrite_row *row = find(text, &argument);
        if (!row) return refuse_unknown(text, err);
        if (!row->argument && argument)
            return WP_FAIL(err, INVALID, "--rewrite=%s: the rewrite %s takes no argument", text,
                           row->name);
        if (row->argument && !argument && !row->is_optional)
            return WP_FAIL(err, INVALID, "--rewrite=%s needs an argument: --rewrite=%s:%s", text,
                           row->name, row->argument);
        if (row->run == wpi_rewrite_cache) {
            wpi_cache_options options;
            WP_TRY(wpi_rewrite_cache_check(argument, &options, err));
        }
        for (size_t m = 0; m < n; m++)
            if (strcmp(text, names->items[m]) == 0)
                return WP_FAIL(err, INVALID, "--rewrite=%s is given twice", text);
    }
    return WP_STATUS_OK;
}

wp_status wpi_rewrite_file(const char *path, const wpi_strings *names, wp_error *err) {
    if (names->count == 0) return WP_STATUS_OK;
    char *bitcode = NULL;
    size_t size_bytes = 0;
    wpi_compile *c = NULL;
    wp_status status;
    WP_TRY(wpi_file_read(path, &bitcode, &size_bytes, err));
    WP_TRY_GOTO(wpi_compile_create(bitcode, size_bytes, &c, err), done);
    for (size_t n = 0; n < names->count; n++) {
        const char *argument;
        const rewrite_row *row = find(names->items[n], &argument);
        WP_TRY_GOTO(row->run(c, argument, err), done);
        WP_TRY_GOTO(wpi_compile_verify(c, names->items[n], err), done);
    }
    status = wpi_compile_write(c, path, err);
done:
    wpi_compile_destroy(c);
    wpi_free(bitcode);
    return status;
}

uint64_t wpi_rewrite_id(const wpi_strings *names, uint64_t id) {
    for (size_t n = 0; n < names->count; n++)
        id = wpi_hash64(names->items[n], strlen(names->items[n]), id);
    return id;
}

/* Whether that part of an annotation, a name and a number, holds for the sibling. */
static bool is_copied(LLVMValueRef name, bool keeps_bounds) {
    unsigned length;
    const char *text = LLVMGetMDString(name, &length);
    return keeps_bounds || (text != NULL && length == 6 && memcmp(text, "kernel", 6) == 0);
}

/* nvvm.annotations, which say what a kernel is: its name, then pairs. */
static void copy_annotations(wpi_compile *c, LLVMValueRef from, LLVMValueRef to,
                             bool keeps_bounds) {
    static const char list[] = "nvvm.annotations";
    const unsigned count = LLVMGetNamedMetadataNumOperands(c->module, list);
    LLVMValueRef *nodes = wpi_must_calloc(count, sizeof *nodes);
    LLVMGetNamedMetadataOperands(c->module, list, nodes);
    for (unsigned n = 0; n < count; n++) {
        const unsigned length = LLVMGetMDNodeNumOperands(nodes[n]);
        LLVMValueRef *values = wpi_must_calloc(length, sizeof *values);
        LLVMMetadataRef *copy = wpi_must_calloc(length, sizeof *copy);
        unsigned copied = 1;
        LLVMGetMDNodeOperands(nodes[n], values);
        for (unsigned i = 1; length != 0 && values[0] == from && i + 1 < length; i += 2) {
            if (!is_copied(values[i], keeps_bounds)) continue;
            copy[copied++] = LLVMValueAsMetadata(values[i]);
            copy[copied++] = LLVMValueAsMetadata(values[i + 1]);
        }
        if (copied > 1) {
            copy[0] = LLVMValueAsMetadata(to);
            LLVMMetadataRef node = LLVMMDNodeInContext2(c->context, copy, copied);
            LLVMAddNamedMetadataOperand(c->module, list, LLVMMetadataAsValue(c->context, node));
        }
        wpi_free(copy);
        wpi_free(values);
    }
    wpi_free(nodes);
}

static void copy_attributes(LLVMValueRef from, LLVMValueRef to, LLVMAttributeIndex index) {
    const unsigned count = LLVMGetAttributeCountAtIndex(from, index);
    LLVMAttributeRef *attributes = wpi_must_calloc(count + 1, sizeof *attributes);
    LLVMGetAttributesAtIndex(from, index, attributes);
    for (unsigned i = 0; i < count; i++)
        LLVMAddAttributeAtIndex(to, index, attributes[i]);
    wpi_free(attributes);
}

/* What the front end concluded from the kernel's body need not hold for another. */
static void drop_conclusions(LLVMValueRef function) {
    static const char *const names[] = {"memory", "nofree", "norecurse", "nosync", "willreturn"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        LLVMRemoveEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       LLVMGetEnumAttributeKindForName(names[i], strlen(names[i])));
}

LLVMValueRef wpi_rewrite_sibling(wpi_compile *c, const wpi_kernel_ir *kernel, const char *rewrite,
                                 const LLVMTypeRef *more, unsigned count, bool keeps_bounds) {
    LLVMValueRef of = kernel->function;
    const unsigned own = LLVMCountParams(of);
    LLVMTypeRef *types = wpi_must_calloc(own + count + 1, sizeof *types);
    LLVMGetParamTypes(wpi_function_type(of), types);
    for (unsigned i = 0; i < count; i++)
        types[own + i] = more[i];
    char *name = wpi_format("%s$%s", kernel->name, rewrite);
    LLVMValueRef sibling =
        LLVMAddFunction(c->module, name, LLVMFunctionType(c->none, types, own + count, 0));
    LLVMSetFunctionCallConv(sibling, LLVMGetFunctionCallConv(of));
    copy_attributes(of, sibling, (LLVMAttributeIndex)LLVMAttributeFunctionIndex);
    drop_conclusions(sibling);
    for (unsigned i = 0; i < own; i++) {
        size_t length;
        const char *text = LLVMGetValueName2(LLVMGetParam(of, i), &length);
        LLVMSetValueName2(LLVMGetParam(sibling, i), text, length);
        copy_attributes(of, sibling, i + 1);
    }
    copy_annotations(c, of, sibling, keeps_bounds);
    wpi_free(name);
    wpi_free(types);
    return sibling;
}

void wpi_rewrite_drop_lists(wpi_compile *c) {
    static const char *const names[] = {"llvm.used", "llvm.compiler.used",
                                        "llvm.global.annotations"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(c->module, names[i]);
        if (list) LLVMDeleteGlobal(list);
    }
}
