/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/rewrite/rewrite.h"

#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/text.h"

static const struct {
    const char *name;
    wp_status (*run)(wp_compile *c, wp_error *err);
} rewrites[] = {
    {"counted", wpi_rewrite_counted},
};
enum { REWRITE_COUNT = sizeof rewrites / sizeof *rewrites };

static size_t index_of(const char *name) {
    size_t i = 0;
    while (i < REWRITE_COUNT && strcmp(rewrites[i].name, name) != 0)
        i++;
    return i;
}

wp_status wpi_rewrite_check(const wp_strings *names, wp_error *err) {
    wp_text known = {0};
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < REWRITE_COUNT; i++)
        wp_text_appendf(&known, "%s%s", i == 0 ? "" : ", ", rewrites[i].name);
    for (size_t n = 0; n < names->count && status == WP_STATUS_OK; n++) {
        if (index_of(names->items[n]) == REWRITE_COUNT)
            status = WP_FAIL(err, INVALID, "--rewrite=%s: unknown rewrite; the rewrites are: %s",
                             names->items[n], wp_text_string(&known));
        for (size_t m = 0; m < n && status == WP_STATUS_OK; m++)
            if (strcmp(names->items[n], names->items[m]) == 0)
                status = WP_FAIL(err, INVALID, "--rewrite=%s is given twice", names->items[n]);
    }
    wp_text_deinit(&known);
    return status;
}

wp_status wpi_rewrite_file(const char *path, const wp_strings *names, wp_error *err) {
    if (names->count == 0) return WP_STATUS_OK;
    char *bitcode = NULL;
    size_t size_bytes = 0;
    wp_compile *c = NULL;
    wp_status status;
    WP_TRY(wp_file_read(path, &bitcode, &size_bytes, err));
    WP_TRY_GOTO(wpi_compile_create(bitcode, size_bytes, &c, err), done);
    for (size_t n = 0; n < names->count; n++) {
        WP_TRY_GOTO(rewrites[index_of(names->items[n])].run(c, err), done);
        WP_TRY_GOTO(wpi_compile_verify(c, names->items[n], err), done);
    }
    status = wpi_compile_write(c, path, err);
done:
    wpi_compile_destroy(c);
    wp_free(bitcode);
    return status;
}

uint64_t wpi_rewrite_id(const wp_strings *names, uint64_t id) {
    for (size_t n = 0; n < names->count; n++)
        id = wp_hash64(names->items[n], strlen(names->items[n]), id);
    return id;
}

/* nvvm.annotations, which say what a kernel is. */
static void copy_annotations(wp_compile *c, LLVMValueRef from, LLVMValueRef to) {
    static const char list[] = "nvvm.annotations";
    const unsigned count = LLVMGetNamedMetadataNumOperands(c->module, list);
    LLVMValueRef *nodes = wp_must_calloc(count, sizeof *nodes);
    LLVMGetNamedMetadataOperands(c->module, list, nodes);
    for (unsigned n = 0; n < count; n++) {
        const unsigned length = LLVMGetMDNodeNumOperands(nodes[n]);
        LLVMValueRef *values = wp_must_calloc(length, sizeof *values);
        LLVMMetadataRef *copy = wp_must_calloc(length, sizeof *copy);
        LLVMGetMDNodeOperands(nodes[n], values);
        if (length != 0 && values[0] == from) {
            values[0] = to;
            for (unsigned i = 0; i < length; i++)
                copy[i] = LLVMValueAsMetadata(values[i]);
            LLVMMetadataRef node = LLVMMDNodeInContext2(c->context, copy, length);
            LLVMAddNamedMetadataOperand(c->module, list, LLVMMetadataAsValue(c->context, node));
        }
        wp_free(copy);
        wp_free(values);
    }
    wp_free(nodes);
}

static void copy_attributes(LLVMValueRef from, LLVMValueRef to, LLVMAttributeIndex index) {
    const unsigned count = LLVMGetAttributeCountAtIndex(from, index);
    LLVMAttributeRef *attributes = wp_must_calloc(count + 1, sizeof *attributes);
    LLVMGetAttributesAtIndex(from, index, attributes);
    for (unsigned i = 0; i < count; i++)
        LLVMAddAttributeAtIndex(to, index, attributes[i]);
    wp_free(attributes);
}

/* What the front end concluded from the kernel's body need not hold for another. */
static void drop_conclusions(LLVMValueRef function) {
    static const char *const names[] = {"memory", "nofree", "norecurse", "nosync", "willreturn"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        LLVMRemoveEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       LLVMGetEnumAttributeKindForName(names[i], strlen(names[i])));
}

LLVMValueRef wpi_rewrite_sibling(wp_compile *c, const wp_kernel_ir *kernel, const char *rewrite,
                                 const LLVMTypeRef *more, unsigned count) {
    LLVMValueRef of = kernel->function;
    const unsigned own = LLVMCountParams(of);
    LLVMTypeRef *types = wp_must_calloc(own + count + 1, sizeof *types);
    LLVMGetParamTypes(wpi_function_type(of), types);
    for (unsigned i = 0; i < count; i++)
        types[own + i] = more[i];
    char *name = wp_format("%s$%s", kernel->name, rewrite);
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
    copy_annotations(c, of, sibling);
    wp_free(name);
    wp_free(types);
    return sibling;
}
