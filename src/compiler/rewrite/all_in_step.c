/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the functions as `wpcc --lockstep` does (driver/finish.c): for programs that were compiled
 * without it. */
#include <string.h>

#include "compiler/rewrite/rewrite.h"

wp_status wpi_rewrite_lockstep(wpi_compile *c, const char *argument, wp_error *err) {
    (void)argument;
    (void)err;
    LLVMAttributeRef mark = LLVMCreateStringAttribute(
        c->context, WP_LOCKSTEP_ATTRIBUTE, (unsigned)strlen(WP_LOCKSTEP_ATTRIBUTE), "", 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark);
    return WP_STATUS_OK;
}
