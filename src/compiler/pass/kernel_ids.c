/* SPDX-License-Identifier: Apache-2.0 */
/* kernel-ids: kernels as values, which code that launches kernels passes to the runtime, become their
 * ids. A kernel's own address says nothing on the CPU, where its code is a loop over threads. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "compiler/ir/edit.h"
#include "compiler/passes.h"

static bool is_used(wpi_compile *c, const char *name) {
    LLVMValueRef function = LLVMGetNamedFunction(c->module, name);
    return function != NULL && LLVMGetFirstUse(function) != NULL;
}

/* Variables that hold the kernel, such as constants of classes. */
static void replace_in_variables(wpi_compile *c, LLVMValueRef kernel, LLVMValueRef id) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetInitializer(g) == kernel) LLVMSetInitializer(g, id);
}

static wp_status replace(wpi_compile *c, const wpi_kernel_ir *kernel, wp_error *err) {
    LLVMValueRef f = kernel->function;
    LLVMValueRef id = LLVMConstIntToPtr(wpi_const64(c, wpi_kernel_id(kernel->name)), c->ptr);
    replace_in_variables(c, f, id);
    wpi_constant_expand_uses(c->context, f);
    uint32_t count;
    LLVMValueRef *users = wpi_users(f, &count);
    wp_status status = WP_STATUS_OK;
    for (uint32_t i = 0; i < count && status == WP_STATUS_OK; i++) {
        if (!LLVMIsAInstruction(users[i])) continue;
        if (wpi_called_function(users[i]) == f) {
            status = WP_FAIL(err, UNSUPPORTED, "kernel %s is called as a function", kernel->name);
            break;
        }
        for (int at = 0; (at = wpi_operand_find(users[i], f, at)) >= 0; at++)
            LLVMSetOperand(users[i], (unsigned)at, id);
    }
    wpi_free(users);
    return status;
}

wp_status wpi_pass_kernel_ids(wpi_compile *c, wp_error *err) {
    if (!is_used(c, "__wp_launch") && !is_used(c, "__wp_device_call")) return WP_STATUS_OK;
    for (uint32_t k = 0; k < c->kernel_count; k++) {
        c->kernels[k].flags |= WP_CPU_KERNEL_LAUNCHES;
        WP_TRY(replace(c, &c->kernels[k], err));
    }
    return WP_STATUS_OK;
}
