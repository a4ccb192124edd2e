/* SPDX-License-Identifier: Apache-2.0 */
/* The pass `trace`: kernels that record their execution (docs/rooms/trace.md). */
#include "compiler/pass/trace/trace_pass.h"

#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/expand_copy.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

void *wpi_trace_grow(void *items, uint32_t count, size_t item_bytes) {
    if (count & (count - 1)) return items; /* capacity doubles at powers of two */
    void *grown = wpi_must_realloc(items, (count ? 2 * (size_t)count : 1) * item_bytes);
    return grown;
}

bool wpi_trace_is_call(LLVMValueRef i) {
    if (!LLVMIsACallInst(i) || LLVMIsAInlineAsm(LLVMGetCalledValue(i))) return false;
    LLVMValueRef callee = wpi_called_function(i);
    return !callee || !LLVMIsDeclaration(callee);
}

bool wpi_trace_is_clock(LLVMValueRef i, bool *is_ns) {
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    const char *name = callee ? LLVMGetValueName2(callee, &length) : "";
    *is_ns = strcmp(name, "wp_rt_globaltimer") == 0;
    return *is_ns || strcmp(name, "wp_rt_clock64") == 0;
}

bool wpi_trace_is_end(LLVMValueRef i) {
    bool is_ns;
    return wpi_lower_is_stop(i) || wpi_trace_is_call(i) || wpi_trace_is_clock(i, &is_ns);
}

LLVMValueRef wpi_trace_barrier_count(LLVMValueRef stop) {
    return LLVMGetOperand(stop, 2);
}

LLVMValueRef wpi_trace_barrier_number(LLVMValueRef stop) {
    return LLVMGetOperand(stop, 3);
}

bool wpi_trace_is_open_barrier(LLVMValueRef i) {
    if (!wpi_lower_is_stop(i)) return false;
    switch (WP_STOP_KIND(wpi_lower_stop_op(i))) {
    case WP_STOP_BARRIER:
    case WP_STOP_BARRIER_COUNT:
    case WP_STOP_BARRIER_AND:
    case WP_STOP_BARRIER_OR:
    case WP_STOP_BARRIER_ARRIVE:
        return !LLVMIsAConstantInt(wpi_trace_barrier_count(i)) ||
               !LLVMIsAConstantInt(wpi_trace_barrier_number(i));
    default: return false;
    }
}

bool wpi_trace_has_barrier_word(const trace_block *block) {
    return block->end && wpi_trace_is_open_barrier(block->end);
}

wp_status wpi_pass_trace(wpi_compile *c, wp_error *err) {
    (void)err;
    tracer t = {
        .c = c, .layout = LLVMGetModuleDataLayout(c->module), .is_in_step = c->variant.is_in_step};
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        (void)wpi_expand_copies(c, f, NULL, NULL);
        wpi_trace_expand_textures(c, f);
        t.functions = wpi_trace_grow(t.functions, t.function_count, sizeof *t.functions);
        t.functions[t.function_count++] = f;
    }
    for (uint32_t f = 0; f < t.function_count; f++) {
        uint32_t first = t.block_count;
        wpi_trace_find_constants(&t, t.functions[f]);
        wpi_trace_order(&t, t.functions[f]);
        wpi_trace_cut(&t, f);
        wpi_trace_add_steps(&t, first);
        wpi_trace_record(&t, t.functions[f], first);
    }
    wpi_trace_export(&t);
    for (uint32_t b = 0; b < t.block_count; b++)
        wpi_free(t.blocks[b].accesses);
    wpi_free(t.blocks);
    wpi_free(t.steps);
    wpi_free(t.sites);
    wpi_free(t.functions);
    wpi_free(t.shares);
    wpi_trace_places_deinit(&t);
    wpi_map_deinit(&t.block_of);
    wpi_map_deinit(&t.site_of);
    wpi_map_deinit(&t.spread);
    wpi_map_deinit(&t.joined);
    return WP_STATUS_OK;
}
