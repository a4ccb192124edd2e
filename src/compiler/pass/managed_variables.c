/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables are stored in the host's variable of the same name (base/abi.h,
 * wp_cpu_variable). Kernel code accesses them through a cell that libwarpage fills in; until then
 * it points to the initial value. Variants access every variable so, because its storage is the
 * program's. A function that runs when the cells are set fills in constants of a variant that have
 * addresses of variables; it also stores the variant's functions in variables that initially have
 * addresses of functions, so that indirect calls stay in the variant. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/passes.h"

static LLVMValueRef add_cell(wpi_compile *c, const wpi_variable_ir *variable) {
    LLVMValueRef cell = LLVMAddGlobal(c->module, c->ptr, "wp.cell");
    LLVMValueRef target = wpi_compile_is_own(c) ? variable->global : LLVMConstNull(c->ptr);
    if (LLVMTypeOf(target) != c->ptr) target = LLVMConstAddrSpaceCast(target, c->ptr);
    LLVMSetInitializer(cell, target);
    return cell;
}

static LLVMValueRef load_cell(wpi_compile *c, LLVMValueRef cell, LLVMTypeRef type) {
    LLVMValueRef address = LLVMBuildLoad2(c->builder, c->ptr, cell, "");
    return type == c->ptr ? address : LLVMBuildAddrSpaceCast(c->builder, address, type, "");
}

static void redirect(wpi_compile *c, LLVMValueRef global, LLVMValueRef cell,
                     LLVMValueRef function) {
    uint32_t count;
    LLVMValueRef *users = wpi_users(global, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!LLVMIsAInstruction(users[i]) ||
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(users[i])) != function)
            continue;
        wpi_map by_block = {0}; /* a phi needs one value for all edges from a block */
        for (int o = wpi_operand_find(users[i], global, 0); o >= 0;
             o = wpi_operand_find(users[i], global, o + 1)) {
            wpi_builder_before_use(c->builder, users[i], (unsigned)o);
            LLVMBasicBlockRef block = LLVMGetInsertBlock(c->builder);
            LLVMValueRef address = LLVMIsAPHINode(users[i]) ? wpi_map_get(&by_block, block) : NULL;
            if (!address) address = load_cell(c, cell, LLVMTypeOf(global));
            wpi_map_set(&by_block, block, address);
            LLVMSetOperand(users[i], (unsigned)o, address);
        }
        wpi_map_deinit(&by_block);
    }
    wpi_free(users);
}

void wpi_variable_through_cell(wpi_compile *c, const wpi_variable_ir *variable) {
    wpi_constant_expand_uses(c->context, variable->global);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) redirect(c, variable->global, variable->cell, f);
}

/* ---- addresses of variables in initial values ---- */

static const wpi_variable_ir *variable_of(const wpi_compile *c, LLVMValueRef global) {
    for (uint32_t v = 0; v < c->variable_count; v++)
        if (c->variables[v].global == global) return &c->variables[v];
    return NULL;
}

/* The first variable that a constant expression mentions, or NULL. */
static const wpi_variable_ir *mentioned(const wpi_compile *c, LLVMValueRef constant) {
    if (LLVMIsAGlobalVariable(constant)) return variable_of(c, constant);
    if (!LLVMIsAConstantExpr(constant)) return NULL;
    const wpi_variable_ir *found = NULL;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(constant) && !found; o++)
        found = mentioned(c, LLVMGetOperand(constant, o));
    return found;
}

static bool mentions_function(LLVMValueRef constant) {
    if (LLVMIsAFunction(constant)) return true;
    if (!LLVMIsAConstantExpr(constant)) return false;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(constant); o++)
        if (mentions_function(LLVMGetOperand(constant, o))) return true;
    return false;
}

enum { DEPTH_MAX = 32 };

typedef struct path {
    LLVMValueRef global;
    const wpi_variable_ir *variable; /* the variable of `global`, or NULL */
    LLVMValueRef indices[DEPTH_MAX];
    unsigned depth;
} path;

static wp_status refuse(const wpi_variable_ir *variable, LLVMValueRef global, wp_error *err) {
    size_t length;
    return WP_FAIL(
        err, UNSUPPORTED,
        "the address of the __managed__ variable %s is not a constant: it cannot be in the "
        "initial value of %s",
        variable->name, LLVMGetValueName2(global, &length));
}

/* Builds a store of `value` at its place; for a variable, in the program's storage. */
static void store_at(wpi_compile *c, path *at, LLVMValueRef value) {
    LLVMValueRef base = at->variable ? load_cell(c, at->variable->cell, c->ptr) : at->global;
    LLVMValueRef slot = LLVMBuildInBoundsGEP2(c->builder, LLVMGlobalGetValueType(at->global), base,
                                              at->indices, at->depth, "");
    LLVMSetAlignment(LLVMBuildStore(c->builder, value, slot), 1);
    if (!at->variable) LLVMSetGlobalConstant(at->global, 0);
}

/* Stores the addresses in the value at `at`, in the function that fills them in. Not in a variant:
 * only reports unsupported values. */
static wp_status fill(wpi_compile *c, path *at, LLVMValueRef value, wp_error *err) {
    bool is_aggregate =
        LLVMIsAConstantArray(value) || LLVMIsAConstantStruct(value) || LLVMIsAConstantVector(value);
    if (is_aggregate && at->depth < DEPTH_MAX) {
        for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value); o++) {
            at->indices[at->depth++] = wpi_const32(c, o);
            WP_TRY(fill(c, at, LLVMGetOperand(value, o), err));
            at->depth--;
        }
        return WP_STATUS_OK;
    }
    const wpi_variable_ir *variable = mentioned(c, value);
    if (wpi_compile_is_own(c))
        return variable && variable->kind == WP_VARIABLE_MANAGED ? refuse(variable, at->global, err)
                                                                 : WP_STATUS_OK;
    /* The program's linker has filled in addresses of variables in variables. */
    if (at->variable ? mentions_function(value) : variable != NULL) store_at(c, at, value);
    return WP_STATUS_OK;
}

static bool is_cell(const wpi_compile *c, LLVMValueRef global) {
    for (uint32_t v = 0; v < c->variable_count; v++)
        if (c->variables[v].cell == global) return true;
    return false;
}

static wp_status fill_all(wpi_compile *c, wp_error *err) {
    LLVMValueRef function = NULL;
    if (!wpi_compile_is_own(c)) {
        function = LLVMAddFunction(c->module, WP_VARIANT_FILL_SYMBOL,
                                   LLVMFunctionType(c->none, NULL, 0, 0));
        LLVMPositionBuilderAtEnd(c->builder,
                                 LLVMAppendBasicBlockInContext(c->context, function, ""));
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        size_t length;
        if (LLVMIsDeclaration(g) || is_cell(c, g) ||
            strncmp(LLVMGetValueName2(g, &length), "llvm.", 5) == 0)
            continue;
        path at = {.global = g,
                   .variable = wpi_compile_is_own(c) ? NULL : variable_of(c, g),
                   .indices = {wpi_const32(c, 0)},
                   .depth = 1};
        WP_TRY(fill(c, &at, LLVMGetInitializer(g), err));
    }
    if (function) LLVMBuildRetVoid(c->builder);
    return WP_STATUS_OK;
}

wp_status wpi_pass_managed(wpi_compile *c, wp_error *err) {
    for (uint32_t v = 0; v < c->variable_count; v++)
        if (c->variables[v].kind == WP_VARIABLE_MANAGED || !wpi_compile_is_own(c))
            c->variables[v].cell = add_cell(c, &c->variables[v]);
    WP_TRY(fill_all(c, err));
    for (uint32_t v = 0; v < c->variable_count; v++)
        if (c->variables[v].cell) wpi_variable_through_cell(c, &c->variables[v]);
    return WP_STATUS_OK;
}
