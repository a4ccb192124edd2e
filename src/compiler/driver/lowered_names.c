/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/driver/lowered_names.h"

#include <llvm-c/Core.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/must.h"
#include "base/text.h"

#define PREFIX "wpi_nvrtc_name_"

/* The global behind casts. */
static LLVMValueRef strip(LLVMValueRef value) {
    while (value && LLVMIsAConstantExpr(value))
        value = LLVMGetOperand(value, 0);
    return value;
}

static const char *name_of(LLVMValueRef value) {
    size_t length;
    return value && LLVMIsAGlobalValue(value) ? LLVMGetValueName2(value, &length) : "";
}

static bool is_ours(LLVMValueRef value) {
    return strncmp(name_of(value), PREFIX, strlen(PREFIX)) == 0;
}

/* Removes our variables from a list of used ones. */
static void shorten(LLVMModuleRef module, const char *list) {
    LLVMValueRef old = LLVMGetNamedGlobal(module, list);
    if (!old) return;
    LLVMValueRef all = LLVMGetInitializer(old);
    const int count = LLVMGetNumOperands(all);
    LLVMValueRef *kept = wpi_must_calloc((size_t)count + 1, sizeof *kept);
    unsigned kept_count = 0;
    for (int i = 0; i < count; i++)
        if (!is_ours(strip(LLVMGetOperand(all, (unsigned)i))))
            kept[kept_count++] = LLVMGetOperand(all, (unsigned)i);
    LLVMDeleteGlobal(old);
    if (kept_count) {
        LLVMTypeRef pointer = LLVMTypeOf(kept[0]);
        LLVMValueRef fresh = LLVMAddGlobal(module, LLVMArrayType2(pointer, kept_count), list);
        LLVMSetInitializer(fresh, LLVMConstArray2(pointer, kept, kept_count));
        LLVMSetLinkage(fresh, LLVMAppendingLinkage);
        LLVMSetSection(fresh, "llvm.metadata");
    }
    wpi_free(kept);
}

wp_status wpi_lowered_names_write(LLVMModuleRef module, const char *path, wp_error *err) {
    wpi_text lines = {0};
    shorten(module, "llvm.used");
    shorten(module, "llvm.compiler.used");
    for (LLVMValueRef g = LLVMGetFirstGlobal(module), next; g; g = next) {
        next = LLVMGetNextGlobal(g);
        if (!is_ours(g)) continue;
        const char *name = name_of(strip(LLVMGetInitializer(g)));
        if (*name) wpi_text_appendf(&lines, "%s %s\n", name_of(g) + strlen(PREFIX), name);
        LLVMReplaceAllUsesWith(g, LLVMGetUndef(LLVMTypeOf(g)));
        LLVMDeleteGlobal(g);
    }
    wp_status status = wpi_file_write(path, wpi_text_string(&lines), lines.length, err);
    wpi_text_deinit(&lines);
    return status;
}
