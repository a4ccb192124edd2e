/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables live in the host's variable of the same name (base/abi.h, wp_cpu_variable).
 * Kernel code reaches them through a cell that libwarpage fills in; until then it points to the
 * initial value. Variants reach every variable so, because its storage is the program's. */
#include "base/alloc.h"
#include "base/fail.h"
#include "compiler/ir/edit.h"
#include "compiler/passes.h"

static LLVMValueRef add_cell(wp_compile *c, const wp_variable_ir *variable) {
    LLVMValueRef cell = LLVMAddGlobal(c->module, c->ptr, "wp.cell");
    LLVMValueRef target = c->variant ? LLVMConstNull(c->ptr) : variable->global;
    if (LLVMTypeOf(target) != c->ptr) target = LLVMConstAddrSpaceCast(target, c->ptr);
    LLVMSetInitializer(cell, target);
    return cell;
}

static void redirect(wp_compile *c, LLVMValueRef global, LLVMValueRef cell, LLVMValueRef function) {
    uint32_t count;
    LLVMValueRef *users = wpi_users(global, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!LLVMIsAInstruction(users[i]) ||
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(users[i])) != function)
            continue;
        for (int o = wpi_operand_find(users[i], global, 0); o >= 0;
             o = wpi_operand_find(users[i], global, o + 1)) {
            wpi_builder_before_use(c->builder, users[i], (unsigned)o);
            LLVMValueRef address = LLVMBuildLoad2(c->builder, c->ptr, cell, "");
            if (LLVMTypeOf(global) != c->ptr)
                address = LLVMBuildAddrSpaceCast(c->builder, address, LLVMTypeOf(global), "");
            LLVMSetOperand(users[i], (unsigned)o, address);
        }
    }
    wp_free(users);
}

wp_status wpi_pass_managed(wp_compile *c, wp_error *err) {
    for (uint32_t v = 0; v < c->variable_count; v++) {
        wp_variable_ir *variable = &c->variables[v];
        if (variable->kind != WP_VARIABLE_MANAGED && !c->variant) continue;
        wpi_constant_expand_uses(c->context, variable->global);
        variable->cell = add_cell(c, variable);
        for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
            if (!LLVMIsDeclaration(f)) redirect(c, variable->global, variable->cell, f);
    }
    (void)err;
    return WP_STATUS_OK;
}
