/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/driver/finish.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"

static void mark(LLVMModuleRef module) {
    LLVMAttributeRef mark =
        LLVMCreateStringAttribute(LLVMGetModuleContext(module), WP_CONTRACT_ATTRIBUTE,
                                  (unsigned)strlen(WP_CONTRACT_ATTRIBUTE), "", 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark);
}

static void drop_locations(LLVMModuleRef module) {
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), "srcloc", 6);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (LLVMIsACallInst(i) && LLVMGetMetadata(i, kind)) LLVMSetMetadata(i, kind, NULL);
}

/* Only arguments keep their names. */
static void drop_names(LLVMModuleRef module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMSetValueName2(LLVMBasicBlockAsValue(b), "", 0);
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind) LLVMSetValueName2(i, "", 0);
        }
}

wp_status wpi_finish_bitcode(const char *path, bool contract, wp_error *err) {
    char *bitcode = NULL;
    size_t size_bytes = 0;
    WP_TRY(wp_file_read(path, &bitcode, &size_bytes, err));
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, size_bytes, path);
    LLVMModuleRef module = NULL;
    wp_status status = WP_STATUS_OK;
    if (LLVMParseBitcodeInContext2(context, buffer, &module)) {
        status = WP_FAIL(err, TOOLCHAIN, "%s is not bitcode of LLVM 19", path);
        goto done;
    }
    if (contract) mark(module);
    drop_locations(module);
    drop_names(module);
    if (LLVMWriteBitcodeToFile(module, path)) status = WP_FAIL(err, IO, "cannot write %s", path);
    LLVMDisposeModule(module);
done:
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(context);
    wp_free(bitcode);
    return status;
}
