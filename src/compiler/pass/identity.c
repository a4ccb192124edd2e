/* SPDX-License-Identifier: Apache-2.0 */
/* Thread identity in code that is not part of a region: read from the running thread's block, which
 * the CPU device keeps in the thread-local variable wp_rt_block. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/region/regions.h"

static LLVMValueRef current_block(wpi_compile *c) {
    LLVMValueRef variable = LLVMGetNamedGlobal(c->module, "wp_rt_block");
    if (!variable) {
        variable = LLVMAddGlobal(c->module, c->ptr, "wp_rt_block");
        LLVMSetThreadLocalMode(variable, LLVMInitialExecTLSModel);
    }
    return LLVMBuildLoad2(c->builder, c->ptr, variable, "block");
}

static size_t offset_of(wpi_id id) {
    switch (id) {
    case WP_ID_THREAD: return offsetof(wp_cpu_block, thread);
    case WP_ID_NTID_X:
    case WP_ID_NTID_Y:
    case WP_ID_NTID_Z: return offsetof(wp_cpu_block, block_dim) + 4 * (size_t)(id - WP_ID_NTID_X);
    case WP_ID_CTAID_X:
    case WP_ID_CTAID_Y:
    case WP_ID_CTAID_Z: return offsetof(wp_cpu_block, block_idx) + 4 * (size_t)(id - WP_ID_CTAID_X);
    case WP_ID_NCTAID_X:
    case WP_ID_NCTAID_Y:
    case WP_ID_NCTAID_Z:
        return offsetof(wp_cpu_block, grid_dim) + 4 * (size_t)(id - WP_ID_NCTAID_X);
    default: return offsetof(wp_cpu_block, tid) + 4 * (size_t)(id - WP_ID_TID_X);
    }
}

static LLVMValueRef read_placeholder(wpi_compile *c, const char *name, wpi_id id) {
    LLVMValueRef block = current_block(c);
    if (strcmp(name, WP_BLOCK_PLACEHOLDER) == 0) return block;
    bool is_shared = strcmp(name, WP_SHARED_PLACEHOLDER) == 0;
    size_t offset = is_shared ? offsetof(wp_cpu_block, shared) : offset_of(id);
    LLVMValueRef address = wpi_lower_block_field(c, c->builder, block, offset);
    return LLVMBuildLoad2(c->builder, is_shared ? c->ptr : c->i32, address, "");
}

void wpi_identity_lower(wpi_compile *c) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (!LLVMIsDeclaration(f) || strncmp(name, "wp.", 3) != 0) continue;
        uint32_t count;
        LLVMValueRef *calls = wpi_users(f, &count);
        for (uint32_t i = 0; i < count; i++) {
            LLVMPositionBuilderBefore(c->builder, calls[i]);
            LLVMReplaceAllUsesWith(calls[i], read_placeholder(c, name, wpi_lower_id_of(f)));
            LLVMInstructionEraseFromParent(calls[i]);
        }
        wpi_free(calls);
    }
}

static bool needs(LLVMValueRef function, wpi_map *seen) {
    if (wpi_map_has(seen, function)) return false;
    wpi_map_set(seen, function, function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsACallInst(i)) continue;
            LLVMValueRef callee = wpi_called_function(i);
            if (!callee) return true; /* through a pointer: anything */
            size_t length;
            const char *name = LLVMGetValueName2(callee, &length);
            if (strncmp(name, "wp.", 3) == 0 || strncmp(name, "wp_rt_", 6) == 0) return true;
            if (!LLVMIsDeclaration(callee) && needs(callee, seen)) return true;
        }
    return false;
}

bool wpi_identity_is_needed(LLVMValueRef function) {
    wpi_map seen = {0};
    bool found = needs(function, &seen);
    wpi_map_deinit(&seen);
    return found;
}
