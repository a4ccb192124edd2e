/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/source_variable.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

LLVMValueRef wpi_source_text(wpi_compile *c, const char *bytes, size_t length) {
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
LLVMValueRef wpi_source_variable(wpi_compile *c, LLVMValueRef base) {
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
static wpi_source_place next_place(LLVMMetadataRef *at) {
    while (*at) {
        unsigned length = 0;
        LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(*at));
        LLVMMetadataRef outer = LLVMDILocationGetInlinedAt(*at);
        const char *name = file ? LLVMDIFileGetFilename(file, &length) : NULL;
        unsigned line = LLVMDILocationGetLine(*at);
        *at = outer;
        if (name && line && !(outer && is_foreign(name)))
            return (wpi_source_place){name, length, line};
    }
    return (wpi_source_place){NULL, 0, 0};
}

wpi_source_place wpi_source_place_of(LLVMValueRef instruction) {
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(instruction);
    return next_place(&at);
}

void wpi_source_append_calls(LLVMValueRef instruction, wpi_text *out) {
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(instruction);
    (void)next_place(&at);
    for (wpi_source_place call = next_place(&at); call.file; call = next_place(&at))
        wpi_text_appendf(out, "%s%.*s:%u", out->length ? ", " : "", (int)call.file_length,
                         call.file, call.line);
}

LLVMValueRef wpi_source_calls(wpi_compile *c, LLVMValueRef instruction) {
    wpi_text text = {0};
    wpi_source_append_calls(instruction, &text);
    LLVMValueRef constant = wpi_source_text(c, text.data, text.length);
    wpi_text_deinit(&text);
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
        hash = wpi_hash64(name, length, wpi_hash64(words, sizeof words, hash));
    }
    return hash;
}
