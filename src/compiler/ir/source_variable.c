/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/source_variable.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

LLVMValueRef wpi_source_text(wp_compile *c, const char *bytes, size_t length) {
    if (!bytes) return LLVMConstNull(c->ptr);
    LLVMValueRef value = LLVMConstStringInContext2(c->context, bytes, length, 0);
    LLVMValueRef global = LLVMAddGlobal(c->module, LLVMTypeOf(value), "wp.text");
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return global;
}

/* "_ZZ6kernelPfE4tile" -> "tile": a mangled name ends in the variable's name, with its length. */
LLVMValueRef wpi_source_variable(wp_compile *c, LLVMValueRef base) {
    size_t length = 0;
    if (!LLVMIsAGlobalVariable(base)) return LLVMConstNull(c->ptr);
    const char *name = LLVMGetValueName2(base, &length), *found = name;
    size_t found_length = length;
    if (length > 2 && name[0] == '_' && name[1] == 'Z') {
        for (size_t i = 2; i < length; i++) {
            if (name[i] < '0' || name[i] > '9' || (name[i - 1] >= '0' && name[i - 1] <= '9'))
                continue;
            size_t at = i, number = 0;
            while (at < length && name[at] >= '0' && name[at] <= '9')
                number = number * 10 + (size_t)(name[at++] - '0');
            if (number && number <= length - at &&
                (at + number == length || name[at + number] == '_')) {
                found = name + at;
                found_length = number;
            }
        }
    }
    return wpi_source_text(c, found, found_length);
}

/* Whether a file is one of our headers, or clang's, which are not reported. */
static bool is_foreign(const char *file) {
    return strstr(file, "/lib/clang/") || strstr(file, "/warpage/cuda/");
}

/* The first reportable place from *at outwards; *at advances to the call that it was inlined by. */
static wp_source_place next_place(LLVMMetadataRef *at) {
    while (*at) {
        unsigned length = 0;
        LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(*at));
        LLVMMetadataRef outer = LLVMDILocationGetInlinedAt(*at);
        const char *name = file ? LLVMDIFileGetFilename(file, &length) : NULL;
        unsigned line = LLVMDILocationGetLine(*at);
        *at = outer;
        if (name && line && !(outer && is_foreign(name)))
            return (wp_source_place){name, length, line};
    }
    return (wp_source_place){NULL, 0, 0};
}

wp_source_place wpi_source_place(LLVMValueRef instruction) {
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(instruction);
    return next_place(&at);
}

LLVMValueRef wpi_source_calls(wp_compile *c, LLVMValueRef instruction) {
    wp_text text = {0};
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(instruction);
    (void)next_place(&at);
    for (wp_source_place call = next_place(&at); call.file; call = next_place(&at))
        wp_text_appendf(&text, "%s%.*s:%u", text.length ? ", " : "", (int)call.file_length,
                        call.file, call.line);
    LLVMValueRef constant = wpi_source_text(c, text.data, text.length);
    wp_text_deinit(&text);
    return constant;
}

uint64_t wpi_source_hash(LLVMValueRef instruction) {
    uint64_t hash = 0;
    for (LLVMMetadataRef at = LLVMInstructionGetDebugLoc(instruction); at;
         at = LLVMDILocationGetInlinedAt(at)) {
        unsigned length = 0;
        LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(at));
        const char *name = file ? LLVMDIFileGetFilename(file, &length) : "";
        const uint64_t words[] = {LLVMDILocationGetLine(at), LLVMDILocationGetColumn(at)};
        hash = wp_hash64(name, length, wp_hash64(words, sizeof words, hash));
    }
    return hash;
}
