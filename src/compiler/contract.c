/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/contract.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"

wp_status wpi_contract_mark(const char *path, wp_error *err) {
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
    LLVMAttributeRef mark = LLVMCreateStringAttribute(
        context, WP_CONTRACT_ATTRIBUTE, (unsigned)strlen(WP_CONTRACT_ATTRIBUTE), "", 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark);
    if (LLVMWriteBitcodeToFile(module, path)) status = WP_FAIL(err, IO, "cannot write %s", path);
    LLVMDisposeModule(module);
done:
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(context);
    wp_free(bitcode);
    return status;
}
