/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/emit/host_object.h"

#include "base/fail.h"
#include "compiler/context.h"

wp_status wpi_host_object_write(LLVMModuleRef module, const char *path, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(WP_CPU_ISA_BASELINE, &machine, err));
    LLVMSetTarget(module, "x86_64-pc-linux-gnu");
    char *message = NULL;
    if (!LLVMTargetMachineEmitToFile(machine, module, path, LLVMObjectFile, &message))
        return WP_STATUS_OK;
    wp_status status = WP_FAIL(err, TOOLCHAIN, "writing %s: %s", path, message);
    LLVMDisposeMessage(message);
    return status;
}

LLVMValueRef wpi_host_object_bytes(LLVMModuleRef module, const char *name, const void *data,
                                   size_t size_bytes) {
    LLVMValueRef bytes =
        LLVMConstStringInContext2(LLVMGetModuleContext(module), data, size_bytes, 1);
    LLVMValueRef global = LLVMAddGlobal(module, LLVMTypeOf(bytes), name);
    LLVMSetInitializer(global, bytes);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetAlignment(global, 16);
    return global;
}
