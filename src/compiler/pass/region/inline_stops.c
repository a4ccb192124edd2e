/* SPDX-License-Identifier: Apache-2.0 */
/* Inlines every stop, and every read of the thread's identity, into the kernel itself, as the
 * region builder requires. Recursive functions and calls through pointers stay; kernels that reach
 * a stop through these run on fibers. */
#include <llvm-c/Comdat.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

static bool is_identity(LLVMValueRef callee) {
    size_t length;
    return wpi_lower_id_of(callee) != WP_ID_COUNT ||
           strcmp(LLVMGetValueName2(callee, &length), WP_BLOCK_PLACEHOLDER) == 0;
}

/* Calls `visit` for every direct callee of `function`; stops when it returns true. */
static bool any_callee(LLVMValueRef function, bool (*visit)(LLVMValueRef callee, void *state),
                       void *state) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = wpi_called_function(i);
            if (callee && visit(callee, state)) return true;
        }
    return false;
}

typedef struct reach {
    LLVMValueRef target; /* for recursion; NULL when looking for stops and identity */
    wpi_map *seen;
} reach;

static bool reaches(LLVMValueRef callee, void *state) {
    reach *r = state;
    if (callee == r->target) return true;
    if (LLVMIsDeclaration(callee)) {
        size_t length;
        return !r->target && (is_identity(callee) ||
                              strcmp(LLVMGetValueName2(callee, &length), WP_STOP_FUNCTION) == 0);
    }
    if (wpi_map_has(r->seen, callee)) return false;
    wpi_map_set(r->seen, callee, callee);
    return any_callee(callee, reaches, r);
}

static bool function_reaches(LLVMValueRef function, LLVMValueRef target) {
    wpi_map seen = {0};
    reach r = {target, &seen};
    bool found = any_callee(function, reaches, &r);
    wpi_map_deinit(&seen);
    return found;
}

static LLVMValueRef behind_casts(LLVMValueRef constant) {
    while (LLVMIsAConstantExpr(constant))
        constant = LLVMGetOperand(constant, 0);
    return constant;
}

/* Removes constants from the list of used globals; variables remain on it. */
static void shorten_used_list(wpi_compile *c) {
    static const char name[] = "llvm.compiler.used";
    LLVMValueRef list = LLVMGetNamedGlobal(c->module, name);
    LLVMValueRef array = list ? LLVMGetInitializer(list) : NULL;
    if (!array) return;
    unsigned count = (unsigned)LLVMGetNumOperands(array), kept = 0;
    LLVMValueRef *items = wpi_must_calloc(count + 1, sizeof *items);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef global = behind_casts(LLVMGetOperand(array, i));
        if (!LLVMIsAGlobalVariable(global) || !LLVMIsGlobalConstant(global))
            items[kept++] = LLVMGetOperand(array, i);
    }
    LLVMDeleteGlobal(list);
    if (kept) {
        LLVMValueRef made = LLVMAddGlobal(c->module, LLVMArrayType2(c->ptr, kept), name);
        LLVMSetInitializer(made, LLVMConstArray2(c->ptr, items, kept));
        LLVMSetLinkage(made, LLVMAppendingLinkage);
        LLVMSetSection(made, "llvm.metadata");
    }
    wpi_free(items);
}

/* Constants that the host side uses are also emitted for the device, with their referents:
 * internalised, so that unused ones are removed. */
static void internalize_constants(wpi_compile *c) {
    shorten_used_list(c);
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        if (LLVMIsDeclaration(g) || !LLVMIsGlobalConstant(g)) continue;
        LLVMSetComdat(g, NULL);
        LLVMSetVisibility(g, LLVMDefaultVisibility);
        LLVMSetLinkage(g, LLVMInternalLinkage);
    }
}

wp_status wpi_pass_inline_stops(wpi_compile *c, wp_error *err) {
    internalize_constants(c);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || wpi_compile_is_kernel(c, f)) continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        if (!function_reaches(f, NULL) && !wpi_lockstep_is_whole(f)) continue;
        if (function_reaches(f, f)) continue;
        wpi_function_attribute_remove(f, "noinline");
        wpi_function_attribute_remove(f, "optnone");
        wpi_function_attribute(c, f, "alwaysinline");
    }
    /* noinline attributes of call sites would override the function's. */
    unsigned noinline_kind = LLVMGetEnumAttributeKindForName("noinline", 8);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || !wpi_function_has(f, "alwaysinline")) continue;
        uint32_t count;
        LLVMValueRef *users = wpi_users(f, &count);
        for (uint32_t i = 0; i < count; i++)
            if (wpi_called_function(users[i]) == f)
                LLVMRemoveCallSiteEnumAttribute(
                    users[i], (LLVMAttributeIndex)LLVMAttributeFunctionIndex, noinline_kind);
        wpi_free(users);
    }
    return wpi_compile_run(c, "always-inline,globaldce", NULL, err);
}
