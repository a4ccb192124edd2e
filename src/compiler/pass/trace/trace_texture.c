/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches from textures and accesses to surfaces are calls of the runtime, and only the runtime
 * knows their addresses. So before each, calls are added that return the place of every texel that
 * it may touch:
 *
 *     call wp_rt_tex(t, 2D, x, y, …)   ──►   p = call wp_rt_tex_place(t, 2D, x, y, …, corner 0)
 *                                            p = call wp_rt_tex_place(t, 2D, x, y, …, corner 1)
 *                                            …
 *                                            call wp_rt_tex(t, 2D, x, y, …)
 *
 * These calls are the accesses; their results are the words written to the trace. A place of 0 is
 * no access: outside, a corner with weight 0, or in the sector of the previous one. A fetch returns
 * its result in an array of the thread, which is registers on a GPU: a load from it depends on the
 * accesses. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/trace/trace_pass.h"

enum { TEX_KIND = 1, TEX_OUT = 6, TEX_ARGS = 7, SURF_DATA = 1, SURF_ARGS = 7 };

static const char *callee_name(LLVMValueRef i) {
    LLVMValueRef callee = LLVMIsACallInst(i) ? wpi_called_function(i) : NULL;
    size_t length;
    return callee ? LLVMGetValueName2(callee, &length) : "";
}

static bool is_fetch(LLVMValueRef i) {
    return strcmp(callee_name(i), "wp_rt_tex") == 0;
}

static bool is_surface_access(LLVMValueRef i) {
    const char *name = callee_name(i);
    return strcmp(name, "wp_rt_surf_read") == 0 || strcmp(name, "wp_rt_surf_write") == 0;
}

bool wpi_trace_is_texture(LLVMValueRef i) {
    return is_fetch(i) || is_surface_access(i);
}

bool wpi_trace_is_place(LLVMValueRef i, wp_trace_access *kind, uint32_t *size_bytes) {
    const char *name = callee_name(i);
    if (strcmp(name, "wp_rt_tex_place") == 0) {
        *kind = WP_TRACE_LOAD;
        *size_bytes = 1; /* a texel is aligned, so it is in one sector */
        return true;
    }
    if (strcmp(name, "wp_rt_surf_place") != 0) return false;
    LLVMValueRef is_write = LLVMGetOperand(i, 6);
    *kind = LLVMConstIntGetZExtValue(is_write) != 0 ? WP_TRACE_STORE : WP_TRACE_LOAD;
    *size_bytes = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1));
    return true;
}

/* The texels of a filtered fetch. */
static uint32_t corner_count(LLVMValueRef kind) {
    switch (LLVMIsAConstantInt(kind) ? LLVMConstIntGetZExtValue(kind) : WP_TEX_3D) {
    case WP_TEX_1D_FETCH: return 1;
    case WP_TEX_1D:
    case WP_TEX_1D_LAYERED: return 2;
    case WP_TEX_3D: return 8;
    default: return 4;
    }
}

static void call_place(wpi_compile *c, const char *name, LLVMValueRef *args, unsigned count) {
    LLVMTypeRef types[TEX_ARGS];
    for (unsigned a = 0; a < count; a++)
        types[a] = LLVMTypeOf(args[a]);
    LLVMValueRef function = wpi_compile_declare(c, name, c->i64, types, count);
    wpi_function_attribute(c, function, "nounwind");
    LLVMBuildCall2(c->builder, wpi_function_type(function), function, args, count, "");
}

static void expand_fetch(wpi_compile *c, LLVMValueRef fetch) {
    LLVMValueRef args[TEX_ARGS];
    for (unsigned a = 0; a < TEX_OUT; a++)
        args[a] = LLVMGetOperand(fetch, a);
    for (uint32_t corner = 0; corner < corner_count(args[TEX_KIND]); corner++) {
        args[TEX_OUT] = wpi_const32(c, corner);
        call_place(c, "wp_rt_tex_place", args, TEX_ARGS);
    }
}

static void expand_surface(wpi_compile *c, LLVMValueRef access) {
    LLVMValueRef args[SURF_ARGS];
    const bool is_write = strcmp(callee_name(access), "wp_rt_surf_write") == 0;
    args[0] = LLVMGetOperand(access, 0);
    for (unsigned a = SURF_DATA + 1; a < SURF_ARGS; a++)
        args[a - 1] = LLVMGetOperand(access, a);
    args[SURF_ARGS - 1] = wpi_const32(c, is_write);
    call_place(c, "wp_rt_surf_place", args, SURF_ARGS);
}

void wpi_trace_expand_textures(wpi_compile *c, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!wpi_trace_is_texture(i)) continue;
            LLVMPositionBuilderBefore(c->builder, i);
            LLVMSetCurrentDebugLocation2(c->builder, LLVMInstructionGetDebugLoc(i));
            if (is_fetch(i))
                expand_fetch(c, i);
            else
                expand_surface(c, i);
            LLVMSetCurrentDebugLocation2(c->builder, NULL);
        }
    }
}

static LLVMValueRef array_behind(LLVMValueRef pointer) {
    LLVMValueRef base = wpi_pointer_base(pointer);
    return LLVMIsAAllocaInst(base) ? base : NULL;
}

LLVMValueRef wpi_trace_texture_result(LLVMValueRef i) {
    if (is_fetch(i)) return array_behind(LLVMGetOperand(i, TEX_OUT));
    return strcmp(callee_name(i), "wp_rt_surf_read") == 0
               ? array_behind(LLVMGetOperand(i, SURF_DATA))
               : NULL;
}

LLVMValueRef wpi_trace_loaded_array(LLVMValueRef i) {
    return LLVMIsALoadInst(i) ? array_behind(LLVMGetOperand(i, 0)) : NULL;
}
